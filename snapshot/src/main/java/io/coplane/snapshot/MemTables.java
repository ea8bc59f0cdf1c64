package io.coplane.snapshot;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.sst.MemTableBuilder;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;

/** Rebuilds the memtable of a request (snapshot.md 2.4). */
final class MemTables {
    /**
     * User meta of a row of the write CF (snapshot.md 6.3).
     *
     * <pre>
     * at  bytes  field     unit and bounds
     *  0      1  format    1
     *  1      8  startTs   little-endian
     *  9      8  commitTs  little-endian
     * </pre>
     */
    static final byte USER_META_FORMAT = 1;

    private static final int START_TS_AT = 1;
    static final int COMMIT_TS_AT = START_TS_AT + Long.BYTES;
    static final int USER_META_BYTES = COMMIT_TS_AT + Long.BYTES;
    private static final int CHECK_INTERVAL = 1 << 16;

    private MemTables() {}

    /**
     * Decodes the rows of {@code mem_data} into the arena.
     *
     * @param part the rows part; borrowed during the call
     * @return the memtable, or nothing if there are no rows
     * @throws CoplaneException BAD_MEM_DATA, MEMORY_LIMIT, DEADLINE
     */
    static List<TableSource> rebuild(MemorySegment part, MemoryGuard guard, NativeArena arena, DeadlineCheck deadline) {
        try (MemRows rows = MemRows.decode(part, guard);
                var builder = new MemTableBuilder(guard)) {
            int count = rows.count();
            if (count == 0) {
                return List.of();
            }
            byte[] key = new byte[64];
            byte[] userMeta = new byte[USER_META_BYTES];
            userMeta[0] = USER_META_FORMAT;
            MemorySegment userMetaSegment = MemorySegment.ofArray(userMeta);
            for (int i = 0; i < count; i++) {
                int keyLength = rows.keyLength(i);
                if (key.length < keyLength) {
                    key = new byte[Math.max(keyLength, 2 * key.length)];
                }
                MemorySegment.copy(rows.segment(), ValueLayout.JAVA_BYTE, rows.keyOffset(i), key, 0, keyLength);
                userMetaSegment.set(Layouts.LE_LONG, START_TS_AT, rows.startTs(i));
                userMetaSegment.set(Layouts.LE_LONG, COMMIT_TS_AT, rows.commitTs(i));
                builder.add(
                        key,
                        0,
                        keyLength,
                        rows.commitTs(i),
                        0,
                        userMetaSegment,
                        0,
                        USER_META_BYTES,
                        rows.segment(),
                        rows.valueOffset(i),
                        rows.valueLength(i));
                if (i % CHECK_INTERVAL == 0) {
                    deadline.check();
                }
            }
            byte[] biggest = Arrays.copyOf(key, rows.keyLength(count - 1));
            return List.of(TableSource.of(builder.finish(arena), firstKey(rows), biggest));
        }
    }

    private static byte[] firstKey(MemRows rows) {
        return rows.segment().asSlice(rows.keyOffset(0), rows.keyLength(0)).toArray(ValueLayout.JAVA_BYTE);
    }
}
