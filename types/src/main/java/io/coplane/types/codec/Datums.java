package io.coplane.types.codec;

import io.coplane.types.ByteSink;
import io.coplane.types.decimal.DecimalBinary;

/**
 * Datums: a flag byte and a payload (coprocessor.md 4.4).
 *
 * <pre>
 * flag  name            payload
 *  00   NIL             none
 *  01   BYTES           memcomparable bytes
 *  02   COMPACT_BYTES   varint i64 length, bytes
 *  03   INT             memcomparable i64
 *  04   UINT            u64 big-endian
 *  05   FLOAT           memcomparable f64
 *  06   DECIMAL         precision, fraction digits, binary
 *  07   DURATION        memcomparable i64 nanoseconds
 *  08   VAR_INT         varint i64
 *  09   VAR_UINT        varint u64
 *  0a   JSON            type byte, value
 *  14   VECTOR_FLOAT32  u32 little-endian count, floats
 *  fa   MAX             upper bounds only; neither split nor decoded
 * </pre>
 */
public final class Datums {
    public static final int NIL = 0;
    public static final int BYTES = 1;
    public static final int COMPACT_BYTES = 2;
    public static final int INT = 3;
    public static final int UINT = 4;
    public static final int FLOAT = 5;
    public static final int DECIMAL = 6;
    public static final int DURATION = 7;
    public static final int VAR_INT = 8;
    public static final int VAR_UINT = 9;
    public static final int JSON = 10;
    public static final int VECTOR_FLOAT32 = 20;
    public static final int MAX = 250;

    private static final int JSON_OBJECT = 0x01;
    private static final int JSON_ARRAY = 0x03;
    private static final int JSON_LITERAL = 0x04;
    private static final int JSON_I64 = 0x09;
    private static final int JSON_U64 = 0x0a;
    private static final int JSON_DOUBLE = 0x0b;
    private static final int JSON_STRING = 0x0c;
    private static final int JSON_OPAQUE = 0x0d;
    private static final int JSON_DATE = 0x0e;
    private static final int JSON_DATE_TIME = 0x0f;
    private static final int JSON_TIMESTAMP = 0x10;
    private static final int JSON_TIME = 0x11;

    private Datums() {}

    /**
     * Where the datum that starts at {@code at} ends.
     *
     * @param end where the data ends
     * @return greater than {@code at}, at most {@code end}
     * @throws io.coplane.nativecache.CoplaneException CORRUPT_DATUM for an unknown flag or missing bytes
     */
    public static int skip(byte[] bytes, int at, int end) {
        if (at >= end) {
            throw Corrupt.tooShort(bytes, at, end);
        }
        int payload = at + 1;
        int flag = bytes[at] & 0xff;
        if ((flag == INT || flag == UINT) && end - payload >= Long.BYTES) {
            return payload + Long.BYTES; // what most keys are made of
        }
        long length = switch (flag) {
            case NIL -> 0;
            case INT, UINT, FLOAT, DURATION -> Long.BYTES;
            case BYTES -> Memcomparable.skipBytes(bytes, payload, end);
            case COMPACT_BYTES -> compactBytes(bytes, payload, end);
            case VAR_INT, VAR_UINT -> orMissing(Varints.length(bytes, payload, end));
            case DECIMAL -> DecimalBinary.lengthOrMissing(bytes, payload, end);
            case JSON -> jsonBytes(bytes, payload, end);
            case VECTOR_FLOAT32 -> vectorBytes(bytes, payload, end);
            default -> throw Corrupt.datum("unsupported data type `" + flag + "`");
        };
        if (length < 0 || length > end - payload) {
            throw Corrupt.tooShort(bytes, at, end);
        }
        return payload + (int) length;
    }

    /**
     * Splits concatenated datums, for instance of a common handle or an index key.
     *
     * @param starts filled with where each starts; its length bounds how many are taken
     * @param lengths filled with their bytes, flag included
     * @param count how many are wanted; at most {@code starts.length}
     * @return where the last one ends
     * @throws io.coplane.nativecache.CoplaneException CORRUPT_DATUM if there are fewer or one is malformed
     */
    public static int split(byte[] bytes, int at, int end, int[] starts, int[] lengths, int count) {
        int next = at;
        for (int i = 0; i < count; i++) {
            if (next >= end) {
                throw Corrupt.datum(
                        "The " + i + "th slice are missing in the datum buffer: " + Corrupt.hex(bytes, at, end));
            }
            int start = next;
            next = skip(bytes, start, end);
            starts[i] = start;
            lengths[i] = next - start;
        }
        return next;
    }

    private static long orMissing(int length) {
        return length == 0 ? -1 : length;
    }

