package io.coplane.sst;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.testing.Dumps;
import io.coplane.testing.NoLeaks;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Locale;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(NoLeaks.class)
class BinaryFuse8Test {
    @ParameterizedTest
    @CsvSource({
        "1, 4, 4, 12",
        "2, 4, 4, 12",
        "3, 8, 8, 24",
        "10, 16, 16, 48",
        "20, 16, 16, 48",
        "50, 32, 32, 96",
        "100, 64, 64, 192",
        "1000, 128, 1152, 1408",
        "3000, 256, 3584, 4096",
        "10000, 512, 11776, 12800",
        "50000, 2048, 57344, 61440"
    })
    void hasTheReferencesShape(int keys, int segmentLength, int countLength, int slots) {
        byte[] filter = build(numberedHashes(keys), true);

        assertThat((int) Bytes.LE_INT.get(filter, BinaryFuse8.SEGMENT_LENGTH_AT))
                .isEqualTo(segmentLength);
        assertThat((int) Bytes.LE_INT.get(filter, BinaryFuse8.MASK_AT)).isEqualTo(segmentLength - 1);
        assertThat((int) Bytes.LE_INT.get(filter, BinaryFuse8.COUNT_LENGTH_AT)).isEqualTo(countLength);
        assertThat(filter.length - BinaryFuse8.HEADER_BYTES).isEqualTo(slots);
    }

    @ParameterizedTest
    @CsvSource({
        "1, c15c0289ec2d0a91 04000000 03000000 04000000 000000000000000000760000",
        "2, c15c0289ec2d0a91 04000000 03000000 04000000 0000000000004d00003b0000",
        "3, c15c0289ec2d0a91 08000000 07000000 08000000 000000000000000000000000003d00007600007000000000"
    })
    void leavesUnusedSlotsZeroWhenAskedTo(int keys, String expected) {
        assertThat(Dumps.hex(build(numberedHashes(keys), false))).isEqualTo(expected.replace(" ", ""));
    }

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void holdsEveryKeyAndFewOthers(long seed) {
        var random = new SplittableRandom(seed);
        int keys = random.nextInt(1, 20_000);
        long[] hashes = random.longs(keys).toArray();

        try (var file = new TestFile(build(hashes.clone(), true))) {
            BinaryFuse8 filter = BinaryFuse8.open(file.bytes, 0, file.bytes.byteSize(), "filter");
            assertThat(Arrays.stream(hashes).allMatch(filter::mayContain)).isTrue();
            long hits = random.longs(100_000).filter(filter::mayContain).count();
            assertThat(hits).isBetween(250L, 550L); // 100,000 / 256 = 391
        }
    }

    @Test
    void acceptsEqualHashes() {
        long[] hashes = {7, 7, 7, 8, 9, 9};

        try (var file = new TestFile(build(hashes, true))) {
            BinaryFuse8 filter = BinaryFuse8.open(file.bytes, 0, file.bytes.byteSize(), "filter");

            assertThat(Arrays.stream(hashes).allMatch(filter::mayContain)).isTrue();
        }
    }

    @Test
    void rejectsSizesThatLeaveTheFilter() {
        byte[] good = build(numberedHashes(100), true);
        for (int at = BinaryFuse8.SEGMENT_LENGTH_AT; at < BinaryFuse8.HEADER_BYTES; at++) {
            byte[] bad = good.clone();
            bad[at] ^= (byte) 0x80;
            try (var file = new TestFile(bad)) {
                assertThatThrownBy(() -> BinaryFuse8.open(file.bytes, 0, file.bytes.byteSize(), "filter"))
                        .as("byte %d", at)
                        .isInstanceOf(CoplaneException.class);
            }
        }
        try (var file = new TestFile(Arrays.copyOf(good, 19))) {
            assertThatThrownBy(() -> BinaryFuse8.open(file.bytes, 0, 19, "filter"))
                    .hasMessageContaining("filter data too short");
        }
    }

    private static long[] numberedHashes(int keys) {
        long[] hashes = new long[keys];
        for (int i = 0; i < keys; i++) {
            hashes[i] = Fingerprint64.hash(Tables.bytes(String.format(Locale.ROOT, "key%04d", i)));
        }
        return hashes;
    }

    private static byte[] build(long[] hashes, boolean filler) {
        var guard = MemoryGuard.unlimited();
        try (guard;
                var arena = new NativeArena(guard)) {
            var in = new NativeBytes(arena);
            for (long hash : hashes) {
                in.putLong(hash);
            }
            var out = new NativeBytes(arena);
            assertThat(BinaryFuse8Builder.build(in, filler, new NativeBytes(arena), out))
                    .isTrue();
            return out.view().toArray(ValueLayout.JAVA_BYTE);
        }
    }
}
