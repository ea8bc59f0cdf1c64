package io.coplane.cop.kernel;

import io.coplane.types.codec.RowV2View;
import java.util.Arrays;

/**
 * Finds the wanted columns in rows of format v2 (coprocessor.md 4.6). Rows of a table mostly have the same columns, so the places found in one row
 * are kept with the bytes that decide them (flags, counts, ids), and a row with the same bytes needs no search. One thread.
 */
public final class RowV2Layout {
    /** What {@link #place} says about a column that is NULL. */
    public static final int NULL = -1;
    /** What {@link #place} says about a column that the row does not have. */
    public static final int MISSING = -2;

    private static final int FLAGS_AT = 1;
    private static final int IDS_AT = 6;
    private static final int BIG = 1;
    private static final int WITH_CHECKSUM = 2;

    private final long[] ids;
    private final int[] places;
    private final RowV2View view = new RowV2View();
    private byte[] head = new byte[32];
    /** Bytes of flags, counts and ids; 0 = nothing is kept. */
    private int headBytes;

    private int columns;
    private boolean big;

    private byte[] bytes;
    private int endsAt;
    private int valuesAt;
    private int valuesLength;
    private int cellStart;

    /** @param ids columns to find */
    public RowV2Layout(long[] ids) {
        this.ids = ids.clone();
        places = new int[ids.length];
    }

    /**
     * Takes one row.
     *
     * @throws io.coplane.nativecache.CoplaneException CORRUPT_ROW if its parts do not fit into {@code length}
     */
    public void wrap(byte[] rowBytes, int offset, int length) {
        bytes = rowBytes;
        int from = offset + FLAGS_AT;
        if (headBytes == 0
                || length < FLAGS_AT + headBytes
                || !Arrays.equals(head, 0, headBytes, rowBytes, from, from + headBytes)) {
            search(rowBytes, offset, length);
        }
        endsAt = from + headBytes;
        valuesAt = endsAt + columns * (big ? 4 : 2);
        valuesLength = offset + length - valuesAt;
        if (valuesLength < 0 || (rowBytes[from] & WITH_CHECKSUM) != 0) {
            view.wrap(rowBytes, offset, length); // judges the row, checksum included
            valuesLength = Math.max(0, valuesLength);
        }
    }

    private void search(byte[] rowBytes, int offset, int length) {
        headBytes = 0;
        view.wrap(rowBytes, offset, length);
        for (int i = 0; i < ids.length; i++) {
            int found = view.find(ids[i]);
            places[i] = found >= 0 ? view.foundPosition() : found == RowV2View.NULL ? NULL : MISSING;
        }
        columns = view.columnCount();
        big = (rowBytes[offset + FLAGS_AT] & BIG) != 0;
        int bytesOfHead = IDS_AT - FLAGS_AT + (columns + view.nullColumnCount()) * (big ? 4 : 1);
        if (bytesOfHead > head.length) {
            head = new byte[Math.max(bytesOfHead, 2 * head.length)];
        }
        System.arraycopy(rowBytes, offset + FLAGS_AT, head, 0, bytesOfHead);
        headBytes = bytesOfHead;
    }

    /** Where the {@code i}-th wanted column is among the columns of the row, or {@link #NULL} or {@link #MISSING}. */
    public int place(int i) {
        return places[i];
    }

    /**
     * Bytes of the value at a place; it starts at {@link #cellStart()}.
     *
     * @return -1 if it does not lie inside of the row
     */
    public int cell(int place) {
        int start = place == 0 ? 0 : end(place - 1);
        int end = end(place);
        if (start > end || end > valuesLength || start < 0) {
            return -1;
        }
        cellStart = valuesAt + start;
        return end - start;
    }

    private int end(int place) {
        return big
                ? HeapWords.intAt(bytes, endsAt + 4 * place)
                : bytes[endsAt + 2 * place] & 0xff | (bytes[endsAt + 2 * place + 1] & 0xff) << 8;
    }

    /** Where the value found last starts in the row's bytes. */
    public int cellStart() {
        return cellStart;
    }
}
