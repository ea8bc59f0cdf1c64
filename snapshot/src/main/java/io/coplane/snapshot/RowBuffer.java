package io.coplane.snapshot;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * Rows of a scan in bulk: one growing heap array of bytes and, per row, where its key and its value lie in it. Reused between batches.
 *
 * <p>Owns its arrays; their capacity is charged to the guard until {@link #close()}. Arrays handed out are borrowed and are replaced when the
 * buffer grows: fetch them again after each fill. One thread.
 */
public final class RowBuffer implements AutoCloseable {
    private static final int MAX_BYTES = Integer.MAX_VALUE - 8;
    private static final int ARRAY_BYTES_PER_ROW = 4 * Integer.BYTES + Long.BYTES;

    private final MemoryGuard guard;
    private byte[] bytes = new byte[0];
    private int byteCount;
    private int[] keyStarts = new int[0];
    private int[] keyLengths = new int[0];
    private int[] valueStarts = new int[0];
    private int[] valueLengths = new int[0];
    private long[] commitTs = new long[0];
    private int rows;

    /** @param guard borrowed; must stay open until this buffer is closed */
    public RowBuffer(MemoryGuard guard) {
        this.guard = guard;
    }

    /** Keys and values of all rows; borrowed. */
    public byte[] bytes() {
        return bytes;
    }

    /** Bytes of {@link #bytes()} in use. */
    public int byteCount() {
        return byteCount;
    }

    /** Offset in {@link #bytes()} of each row's key: an outer raw key, with keyspace prefix if the shard has one. */
    public int[] keyStarts() {
        return keyStarts;
    }

    /** Bytes of each row's key. */
    public int[] keyLengths() {
        return keyLengths;
    }

    /** Offset in {@link #bytes()} of each row's value. */
    public int[] valueStarts() {
        return valueStarts;
    }

    /** Bytes of each row's value; at least 1, because deletes are no rows. */
    public int[] valueLengths() {
        return valueLengths;
    }

    /** Commit timestamp of each row's version; unsigned TSO. */
    public long[] commitTs() {
        return commitTs;
    }

    /** Rows in the buffer. */
    public int rows() {
        return rows;
    }

    /** Forgets all rows and keeps the capacity. */
    public void clear() {
        rows = 0;
        byteCount = 0;
    }

    /** Forgets the rows from number {@code kept} on; {@code kept} is at most {@link #rows()}. */
    public void truncate(int kept) {
        if (kept < 0 || kept > rows) {
            throw new CoplaneException(
                    ErrorCode.BAD_ARGUMENT, "rows to keep are out of bounds: kept=" + kept + " rows=" + rows);
        }
        if (kept < rows) {
            byteCount = keyStarts[kept];
            rows = kept;
        }
    }

    /**
     * Appends a row copied from heap arrays: for tools and tests.
     *
     * @throws io.coplane.nativecache.MemoryLimitException if the guard refuses; the rows before stay
     */
    public void append(byte[] key, byte[] value, long rowCommitTs) {
        int start = reserve((long) key.length + value.length);
        System.arraycopy(key, 0, bytes, start, key.length);
        System.arraycopy(value, 0, bytes, start + key.length, value.length);
        commit(key.length, value.length, rowCommitTs);
    }

    /** Appends a row: key = prefix + key bytes, value copied once from its segment. Hot: runs per row. */
    void append(
            byte[] prefix,
            int prefixLength,
            byte[] key,
            int keyLength,
            MemorySegment valueSegment,
            long valueOffset,
            int valueLength,
            long rowCommitTs) {
        int start = reserve((long) prefixLength + keyLength + valueLength);
        int outerKeyLength = prefixLength + keyLength;
        System.arraycopy(prefix, 0, bytes, start, prefixLength);
        System.arraycopy(key, 0, bytes, start + prefixLength, keyLength);
        MemorySegment.copy(
                valueSegment, ValueLayout.JAVA_BYTE, valueOffset, bytes, start + outerKeyLength, valueLength);
        commit(outerKeyLength, valueLength, rowCommitTs);
    }

    private int reserve(long more) {
        long needed = byteCount + more;
        if (needed > bytes.length) {
            growBytes(needed);
        }
        if (rows == keyStarts.length) {
            growRows();
        }
        return byteCount;
    }

    private void commit(int keyLength, int valueLength, long rowCommitTs) {
        int row = rows;
        keyStarts[row] = byteCount;
        keyLengths[row] = keyLength;
        valueStarts[row] = byteCount + keyLength;
        valueLengths[row] = valueLength;
        commitTs[row] = rowCommitTs;
        byteCount += keyLength + valueLength;
        rows = row + 1;
    }

    private void growBytes(long needed) {
        if (needed > MAX_BYTES) {
            throw new CoplaneException(
                    ErrorCode.MEMORY_LIMIT, "batch of rows is too large: bytes=" + needed + " maxBytes=" + MAX_BYTES);
        }
        int capacity = (int) Math.max(needed, Math.min(MAX_BYTES, 2L * bytes.length + 1024));
        // the old array lives until the copy is done
        guard.charge(capacity);
        byte[] larger;
        try {
            larger = Arrays.copyOf(bytes, capacity);
        } catch (OutOfMemoryError e) {
            guard.release(capacity);
            throw e;
        }
        guard.release(bytes.length);
        bytes = larger;
    }

    private void growRows() {
        int capacity = Math.max(32, 2 * keyStarts.length);
        guard.charge((long) (capacity - keyStarts.length) * ARRAY_BYTES_PER_ROW);
        keyStarts = Arrays.copyOf(keyStarts, capacity);
        keyLengths = Arrays.copyOf(keyLengths, capacity);
        valueStarts = Arrays.copyOf(valueStarts, capacity);
        valueLengths = Arrays.copyOf(valueLengths, capacity);
        commitTs = Arrays.copyOf(commitTs, capacity);
    }

    @Override
    public void close() {
        guard.release(bytes.length + (long) keyStarts.length * ARRAY_BYTES_PER_ROW);
        bytes = new byte[0];
        keyStarts = new int[0];
        keyLengths = new int[0];
        valueStarts = new int[0];
        valueLengths = new int[0];
        commitTs = new long[0];
        clear();
    }
}
