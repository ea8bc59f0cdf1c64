package io.coplane.cop.expr.kernel;

import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.LongColumn;
import io.coplane.types.text.Utf8;

/** LIKE (expressions.md 9.1). */
final class LikeKernels {
    private static final int REPLACEMENT = 0xfffd;

    /** How characters are cut and compared. @param collator null where equal characters are the same code */
    private record Mode(boolean bytes, Collator collator) {}

    private LikeKernels() {}

    static void declare(SignatureTable table) {
        table.add(ScalarFuncSig.LikeSig)
                .takes(EvalType.BYTES, EvalType.BYTES, EvalType.INT)
                .returns(EvalType.INT)
                .prepares(LikeKernels::prepare)
                .runs(LikeKernels::like);
    }

    private static void prepare(Preparation node) {
        int id = node.returnType().collate();
        Collator own = Collator.of(id);
        Collator target = Collator.of(node.childType(0).collate());
        Collator pattern = Collator.of(node.childType(1).collate());
        if (id >= 0) {
            node.metadata(new Mode(false, null));
            return;
        }
        boolean bytes = own.isBinary() || id == -249;
        boolean weights = switch (id) {
            case -33, -45, -224, -192, -255, -28, -248 -> true;
            default -> false;
        };
        if (weights) {
            bytes = target.isByteCharset() && pattern.isByteCharset();
        }
        node.metadata(new Mode(bytes, weights ? own : null));
    }

    private static void like(KernelContext ctx, Column[] args, int rows, Column out) {
        Mode mode = (Mode) ctx.metadata();
        BytesColumn target = (BytesColumn) args[0];
        BytesColumn pattern = (BytesColumn) args[1];
        long[] escapes = ((LongColumn) args[2]).values();
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                int targetStart = target.starts()[i];
                int patternStart = pattern.starts()[i];
                boolean matches = matches(
                        mode,
                        target.data(),
                        targetStart,
                        targetStart + target.lengths()[i],
                        pattern.data(),
                        patternStart,
                        patternStart + pattern.lengths()[i],
                        (int) escapes[i]);
                values[i] = matches ? 1 : 0;
            }
        }
    }

    /** Bytes of the character at {@code at}; a malformed one takes one. */
    private static int width(Mode mode, byte[] data, int at, int end) {
        return mode.bytes() || data[at] >= 0 ? 1 : Math.max(1, Utf8.sequenceLength(data, at, end));
    }

    /** The character, {@link #REPLACEMENT} for a malformed byte. */
    private static int character(Mode mode, byte[] data, int at, int end) {
        if (mode.bytes()) {
            return data[at] & 0xff;
        }
        int width = Utf8.sequenceLength(data, at, end);
        return width == 0 ? REPLACEMENT : Utf8.codePoint(data, at, width);
    }

    private static boolean matches(
            Mode mode,
            byte[] t,
            int targetStart,
            int targetEnd,
            byte[] p,
            int patternStart,
            int patternEnd,
            int escape) {
        int px = patternStart;
        int tx = targetStart;
        int backPattern = -1;
        int backTarget = targetStart;
        while (px < patternEnd || tx < targetEnd) {
            if (px < patternEnd) {
                int width = width(mode, p, px, patternEnd);
                int c = character(mode, p, px, patternEnd);
                int at = px;
                boolean escaped = c == escape && px + width < patternEnd;
                if (escaped) {
                    at = px + width;
                    width = width(mode, p, at, patternEnd);
                    c = character(mode, p, at, patternEnd);
                }
                boolean isEscape = escaped || c == escape;
                if (!isEscape && c == '%') {
                    px = at + width;
                    if (px == patternEnd) {
                        return true;
                    }
                    backPattern = px;
                    backTarget = tx;
                    continue;
                }
                if (tx < targetEnd) {
                    int targetWidth = width(mode, t, tx, targetEnd);
                    if (!isEscape && c == '_' || same(mode, t, tx, targetWidth, targetEnd, p, at, width, patternEnd)) {
                        px = at + width;
                        tx += targetWidth;
                        continue;
                    }
                }
            }
            if (backPattern >= 0 && backTarget < targetEnd) {
                backTarget += width(mode, t, backTarget, targetEnd);
                px = backPattern;
                tx = backTarget;
                continue;
            }
            return false;
        }
        return true;
    }

    private static boolean same(
            Mode mode, byte[] t, int tx, int targetWidth, int targetEnd, byte[] p, int px, int width, int patternEnd) {
        if (mode.collator() == null) {
            return character(mode, t, tx, targetEnd) == character(mode, p, px, patternEnd);
        }
        return mode.collator().sameCharacter(t, tx, targetWidth, p, px, width);
    }
}
