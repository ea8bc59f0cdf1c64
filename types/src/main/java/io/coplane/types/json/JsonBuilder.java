package io.coplane.types.json;

import static io.coplane.types.json.JsonDocs.ARRAY;
import static io.coplane.types.json.JsonDocs.HEADER_BYTES;
import static io.coplane.types.json.JsonDocs.KEY_ENTRY_BYTES;
import static io.coplane.types.json.JsonDocs.LITERAL;
import static io.coplane.types.json.JsonDocs.OBJECT;
import static io.coplane.types.json.JsonDocs.VALUE_ENTRY_BYTES;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.types.column.BytesColumn;
import java.util.Arrays;

/**
 * Builds binary JSON. Values are pushed; {@link #endArray} and {@link #endObject} turn those pushed since a {@link #mark} into one container; the last
 * one left is the document. Reused from row to row, so that nothing is allocated once it has grown. One thread.
 */
public final class JsonBuilder {
    private static final int LONGEST_KEY = 0xffff;
    private static final int MOST_BYTES = 1 << 30;

    private byte[] data = new byte[256];
    private int used;
    private byte[] keys = new byte[64];
    private int keysUsed;

    private int count;
    private int[] starts = new int[16];
    private int[] lengths = new int[16];
    private byte[] types = new byte[16];
    private int[] keyStarts = new int[16];
    private int[] keyLengths = new int[16];
    private int[] order = new int[16];

    /** Forgets all values. */
    public void clear() {
        used = 0;
        keysUsed = 0;
        count = 0;
    }

    /** Values pushed so far: where a container starts. */
    public int mark() {
        return count;
    }

    /** Heap bytes held. */
    public long heapBytes() {
        return (long) data.length + keys.length + 21L * starts.length;
    }

    /** Pushes a literal: {@link JsonDocs#NULL_LITERAL} and so on. */
    public void pushLiteral(int literal) {
        push(LITERAL, 0);
        lengths[count - 1] = literal; // a literal has no bytes of its own here; its length field carries it
    }

    /** Pushes true or false. */
    public void pushBoolean(boolean value) {
        pushLiteral(value ? JsonDocs.TRUE_LITERAL : JsonDocs.FALSE_LITERAL);
    }

    /** Pushes an eight-byte value: I64, U64, Double bits or a time core. */
    public void pushBits(int type, long bits) {
        JsonDocs.putLong(data, push(type, Long.BYTES), bits);
    }

    /** Pushes a Time. */
    public void pushDuration(long nanos, int fsp) {
        int at = push(JsonDocs.TIME, JsonDocs.TIME_BYTES);
        JsonDocs.putLong(data, at, nanos);
        JsonDocs.putInt(data, at + Long.BYTES, fsp);
    }

    /** Pushes a String; the bytes are UTF-8. */
    public void pushString(byte[] source, int offset, int length) {
        int prefix = varintBytes(length);
        int at = push(JsonDocs.STRING, Math.addExact(prefix, length));
        putVarint(at, length);
        System.arraycopy(source, offset, data, at + prefix, length);
    }

    /**
     * Pushes an Opaque.
     *
     * @param paddedLength bytes of the value: more than {@code length} pads with zeros, fewer cuts
     */
    public void pushOpaque(int mysqlType, byte[] source, int offset, int length, int paddedLength) {
        int prefix = 1 + varintBytes(paddedLength);
        int at = push(JsonDocs.OPAQUE, Math.addExact(prefix, paddedLength));
        data[at] = (byte) mysqlType;
        putVarint(at + 1, paddedLength);
        int copied = Math.min(length, paddedLength);
        System.arraycopy(source, offset, data, at + prefix, copied);
        Arrays.fill(data, at + prefix + copied, at + prefix + paddedLength, (byte) 0);
    }

    /** Pushes a copy of a value of another document. */
    public void pushCopy(byte[] source, long ref) {
        int type = JsonDocs.type(ref);
        if (type == LITERAL) {
            pushLiteral(JsonDocs.literal(source, ref));
            return;
        }
        int length = JsonDocs.valueLength(source, ref);
        int at = push(type, length);
        System.arraycopy(source, JsonDocs.at(ref), data, at, length);
    }

    /** Gives the value pushed last a key, for {@link #endObject}. */
    public void key(byte[] source, int offset, int length) {
        if (length > LONGEST_KEY) {
            throw new CoplaneException(ErrorCode.EVALUATION, "JSON key is too long: bytes=" + length);
        }
        if (length > keys.length - keysUsed) {
            keys = Arrays.copyOf(keys, Math.max(keysUsed + length, 2 * keys.length));
        }
        System.arraycopy(source, offset, keys, keysUsed, length);
        keyStarts[count - 1] = keysUsed;
        keyLengths[count - 1] = length;
        keysUsed += length;
    }

    /** Makes the values pushed since {@code mark} one array. */
    public void endArray(int mark) {
        int elements = count - mark;
        for (int i = 0; i < elements; i++) {
            order(mark, i, i);
        }
        assemble(ARRAY, mark, elements);
    }

    /** Makes the values pushed since {@code mark}, each with a key, one object: sorted by key, of equal keys the last pushed stays. */
    public void endObject(int mark) {
        int members = 0;
        for (int child = mark; child < count; child++) {
            members = insertSorted(mark, members, child);
        }
        assemble(OBJECT, mark, members);
    }

