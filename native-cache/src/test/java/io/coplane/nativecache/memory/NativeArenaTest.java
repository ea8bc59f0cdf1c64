package io.coplane.nativecache.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.testing.NoLeaks;
import java.lang.foreign.MemorySegment;
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
}
