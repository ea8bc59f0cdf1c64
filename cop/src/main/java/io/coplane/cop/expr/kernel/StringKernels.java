package io.coplane.cop.expr.kernel;

import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.LongColumn;
import io.coplane.types.text.Utf8;

/** String functions that make new strings, and lengths (expressions.md 8.7). */
final class StringKernels {
    private static final long MOST_BYTES = 16_777_216;

    private StringKernels() {}

    static void declare(SignatureTable table) {
        length(table, ScalarFuncSig.Length, 1);
        length(table, ScalarFuncSig.CharLength, 1);
        length(table, ScalarFuncSig.BitLength, 8);
        toInt(table, ScalarFuncSig.CharLengthUTF8, StringKernels::charLengthUtf8);
        toInt(table, ScalarFuncSig.ASCII, StringKernels::ascii);
        text(table, ScalarFuncSig.Upper, StringKernels::same);
        text(table, ScalarFuncSig.Lower, StringKernels::same);
        text(table, ScalarFuncSig.Reverse, StringKernels::reverse);
        text(table, ScalarFuncSig.ReverseUTF8, StringKernels::reverseUtf8);
        table.add(ScalarFuncSig.Quote)
                .takes(EvalType.BYTES)
                .returns(EvalType.BYTES)
                .seesNulls()
                .runs(StringKernels::quote);
        table.add(ScalarFuncSig.Concat)
                .takesMany(1, EvalType.BYTES)
                .returns(EvalType.BYTES)
                .runs(StringKernels::concat);
        table.add(ScalarFuncSig.ConcatWS)
                .takesMany(2, EvalType.BYTES)
                .returns(EvalType.BYTES)
                .seesNulls()
                .runs(StringKernels::concatWs);
        table.add(ScalarFuncSig.MakeSet)
                .takesHeadAndMany(2, EvalType.BYTES, EvalType.INT)
                .returns(EvalType.BYTES)
                .seesNulls()
                .runs(StringKernels::makeSet);
        pad(table, ScalarFuncSig.Lpad, true, false);
        pad(table, ScalarFuncSig.Rpad, false, false);
        pad(table, ScalarFuncSig.LpadUTF8, true, true);
        pad(table, ScalarFuncSig.RpadUTF8, false, true);
        table.add(ScalarFuncSig.Replace)
                .takes(EvalType.BYTES, EvalType.BYTES, EvalType.BYTES)
                .returns(EvalType.BYTES)
                .runs(StringKernels::replace);
        table.add(ScalarFuncSig.Insert)
                .takes(EvalType.BYTES, EvalType.INT, EvalType.INT, EvalType.BYTES)
                .returns(EvalType.BYTES)
                .runs((ctx, args, rows, out) -> insert(ctx, args, rows, (BytesColumn) out, false));
        table.add(ScalarFuncSig.InsertUTF8)
                .takes(EvalType.BYTES, EvalType.INT, EvalType.INT, EvalType.BYTES)
                .returns(EvalType.BYTES)
                .runs((ctx, args, rows, out) -> insert(ctx, args, rows, (BytesColumn) out, true));
        table.add(ScalarFuncSig.Space)
                .takes(EvalType.INT)
                .returns(EvalType.BYTES)
                .runs(StringKernels::space);
        table.add(ScalarFuncSig.Repeat)
                .takes(EvalType.BYTES, EvalType.INT)
                .returns(EvalType.BYTES)
                .runs(StringKernels::repeat);
    }

    private static void text(SignatureTable table, ScalarFuncSig sig, Kernel kernel) {
        table.add(sig).takes(EvalType.BYTES).returns(EvalType.BYTES).runs(kernel);
    }

    private static void toInt(SignatureTable table, ScalarFuncSig sig, Kernel kernel) {
        table.add(sig).takes(EvalType.BYTES).returns(EvalType.INT).runs(kernel);
    }

    private static void length(SignatureTable table, ScalarFuncSig sig, long unit) {
        toInt(table, sig, (ctx, args, rows, out) -> {
            int[] lengths = ((BytesColumn) args[0]).lengths();
            long[] values = ((LongColumn) out).values();
            for (int i = 0; i < rows; i++) {
                values[i] = lengths[i] * unit;
            }
        });
    }

