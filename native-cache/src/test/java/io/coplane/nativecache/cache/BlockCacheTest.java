package io.coplane.nativecache.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.testing.NoLeaks;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** sst.md 9.5. */
@ExtendWith(NoLeaks.class)
final class BlockCacheTest {
    private static final int BLOCK_BYTES = 60_000;

    private final MemoryLimiter limiter = new MemoryLimiter(64 << 20);
    private final BlockCache cache = new BlockCache(8 << 20, limiter);
    private final AtomicInteger fills = new AtomicInteger();

    @AfterEach
    void accountIsZero() {
        cache.close();
        cache.close();
        assertThat(limiter.usedBytes()).isZero();
        assertThat(cache.usedBytes()).isZero();
    }

    @Test
    void aBlockIsDecodedOnce() {
        get(1).release();
        CachedBlock again = get(1);

        assertThat(again.segment().byteSize()).isEqualTo(BLOCK_BYTES);
        assertFilled(again.segment(), 1);
        assertThat(fills).hasValue(1);
        assertThat(List.of(cache.hitCount(), cache.missCount(), cache.failureCount()))
                .containsExactly(1L, 1L, 0L);
        again.release();
    }

    @Test
    void aPinnedBlockOutlivesItsEvictionAndTheCache() {
        CachedBlock pinned = get(1);
        for (int id = 2; id < 1000; id++) {
            get(id).release();
        }
        pinned.discard();

        assertThat(cache.pin(key(1))).isNull();
        assertFilled(pinned.segment(), 1);
        cache.close();
        assertFilled(pinned.segment(), 1);
        assertThat(limiter.usedBytes()).isPositive();
        pinned.release();
        assertThat(limiter.usedBytes()).isZero();
    }

    @Test
    void valuesStayWithinTheCapacity() {
        for (int id = 0; id < 2000; id++) {
            get(id).release();
            assertThat(cache.usedBytes()).isLessThanOrEqualTo((8 << 20) + (2 << 20));
        }

        assertThat(cache.valueCount()).isBetween(100L, 140L);
        assertThat(cache.droppedCount()).isEqualTo(2000 - cache.valueCount());
    }

    @Test
    void aFailedDecodeIsTypedAndNotCached() {
        var broken = new CoplaneException(ErrorCode.FILE_CHECKSUM, "broken");

        assertThatThrownBy(() -> cache.block(key(1), 10, into -> {
                    throw broken;
                }))
                .isSameAs(broken);
        assertThat(cache.valueCount()).isZero();
        get(1).release();
        assertThat(fills).hasValue(1);
        assertThat(cache.failureCount()).isEqualTo(1);
    }

