package io.coplane.types.codec;

import io.coplane.types.ByteSink;

/**
 * Keys of tables and indexes (coprocessor.md 4.3).
 *
 * <pre>
 * at  bytes  field
 *  0      1  't'
 *  1      8  table id, memcomparable i64
 *  9      2  "_r" row or "_i" index
 * 11      8  row: handle as memcomparable i64, or (from here to the end) the datums of a common handle; index: index id, memcomparable i64
 * 19      -  index: datums of the index columns, then the handle's datum(s) if the entry is not unique
 * </pre>
 */
public final class TableKeys {
    public static final int TABLE_ID_AT = 1;
    public static final int SEPARATOR_AT = TABLE_ID_AT + Long.BYTES;
    public static final int HANDLE_AT = SEPARATOR_AT + 2;
    public static final int INDEX_ID_AT = HANDLE_AT;
    public static final int INDEX_DATUMS_AT = INDEX_ID_AT + Long.BYTES;
    /** Bytes of a table's prefix. */
    public static final int TABLE_PREFIX_BYTES = SEPARATOR_AT;
    /** Bytes of a row key with an int handle. */
    public static final int ROW_KEY_BYTES = HANDLE_AT + Long.BYTES;

    private static final int RECORD_SEPARATOR = '_' << 8 | 'r';
    private static final int INDEX_SEPARATOR = '_' << 8 | 'i';

    private TableKeys() {}

    /** True if the key starts like a row key. */
    public static boolean isRecordKey(byte[] key, int at, int length) {
        return hasSeparator(key, at, length, RECORD_SEPARATOR);
    }

    /** True if the key starts like an index key; the index id may be cut. */
    public static boolean isIndexKey(byte[] key, int at, int length) {
        return hasSeparator(key, at, length, INDEX_SEPARATOR);
    }

    private static boolean hasSeparator(byte[] key, int at, int length, int separator) {
        return length >= HANDLE_AT && key[at] == 't' && Endian.unsignedShortBe(key, at + SEPARATOR_AT) == separator;
    }

    /** @throws io.coplane.nativecache.CoplaneException CORRUPT_KEY unless the key starts like a row key */
    public static void checkRecordKey(byte[] key, int at, int length) {
        checkTableKey(key, at, length);
        if (!isRecordKey(key, at, length)) {
            throw Corrupt.key("expected key sep type _r, but got key " + Corrupt.hex(key, at, at + length));
        }
    }

    /** @throws io.coplane.nativecache.CoplaneException CORRUPT_KEY unless the key has table id, {@code _i} and index id */
    public static void checkIndexKey(byte[] key, int at, int length) {
        checkTableKey(key, at, length);
        if (!isIndexKey(key, at, length)) {
            throw Corrupt.key("expected key sep type _i, but got key " + Corrupt.hex(key, at, at + length));
        }
        if (length < INDEX_DATUMS_AT) {
            throw Corrupt.key("index key is too short: key=" + Corrupt.hex(key, at, at + length));
        }
    }

    private static void checkTableKey(byte[] key, int at, int length) {
        if (length < HANDLE_AT || key[at] != 't') {
            throw Corrupt.key("record or index key expected, but got " + Corrupt.hex(key, at, at + length));
        }
    }

    /** Table id of a key. @throws io.coplane.nativecache.CoplaneException CORRUPT_KEY if it has fewer than 9 bytes or does not start with 't' */
    public static long tableId(byte[] key, int at, int length) {
        if (length < TABLE_PREFIX_BYTES || key[at] != 't') {
            throw Corrupt.key("table key expected, but got " + Corrupt.hex(key, at, at + length));
        }
        return Memcomparable.getLong(key, at + TABLE_ID_AT);
    }

    /** Int handle of a row key: bytes 11 .. 18. @throws io.coplane.nativecache.CoplaneException CORRUPT_KEY */
    public static long intHandle(byte[] key, int at, int length) {
        checkRecordKey(key, at, length);
        if (length < ROW_KEY_BYTES) {
            throw Corrupt.key("row key is too short for a handle: key=" + Corrupt.hex(key, at, at + length));
        }
        return Memcomparable.getLong(key, at + HANDLE_AT);
    }

    /**
     * Int handles of many row keys. Hot: runs per row.
     *
     * @param keys what {@code starts} and {@code lengths} point into
     * @param handles at least {@code rows} long; filled
     * @throws io.coplane.nativecache.CoplaneException CORRUPT_KEY for the first bad key; the rows before it are filled
     */
    public static void intHandles(byte[] keys, int[] starts, int[] lengths, int rows, long[] handles) {
        for (int row = 0; row < rows; row++) {
            handles[row] = intHandle(keys, starts[row], lengths[row]);
        }
    }

    /** Appends the prefix of a table's rows, 11 bytes. */
    public static void putRowPrefix(ByteSink out, long tableId) {
        out.putByte('t');
        Memcomparable.putLong(out, tableId);
        out.putByte('_');
        out.putByte('r');
    }

    /** Appends a row key with an int handle. */
    public static void putRowKey(ByteSink out, long tableId, long handle) {
        putRowPrefix(out, tableId);
        Memcomparable.putLong(out, handle);
    }

    /** Appends the prefix of an index, 19 bytes. */
    public static void putIndexPrefix(ByteSink out, long tableId, long indexId) {
        out.putByte('t');
        Memcomparable.putLong(out, tableId);
        out.putByte('_');
        out.putByte('i');
        Memcomparable.putLong(out, indexId);
    }
}
