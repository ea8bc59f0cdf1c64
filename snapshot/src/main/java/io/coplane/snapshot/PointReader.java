package io.coplane.snapshot;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.sst.Fingerprint64;
import io.coplane.sst.TableCursor;
import io.coplane.sst.ValueMeta;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

/** Point gets of the write CF at one read timestamp (snapshot.md 6.4, 6.7). Borrows from the snapshot; close it first. One thread. */
public final class PointReader implements AutoCloseable {
    private final ShardFiles shard;
    private final List<TableSource> sources;
    private final Blobs.Fetch blobs;
    private final TableCursor[] cursors;
    private final long readTs;
    private final ReadStatistics statistics;
    private final NativeArena arena;

    PointReader(
            ShardFiles shard,
            List<TableSource> sources,
            Blobs blobs,
            long readTs,
            ReadStatistics statistics,
            NativeArena arena) {
        this.shard = shard;
        this.sources = sources;
        this.readTs = readTs;
        this.statistics = statistics;
        this.arena = arena;
        this.blobs = blobs.new Fetch(arena);
        cursors = new TableCursor[sources.size()];
    }

    /**
     * Appends the row of a key if it is there.
     *
     * @param key outer raw key
     * @return false if the key is absent, deleted, or outside the shard
     * @throws CoplaneException if a file is broken or memory is refused; the buffer is as before
     */
    public boolean get(byte[] key, RowBuffer rows) {
        if (!isInShard(key)) {
            return false;
        }
        TableCursor entry = find(InnerKeys.trim(key));
        int valueLength = entry == null || (entry.meta() & ValueMeta.DELETE) != 0 ? 0 : append(key, entry, rows);
        statistics.count(1, InnerKeys.encodedBytes(key.length) + valueLength);
        return valueLength > 0;
    }

    /** Appends a row unless its value is empty. @return bytes of the value */
    private int append(byte[] key, TableCursor entry, RowBuffer rows) {
        MemorySegment value = entry.valueSegment();
        long valueOffset = entry.valueOffset();
        int valueLength = entry.valueLength();
        if ((entry.meta() & ValueMeta.BLOB_REF) != 0) {
            value = blobs.value(entry);
            valueOffset = 0;
            valueLength = (int) value.byteSize();
        }
        if (valueLength > 0) {
            rows.append(key, key.length, key, 0, value, valueOffset, valueLength, entry.version());
        }
        return valueLength;
    }

    /**
     * The newest version of an inner key, perhaps a tombstone; null if absent. Valid until the next call. The first source that has one wins, but
     * for memtable and txn files, of which the newest version wins.
     */
    TableCursor find(byte[] innerKey) {
        long hash = Fingerprint64.hash(innerKey);
        TableCursor newest = null;
        for (int s = 0; s < cursors.length; s++) {
            TableSource source = sources.get(s);
            if (newest != null && !source.isMemTable()) {
                break;
            }
            if (source.spans(innerKey)) {
                if (cursors[s] == null) {
                    cursors[s] = source.cursor(false, arena);
                }
                if (find(cursors[s], innerKey, hash)
                        && (newest == null || Long.compareUnsigned(cursors[s].version(), newest.version()) > 0)) {
                    newest = cursors[s];
                }
            }
        }
        return newest;
    }

    private boolean find(TableCursor cursor, byte[] innerKey, long hash) {
        if (cursor.findNewer(innerKey, 0, innerKey.length, hash, readTs)) {
            statistics.meetNewer();
            return cursor.seekVersion(readTs);
        }
        return cursor.find(innerKey, 0, innerKey.length, hash, readTs);
    }

    private boolean isInShard(byte[] key) {
        return Arrays.compareUnsigned(key, shard.outerStart()) >= 0
                && (shard.outerEnd().length == 0 || Arrays.compareUnsigned(key, shard.outerEnd()) < 0);
    }

    @Override
    public void close() {
        arena.close();
    }
}
