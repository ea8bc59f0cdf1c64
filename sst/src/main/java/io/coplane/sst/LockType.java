package io.coplane.sst;

/** What a lock is going to do to its key: the first byte of its serialised form (snapshot.md 6.5). */
public enum LockType {
    /** Writes a value. */
    PUT('P'),
    /** Deletes the key. */
    DELETE('D'),
    /** Locks the key without writing it. */
    LOCK('L'),
    /** Locks the key before it is known what will be written. */
    PESSIMISTIC('S');

    private static final LockType[] ALL = values();

    private final byte mark;

    LockType(char mark) {
        this.mark = (byte) mark;
    }

    /** First byte of the lock. */
    public byte mark() {
        return mark;
    }

    /** The type with this mark; null if there is none. */
    static LockType of(byte mark) {
        for (LockType type : ALL) {
            if (type.mark == mark) {
                return type;
            }
        }
        return null;
    }
}
