package io.coplane.nativecache.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.testing.NoLeaks;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
final class NativeArenaTest {
    private final MemoryGuard guard = MemoryGuard.unlimited();

    @Test
    void usesWhatWasReservedAgain() {
        try (var arena = new NativeArena(guard)) {
            arena.reserve(100);
            MemorySegment first = arena.allocate(90);
            boolean again = arena.reuse(100);
            MemorySegment second = arena.allocate(100);

            assertThat(again).isTrue();
            assertThat(first.byteSize()).isEqualTo(90);
            assertThat(second.byteSize()).isEqualTo(100);
            assertThat(second.address()).isEqualTo(first.address());
            assertThat(guard.chargedBytes()).isEqualTo(100);
            assertThat(arena.reuse(101)).isFalse();
        }
        assertThat(guard.chargedBytes()).isZero();
    }

    @Test
    void neverGivesReservedMemoryToTwo() {
        try (var arena = new NativeArena(guard)) {
            arena.reserve(100);
            MemorySegment first = arena.allocate(10);
            MemorySegment second = arena.allocate(10);

            assertThat(second.address()).isNotEqualTo(first.address());
            assertThat(guard.chargedBytes()).isEqualTo(110);
            assertThat(arena.reuse(10)).isFalse();
        }
    }

    @Test
    void allocatesWhatIsLargerThanWhatWasReserved() {
        try (var arena = new NativeArena(guard)) {
            arena.reserve(100);

            assertThat(arena.allocate(101).byteSize()).isEqualTo(101);
            assertThat(guard.chargedBytes()).isEqualTo(201);
        }
    }

    @Test
    void refusedReservesTakeNothing() {
        try (MemoryGuard small = new MemoryLimiter(99).acquire(0);
                var arena = new NativeArena(small)) {
            assertThatThrownBy(() -> arena.reserve(100)).isInstanceOf(MemoryLimitException.class);

            assertThat(small.chargedBytes()).isZero();
            assertThat(arena.reuse(1)).isFalse();
        }
    }

    @Test
    void memoryIsZeroAndAligned() {
        for (int round = 0; round < 3; round++) { // the C library gives the second one what the first one wrote
            try (var arena = new NativeArena(guard)) {
                for (long bytes : new long[] {0, 1, 9, 4_000, 100_000, 1 << 20}) {
                    MemorySegment memory = arena.allocate(bytes);

                    assertThat(memory.byteSize()).isEqualTo(bytes);
                    assertThat(memory.address() % Long.BYTES).isZero();
                    assertThat(memory.mismatch(MemorySegment.ofArray(new byte[(int) bytes])))
                            .isEqualTo(-1);
                    memory.fill((byte) 0xA5);
                }
            }
        }
    }

    @Test
    void memoryThatIsGoneCannotBeRead() {
        var shared = new NativeArena(guard);
        var own = NativeArena.ofThread(guard);
        List<MemorySegment> gone = List.of(shared.allocate(8), own.allocate(8));
        shared.close();
        own.close();

        assertThat(gone)
                .allSatisfy(memory -> assertThatThrownBy(() -> memory.get(Layouts.BYTE, 0))
                        .isInstanceOf(IllegalStateException.class));
    }

    @Test
    void anArenaOfAThreadIsNobodyElses() throws InterruptedException {
        try (var arena = NativeArena.ofThread(guard);
                var growing = new GrowingMemory(arena)) {
            MemorySegment memory = arena.allocate(8);
            MemorySegment grown = growing.grow(100);
            List<Runnable> uses = List.of(
                    () -> arena.allocate(8),
                    () -> memory.get(Layouts.BYTE, 0),
                    () -> grown.get(Layouts.BYTE, 0),
                    () -> growing.grow(200),
                    growing::close,
                    arena::close);
            Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
            Thread other = Thread.ofPlatform()
                    .start(() -> uses.forEach(use -> {
                        try {
                            use.run();
                        } catch (WrongThreadException e) {
                            failures.add(e);
                        }
                    }));
            other.join();

            assertThat(failures).hasSize(uses.size());
            assertThat(guard.chargedBytes()).isEqualTo(108);
            assertThat(memory.get(Layouts.BYTE, 0)).isZero();
            assertThat(growing.grow(300).byteSize()).isEqualTo(300);
        }
        assertThat(guard.chargedBytes()).isZero();
    }
}
