package io.coplane.snapshot;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.sst.TableCursor;
import io.coplane.sst.ValueMeta;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/**
 * Scans ranges of the write CF at one read timestamp, in one direction (snapshot.md 6.4, 6.7): per key its newest version at or below the
 * timestamp, deletes left out. Borrows from the snapshot; close it first. One thread.
 */
public final class SnapshotScanner implements AutoCloseable {
    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    private final ShardFiles shard;
    private final byte[] shardInnerEnd;
    private final byte[] prefix;
    private final VisibleCursor visible;
    private final Blobs.Fetch blobs;
    private final ReadStatistics statistics;
    private final NativeArena arena;
    private CoplaneException failure; // what broke the cursor

    SnapshotScanner(
            ShardFiles shard,
            List<TableSource> sources,
            Blobs blobs,
            long readTs,
            boolean reverse,
            ReadStatistics statistics,
            DeadlineCheck deadline,
            NativeArena arena) {
        this.shard = shard;
        this.statistics = statistics;
        this.arena = arena;
        shardInnerEnd = InnerKeys.innerEnd(shard.outerEnd());
        prefix = InnerKeys.outerPrefix(shard.outerStart());
        this.blobs = blobs.new Fetch(arena);
        visible = new VisibleCursor(sources, readTs, reverse, deadline, arena);
    }

    /**
     * Starts a range; the position is kept when ranges are given in the direction of the scan.
     *
     * @param lower inclusive, outer raw key
     * @param upper exclusive, outer raw key; empty = the end of the shard. Not above {@code lower}: no rows
     * @throws CoplaneException BAD_KEY_RANGE if the range goes beyond the shard, with the reference's text; as {@link #fill}
     */
    public void setRange(byte[] lower, byte[] upper) {
        failIfBroken();
        if (Arrays.compareUnsigned(lower, shard.outerStart()) < 0
                || shard.outerEnd().length > 0 && Arrays.compareUnsigned(upper, shard.outerEnd()) > 0) {
            throw new CoplaneException(
                    ErrorCode.BAD_KEY_RANGE,
                    "Request range exceeds bound, request range:" + range(lower, upper) + ", physical bound:"
                            + range(shard.outerStart(), shard.outerEnd()));
        }
        byte[] innerLower = InnerKeys.trim(lower);
        byte[] innerUpper = InnerKeys.innerEnd(upper);
        if (upper.length > 0 && Arrays.compareUnsigned(lower, upper) >= 0) {
            innerUpper = innerLower;
        } else if (Arrays.compareUnsigned(innerUpper, shardInnerEnd) > 0) {
            innerUpper = shardInnerEnd;
        }
        try {
            visible.setRange(innerLower, innerUpper);
        } catch (CoplaneException e) {
            failure = e;
            throw e;
        }
    }

    /**
     * Appends the next rows of the range, at most {@code maxRows}.
     *
     * @return rows appended; fewer than {@code maxRows} only at the end of the range
     * @throws CoplaneException if a file is broken, the deadline is over or memory is refused; rows appended before stay in the buffer and are
     *     right, the scanner must not be used any more
     */
    public int fill(RowBuffer rows, int maxRows) {
        failIfBroken();
        int before = rows.rows();
        try {
            fill(rows, maxRows, visible, prefix);
        } catch (CoplaneException e) {
            failure = e;
            throw e;
        }
        return rows.rows() - before;
    }

    private void fill(RowBuffer rows, int maxRows, VisibleCursor from, byte[] keyPrefix) {
        int left = maxRows;
        long keys = 0;
        long bytes = 0;
        try {
            while (left > 0 && from.next()) {
                TableCursor entry = from.current();
                int keyLength = entry.keyLength();
                MemorySegment value = entry.valueSegment();
                long valueOffset = entry.valueOffset();
                int valueLength = entry.valueLength();
                if ((entry.meta() & ValueMeta.BLOB_REF) != 0) {
                    value = blobs.value(entry);
                    valueOffset = 0;
                    valueLength = (int) value.byteSize();
                }
                keys++;
                bytes += keyPrefix.length + keyLength + valueLength;
                if (valueLength == 0) {
                    continue;
                }
                rows.append(
                        keyPrefix,
                        keyPrefix.length,
                        entry.keyBytes(),
                        keyLength,
                        value,
                        valueOffset,
                        valueLength,
                        entry.version());
                left--;
            }
        } finally {
            statistics.count(keys, bytes);
            if (from.metNewer()) {
                statistics.meetNewer();
            }
        }
    }

    private void failIfBroken() {
        if (failure != null) {
            throw new CoplaneException(failure.code(), failure.getMessage(), failure);
        }
    }

    private static String range(byte[] lower, byte[] upper) {
        return "[" + HEX.formatHex(InnerKeys.encode(lower)) + ", " + HEX.formatHex(InnerKeys.encode(upper)) + ")";
    }

    @Override
    public void close() {
        arena.close();
    }
}
