package io.coplane.snapshot;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.memory.Layouts;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The rows part of {@code mem_data} in read order: inner key ascending, version descending (snapshot.md 2.2 to 2.4).
 *
 * <pre>
 * bytes  field       unit and bounds
 *     8  rowCount    at most (bytes of the part - 8) / 32
 * per row:
 *     8  keyBytes    k
 *     k  key         outer raw key
 *     8  startTs
 *     8  commitTs
 *     8  valueBytes  v
 *     v  value       empty = delete
 * </pre>
 *
 * Rows of overlapping ranges come twice and ranges in any order. As in the reference, a row that is not newer than what came before it for
 * its key is dropped.
 *
 * <p>Borrows the part; owns its index arrays, charged to the guard until {@link #close()}. One thread.
 */
final class MemRows implements AutoCloseable {
    private static final int MIN_ROW_BYTES = 4 * Long.BYTES;
    private static final int INDEX_BYTES_PER_ROW = Long.BYTES + 2 * Integer.BYTES;

    private final MemorySegment part;
    private final MemoryGuard guard;
    private final long chargedBytes;
    private long[] rowAt = {}; // where each row's keyBytes field lies, in order of arrival
    private int[] order; // row numbers in read order
    private int count; // of order in use

    private MemRows(MemorySegment part, MemoryGuard guard, int rowCount) {
        this.part = part;
        this.guard = guard;
        chargedBytes = (long) rowCount * INDEX_BYTES_PER_ROW;
        guard.charge(chargedBytes);
    }

    /**
     * Decodes and orders the rows.
     *
     * @param part borrowed; no bytes at all = no rows
     * @throws CoplaneException BAD_MEM_DATA if the part is malformed; MEMORY_LIMIT
     */
    static MemRows decode(MemorySegment part, MemoryGuard guard) {
        long total = part.byteSize();
        if (total == 0) {
            return new MemRows(part, guard, 0);
        }
        if (total < Long.BYTES) {
            throw malformed("no room for the row count", 0);
        }
        long rowCount = part.get(Layouts.LE_LONG, 0);
        if (Long.compareUnsigned(rowCount, Math.min(Integer.MAX_VALUE / 2, (total - Long.BYTES) / MIN_ROW_BYTES)) > 0) {
            throw malformed("more rows than bytes: rowCount=" + Long.toUnsignedString(rowCount), 0);
        }
        var rows = new MemRows(part, guard, (int) rowCount);
        try {
            rows.rowAt = new long[(int) rowCount];
            rows.index(total);
            rows.sort();
            rows.dropNotNewer();
            return rows;
        } catch (RuntimeException | OutOfMemoryError e) {
            rows.close();
            throw e;
        }
    }

    /** Rows kept. */
    int count() {
        return count;
    }

    /** The part that offsets refer to. */
    MemorySegment segment() {
        return part;
    }

    /** Offset of the inner key of the row at {@code index} in read order, 0 .. count() - 1. */
    long keyOffset(int index) {
        long at = rowAt[order[index]];
        return at + Long.BYTES + trimmed(at);
    }

    /** Bytes of the inner key. */
    int keyLength(int index) {
        long at = rowAt[order[index]];
        return keyBytes(at) - trimmed(at);
    }

    /** Start timestamp of the row. */
    long startTs(int index) {
        return part.get(Layouts.LE_LONG, behindKey(rowAt[order[index]]));
    }

    /** Commit timestamp: the version. */
    long commitTs(int index) {
        return commitTsOfRow(order[index]);
    }

    /** Offset of the value. */
    long valueOffset(int index) {
        return behindKey(rowAt[order[index]]) + 3 * Long.BYTES;
    }

    /** Bytes of the value; 0 = delete. */
    int valueLength(int index) {
        return (int) part.get(Layouts.LE_LONG, behindKey(rowAt[order[index]]) + 2 * Long.BYTES);
    }

    private void index(long total) {
        long at = Long.BYTES;
        for (int row = 0; row < rowAt.length; row++) {
            rowAt[row] = at;
            long keyBytes = length(at, total, "key", row);
            at += Long.BYTES + keyBytes;
            if (total - at < 3 * Long.BYTES) {
                throw malformed("row is cut: row=" + row, at);
            }
            at += 2 * Long.BYTES;
            at += Long.BYTES + length(at, total, "value", row);
        }
    }

    /** Reads a length at {@code at} and checks that it and as many bytes are there and fit an int. */
    private long length(long at, long total, String field, int row) {
        if (total - at < Long.BYTES) {
            throw malformed("row is cut: field=" + field + " row=" + row, at);
        }
        long length = part.get(Layouts.LE_LONG, at);
        if (Long.compareUnsigned(length, Math.min(Integer.MAX_VALUE - 64, total - at - Long.BYTES)) > 0) {
            throw malformed(
                    field + " is longer than what is left: row=" + row + " bytes=" + Long.toUnsignedString(length), at);
        }
        return length;
    }

    /** Orders rows by key, those of one key as they came: a natural merge sort, linear for what senders write. */
    private void sort() {
        int rows = rowAt.length;
        order = new int[rows];
        for (int i = 0; i < rows; i++) {
            order[i] = i;
        }
        int[] spare = null;
        while (rows > 1) {
            int runs = 0;
            int start = 0;
            while (start < rows) {
                int middle = endOfRun(start);
                if (middle == rows && start == 0) {
                    return;
                }
                int end = middle < rows ? endOfRun(middle) : rows;
                if (spare == null) {
                    spare = new int[rows];
                }
                merge(start, middle, end, spare);
                start = end;
                runs++;
            }
            int[] merged = spare;
            spare = order;
            order = merged;
            if (runs <= 1) {
                return;
            }
        }
    }

    private int endOfRun(int start) {
        int at = start + 1;
        while (at < order.length && compareKeys(order[at - 1], order[at]) <= 0) {
            at++;
        }
        return at;
    }

    private void merge(int start, int middle, int end, int[] into) {
        int left = start;
        int right = middle;
        for (int at = start; at < end; at++) {
            if (right >= end || left < middle && compareKeys(order[left], order[right]) <= 0) {
                into[at] = order[left++];
            } else {
                into[at] = order[right++];
            }
        }
    }

    /** Keeps of each key the rows that are newer than all before them, and turns them round: newest first. */
    private void dropNotNewer() {
        int kept = 0;
        int at = 0;
        while (at < order.length) {
            int first = kept;
            int row = order[at];
            order[kept++] = row;
            at++;
            while (at < order.length && compareKeys(row, order[at]) == 0) {
                if (Long.compareUnsigned(commitTsOfRow(order[at]), commitTsOfRow(order[kept - 1])) > 0) {
                    order[kept++] = order[at];
                }
                at++;
            }
            for (int low = first, high = kept - 1; low < high; low++, high--) {
                int swapped = order[low];
                order[low] = order[high];
                order[high] = swapped;
            }
        }
        count = kept;
    }

    private int compareKeys(int leftRow, int rightRow) {
        long left = rowAt[leftRow];
        long right = rowAt[rightRow];
        int leftTrimmed = trimmed(left);
        int rightTrimmed = trimmed(right);
        return compareBytes(
                left + Long.BYTES + leftTrimmed,
                keyBytes(left) - leftTrimmed,
                right + Long.BYTES + rightTrimmed,
                keyBytes(right) - rightTrimmed);
    }

    private int compareBytes(long leftAt, int leftBytes, long rightAt, int rightBytes) {
        int common = Math.min(leftBytes, rightBytes);
        int at = 0;
        for (; at + Long.BYTES <= common; at += Long.BYTES) {
            long left = part.get(Layouts.BE_LONG, leftAt + at);
            long right = part.get(Layouts.BE_LONG, rightAt + at);
            if (left != right) {
                return Long.compareUnsigned(left, right);
            }
        }
        for (; at < common; at++) {
            byte left = part.get(ValueLayout.JAVA_BYTE, leftAt + at);
            byte right = part.get(ValueLayout.JAVA_BYTE, rightAt + at);
            if (left != right) {
                return Byte.compareUnsigned(left, right);
            }
        }
        return Integer.compare(leftBytes, rightBytes);
    }

    private int keyBytes(long at) {
        return (int) part.get(Layouts.LE_LONG, at);
    }

    private int trimmed(long at) {
        return InnerKeys.trimBytes(part, at + Long.BYTES, keyBytes(at));
    }

    private long behindKey(long at) {
        return at + Long.BYTES + keyBytes(at);
    }

    private long commitTsOfRow(int row) {
        return part.get(Layouts.LE_LONG, behindKey(rowAt[row]) + Long.BYTES);
    }

    private static CoplaneException malformed(String cause, long offset) {
        return new CoplaneException(
                ErrorCode.BAD_MEM_DATA, "failed to deserialize mem table data: " + cause + " offset=" + offset);
    }

    @Override
    public void close() {
        guard.release(chargedBytes);
    }
}