    private static void pad(SignatureTable table, ScalarFuncSig sig, boolean left, boolean utf8) {
        table.add(sig)
                .takes(EvalType.BYTES, EvalType.INT, EvalType.BYTES)
                .returns(EvalType.BYTES)
                .runs((ctx, args, rows, out) -> {
                    if (utf8) {
                        padUtf8(ctx, args, rows, (BytesColumn) out, left);
                    } else {
                        padBytes(ctx, args, rows, (BytesColumn) out, left);
                    }
                });
    }

    private static void charLengthUtf8(KernelContext ctx, Column[] args, int rows, Column out) {
        BytesColumn arg = (BytesColumn) args[0];
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                Texts.requireUtf8(arg, i);
                values[i] = Utf8.countCodePoints(arg.data(), arg.starts()[i], arg.lengths()[i]);
            }
        }
    }

    private static void ascii(KernelContext ctx, Column[] args, int rows, Column out) {
        BytesColumn arg = (BytesColumn) args[0];
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            values[i] = out.isNull(i) || arg.lengths()[i] == 0 ? 0 : arg.data()[arg.starts()[i]] & 0xff;
        }
    }

    private static void same(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        Texts.borrow(out, arg, args, rows);
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                out.setView(i, arg.starts()[i], arg.lengths()[i]);
            }
        }
    }

    private static void reverse(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            int length = arg.lengths()[i];
            int to = ctx.reserve(out, length);
            byte[] target = out.data();
            int last = arg.starts()[i] + length - 1;
            for (int k = 0; k < length; k++) {
                target[to + k] = arg.data()[last - k];
            }
            out.setView(i, to, length);
        }
    }

    private static void reverseUtf8(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            Texts.requireUtf8(arg, i);
            byte[] data = arg.data();
            int length = arg.lengths()[i];
            int to = ctx.reserve(out, length);
            int write = to + length;
            int end = arg.starts()[i] + length;
            for (int at = arg.starts()[i]; at < end; ) {
                int width = Utf8.sequenceLength(data, at, end);
                write -= width;
                System.arraycopy(data, at, out.data(), write, width);
                at += width;
            }
            out.setView(i, to, length);
        }
    }

    private static void quote(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        for (int i = 0; i < rows; i++) {
            if (arg.isNull(i)) {
                int to = ctx.reserve(out, 4);
                byte[] target = out.data();
                target[to] = 'N';
                target[to + 1] = 'U';
                target[to + 2] = 'L';
                target[to + 3] = 'L';
                out.setView(i, to, 4);
                continue;
            }
            int start = arg.starts()[i];
            int length = arg.lengths()[i];
            int most = (int) Math.min(Integer.MAX_VALUE, 2L * length + 2);
            int to = ctx.reserve(out, most);
            byte[] target = out.data();
            int write = to;
            target[write++] = '\'';
            for (int k = start; k < start + length; k++) {
                byte b = arg.data()[k];
                byte escaped = b == 0 ? (byte) '0' : b == 0x1a ? (byte) 'Z' : b;
                if (b == '\'' || b == '\\' || b != escaped) {
                    target[write++] = '\\';
                }
                target[write++] = escaped;
            }
            target[write++] = '\'';
            ctx.unreserve(out, to + most - write);
            out.setView(i, to, write - to);
        }
    }

    private static void concat(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            long length = 0;
            for (Column arg : args) {
                length += ((BytesColumn) arg).lengths()[i];
            }
            int to = ctx.reserve(out, length);
            int write = to;
            for (Column arg : args) {
                BytesColumn bytes = (BytesColumn) arg;
                System.arraycopy(bytes.data(), bytes.starts()[i], out.data(), write, bytes.lengths()[i]);
                write += bytes.lengths()[i];
            }
            out.setView(i, to, (int) length);
        }
    }

    private static void concatWs(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn separator = (BytesColumn) args[0];
        for (int i = 0; i < rows; i++) {
            if (separator.isNull(i)) {
                Texts.putNull(out, i);
                continue;
            }
            long length = 0;
            int items = 0;
            for (int a = 1; a < args.length; a++) {
                if (!args[a].isNull(i)) {
                    length += ((BytesColumn) args[a]).lengths()[i];
                    items++;
                }
            }
            int gap = separator.lengths()[i];
            length += (long) gap * Math.max(0, items - 1);
            int to = ctx.reserve(out, length);
            int write = to;
            boolean first = true;
            for (int a = 1; a < args.length; a++) {
                if (args[a].isNull(i)) {
                    continue;
                }
                if (!first) {
                    System.arraycopy(separator.data(), separator.starts()[i], out.data(), write, gap);
                    write += gap;
                }
                first = false;
                BytesColumn bytes = (BytesColumn) args[a];
                System.arraycopy(bytes.data(), bytes.starts()[i], out.data(), write, bytes.lengths()[i]);
                write += bytes.lengths()[i];
            }
            out.setView(i, to, (int) length);
        }
    }

    private static void makeSet(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        long[] masks = ((LongColumn) args[0]).values();
        for (int i = 0; i < rows; i++) {
            if (args[0].isNull(i)) {
                Texts.putNull(out, i);
                continue;
            }
            long length = 0;
            for (int a = 1; a < args.length; a++) {
                if (isMember(masks[i], args, a, i)) {
                    length += ((BytesColumn) args[a]).lengths()[i] + 1L;
                }
            }
            if (length == 0) {
                out.setEmpty(i);
                continue;
            }
            length--;
            int to = ctx.reserve(out, length);
            int write = to;
            for (int a = 1; a < args.length; a++) {
                if (!isMember(masks[i], args, a, i)) {
                    continue;
                }
                if (write > to || write == to && a > firstMember(masks[i], args, i)) {
                    out.data()[write++] = ',';
                }
                BytesColumn bytes = (BytesColumn) args[a];
                System.arraycopy(bytes.data(), bytes.starts()[i], out.data(), write, bytes.lengths()[i]);
                write += bytes.lengths()[i];
            }
            out.setView(i, to, (int) length);
        }
    }

    private static boolean isMember(long mask, Column[] args, int index, int row) {
        return index <= Long.SIZE && (mask >>> (index - 1) & 1) != 0 && !args[index].isNull(row);
    }

    private static int firstMember(long mask, Column[] args, int row) {
        int a = 1;
        while (!isMember(mask, args, a, row)) {
            a++;
        }
        return a;
    }

    private static void padBytes(KernelContext ctx, Column[] args, int rows, BytesColumn out, boolean left) {
        BytesColumn arg = (BytesColumn) args[0];
        long[] lengths = ((LongColumn) args[1]).values();
        BytesColumn pad = (BytesColumn) args[2];
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            long wanted = lengths[i];
            int length = arg.lengths()[i];
            int padLength = pad.lengths()[i];
            if (wanted < 0 || wanted > MOST_BYTES || length < wanted && padLength == 0) {
                Texts.putNull(out, i);
                continue;
            }
            int total = (int) wanted;
            int kept = Math.min(length, total);
            int to = ctx.reserve(out, total);
            int added = total - kept;
            byte[] target = out.data();
            System.arraycopy(arg.data(), arg.starts()[i], target, left ? to + added : to, kept);
            fill(target, left ? to : to + kept, added, pad.data(), pad.starts()[i], padLength);
            out.setView(i, to, total);
        }
    }

    /** Fills a range with copies of the pad, the last one cut. */
    private static void fill(byte[] target, int to, int length, byte[] pad, int padStart, int padLength) {
        for (int done = 0; done < length; done += padLength) {
            System.arraycopy(pad, padStart, target, to + done, Math.min(padLength, length - done));
        }
    }

    private static void padUtf8(KernelContext ctx, Column[] args, int rows, BytesColumn out, boolean left) {
        BytesColumn arg = (BytesColumn) args[0];
        long[] lengths = ((LongColumn) args[1]).values();
        BytesColumn pad = (BytesColumn) args[2];
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            Texts.requireUtf8(arg, i);
            Texts.requireUtf8(pad, i);
            long wanted = lengths[i];
            int start = arg.starts()[i];
            int length = arg.lengths()[i];
            int padStart = pad.starts()[i];
            int padLength = pad.lengths()[i];
            long characters = Utf8.countCodePoints(arg.data(), start, length);
            if (wanted < 0 || wanted > MOST_BYTES / 4 || characters < wanted && padLength == 0) {
                Texts.putNull(out, i);
                continue;
            }
            if (characters >= wanted) {
                int end = Texts.skipCharacters(arg.data(), start, start + length, wanted);
                Texts.put(ctx, out, i, arg.data(), start, end - start);
                continue;
            }
            long missing = wanted - characters;
            long padCharacters = Utf8.countCodePoints(pad.data(), padStart, padLength);
            int tail = Texts.skipCharacters(pad.data(), padStart, padStart + padLength, missing % padCharacters)
                    - padStart;
            long added = missing / padCharacters * padLength + tail;
            int to = ctx.reserve(out, length + added);
            byte[] target = out.data();
            System.arraycopy(arg.data(), start, target, left ? to + (int) added : to, length);
            fill(target, left ? to : to + length, (int) added, pad.data(), padStart, padLength);
            out.setView(i, to, length + (int) added);
        }
    }

    private static void replace(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        BytesColumn from = (BytesColumn) args[1];
        BytesColumn to = (BytesColumn) args[2];
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            byte[] data = arg.data();
            int start = arg.starts()[i];
            int end = start + arg.lengths()[i];
            int width = from.lengths()[i];
            long found = 0;
            for (int at = start; width > 0; at += width) {
                at = Texts.indexOf(data, at, end, from.data(), from.starts()[i], width);
                if (at < 0) {
                    break;
                }
                found++;
            }
            long length = end - start + found * (to.lengths()[i] - width);
            int write = ctx.reserve(out, length);
            out.setView(i, write, (int) length);
            int at = start;
            for (; found > 0; found--) {
                int next = Texts.indexOf(data, at, end, from.data(), from.starts()[i], width);
                System.arraycopy(data, at, out.data(), write, next - at);
                write += next - at;
                System.arraycopy(to.data(), to.starts()[i], out.data(), write, to.lengths()[i]);
                write += to.lengths()[i];
                at = next + width;
            }
            System.arraycopy(data, at, out.data(), write, end - at);
        }
    }

    /** The UTF-8 form checks positions in characters but cuts at byte offsets, as the reference does (expressions.md 13). */
    private static void insert(KernelContext ctx, Column[] args, int rows, BytesColumn out, boolean utf8) {
        BytesColumn arg = (BytesColumn) args[0];
        long[] positions = ((LongColumn) args[1]).values();
        long[] lengths = ((LongColumn) args[2]).values();
        BytesColumn inserted = (BytesColumn) args[3];
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            if (utf8) {
                Texts.requireUtf8(arg, i);
                Texts.requireUtf8(inserted, i);
            }
            int start = arg.starts()[i];
            int bytes = arg.lengths()[i];
            long length = utf8 ? Utf8.countCodePoints(arg.data(), start, bytes) : bytes;
            long position = positions[i];
            if (position < 1 || position > length) {
                Texts.put(ctx, out, i, arg.data(), start, bytes);
                continue;
            }
            int head = (int) (position - 1);
            long removed = lengths[i];
            boolean toEnd = removed < 0 || removed > length - head;
            int tail = toEnd ? bytes : head + (int) removed;
            int added = inserted.lengths()[i];
            long total = (long) head + added + bytes - tail;
            int to = ctx.reserve(out, total);
            System.arraycopy(arg.data(), start, out.data(), to, head);
            System.arraycopy(inserted.data(), inserted.starts()[i], out.data(), to + head, added);
            System.arraycopy(arg.data(), start + tail, out.data(), to + head + added, bytes - tail);
            out.setView(i, to, (int) total);
        }
    }

    private static void space(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        long[] counts = ((LongColumn) args[0]).values();
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            if (counts[i] > MOST_BYTES) {
                Texts.putNull(out, i);
                continue;
            }
            int length = (int) Math.max(0, counts[i]);
            int to = ctx.reserve(out, length);
            java.util.Arrays.fill(out.data(), to, to + length, (byte) ' ');
            out.setView(i, to, length);
        }
    }

    private static void repeat(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        long[] counts = ((LongColumn) args[1]).values();
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            int length = arg.lengths()[i];
            long total = length * Math.max(0, Math.min(counts[i], Integer.MAX_VALUE));
            int to = ctx.reserve(out, total);
            fill(out.data(), to, (int) total, arg.data(), arg.starts()[i], Math.max(1, length));
            out.setView(i, to, (int) total);
        }
    }
}
