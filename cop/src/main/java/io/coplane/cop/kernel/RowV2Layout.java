package io.coplane.cop.kernel;

import io.coplane.types.codec.RawColumn;
import io.coplane.types.codec.RowV2View;
import java.util.Arrays;

/**
 * Finds the wanted columns in rows of format v2 (coprocessor.md 4.6). Rows of a table have few different sets of columns, so the places found in a
 * row are kept as a <em>form</em> with the bytes that decide them (flags, counts, ids), and a row that starts with the same bytes needs no search. One
 * thread.
 */
public final class RowV2Layout {
    /** What {@link #place} says about a column that is NULL. */
    public static final int NULL = -1;
    /** What {@link #place} says about a column that the row does not have. */
    public static final int MISSING = -2;
    /** What {@link #form} says about a row that must be read alone. */
    public static final int NONE = -1;

    private static final int FLAGS_AT = 1;
    private static final int IDS_AT = 6;
    private static final int BIG = 1;
    private static final int WITH_CHECKSUM = 2;
    private static final int MOST_FORMS = 8;

    private final long[] ids;
    private final RowV2View view = new RowV2View();
    private final Form[] forms = new Form[MOST_FORMS];
    private int formCount;
    private int nextReplaced;
    private int last = NONE; // form of the row before

    private byte[] bytes;
    private Form form;
    private int rowStart;
    private int valuesLength;
    private int cellStart;

    /** What rows that start with the same bytes have in common; offsets from the row's start. */
    private static final class Form {
        private byte[] head = new byte[32];
        private int headBytes;
        private final int[] places;
        private int endsAt;
        private int valuesAt;
        private boolean big;
        private boolean hasChecksum;
        private boolean lacksColumns;

        Form(int columns) {
            places = new int[columns];
        }

        boolean fits(byte[] rowBytes, int offset, int length) {
            int from = offset + FLAGS_AT;
            return length >= FLAGS_AT + headBytes
                    && Arrays.equals(head, 0, headBytes, rowBytes, from, from + headBytes);
        }

        int end(byte[] rowBytes, int start, int place) {
            int at = start + endsAt;
            return big
                    ? HeapWords.intAt(rowBytes, at + 4 * place)
                    : rowBytes[at + 2 * place] & 0xff | (rowBytes[at + 2 * place + 1] & 0xff) << 8;
        }
    }

    /** @param ids columns to find */
    public RowV2Layout(long[] ids) {
        this.ids = ids.clone();
    }

    /**
     * Takes one row.
     *
     * @throws io.coplane.nativecache.CoplaneException CORRUPT_ROW if its parts do not fit into {@code length}
     */
    public void wrap(byte[] rowBytes, int offset, int length) {
        bytes = rowBytes;
        rowStart = offset;
        int found = find(rowBytes, offset, length);
        if (found == NONE) {
            found = add(rowBytes, offset, length);
        }
        form = forms[found];
        valuesLength = length - form.valuesAt;
        if (valuesLength < 0 || form.hasChecksum) {
            view.wrap(rowBytes, offset, length); // judges the row, checksum included
            valuesLength = Math.max(0, valuesLength);
        }
    }

    private int find(byte[] rowBytes, int offset, int length) {
        if (last != NONE && forms[last].fits(rowBytes, offset, length)) {
            return last;
        }
        for (int i = 0; i < formCount; i++) {
            if (i != last && forms[i].fits(rowBytes, offset, length)) {
                last = i;
                return i;
            }
        }
        return NONE;
    }

    private int add(byte[] rowBytes, int offset, int length) {
        view.wrap(rowBytes, offset, length);
        int at;
        if (formCount < MOST_FORMS) {
            at = formCount++;
            forms[at] = new Form(ids.length);
        } else {
            at = nextReplaced++ % MOST_FORMS;
        }
        Form added = forms[at];
        added.lacksColumns = false;
        for (int i = 0; i < ids.length; i++) {
            int found = view.find(ids[i]);
            added.places[i] = found >= 0 ? view.foundPosition() : found == RowV2View.NULL ? NULL : MISSING;
            added.lacksColumns |= added.places[i] == MISSING;
        }
        int flags = rowBytes[offset + FLAGS_AT];
        added.big = (flags & BIG) != 0;
        added.hasChecksum = (flags & WITH_CHECKSUM) != 0;
        int columns = view.columnCount();
        int bytesOfHead = IDS_AT - FLAGS_AT + (columns + view.nullColumnCount()) * (added.big ? 4 : 1);
        if (bytesOfHead > added.head.length) {
            added.head = new byte[Math.max(bytesOfHead, 2 * added.head.length)];
        }
        System.arraycopy(rowBytes, offset + FLAGS_AT, added.head, 0, bytesOfHead);
        added.headBytes = bytesOfHead;
        added.endsAt = FLAGS_AT + bytesOfHead;
        added.valuesAt = added.endsAt + columns * (added.big ? 4 : 2);
        last = at;
        return at;
    }

