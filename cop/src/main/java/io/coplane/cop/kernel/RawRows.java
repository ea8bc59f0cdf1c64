package io.coplane.cop.kernel;

import io.coplane.types.codec.RawColumn;

/** Moves undecoded values between columns. */
public final class RawRows {
    private RawRows() {}

    /**
     * Appends rows to a column that owns its bytes.
     *
     * @param rows row numbers in {@code from}
     * @param count how many of them
     */
    public static void append(RawColumn from, int[] rows, int count, RawColumn to) {
        to.ensureRows(to.rows() + count);
        byte[] data = from.data();
        int[] starts = from.starts();
        int[] lengths = from.lengths();
        for (int i = 0; i < count; i++) {
            int row = rows[i];
            int length = lengths[row];
            if (length >= 0) {
                to.copyCell(data, starts[row], length);
            } else if (length == RawColumn.NULL) {
                to.addNull();
            } else if (length == RawColumn.DEFAULT) {
                to.addDefault();
            } else {
                to.copyDatum(data, starts[row], RawColumn.datumLength(length));
            }
        }
    }
}
