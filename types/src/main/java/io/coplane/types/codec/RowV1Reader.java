package io.coplane.types.codec;

/**
 * Reads a row value in format v1: pairs of a VAR_INT datum (column id) and a datum (value); the single byte 00 is the empty row
 * (coprocessor.md 4.5). Borrows the bytes it wraps; one thread.
 */
public final class RowV1Reader {
    private byte[] bytes;
    private int at;
    private int end;
    private long columnId;
    private int datumStart;

    /** Starts at the first pair. */
    public RowV1Reader wrap(byte[] bytes, int offset, int length) {
        this.bytes = bytes;
        end = offset + length;
        at = length == 1 && bytes[offset] == Datums.NIL ? end : offset;
        datumStart = at;
        return this;
    }

    /**
     * Moves to the next pair.
     *
     * @return false at the end
     * @throws io.coplane.nativecache.CoplaneException CORRUPT_ROW if no column id stands there, CORRUPT_DATUM for a malformed value
     */
    public boolean next() {
        if (at >= end) {
            return false;
        }
        if (bytes[at] != Datums.VAR_INT) {
            throw Corrupt.row("Unable to decode row: column id must be VAR_INT");
        }
        int idBytes = Varints.length(bytes, at + 1, end);
        if (idBytes == 0) {
            throw Corrupt.payload("var_i64");
        }
        columnId = Varints.getInt(bytes, at + 1, idBytes);
        datumStart = at + 1 + idBytes;
        at = Datums.skip(bytes, datumStart, end);
        return true;
    }

    /** Column id of this pair. */
    public long columnId() {
        return columnId;
    }

    /** Where the datum of this pair starts in the wrapped bytes. */
    public int datumStart() {
        return datumStart;
    }

    /** Bytes of the datum of this pair, flag included. */
    public int datumLength() {
        return at - datumStart;
    }
}
