package io.coplane.types.json;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Reads binary JSON in place.
 *
 * <pre>
 * container: u32 count | u32 bytes | keys: (u32 offset, u16 length) x count, objects only | values: (u8 type, u32 offset) x count | key bytes | values
 * offsets count from the container's start; a literal stands in its offset field; all integers little-endian
 * </pre>
 */
public final class JsonDocs {
    public static final int OBJECT = 0x01;
    public static final int ARRAY = 0x03;
    public static final int LITERAL = 0x04;
    public static final int I64 = 0x09;
    public static final int U64 = 0x0a;
    public static final int DOUBLE = 0x0b;
    public static final int STRING = 0x0c;
    public static final int OPAQUE = 0x0d;
    public static final int DATE = 0x0e;
    public static final int DATETIME = 0x0f;
    public static final int TIMESTAMP = 0x10;
    public static final int TIME = 0x11;

    public static final int NULL_LITERAL = 0;
    public static final int TRUE_LITERAL = 1;
    public static final int FALSE_LITERAL = 2;

    /** A {@code ref} that stands for no value. */
    public static final long NONE = -1;

    static final int HEADER_BYTES = 8;
    static final int KEY_ENTRY_BYTES = 6;
    static final int VALUE_ENTRY_BYTES = 5;
    static final int TIME_BYTES = 12;

    /** Deepest nesting that is read; text is parsed to 128 levels, functions may add some. */
    private static final int MOST_LEVELS = 1024;

    private static final VarHandle LE_SHORT =
            MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LE_INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LE_LONG =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private JsonDocs() {}

    /**
     * Validates a whole document: every offset and length stays inside it, containers do not overlap, keys are sorted.
     *
     * @param start offset of the type byte
     * @param length bytes of the document, type byte included; bytes behind the value are ignored
     * @return the ref of its value
     * @throws CoplaneException CORRUPT_VALUE, naming the offset
     */
    public static long root(byte[] data, int start, int length) {
        if (length < 1) {
            throw corrupt("JSON is empty", start);
        }
        int type = data[start] & 0xff;
        check(data, type, start + 1, start + length, MOST_LEVELS);
        return ref(type, start + 1);
    }

    /** Joins type and offset. */
    static long ref(int type, int at) {
        return (long) type << 32 | at;
    }

    /** Type code of a value. */
    public static int type(long ref) {
        return (int) (ref >>> 32);
    }

    /** Offset of a value, behind its type byte. */
    public static int at(long ref) {
        return (int) ref;
    }

    /** True for objects and arrays. */
    public static boolean isContainer(long ref) {
        return type(ref) == OBJECT || type(ref) == ARRAY;
    }

    /** Members of an object, elements of an array. */
    public static int count(byte[] data, long ref) {
        return intAt(data, at(ref));
    }

    /** Value number {@code index} of a container. */
    public static long element(byte[] data, long ref, int index) {
        int container = at(ref);
        int entry = container + valueEntry(type(ref), intAt(data, container), index);
        int type = data[entry] & 0xff;
        return ref(type, type == LITERAL ? entry + 1 : container + intAt(data, entry + 1));
    }

    /** Where the key of member {@code index} starts. */
    public static int keyStart(byte[] data, long object, int index) {
        int container = at(object);
        return container + intAt(data, container + HEADER_BYTES + index * KEY_ENTRY_BYTES);
    }

    /** Bytes of the key of member {@code index}. */
    public static int keyLength(byte[] data, long object, int index) {
        return shortAt(data, at(object) + HEADER_BYTES + index * KEY_ENTRY_BYTES + Integer.BYTES);
    }

    /** Index of the member with this key, or -1. */
    public static int findKey(byte[] data, long object, byte[] key, int keyAt, int keyBytes) {
        int low = 0;
        int high = count(data, object) - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            int start = keyStart(data, object, middle);
            int order = Arrays.compareUnsigned(
                    data, start, start + keyLength(data, object, middle), key, keyAt, keyAt + keyBytes);
            if (order == 0) {
                return middle;
            }
            if (order < 0) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return -1;
    }

    /** The literal's byte: {@link #NULL_LITERAL}, {@link #TRUE_LITERAL} or {@link #FALSE_LITERAL}. */
    public static int literal(byte[] data, long ref) {
        return data[at(ref)];
    }

    /** True for the JSON value {@code null}. */
    public static boolean isNull(byte[] data, long ref) {
        return type(ref) == LITERAL && literal(data, ref) == NULL_LITERAL;
    }

    /** The 64 bits of an I64, U64 or time core; a Time's nanoseconds. */
    public static long bits(byte[] data, long ref) {
        return longAt(data, at(ref));
    }

    /** Value of a Double. */
    public static double doubleValue(byte[] data, long ref) {
        return Double.longBitsToDouble(bits(data, ref));
    }

    /** Type code of an Opaque value's MySQL type. */
    public static int opaqueType(byte[] data, long ref) {
        return data[at(ref)] & 0xff;
    }

    /** Where the bytes of a String or Opaque start. */
    public static int bytesStart(byte[] data, long ref) {
        int at = at(ref) + (type(ref) == OPAQUE ? 1 : 0);
        while (data[at] < 0) {
            at++;
        }
        return at + 1;
    }

    /** How many bytes a String or Opaque has. */
    public static int bytesLength(byte[] data, long ref) {
        int at = at(ref) + (type(ref) == OPAQUE ? 1 : 0);
        int length = 0;
        for (int shift = 0; ; shift += 7) {
            byte group = data[at++];
            length |= (group & 0x7f) << shift;
            if (group >= 0) {
                return length;
            }
        }
    }

