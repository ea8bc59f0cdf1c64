package io.coplane.testing;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.memory.NativeArena;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class NoLeaksTest {
    @Test
    void passesWhenOwnerIsClosed() {
        try (var guard = MemoryGuard.unlimited();
                var arena = new NativeArena(guard)) {
            arena.allocate(64);
            NoLeaks.assertNativeBytes(64);
        }

        NoLeaks.assertNoNativeBytes();
    }

    @Test
    void failsWhileOwnerIsOpen() {
        try (var guard = MemoryGuard.unlimited();
                var arena = new NativeArena(guard)) {
            arena.allocate(64);

            assertThatThrownBy(NoLeaks::assertNoNativeBytes)
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContaining("mappedBytes=64 expected=0");
        }
    }
}
