package io.coplane.sst;

import java.util.Locale;

/** Column families of a shard in file order (sst.md 1). The ordinal is the number on the wire. */
public enum ColumnFamily {
    /** Committed rows; versions are commit timestamps. */
    WRITE(3),
    /** Locks; versions are snap versions. */
    LOCK(2),
    /** Op locks and rollbacks. */
    EXTRA(1);

    private final int levels;

    ColumnFamily(int levels) {
        this.levels = levels;
    }

    /** The number on the wire. */
    public int number() {
        return ordinal();
    }

    /** The reference's name: {@code write}, {@code lock}, {@code extra}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Number of levels below L0. */
    public int levels() {
        return levels;
    }
}
