package io.coplane.cop.expr.kernel;

import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalException;
import io.coplane.types.EvalType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.LongColumn;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/** COMPRESS and its inverse (expressions.md 8.12): uint32 LE length, then a zlib stream. */
final class CompressKernels {
    private static final int HEADER_BYTES = 4;
    private static final int LEVEL = 6;
    private static final int CHUNK_BYTES = 8192;

    private CompressKernels() {}

    static void declare(SignatureTable table) {
        table.add(ScalarFuncSig.Compress)
                .takes(EvalType.BYTES)
                .returns(EvalType.BYTES)
                .runs(CompressKernels::compress);
        table.add(ScalarFuncSig.Uncompress)
                .takes(EvalType.BYTES)
                .returns(EvalType.BYTES)
                .runs(CompressKernels::uncompress);
        table.add(ScalarFuncSig.UncompressedLength)
                .takes(EvalType.BYTES)
                .returns(EvalType.INT)
                .runs(CompressKernels::uncompressedLength);
    }

    private static EvalException corrupted() {
        return EvalException.coded(1259, "ZLIB: Input data corrupted");
    }

    private static EvalException noRoom() {
        return EvalException.coded(
                1258,
                "ZLIB: Not enough room in the output buffer (probably, length of uncompressed data was corrupted)");
    }

    private static long header(byte[] data, int at) {
        return data[at] & 0xffL
                | (data[at + 1] & 0xffL) << 8
                | (data[at + 2] & 0xffL) << 16
                | (data[at + 3] & 0xffL) << 24;
    }

    private static void compress(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        Deflater deflater = new Deflater(LEVEL);
        try {
            for (int i = 0; i < rows; i++) {
                if (out.isNull(i)) {
                    continue;
                }
                int length = arg.lengths()[i];
                if (length == 0) {
                    out.setEmpty(i);
                    continue;
                }
                // zlib's bound of a deflate stream, our header, and the dot behind a trailing space
                long most = length + (length >>> 12) + (length >>> 14) + (length >>> 25) + 13L + HEADER_BYTES + 1;
                int to = ctx.reserve(out, most);
                byte[] target = out.data();
                for (int k = 0; k < HEADER_BYTES; k++) {
                    target[to + k] = (byte) (length >>> 8 * k);
                }
                deflater.reset();
                deflater.setInput(arg.data(), arg.starts()[i], length);
                deflater.finish();
                int end = to + HEADER_BYTES;
                while (!deflater.finished()) {
                    end += deflater.deflate(target, end, to + (int) most - end);
                }
                if (target[end - 1] == ' ') {
                    target[end++] = '.';
                }
                ctx.unreserve(out, to + (int) most - end);
                out.setView(i, to, end - to);
            }
        } finally {
            deflater.end();
        }
    }

    private static void uncompress(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        Inflater inflater = new Inflater();
        try {
            for (int i = 0; i < rows; i++) {
                if (out.isNull(i)) {
                    continue;
                }
                if (arg.lengths()[i] == 0) {
                    out.setEmpty(i);
                } else {
                    EvalException failure =
                            arg.lengths()[i] <= HEADER_BYTES ? corrupted() : inflate(ctx, inflater, arg, i, out);
                    if (failure != null) {
                        ctx.eval().warn(failure);
                        Texts.putNull(out, i);
                    }
                }
            }
        } finally {
            inflater.end();
        }
    }

    private static EvalException inflate(
            KernelContext ctx, Inflater inflater, BytesColumn arg, int row, BytesColumn out) {
        int start = arg.starts()[row];
        int length = arg.lengths()[row];
        long announced = header(arg.data(), start);
        inflater.reset();
        inflater.setInput(arg.data(), start + HEADER_BYTES, length - HEADER_BYTES);
        int written = 0;
        int from = -1;
        try {
            while (!inflater.finished()) {
                int to = ctx.reserve(out, CHUNK_BYTES);
                from = from < 0 ? to : from;
                int got = inflater.inflate(out.data(), to, CHUNK_BYTES);
                ctx.unreserve(out, CHUNK_BYTES - got);
                written += got;
                if (got == 0 && (inflater.needsInput() || inflater.needsDictionary())) {
                    ctx.unreserve(out, written);
                    return corrupted();
                }
                if (written > announced) {
                    ctx.unreserve(out, written);
                    return noRoom();
                }
            }
        } catch (DataFormatException ignored) {
            ctx.unreserve(out, written);
            return corrupted();
        }
        if (written == 0) {
            return corrupted();
        }
        out.setView(row, from, written);
        return null;
    }

    private static void uncompressedLength(KernelContext ctx, Column[] args, int rows, Column out) {
        BytesColumn arg = (BytesColumn) args[0];
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            values[i] = 0;
            if (out.isNull(i) || arg.lengths()[i] == 0) {
                continue;
            }
            if (arg.lengths()[i] <= HEADER_BYTES) {
                ctx.eval().warn(corrupted());
            } else {
                values[i] = header(arg.data(), arg.starts()[i]);
            }
        }
    }
}