    /**
     * Ends the document and appends it to a column's own buffer.
     *
     * @param out in owned mode; the row becomes the document
     */
    public void finish(BytesColumn out, int row) {
        if (count != 1) {
            throw new CoplaneException(ErrorCode.INVARIANT_BROKEN, "JSON builder holds values: count=" + count);
        }
        boolean literal = types[0] == LITERAL;
        int length = literal ? 1 : lengths[0];
        int at = out.reserve(1 + length);
        byte[] target = out.data();
        target[at] = types[0];
        if (literal) {
            target[at + 1] = (byte) lengths[0];
        } else {
            System.arraycopy(data, starts[0], target, at + 1, length);
        }
        out.setView(row, at, 1 + length);
        clear();
    }

    /** The bytes that values lie in; borrowed until the next push. */
    byte[] data() {
        return data;
    }

    /** The value pushed last; of a literal only the type is right. */
    long last() {
        return JsonDocs.ref(types[count - 1], starts[count - 1]);
    }

    private int insertSorted(int mark, int members, int child) {
        int low = 0;
        int high = members;
        while (low < high) {
            int middle = (low + high) >>> 1;
            int compared = compareKeys(orderAt(mark, middle), child);
            if (compared == 0) {
                order(mark, middle, child - mark);
                return members;
            }
            if (compared < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        System.arraycopy(order, mark + low, order, mark + low + 1, members - low);
        order(mark, low, child - mark);
        return members + 1;
    }

    private int compareKeys(int left, int right) {
        return Arrays.compareUnsigned(
                keys,
                keyStarts[left],
                keyStarts[left] + keyLengths[left],
                keys,
                keyStarts[right],
                keyStarts[right] + keyLengths[right]);
    }

    private void order(int mark, int position, int child) {
        order[mark + position] = child;
    }

    private int orderAt(int mark, int position) {
        return mark + order[mark + position];
    }

    /** Writes header, keys and values behind all bytes, then moves them down over the children. */
    private void assemble(int type, int mark, int members) {
        int keyBytes = 0;
        long total = HEADER_BYTES + (long) members * (VALUE_ENTRY_BYTES + (type == OBJECT ? KEY_ENTRY_BYTES : 0));
        for (int i = 0; i < members; i++) {
            int child = orderAt(mark, i);
            total += types[child] == LITERAL ? 0 : lengths[child];
            if (type == OBJECT) {
                total += keyLengths[child];
                keyBytes += keyLengths[child];
            }
        }
        int from = mark < count ? starts[mark] : used;
        int at = room(total);
        JsonDocs.putInt(data, at, members);
        JsonDocs.putInt(data, at + Integer.BYTES, (int) total);
        int keyOffset = JsonDocs.valueEntry(type, members, members);
        int valueOffset = keyOffset + keyBytes;
        for (int i = 0; i < members; i++) {
            int child = orderAt(mark, i);
            if (type == OBJECT) {
                keyOffset = putKey(at, i, child, keyOffset);
            }
            valueOffset = putValue(at, JsonDocs.valueEntry(type, members, i), child, valueOffset);
        }
        if (type == OBJECT && mark < count) {
            keysUsed = keyStarts[mark];
        }
        System.arraycopy(data, at, data, from, (int) total);
        used = from;
        count = mark;
        push(type, (int) total);
    }

    private int putKey(int at, int index, int child, int keyOffset) {
        int entry = at + HEADER_BYTES + index * KEY_ENTRY_BYTES;
        JsonDocs.putInt(data, entry, keyOffset);
        JsonDocs.putShort(data, entry + Integer.BYTES, keyLengths[child]);
        System.arraycopy(keys, keyStarts[child], data, at + keyOffset, keyLengths[child]);
        return keyOffset + keyLengths[child];
    }

    private int putValue(int at, int entryOffset, int child, int valueOffset) {
        int entry = at + entryOffset;
        data[entry] = types[child];
        if (types[child] == LITERAL) {
            JsonDocs.putInt(data, entry + 1, lengths[child]);
            return valueOffset;
        }
        JsonDocs.putInt(data, entry + 1, valueOffset);
        System.arraycopy(data, starts[child], data, at + valueOffset, lengths[child]);
        return valueOffset + lengths[child];
    }

    private int push(int type, int length) {
        if (count == starts.length) {
            int capacity = 2 * count;
            starts = Arrays.copyOf(starts, capacity);
            lengths = Arrays.copyOf(lengths, capacity);
            types = Arrays.copyOf(types, capacity);
            keyStarts = Arrays.copyOf(keyStarts, capacity);
            keyLengths = Arrays.copyOf(keyLengths, capacity);
            order = Arrays.copyOf(order, capacity + 1);
        }
        int at = room(length);
        starts[count] = at;
        lengths[count] = length;
        types[count] = (byte) type;
        keyStarts[count] = keysUsed;
        keyLengths[count] = 0;
        count++;
        used = at + length;
        return at;
    }

    private int room(long length) {
        long end = used + length;
        if (end > MOST_BYTES) {
            throw new CoplaneException(ErrorCode.MEMORY_LIMIT, "JSON document is too large: bytes=" + end);
        }
        if (end > data.length) {
            data = Arrays.copyOf(data, (int) Math.max(end, Math.min(MOST_BYTES, 2L * data.length)));
        }
        return used;
    }

    private void putVarint(int start, int value) {
        int at = start;
        int rest = value;
        while (rest > 0x7f) {
            data[at++] = (byte) (rest & 0x7f | 0x80);
            rest >>>= 7;
        }
        data[at] = (byte) rest;
    }

    private static int varintBytes(int value) {
        return value == 0 ? 1 : (38 - Integer.numberOfLeadingZeros(value)) / 7;
    }
}
