package io.coplane.sst;

/** Bits of an entry's meta byte (sst.md 2.2). */
public final class ValueMeta {
    /** A tombstone. */
    public static final int DELETE = 0x01;
    /** An older version follows in the table. Kept by cursors: mask it before comparing or rewriting. */
    public static final int HAS_OLD_VERSION = 0x02;
    /** The value is a reference to a blob. */
    public static final int BLOB_REF = 0x04;

    private ValueMeta() {}
}
