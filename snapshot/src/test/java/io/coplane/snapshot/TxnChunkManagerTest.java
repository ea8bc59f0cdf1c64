package io.coplane.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.sst.ShardKey;
import io.coplane.sst.TxnChunkBuilder;
import io.coplane.sst.TxnChunkCursor;
import io.coplane.sst.TxnChunkReader;
import io.coplane.testing.ManualClock;
import io.coplane.testing.NoLeaks;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(NoLeaks.class)
class TxnChunkManagerTest {
    private static final Duration TTL = Duration.ofMinutes(10);
    private static final ShardKey KEY = ShardKey.plain(new byte[64], 0);

    private final MemoryLimiter limiter = new MemoryLimiter(1 << 20);
    private final ManualClock clock = ManualClock.recorded();
    private final HeldStore store = new HeldStore();
    private final TxnChunkManager manager = new TxnChunkManager(store, limiter, Runnable::run, clock, TTL.toNanos());

    @AfterEach
    void freesAll() {
        manager.close();
        assertThat(limiter.usedBytes()).isZero();
        assertThat(manager.count()).isZero();
    }

    @Test
    void loadsEachChunkOnceHoweverManyWantIt() {
        var loads = new ArrayList<CompletableFuture<TxnChunkManager.Pinned>>();
        for (int i = 0; i < 5; i++) {
            loads.add(manager.load(List.of(2L, 1L, 2L), null));
        }
        store.completeAll();
        loads.add(manager.load(List.of(1L), null));

        assertThat(store.ids).containsExactly(1L, 2L);
        for (CompletableFuture<TxnChunkManager.Pinned> load : loads) {
            try (TxnChunkManager.Pinned chunks = load.join()) {
                assertThat(firstKey(chunks.get(1))).isEqualTo("chunk-1");
            }
        }
    }

    @Test
    void readsFourAtATime() {
        CompletableFuture<TxnChunkManager.Pinned> first = manager.load(List.of(1L, 2L, 3L), null);
        CompletableFuture<TxnChunkManager.Pinned> second = manager.load(List.of(4L, 5L, 6L, 7L), null);
        assertThat(store.ids).containsExactly(1L, 2L, 3L, 4L);

        store.completeNext();
        assertThat(store.ids).containsExactly(1L, 2L, 3L, 4L, 5L);
        store.completeAll();

        first.join().close();
        second.join().close();
        assertThat(manager.count()).isEqualTo(7);
    }

    @Test
    void keepsAChunkForItsTimeToLive() {
        load(1).close();
        clock.advance(TTL.minusSeconds(1));
        assertThat(manager.dropIdle()).isZero();
        load(1).close(); // touches it
        clock.advance(TTL.minusSeconds(1));
        assertThat(manager.dropIdle()).isZero();
        assertThat(store.ids).hasSize(1);
        clock.advance(Duration.ofSeconds(1));

        assertThat(manager.dropIdle()).isPositive();

        assertThat(manager.count()).isZero();
        load(1).close();
        assertThat(store.ids).hasSize(2);
    }

    @Test
    void whatIsPinnedStays() {
        TxnChunkManager.Pinned chunks = load(1);
        clock.advance(TTL.multipliedBy(2));

        assertThat(manager.dropIdle()).isZero();
        manager.close();

        assertThat(firstKey(chunks.get(1))).isEqualTo("chunk-1");
        chunks.close();
        chunks.close();
        assertThat(limiter.usedBytes()).isZero();
    }

    @Test
    void aFailureIsNotKept() {
        store.missing = true;
        CompletableFuture<TxnChunkManager.Pinned> load = manager.load(List.of(3L, 1L, 2L), null);
        store.completeAll();
        assertThatThrownBy(load::join)
                .cause()
                .hasMessage("read_txn_chunk failed: Txn Chunk 1 not exists, chunk_id 1")
                .extracting(e -> ((CoplaneException) e).code())
                .isEqualTo(ErrorCode.FILE_NOT_FOUND);
        assertThat(manager.count()).isZero();

        store.missing = false;
        load(1).close();
    }

    @Test
    void aForeignFileIsRefused() {
        store.foreign = true;
        CompletableFuture<TxnChunkManager.Pinned> load = manager.load(List.of(1L), null);
        store.completeAll();

        assertThatThrownBy(load::join)
                .cause()
                .hasMessageContaining("file=0000000000000001.txn offset=")
                .extracting(e -> ((CoplaneException) e).code())
                .isEqualTo(ErrorCode.FILE_FORMAT);
        assertThat(manager.ownedBytes()).isZero();
    }

    @Test
    void overTheLimitIsRetryableAndTheUnusedMakesRoom() {
        load(1).close();
        try (MemoryGuard _ = limiter.acquire(limiter.capBytes() - limiter.usedBytes())) {
            CompletableFuture<TxnChunkManager.Pinned> load = manager.load(List.of(2L), null);
            store.completeAll();
            assertThatThrownBy(load::join)
                    .cause()
                    .extracting(e -> ((CoplaneException) e).code())
                    .isEqualTo(ErrorCode.MEMORY_LIMIT);

            assertThat(manager.dropUnused()).isPositive();
            load(2).close();
        }
    }

