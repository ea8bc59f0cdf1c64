package io.coplane.types.number;

import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.FieldType;
import io.coplane.types.collation.Collation;
import io.coplane.types.text.Utf8;

/** Strings in the bounds of a column type (expressions.md 5.6). */
public final class StringFit {
    private static final int DATA_TOO_LONG = 1406;

    private StringFit() {}

    /**
     * Bytes of the string that the type keeps.
     *
     * @return 0 .. {@code length}; less after the truncation handler let it pass
     */
    public static int keptBytes(byte[] bytes, int offset, int length, FieldType type, EvalContext context) {
        int flen = type.flen();
        if (flen < 0 || length <= flen) {
            return length;
        }
        if (!countsCharacters(type.charset())) {
            context.truncated(tooLong(flen, length));
            return flen;
        }
        int end = offset + length;
        int count = 0;
        int kept = 0; // an ill-formed sequence moves the cut by one byte, however long it is
        for (int at = offset; at < end; count++) {
            int width = Utf8.sequenceLength(bytes, at, end);
            if (count < flen) {
                kept += Math.max(1, width);
            }
            at += width == 0 ? Utf8.invalidLength(bytes, at, end) : width;
        }
        if (count <= flen) {
            return length;
        }
        context.truncated(tooLong(flen, count));
        return kept;
    }

    /** Zero bytes that a BINARY(n) value of {@code length} bytes gets at its end. */
    public static int zeroPadding(int length, FieldType type) {
        boolean pads = type.tp() == FieldType.STRING
                && length < type.flen()
                && Collation.of(type.collate()) == Collation.BINARY;
        return pads ? type.flen() - length : 0;
    }

    private static boolean countsCharacters(String charset) {
        return charset.equals("utf8")
                || charset.equals("utf8mb4")
                || charset.equals("gbk")
                || charset.equals("gb18030");
    }

    private static EvalException tooLong(int flen, int length) {
        return EvalException.coded(DATA_TOO_LONG, "Data Too Long, field len " + flen + ", data len " + length);
    }
}