    @Test
    void releasingTooOftenIsABug() {
        CachedBlock block = get(1);
        block.discard();
        block.release();

        assertThatThrownBy(block::release)
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INVARIANT_BROKEN));
    }

    @Test
    void memoryPressureTakesFromTheCacheBeforeARequestIsRefused() {
        CachedBlock pinned = get(0);
        for (int id = 1; id < 100; id++) {
            get(id).release();
        }
        assertThat(limiter.usedBytes()).isGreaterThan(5 << 20);

        try (MemoryGuard request = limiter.acquire((64 << 20) - (3 << 20))) {
            assertThat(request.admittedBytes()).isEqualTo(61 << 20);
            assertThat(cache.usedBytes()).isBetween((long) BLOCK_BYTES, 3L << 20);
            assertFilled(pinned.segment(), 0);
            assertThatThrownBy(() -> limiter.acquire(8 << 20)).isInstanceOf(MemoryLimitException.class);
        }
        pinned.release();
    }

    @Test
    void aBlockForWhichThereIsNoMemoryIsLeftToTheCaller() {
        try (MemoryGuard request = limiter.acquire(64 << 20)) {
            assertThat(request.admittedBytes()).isPositive();
            assertThat(cache.block(key(1), BLOCK_BYTES, this::mustNotFill)).isNull();
            assertThat(cache.block(key(1), 1 << 20, this::mustNotFill)).isNull();
        }
        get(1).release();
    }

    private void mustNotFill(MemorySegment into) {
        throw new AssertionError("there is no memory to fill: bytes=" + into.byteSize());
    }

    @Test
    void manyWhoWantABlockDecodeItOnce() throws InterruptedException {
        int threads = 8;
        var filling = new CountDownLatch(1);
        var arrived = new CountDownLatch(threads);
        var failures = new ArrayList<Throwable>();
        var all = new ArrayList<Thread>();
        for (int t = 0; t < threads; t++) {
            all.add(Thread.ofPlatform().start(() -> {
                try {
                    arrived.countDown();
                    CachedBlock block = cache.block(key(7), BLOCK_BYTES, into -> {
                        await(filling);
                        fills.incrementAndGet();
                        fill(into, 7);
                    });
                    assertFilled(block.segment(), 7);
                    block.release();
                } catch (Throwable e) {
                    synchronized (failures) {
                        failures.add(e);
                    }
                }
            }));
        }
        await(arrived);
        filling.countDown();
        for (Thread thread : all) {
            thread.join();
        }

        assertThat(failures).isEmpty();
        assertThat(fills).hasValue(1);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void bytesUnderAPinNeverChange(long seed) throws InterruptedException {
        var small = new MemoryLimiter(5 << 20);
        var failures = new ArrayList<Throwable>();
        try (var racy = new BlockCache(2 << 20, small)) {
            var threads = new ArrayList<Thread>();
            for (int t = 0; t < 4; t++) {
                var random = new SplittableRandom(seed + t);
                threads.add(Thread.ofPlatform().start(() -> {
                    try {
                        race(racy, random);
                    } catch (Throwable e) {
                        synchronized (failures) {
                            failures.add(e);
                        }
                    }
                }));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(failures).isEmpty();
        }
        assertThat(small.usedBytes()).isZero();
    }

    /** Gets, holds, checks, discards, releases, and fails to load, over far more blocks than fit. */
    private static void race(BlockCache racy, SplittableRandom random) {
        var held = new ArrayList<CachedBlock>();
        for (int i = 0; i < 2_000; i++) {
            int id = random.nextInt(1, 120);
            if (id % 40 == 0) {
                Throwable failure = catchThrowable(() -> assertThat(racy.block(key(id), sizeOf(id), into -> {
                            throw new CoplaneException(ErrorCode.FILE_FORMAT, "broken");
                        }))
                        .isNull()); // where there was no memory to try
                assertThat(failure == null || failure instanceof CoplaneException)
                        .isTrue();
                continue;
            }
            CachedBlock block = racy.block(key(id), sizeOf(id), into -> fill(into, id));
            if (block != null) {
                held.add(block);
                if (random.nextInt(20) == 0) {
                    block.discard();
                }
            }
            if (held.size() > 6) {
                CachedBlock oldest = held.remove(random.nextInt(held.size()));
                assertFilled(oldest.segment(), (int) oldest.key().fileId());
                oldest.release();
            }
        }
        held.forEach(CachedBlock::release);
    }

    private static long sizeOf(int id) {
        return id % 50 == 7 ? 300_000 + id : 1 + id * 701L; // some larger than any slot
    }

    @Test
    void aFileIsReadOnceAndNotAgainByTheNextRequest() {
        var store = new SlowStore();

        var first = cache.file(store, FileKind.SST, 5);
        var second = cache.file(store, FileKind.SST, 5);
        assertThat(first).isNotDone();
        store.answer("five");
        CachedBlock third = cache.file(store, FileKind.SST, 5).join();

        assertThat(store.reads).hasValue(1);
        assertThat(first.join()).isSameAs(second.join()).isSameAs(third);
        assertThat(third.segment().getString(0)).isEqualTo("five");
        var otherKind = cache.file(store, FileKind.BLOB, 5);
        assertThat(otherKind).isNotDone();
        store.answer("blob");
        otherKind.join().release();
        for (CachedBlock pin : List.of(first.join(), second.join(), third)) {
            pin.release();
        }
    }

    @Test
    void aFailedReadFailsAllWhoWaitedAndIsTriedAnewByTheNext() {
        var store = new SlowStore();
        var missing = new CoplaneException(ErrorCode.FILE_NOT_FOUND, "missing");

        var first = cache.file(store, FileKind.SST, 5);
        var second = cache.file(store, FileKind.SST, 5);
        store.fail(missing);

        assertThatThrownBy(first::join).hasCause(missing);
        assertThatThrownBy(second::join).hasRootCause(missing);
        var third = cache.file(store, FileKind.SST, 5);
        store.answer("five");
        third.join().release();
        assertThat(store.reads).hasValue(2);
    }

    @Test
    void anotherRequestsDeadlineIsNotMine() {
        var store = new SlowStore();

        var first = cache.file(store, FileKind.SST, 5);
        var second = cache.file(store, FileKind.SST, 5);
        store.fail(new CoplaneException(ErrorCode.DEADLINE, "over"));
        assertThatThrownBy(first::join).hasRootCauseInstanceOf(CoplaneException.class);
        assertThat(second).isNotDone();
        store.answer("five");

        second.join().release();
        assertThat(store.reads).hasValue(2);
    }

    @Test
    void aDiscardedFileIsReadAgain() {
        var store = new SlowStore();
        var first = cache.file(store, FileKind.SST, 5);
        store.answer("brok");
        first.join().noteOpened("reader");
        first.join().discard();

        var second = cache.file(store, FileKind.SST, 5);
        store.answer("five");

        assertThat(second.join().segment().getString(0)).isEqualTo("five");
        assertThat(second.join().opened()).isNull();
        assertThat(first.join().segment().getString(0)).isEqualTo("brok");
        first.join().release();
        second.join().release();
    }

    @Test
    void aFileThatEndsLoadingAfterTheCacheWasClosedIsFreedByItsHolder() {
        var store = new SlowStore();
        var late = cache.file(store, FileKind.SST, 5);
        cache.close();
        store.answer("five");

        assertThat(late.join().segment().getString(0)).isEqualTo("five");
        late.join().release();
        assertThatCode(cache::close).doesNotThrowAnyException();
    }

    private CachedBlock get(int id) {
        return cache.block(key(id), BLOCK_BYTES, into -> {
            fills.incrementAndGet();
            fill(into, id);
        });
    }

    private static BlockKey key(int id) {
        return new BlockKey(FileKind.SST, 0, id, 4096);
    }

    private static void fill(MemorySegment into, int id) {
        into.fill((byte) id);
    }

    private static void assertFilled(MemorySegment bytes, int id) {
        for (long at = 0; at < bytes.byteSize(); at += Math.max(1, bytes.byteSize() / 97)) {
            if (bytes.get(ValueLayout.JAVA_BYTE, at) != (byte) id) {
                throw new AssertionError("block " + id + " has another byte at " + at);
            }
        }
    }

    /** Answers when it is told to. */
    private static final class SlowStore implements ObjectStore {
        private final AtomicInteger reads = new AtomicInteger();
        private CompletableFuture<MemorySegment> pending;
        private NativeArena into;

        @Override
        public CompletableFuture<MemorySegment> read(
                FileKind kind, long fileId, long start, long end, NativeArena arena) {
            assertThat(start).isZero();
            assertThat(end).isEqualTo(TO_END);
            reads.incrementAndGet();
            into = arena;
            pending = new CompletableFuture<>();
            return pending;
        }

        private void answer(String text) {
            MemorySegment bytes = into.allocate(text.length() + 1);
            bytes.setString(0, text);
            pending.complete(bytes);
        }

        private void fail(Throwable failure) {
            pending.completeExceptionally(failure);
        }

        @Override
        public CompletableFuture<Long> byteSize(FileKind kind, long fileId) {
            throw new UnsupportedOperationException();
        }

        @Override
        public CompletableFuture<Void> put(FileKind kind, long fileId, MemorySegment bytes) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void close() {}
    }
}