    /** Bytes of a varint length and what it counts, or -1. */
    static long compactBytes(byte[] bytes, int at, int end) {
        int prefix = Varints.length(bytes, at, end);
        if (prefix == 0) {
            return -1;
        }
        long count = Varints.getInt(bytes, at, prefix);
        return count < 0 || count > end - at - prefix ? -1 : prefix + count;
    }

    private static long varBytes(byte[] bytes, int at, int end, int before) {
        int prefix = Varints.length(bytes, at + before, end);
        if (prefix == 0) {
            return -1;
        }
        long count = Varints.getUint(bytes, at + before, prefix);
        return count < 0 || count > end - at ? -1 : before + prefix + count;
    }

    /**
     * Bytes of a JSON value: type byte and what its type says (coprocessor.md 4.10); what is inside a container is not looked at.
     *
     * @return may be more than there are; -1 if the bytes that say it are missing
     * @throws io.coplane.nativecache.CoplaneException CORRUPT_DATUM for an unknown type
     */
    public static long jsonBytes(byte[] bytes, int at, int end) {
        if (at >= end) {
            return -1;
        }
        int type = bytes[at] & 0xff;
        return switch (type) {
            case JSON_OBJECT, JSON_ARRAY -> end - at < 9 ? -1 : 1 + Math.max(8, Endian.unsignedIntLe(bytes, at + 5));
            case JSON_LITERAL -> 2;
            case JSON_I64, JSON_U64, JSON_DOUBLE, JSON_DATE, JSON_DATE_TIME, JSON_TIMESTAMP -> 9;
            case JSON_STRING -> varBytes(bytes, at, end, 1);
            case JSON_OPAQUE -> varBytes(bytes, at, end, 2);
            case JSON_TIME -> 13;
            default -> throw Corrupt.datum("unsupported JSON type: type=" + type);
        };
    }

    /** Bytes of a vector, which may be more than there are; -1 if the count is missing. */
    static long vectorBytes(byte[] bytes, int at, int end) {
        return end - at < Integer.BYTES ? -1 : Integer.BYTES + Float.BYTES * Endian.unsignedIntLe(bytes, at);
    }

    /** Appends NULL. */
    public static void putNull(ByteSink out) {
        out.putByte(NIL);
    }

    /** Appends a comparable i64. */
    public static void putInt(ByteSink out, long value) {
        putWord(out, INT, value ^ Long.MIN_VALUE);
    }

    /** Appends a comparable u64. */
    public static void putUint(ByteSink out, long value) {
        putWord(out, UINT, value);
    }

    /** Appends an f64. */
    public static void putDouble(ByteSink out, double value) {
        putWord(out, FLOAT, Memcomparable.doubleWord(value));
    }

    /** Appends a duration of {@code nanos} nanoseconds. */
    public static void putDuration(ByteSink out, long nanos) {
        putWord(out, DURATION, nanos ^ Long.MIN_VALUE);
    }

    private static void putWord(ByteSink out, int flag, long word) {
        out.ensure(1 + Long.BYTES);
        byte[] bytes = out.bytes();
        int at = out.length();
        bytes[at] = (byte) flag;
        Endian.putLongBe(bytes, at + 1, word);
        out.advance(1 + Long.BYTES);
    }

    /** Appends a varint i64. */
    public static void putVarInt(ByteSink out, long value) {
        out.putByte(VAR_INT);
        out.putVarInt(value);
    }

    /** Appends a varint u64. */
    public static void putVarUint(ByteSink out, long value) {
        out.putByte(VAR_UINT);
        out.putVarUint(value);
    }

    /** Appends comparable bytes. */
    public static void putBytes(ByteSink out, byte[] source, int offset, int length) {
        out.putByte(BYTES);
        Memcomparable.putBytes(out, source, offset, length);
    }

    /** Appends compact bytes. */
    public static void putCompactBytes(ByteSink out, byte[] source, int offset, int length) {
        out.ensure(1 + Varints.MAX_BYTES + length);
        byte[] bytes = out.bytes();
        int start = out.length();
        int at = start;
        bytes[at++] = COMPACT_BYTES;
        long rest = (long) length << 1; // zig-zag
        for (; rest > 0x7f; rest >>>= 7) {
            bytes[at++] = (byte) (rest & 0x7f | 0x80);
        }
        bytes[at++] = (byte) rest;
        System.arraycopy(source, offset, bytes, at, length);
        out.advance(at + length - start);
    }

    /** Appends a payload that is already encoded behind its flag: JSON, vector, decimal. */
    public static void putVerbatim(ByteSink out, int flag, byte[] source, int offset, int length) {
        out.ensure(1 + length);
        out.putByte(flag);
        out.put(source, offset, length);
    }
}
