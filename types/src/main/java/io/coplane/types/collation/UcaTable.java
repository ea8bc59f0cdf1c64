package io.coplane.types.collation;

/**
 * Primaries by code point. An entry is 0 (ignorable), a single primary, or minus the place of a list in a pool whose last element is marked. Code
 * points beyond the table have a rule. Immutable.
 */
final class UcaTable {
    /** Marks the last primary of a list in the pool. */
    static final int LAST = 1 << 16;

    private static final int IMPLICIT = 0x8000;

    private final int[] entries;
    private final int[] pool;
    private final int beyond;

    /**
     * @param entries by code point; taken over
     * @param pool lists, from place 1 on; taken over
     * @param beyond entry of all code points beyond the table, or 0 if they get two implicit primaries each
     */
    UcaTable(int[] entries, int[] pool, int beyond) {
        this.entries = entries;
        this.pool = pool;
        this.beyond = beyond;
    }

    /** Entry of a code point: 0, a primary, or minus a place. */
    int entry(int codePoint) {
        if (codePoint < entries.length) {
            return entries[codePoint];
        }
        // beyond the table: a place that pooled() and endsAt() compute from
        return beyond != 0 ? beyond : -implicitPlace(codePoint);
    }

    /** Primary at a place. */
    int pooled(int place) {
        if (place < pool.length) {
            return pool[place] & 0xffff;
        }
        int codePoint = place - pool.length >> 1;
        return (place - pool.length & 1) == 0 ? 0xfbc0 + (codePoint >> 15) : codePoint & 0x7fff | IMPLICIT;
    }

    /** True if the list ends at this place. */
    boolean endsAt(int place) {
        return place < pool.length ? (pool[place] & LAST) != 0 : (place - pool.length & 1) != 0;
    }

    private int implicitPlace(int codePoint) {
        return pool.length + 2 * codePoint;
    }

    /** Code points in the table. */
    int codePoints() {
        return entries.length;
    }

    /** Number of primaries of a code point. */
    int primaryCount(int codePoint) {
        int entry = entry(codePoint);
        if (entry >= 0) {
            return entry == 0 ? 0 : 1;
        }
        int place = -entry;
        while (!endsAt(place)) {
            place++;
        }
        return place + entry + 1;
    }

    /** One primary of a code point; {@code index < primaryCount(codePoint)}. */
    int primary(int codePoint, int index) {
        int entry = entry(codePoint);
        return entry > 0 ? entry : pooled(-entry + index);
    }
}
