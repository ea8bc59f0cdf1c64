package io.coplane.sst;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.testing.NoLeaks;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The state of zstd is memory as well. */
@ExtendWith(NoLeaks.class)
final class BlockCompressorTest {
    private static final int KIB = 1 << 10;

    /** Bytes that one state was measured to hold resident after one input of so many bytes (zstd 1.5, glibc). */
    @ParameterizedTest
    @CsvSource({
        "1, 32768, 79462",
        "3, 32768, 438784",
        "22, 32768, 759091",
        "6, 262144, 2854912",
        "12, 262144, 4295338",
        "22, 262144, 5042403",
        "9, 4194304, 10756096",
        "12, 4194304, 42213376",
        "15, 4194304, 67371008",
        "19, 4194304, 51193856"
    })
    void noStateHoldsMoreThanIsCharged(int level, int inputBytes, long measuredBytes) {
        assertThat(BlockCompressor.workBytes(level, inputBytes))
                .isBetween(measuredBytes, 3 * measuredBytes + (1 << 20));
    }

    @Test
    void aStateIsChargedByItsLargestInputUntilItIsClosed() {
        MemoryLimiter limiter = new MemoryLimiter(1 << 26);
        try (MemoryGuard guard = limiter.acquire(0);
                MemoryGuard others = MemoryGuard.unlimited();
                NativeBytes from = new NativeBytes(others);
                NativeBytes to = new NativeBytes(others)) {
            var compressor = new BlockCompressor(CompressionType.ZSTD, 3, guard);
            assertThat(limiter.usedBytes()).isZero();

            compress(compressor, from, to, 32 * KIB);
            long small = limiter.usedBytes();
            assertThat(small).isEqualTo(BlockCompressor.workBytes(3, 32 * KIB));
            compress(compressor, from, to, 256 * KIB);
            assertThat(limiter.usedBytes())
                    .isEqualTo(BlockCompressor.workBytes(3, 256 * KIB))
                    .isGreaterThan(small);
            long large = limiter.usedBytes();
            compress(compressor, from, to, 32 * KIB);
            assertThat(limiter.usedBytes()).isEqualTo(large);

            compressor.close();
            compressor.close();
            assertThat(limiter.usedBytes()).isZero();
        }
    }

    @Test
    void aStateThatDoesNotFitIsRefused() {
        MemoryLimiter limiter = new MemoryLimiter(100 * KIB);
        try (MemoryGuard guard = limiter.acquire(0);
                MemoryGuard others = MemoryGuard.unlimited();
                NativeBytes from = new NativeBytes(others);
                NativeBytes to = new NativeBytes(others);
                var compressor = new BlockCompressor(CompressionType.ZSTD, 3, guard)) {
            assertThatThrownBy(() -> compress(compressor, from, to, 32 * KIB)).isInstanceOf(MemoryLimitException.class);
            assertThat(to.length).isZero();
        }
        assertThat(limiter.usedBytes()).isZero();
    }

    private static void compress(BlockCompressor compressor, NativeBytes from, NativeBytes to, int count) {
        from.clear();
        to.clear();
        from.put(new byte[count], 0, count);
        compressor.compress(from, true, to);
    }
}
