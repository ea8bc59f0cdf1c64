package io.coplane.cop.expr.kernel;

/** A set of 64-bit patterns with one mark each: open addressing, built at compile time, read only afterwards. */
final class LongTable {
    /** Answer of {@link #find} for a pattern that is not in the set. */
    static final byte ABSENT = 0;

    private final long[] keys;
    private final byte[] marks;
    private final int mask;

    /** @param count most patterns that will be added */
    LongTable(int count) {
        int capacity = Integer.highestOneBit(Math.max(4, count)) << 2;
        keys = new long[capacity];
        marks = new byte[capacity];
        mask = capacity - 1;
    }

    /** Adds a pattern unless it is there; the first mark stays. @param mark not {@link #ABSENT} */
    void add(long key, byte mark) {
        int slot = slot(key);
        while (marks[slot] != ABSENT) {
            if (keys[slot] == key) {
                return;
            }
            slot = slot + 1 & mask;
        }
        keys[slot] = key;
        marks[slot] = mark;
    }

    /** The mark of a pattern. */
    byte find(long key) {
        int slot = slot(key);
        while (marks[slot] != ABSENT && keys[slot] != key) {
            slot = slot + 1 & mask;
        }
        return marks[slot];
    }

    private int slot(long key) {
        long hash = key * 0x9e3779b97f4a7c15L;
        return (int) (hash >>> 32) & mask;
    }
}
