package io.coplane.cop.kernel;

import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.DecimalColumn;
import io.coplane.types.column.DoubleColumn;
import io.coplane.types.column.LongColumn;
import io.coplane.types.decimal.DecimalColumns;
import java.util.Arrays;

/**
 * Numbers the distinct keys of a column in the order they come. Open addressing with linear probing over group numbers; each group's hash is kept,
 * so that a probe looks at the key itself only when it is almost surely equal. NULL is one key. One thread.
 */
public final class HashGroups {
    private static final int INITIAL_SLOTS = 64;
    private static final long MIX = 0x9e37_79b9_7f4a_7c15L;

    private final KeyKind kind;
    private final Column keys;
    private final DecimalColumns.Scratch scratch = new DecimalColumns.Scratch();
    /** Group number + 1, 0 = free; a power of two of them, at most half in use. */
    private int[] slots = new int[INITIAL_SLOTS];

    private int[] groupHashes = new int[INITIAL_SLOTS / 2];
    private int groups;
    private int nullGroup = -1;
    private int[] hashes = new int[0];
    private int[] newRows = new int[0];
    private int newCount;

    /**
     * @param kind how keys compare: those equal under it are one
     * @param keys an empty growing column for the keys
     */
    public HashGroups(KeyKind kind, Column keys) {
        this.kind = kind;
        this.keys = keys;
    }

    /** Groups so far. */
    public int groups() {
        return groups;
    }

    /** The key of each group, as compared; borrowed. */
    public Column keys() {
        return keys;
    }

    /** Rows of the last batch that began a group, ascending; borrowed. */
    public int[] newRows() {
        return newRows;
    }

    /** How many rows of the last batch began a group. */
    public int newCount() {
        return newCount;
    }

    /**
     * Finds the group of every row, making new ones.
     *
     * @param groupOf at least {@code rows} long; filled
     */
    public void assign(Column column, int rows, int[] groupOf) {
        if (rows > hashes.length) {
            hashes = new int[Math.max(rows, 2 * hashes.length)];
            newRows = new int[hashes.length];
        }
        newCount = 0;
        ensureRoom(rows);
        hash(column, rows);
        boolean nulls = column.mayHaveNulls();
        if (column instanceof LongColumn longs && !nulls) {
            assignLongs(longs, rows, groupOf);
            return;
        }
        for (int row = 0; row < rows; row++) {
            groupOf[row] = nulls && column.isNull(row) ? nullGroup(column, row) : find(column, row);
        }
    }

    private void assignLongs(LongColumn column, int rows, int[] groupOf) {
        long[] values = column.values();
        LongColumn known = (LongColumn) keys;
        int shift = kind == KeyKind.TIME ? 4 : 0;
        int mask = slots.length - 1;
        for (int row = 0; row < rows; row++) {
            long value = values[row] >>> shift;
            int slot = hashes[row] & mask;
            int found;
            while ((found = slots[slot]) != 0 && known.values()[found - 1] >>> shift != value) {
                slot = slot + 1 & mask;
            }
            groupOf[row] = found != 0 ? found - 1 : add(column, row, slot);
        }
    }

    private int find(Column column, int row) {
        int mask = slots.length - 1;
        int hash = hashes[row];
        int slot = hash & mask;
        while (true) {
            int found = slots[slot];
            if (found == 0) {
                return add(column, row, slot);
            }
            int group = found - 1;
            if (groupHashes[group] == hash && kind.compare(column, row, keys, group) == 0) {
                return group;
            }
            slot = slot + 1 & mask;
        }
    }

    private int add(Column column, int row, int slot) {
        slots[slot] = groups + 1;
        groupHashes[groups] = hashes[row];
        return append(column, row);
    }

    private int append(Column column, int row) {
        ColumnRows.appendRow(column, row, keys);
        newRows[newCount++] = row;
        return groups++;
    }

    private int nullGroup(Column column, int row) {
        if (nullGroup < 0) {
            groupHashes[groups] = 0;
            nullGroup = append(column, row);
        }
        return nullGroup;
    }

    /** Room for as many new groups as there are rows. */
    private void ensureRoom(int rows) {
        int needed = groups + rows;
        if (needed > groupHashes.length) {
            groupHashes = Arrays.copyOf(groupHashes, Math.max(needed, 2 * groupHashes.length));
        }
        if (2L * needed > slots.length) {
            int capacity = slots.length;
            while (2L * needed > capacity) {
                capacity <<= 1;
            }
            int[] larger = new int[capacity];
            for (int group = 0; group < groups; group++) {
                if (group != nullGroup) {
                    int slot = groupHashes[group] & capacity - 1;
                    while (larger[slot] != 0) {
                        slot = slot + 1 & capacity - 1;
                    }
                    larger[slot] = group + 1;
                }
            }
            slots = larger;
        }
    }

    private void hash(Column column, int rows) {
        switch (column) {
            case LongColumn longs -> {
                long[] values = longs.values();
                int shift = kind == KeyKind.TIME ? 4 : 0;
                for (int row = 0; row < rows; row++) {
                    hashes[row] = mix(values[row] >>> shift);
                }
            }
            case DoubleColumn doubles -> {
                double[] values = doubles.values();
                for (int row = 0; row < rows; row++) {
                    hashes[row] = mix(Double.doubleToRawLongBits(values[row] + 0.0));
                }
            }
            case DecimalColumn decimals -> {
                for (int row = 0; row < rows; row++) {
                    hashes[row] = decimals.isNull(row) ? 0 : mix(DecimalColumns.numericHash(decimals, row, scratch));
                }
            }
            case BytesColumn bytes -> {
                for (int row = 0; row < rows; row++) {
                    hashes[row] = bytes.isNull(row) ? 0 : hash(bytes.data(), bytes.starts()[row], bytes.lengths()[row]);
                }
            }
        }
    }

    private static int mix(long value) {
        long hash = value * MIX;
        return (int) (hash >>> 32 ^ hash >>> 52);
    }

    private static int hash(byte[] data, int start, int length) {
        long hash = length * MIX;
        int at = start;
        int left = length;
        for (; left >= Long.BYTES; left -= Long.BYTES, at += Long.BYTES) {
            hash = (hash ^ HeapWords.longAt(data, at)) * MIX;
            hash ^= hash >>> 29;
        }
        long tail = 0;
        for (; left > 0; left--) {
            tail = tail << 8 | data[at++] & 0xff;
        }
        hash = (hash ^ tail) * MIX;
        return (int) (hash >>> 32 ^ hash >>> 51);
    }

    /** Heap bytes of table and keys. */
    public long heapBytes() {
        return keys.heapBytes()
                + (long) (slots.length + groupHashes.length + hashes.length + newRows.length) * Integer.BYTES;
    }
}
