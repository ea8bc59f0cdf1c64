package io.coplane.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.enginepb.TxnFileRef;
import io.coplane.proto.enginepb.TxnFileRefs;
import io.coplane.sst.TxnChunkBuilder;
import io.coplane.sst.TxnChunkCursor;
import io.coplane.testing.Dumps;
import io.coplane.testing.ManualClock;
import io.coplane.testing.NoLeaks;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Txn files of requests: their chunks stay between requests, and make room when a request needs it. */
@ExtendWith(NoLeaks.class)
class SnapshotTxnChunksTest {
    private static final int KEYS = 50;
    private static final int VALUE_BYTES = 8_000;
    private static final Duration TTL = Duration.ofMinutes(10);

    private final CountingStore store = new CountingStore();
    private final ManualClock clock = ManualClock.recorded();

    @Test
    void aSecondRequestFindsTheChunksOfTheFirst() {
        var limiter = new MemoryLimiter(1 << 24);
        try (var chunks = new TxnChunkManager(store, limiter, Runnable::run, clock, TTL.toNanos())) {
            SnapshotBuilder builder = builder(limiter, chunks);
            assertThat(rows(builder, 1, 2)).isEqualTo(2 * KEYS);
            assertThat(rows(builder, 2)).isEqualTo(KEYS);
            assertThat(store.chunkReads).isEqualTo(2);
            assertThat(limiter.usedBytes()).isEqualTo(chunks.ownedBytes()).isPositive();

            clock.advance(TTL);
            chunks.dropIdle();
            assertThat(limiter.usedBytes()).isZero();
            assertThat(rows(builder, 1)).isEqualTo(KEYS);
            assertThat(store.chunkReads).isEqualTo(3);
        }
        assertThat(limiter.usedBytes()).isZero();
    }

    @Test
    void unusedChunksMakeRoomForARequest() {
        var limiter = new MemoryLimiter(1 << 22);
        try (var chunks = new TxnChunkManager(store, limiter, Runnable::run, clock, TTL.toNanos())) {
            SnapshotBuilder builder = builder(limiter, chunks);
            rows(builder, 1);
            long rest = limiter.capBytes() - limiter.usedBytes();
            try (MemoryGuard _ = limiter.acquire(rest)) {
                assertThat(rows(builder)).isZero(); // a request without rows still takes its mem_data

                assertThat(chunks.count()).isZero();
            }
        }
        assertThat(limiter.usedBytes()).isZero();
    }

    private SnapshotBuilder builder(MemoryLimiter limiter, TxnChunkManager chunks) {
        return new SnapshotBuilder(store, limiter, Runnable::run, new byte[0], PrepareType.SST_ONLY, null, chunks);
    }

    /** Rows that a request over one txn file of these chunks sees. */
    private static int rows(SnapshotBuilder builder, long... chunkIds) {
        TxnFileRef.Builder ref = TxnFileRef.newBuilder()
                .setStartTs(5)
                .setUserMeta(ByteString.copyFrom(userMeta(5, 9)))
                .setShardVer(1);
        for (long id : chunkIds) {
            ref.addChunkIds(id);
        }
        byte[] refs = TxnFileRefs.newBuilder().addTxnFileRefs(ref).build().toByteArray();
        ChangeSet.Builder changeSet = ChangeSet.newBuilder().setShardID(7).setShardVer(1);
        changeSet
                .getSnapshotBuilder()
                .setOuterStart(ByteString.copyFrom(Dumps.bytes("7800002a")))
                .setOuterEnd(ByteString.copyFrom(Dumps.bytes("7800002b")));
        byte[] memData;
        try (var writer = new MemDataWriter(MemoryGuard.unlimited())) {
            memData = writer.copyV2(refs);
        }
        try (Snapshot snapshot = builder.build(
                                MemorySegment.ofArray(memData),
                                MemorySegment.ofArray(changeSet.build().toByteArray()),
                                DeadlineCheck.NONE)
                        .join();
                SnapshotScanner scanner =
                        snapshot.scanner(-1, false, new ReadStatistics(), DeadlineCheck.NONE, ReaderThreads.CALLER);
                var rows = new RowBuffer(snapshot.guard())) {
            scanner.setRange(snapshot.outerStart(), snapshot.outerEnd());
            scanner.fill(rows, Integer.MAX_VALUE);
            return rows.rows();
        }
    }

    private static byte[] userMeta(long startTs, long commitTs) {
        return ByteBuffer.allocate(17)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put((byte) 1)
                .putLong(startTs)
                .putLong(commitTs)
                .array();
    }

    /** Makes chunks up: chunk N holds the keys {@code t_N_000 ..}. */
    private static final class CountingStore implements ObjectStore {
        private int chunkReads;

        @Override
        public CompletableFuture<MemorySegment> read(
                FileKind kind, long fileId, long start, long end, NativeArena arena) {
            assertThat(kind).isEqualTo(FileKind.TXN_CHUNK);
            chunkReads++;
            byte[] bytes = chunk(fileId);
            MemorySegment segment = arena.allocate(bytes.length);
            segment.copyFrom(MemorySegment.ofArray(bytes));
            return CompletableFuture.completedFuture(segment);
        }

        private static byte[] chunk(long id) {
            try (MemoryGuard guard = MemoryGuard.unlimited();
                    var arena = new NativeArena(guard);
                    var builder = new TxnChunkBuilder(id, TxnChunkBuilder.DEFAULT_BLOCK_BYTES, null, guard)) {
                for (int i = 0; i < KEYS; i++) {
                    byte[] key = String.format(Locale.ROOT, "t_%d_%03d", id, i).getBytes(StandardCharsets.US_ASCII);
                    builder.add(key, 0, key.length, TxnChunkCursor.OP_PUT, new byte[VALUE_BYTES], 0, VALUE_BYTES);
                }
                return builder.finish(arena).bytes().toArray(ValueLayout.JAVA_BYTE);
            }
        }

        @Override
        public CompletableFuture<Long> byteSize(FileKind kind, long fileId) {
            return CompletableFuture.failedFuture(new IllegalStateException("not asked for"));
        }

        @Override
        public CompletableFuture<Void> put(FileKind kind, long fileId, MemorySegment bytes) {
            return CompletableFuture.failedFuture(new IllegalStateException("not asked for"));
        }

        @Override
        public void close() {
            // nothing to close
        }
    }
}