    /** Where the {@code i}-th wanted column is among the columns of the row, or {@link #NULL} or {@link #MISSING}. */
    public int place(int i) {
        return form.places[i];
    }

    /**
     * Bytes of the value at a place; it starts at {@link #cellStart()}.
     *
     * @return -1 if it does not lie inside of the row
     */
    public int cell(int place) {
        int start = place == 0 ? 0 : form.end(bytes, rowStart, place - 1);
        int end = form.end(bytes, rowStart, place);
        if (start > end || end > valuesLength || start < 0) {
            return -1;
        }
        cellStart = rowStart + form.valuesAt + start;
        return end - start;
    }

    /** Where the value found last starts in the row's bytes. */
    public int cellStart() {
        return cellStart;
    }

    /**
     * The form of a row, for {@link #cells}; valid as long as only this method is called.
     *
     * @return {@link #NONE} if the row must be taken by {@link #wrap}: it has a checksum, is broken, or has a form too many
     */
    public int form(byte[] rowBytes, int offset, int length) {
        int found = find(rowBytes, offset, length);
        if (found == NONE) {
            if (formCount == MOST_FORMS) {
                return NONE;
            }
            found = add(rowBytes, offset, length);
        }
        return forms[found].hasChecksum || length < forms[found].valuesAt ? NONE : found;
    }

    /** Whether rows of a form lack wanted columns. */
    public boolean lacksColumns(int ofForm) {
        return forms[ofForm].lacksColumns;
    }

    /** {@link #place} in rows of a form. */
    public int place(int ofForm, int i) {
        return forms[ofForm].places[i];
    }

    /**
     * Splits one wanted column out of many rows. Hot: runs per row.
     *
     * @param formOf form of each row
     * @param oneForm true if all are the same
     * @param i the wanted column; no row lacks it
     * @param lengthMask bit n is set if a cell may have n bytes; 0 = any
     * @param starts filled
     * @param lengths filled; {@link RawColumn#NULL} for NULL
     * @return rows split: fewer than {@code rows} if the next one is broken
     */
    public int cells(
            byte[] rowBytes,
            int[] rowStarts,
            int[] rowLengths,
            int rows,
            int[] formOf,
            boolean oneForm,
            int i,
            int lengthMask,
            int[] starts,
            int[] lengths) {
        if (oneForm && !forms[formOf[0]].big) {
            Form only = forms[formOf[0]];
            return only.places[i] < 0
                    ? nulls(rows, starts, lengths)
                    : smallCells(
                            rowBytes, rowStarts, rowLengths, rows, only, only.places[i], lengthMask, starts, lengths);
        }
        for (int row = 0; row < rows; row++) {
            Form now = forms[formOf[row]];
            int place = now.places[i];
            if (place < 0) {
                starts[row] = 0;
                lengths[row] = RawColumn.NULL;
                continue;
            }
            int rowAt = rowStarts[row];
            int start = place == 0 ? 0 : now.end(rowBytes, rowAt, place - 1);
            int end = now.end(rowBytes, rowAt, place);
            if (start > end || start < 0 || end > rowLengths[row] - now.valuesAt || isBad(end - start, lengthMask)) {
                return row;
            }
            starts[row] = rowAt + now.valuesAt + start;
            lengths[row] = end - start;
        }
        return rows;
    }

    private static int nulls(int rows, int[] starts, int[] lengths) {
        Arrays.fill(starts, 0, rows, 0);
        Arrays.fill(lengths, 0, rows, RawColumn.NULL);
        return rows;
    }

    private static int smallCells(
            byte[] rowBytes,
            int[] rowStarts,
            int[] rowLengths,
            int rows,
            Form only,
            int place,
            int lengthMask,
            int[] starts,
            int[] lengths) {
        int valuesAt = only.valuesAt;
        int endAt = only.endsAt + 2 * place;
        for (int row = 0; row < rows; row++) {
            int rowAt = rowStarts[row];
            int start;
            int end;
            if (place == 0) {
                start = 0;
                end = rowBytes[rowAt + endAt] & 0xff | (rowBytes[rowAt + endAt + 1] & 0xff) << 8;
            } else {
                int ends = HeapWords.intAt(rowBytes, rowAt + endAt - 2); // of the column before, then of this one
                start = ends & 0xffff;
                end = ends >>> 16;
            }
            if (start > end || end > rowLengths[row] - valuesAt || isBad(end - start, lengthMask)) {
                return row;
            }
            starts[row] = rowAt + valuesAt + start;
            lengths[row] = end - start;
        }
        return rows;
    }

    private static boolean isBad(int length, int lengthMask) {
        return lengthMask != 0 && (length > Long.BYTES || (lengthMask >>> length & 1) == 0);
    }
}
