package io.coplane.types.codec;

import io.coplane.types.ByteSink;
import io.coplane.types.FieldType;

/** Values of v2 rows as datums (coprocessor.md 4.6), where a single one is wanted; batches go through {@link ColumnDecoder}. */
public final class Cells {
    private Cells() {}

    /**
     * Appends the datum of a v2 cell of a column of the given type.
     *
     * @throws io.coplane.nativecache.CoplaneException CORRUPT_DATUM for an integer of a wrong length, UNSUPPORTED for types that rows don't have
     */
    public static void putDatum(FieldType type, byte[] data, int at, int length, ByteSink out) {
        CellKind.putDatum(CellKind.of(type), type, data, at, length, out);
    }

    /** The unsigned integer in a v2 cell of 1, 2, 4 or 8 bytes. @throws io.coplane.nativecache.CoplaneException CORRUPT_DATUM */
    public static long unsigned(byte[] data, int at, int length) {
        return CellKind.unsigned(data, at, length);
    }

    /** The signed integer in a v2 cell of 1, 2, 4 or 8 bytes. @throws io.coplane.nativecache.CoplaneException CORRUPT_DATUM */
    public static long signed(byte[] data, int at, int length) {
        return CellKind.signed(data, at, length);
    }
}