    @Test
    void eachRequestReadsWithItsOwnKey() {
        store.key = KEY;
        try (TxnChunkManager.Pinned locked = load(1)) {
            assertThatThrownBy(() -> locked.get(1))
                    .hasMessage("Need encryption key for txn chunk 1, encryption version 0");
            try (TxnChunkManager.Pinned open = manager.load(List.of(1L), KEY).join()) {
                assertThat(firstKey(open.get(1))).isEqualTo("chunk-1");
            }
        }
        assertThat(store.ids).hasSize(1);
    }

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void manyThreadsAgree(long seed) throws InterruptedException, ExecutionException {
        var numbers = new AtomicInteger();
        store.immediate = true;
        try (ExecutorService pool =
                Executors.newFixedThreadPool(4, task -> new Thread(task, "test-" + numbers.incrementAndGet()))) {
            var done = new ArrayList<Future<?>>();
            for (int thread = 0; thread < 4; thread++) {
                var random = new SplittableRandom(seed + thread);
                done.add(pool.submit(() -> {
                    for (int i = 0; i < 500; i++) {
                        long id = random.nextInt(12);
                        try (TxnChunkManager.Pinned chunks =
                                manager.load(List.of(id, id + 1), null).join()) {
                            if (random.nextInt(4) == 0) {
                                manager.dropUnused();
                            }
                            assertThat(firstKey(chunks.get(id))).isEqualTo("chunk-" + id);
                        }
                    }
                }));
            }
            for (Future<?> one : done) {
                one.get();
            }
            pool.shutdown();
            assertThat(pool.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(store.mostAtOnce.get()).isLessThanOrEqualTo(TxnChunkManager.MOST_READS);
    }

    private TxnChunkManager.Pinned load(long id) {
        CompletableFuture<TxnChunkManager.Pinned> load = manager.load(List.of(id), null);
        store.completeAll();
        return load.join();
    }

    private static String firstKey(TxnChunkReader chunk) {
        try (MemoryGuard guard = MemoryGuard.unlimited();
                var arena = new NativeArena(guard)) {
            TxnChunkCursor cursor = chunk.cursor(arena);
            cursor.first();
            return new String(cursor.copyKey(), StandardCharsets.US_ASCII);
        }
    }

    /** Chunks of one entry, whose key names the chunk. Reads wait until a test lets them go. */
    private static final class HeldStore implements ObjectStore {
        private final List<Long> ids = new ArrayList<>();
        private final List<Runnable> held = new ArrayList<>();
        private final Map<Long, byte[]> files = new HashMap<>();
        private final AtomicInteger atOnce = new AtomicInteger();
        private final AtomicInteger mostAtOnce = new AtomicInteger();
        private boolean immediate;
        private boolean missing;
        private boolean foreign;
        private ShardKey key;

        @Override
        public CompletableFuture<MemorySegment> read(
                FileKind kind, long fileId, long start, long end, NativeArena arena) {
            assertThat(kind).isEqualTo(FileKind.TXN_CHUNK);
            var result = new CompletableFuture<MemorySegment>();
            Runnable complete = () -> {
                try {
                    result.complete(readNow(fileId, arena));
                } catch (RuntimeException e) {
                    result.completeExceptionally(e);
                }
            };
            if (immediate) {
                mostAtOnce.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
                atOnce.decrementAndGet();
                complete.run();
            } else {
                ids.add(fileId);
                held.add(complete);
            }
            return result;
        }

        private MemorySegment readNow(long id, NativeArena arena) {
            if (missing) {
                throw new CoplaneException(ErrorCode.FILE_NOT_FOUND, "Txn Chunk " + id + " not exists");
            }
            byte[] bytes = foreign ? new byte[100] : file(id);
            MemorySegment segment = arena.allocate(bytes.length);
            segment.copyFrom(MemorySegment.ofArray(bytes));
            return segment;
        }

        private synchronized byte[] file(long id) {
            return files.computeIfAbsent(id, made -> {
                try (MemoryGuard guard = MemoryGuard.unlimited();
                        var arena = new NativeArena(guard);
                        var builder = new TxnChunkBuilder(id, 100, key, guard)) {
                    byte[] name = ("chunk-" + id).getBytes(StandardCharsets.US_ASCII);
                    builder.add(name, 0, name.length, TxnChunkCursor.OP_PUT, name, 0, name.length);
                    return builder.finish(arena).bytes().toArray(ValueLayout.JAVA_BYTE);
                }
            });
        }

        void completeNext() {
            held.removeFirst().run();
        }

        void completeAll() {
            while (!held.isEmpty()) {
                completeNext();
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
