package io.coplane.cop.expr.kernel;

import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalType;
import io.coplane.types.collation.LikeMatcher;
import io.coplane.types.collation.TextCharset;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.LongColumn;

/** LIKE, upper and lower case, charset conversion (expressions.md 7.10, 8.7, 9.1, 11). */
final class CharsetKernels {
    private static final int CASE_FACTOR = 2;

    /** Writes the converted row behind {@code at}. */
    @FunctionalInterface
    private interface Conversion {
        int convert(TextCharset charset, byte[] text, int offset, int length, byte[] out, int at);
    }

    private CharsetKernels() {}

    static void declare(SignatureTable table) {
        table.add(ScalarFuncSig.LikeSig)
                .takes(EvalType.BYTES, EvalType.BYTES, EvalType.INT)
                .returns(EvalType.INT)
                .prepares(node -> node.metadata(LikeMatcher.of(
                        node.returnType().collate(),
                        node.childType(0).collate(),
                        node.childType(1).collate())))
                .runs(CharsetKernels::like);
        convert(table, ScalarFuncSig.UpperUTF8, CASE_FACTOR, TextCharset::upper)
                .prepares(node -> node.metadata(caseCharset(node.childType(0).charset())));
        convert(table, ScalarFuncSig.LowerUTF8, CASE_FACTOR, TextCharset::lower)
                .prepares(node -> node.metadata(caseCharset(node.childType(0).charset())));
        convert(table, ScalarFuncSig.ToBinary, TextCharset.MAX_ENCODED_FACTOR, TextCharset::encode)
                .prepares(node -> node.metadata(TextCharset.of(node.childType(0).charset())));
        convert(table, ScalarFuncSig.FromBinary, TextCharset.MAX_DECODED_FACTOR, TextCharset::decode)
                .prepares(node -> node.metadata(TextCharset.of(node.returnType().charset())));
    }

    /** Only two charsets have rules of their own. */
    private static TextCharset caseCharset(String name) {
        return switch (name) {
            case "gbk" -> TextCharset.GBK;
            case "gb18030" -> TextCharset.GB18030;
            default -> TextCharset.UTF8MB4;
        };
    }

    /** @param factor most bytes written per byte read; numeric references of GBK are within it */
    private static Signature convert(SignatureTable table, ScalarFuncSig sig, int factor, Conversion conversion) {
        return table.add(sig).takes(EvalType.BYTES).returns(EvalType.BYTES).runs((ctx, args, rows, result) -> {
            BytesColumn out = (BytesColumn) result;
            BytesColumn arg = (BytesColumn) args[0];
            TextCharset charset = (TextCharset) ctx.metadata();
            for (int i = 0; i < rows; i++) {
                if (out.isNull(i)) {
                    continue;
                }
                int length = arg.lengths()[i];
                int most = (int) Math.min(Integer.MAX_VALUE, (long) length * factor);
                int to = ctx.reserve(out, most);
                int end = conversion.convert(charset, arg.data(), arg.starts()[i], length, out.data(), to);
                ctx.unreserve(out, to + most - end);
                out.setView(i, to, end - to);
            }
        });
    }

    private static void like(KernelContext ctx, Column[] args, int rows, Column out) {
        LikeMatcher matcher = (LikeMatcher) ctx.metadata();
        BytesColumn target = (BytesColumn) args[0];
        BytesColumn pattern = (BytesColumn) args[1];
        long[] escapes = ((LongColumn) args[2]).values();
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            values[i] = 0;
            if (!out.isNull(i)) {
                ctx.eval().spend((long) target.lengths()[i] * pattern.lengths()[i]);
                boolean matches = matcher.matches(
                        target.data(),
                        target.starts()[i],
                        target.lengths()[i],
                        pattern.data(),
                        pattern.starts()[i],
                        pattern.lengths()[i],
                        (int) escapes[i]);
                values[i] = matches ? 1 : 0;
            }
        }
    }
}