    /** Bytes of a value, without its type byte. */
    public static int valueLength(byte[] data, long ref) {
        return switch (type(ref)) {
            case OBJECT, ARRAY -> intAt(data, at(ref) + Integer.BYTES);
            case LITERAL -> 1;
            case I64, U64, DOUBLE, DATE, DATETIME, TIMESTAMP -> Long.BYTES;
            case TIME -> TIME_BYTES;
            case STRING, OPAQUE -> bytesStart(data, ref) + bytesLength(data, ref) - at(ref);
            default -> throw corrupt("unknown JSON type " + type(ref), at(ref));
        };
    }

    static int valueEntry(int type, int count, int index) {
        return HEADER_BYTES + (type == OBJECT ? count * KEY_ENTRY_BYTES : 0) + index * VALUE_ENTRY_BYTES;
    }

    static int intAt(byte[] data, int at) {
        return (int) LE_INT.get(data, at);
    }

    static int shortAt(byte[] data, int at) {
        return (short) LE_SHORT.get(data, at) & 0xffff;
    }

    static long longAt(byte[] data, int at) {
        return (long) LE_LONG.get(data, at);
    }

    static void putInt(byte[] data, int at, int value) {
        LE_INT.set(data, at, value);
    }

    static void putShort(byte[] data, int at, int value) {
        LE_SHORT.set(data, at, (short) value);
    }

    static void putLong(byte[] data, int at, long value) {
        LE_LONG.set(data, at, value);
    }

    /** Checks one value that must lie in {@code at .. end - 1}. */
    private static int check(byte[] data, int type, int at, int end, int levels) {
        return switch (type) {
            case OBJECT, ARRAY -> checkContainer(data, type, at, end, levels);
            case LITERAL -> {
                int last = room(at, 1, end);
                if (data[at] < NULL_LITERAL || data[at] > FALSE_LITERAL) {
                    throw corrupt("unknown JSON literal " + data[at], at);
                }
                yield last;
            }
            case I64, U64, DOUBLE, DATE, DATETIME, TIMESTAMP -> room(at, Long.BYTES, end);
            case TIME -> room(at, TIME_BYTES, end);
            case STRING -> checkBytes(data, at, end);
            case OPAQUE -> checkBytes(data, room(at, 1, end), end);
            default -> throw corrupt("unknown JSON type " + type, at);
        };
    }

    private static int checkContainer(byte[] data, int type, int at, int end, int levels) {
        room(at, HEADER_BYTES, end);
        if (levels == 0) {
            throw corrupt("JSON is nested too deeply", at);
        }
        int count = intAt(data, at);
        int bytes = intAt(data, at + Integer.BYTES);
        int perEntry = VALUE_ENTRY_BYTES + (type == OBJECT ? KEY_ENTRY_BYTES : 0);
        if (bytes < HEADER_BYTES || bytes > end - at || count < 0 || count > (bytes - HEADER_BYTES) / perEntry) {
            throw corrupt("JSON container is longer than its bytes", at);
        }
        int last = at + bytes;
        int valuesFrom = HEADER_BYTES + count * perEntry;
        if (type == OBJECT) {
            valuesFrom = checkKeys(data, at, last, count, valuesFrom);
        }
        int next = at + valuesFrom;
        for (int i = 0; i < count; i++) {
            int entry = at + valueEntry(type, count, i);
            int child = data[entry] & 0xff;
            if (child == LITERAL) {
                check(data, LITERAL, entry + 1, last, levels - 1);
                continue;
            }
            int offset = intAt(data, entry + 1);
            if (offset < 0 || offset > bytes || at + offset < next) {
                throw corrupt("JSON value lies outside its container", entry);
            }
            next = check(data, child, at + offset, last, levels - 1);
        }
        return last;
    }

    /** @return where values may start, from the container's start */
    private static int checkKeys(byte[] data, int at, int last, int count, int keysFrom) {
        int next = keysFrom;
        for (int i = 0; i < count; i++) {
            int entry = at + HEADER_BYTES + i * KEY_ENTRY_BYTES;
            int offset = intAt(data, entry);
            int length = shortAt(data, entry + Integer.BYTES);
            if (offset < next || offset > last - at || length > last - at - offset) {
                throw corrupt("JSON key lies outside its object", entry);
            }
            if (i > 0) {
                int before = at + intAt(data, entry - KEY_ENTRY_BYTES);
                int beforeEnd = before + shortAt(data, entry - KEY_ENTRY_BYTES + Integer.BYTES);
                if (Arrays.compareUnsigned(data, before, beforeEnd, data, at + offset, at + offset + length) >= 0) {
                    throw corrupt("JSON keys are not sorted", entry);
                }
            }
            next = offset + length;
        }
        return next;
    }

    private static int checkBytes(byte[] data, int at, int end) {
        long length = 0;
        int next = at;
        for (int shift = 0; ; shift += 7) {
            room(next, 1, end);
            byte group = data[next++];
            if (shift > 28) {
                throw corrupt("JSON length is too long", at);
            }
            length |= (long) (group & 0x7f) << shift;
            if (group >= 0) {
                break;
            }
        }
        if (length > end - next) {
            throw corrupt("JSON string is longer than its bytes", at);
        }
        return next + (int) length;
    }

    private static int room(int at, int bytes, int end) {
        if (bytes > end - at) {
            throw corrupt("JSON ends early", at);
        }
        return at + bytes;
    }

    static CoplaneException corrupt(String what, int at) {
        return new CoplaneException(ErrorCode.CORRUPT_VALUE, what + ": offset=" + at);
    }
}
