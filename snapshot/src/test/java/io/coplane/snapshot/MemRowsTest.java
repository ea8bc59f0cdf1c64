package io.coplane.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.testing.Corrupt;
import io.coplane.testing.Dumps;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class MemRowsTest {
    /** snapshot.md 8.2: key K of keyspace 42. */
    private static final String KEY = "7800002a74800000000000007b5f728000000000000001";

    private static final String ROWS = "0200000000000000"
            + "1700000000000000" + KEY + "6400000000000000" + "c800000000000000" + "0200000000000000" + "7631"
            + "1700000000000000" + KEY + "2c01000000000000" + "9001000000000000" + "0000000000000000";
    private static final String V1 = "01000000" + ROWS;
    private static final String V2 = "02000000" + "7800000000000000" + ROWS + "00000000";

    private final MemoryGuard guard = MemoryGuard.unlimited();

    @AfterEach
    void accountIsZero() {
        assertThat(guard.chargedBytes()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {V1, V2, V2 + "aabb"})
    void decodesTheVectorsOfTheSpec(String memData) {
        String inner = KEY.substring(8);

        assertThat(decode(Dumps.bytes(memData))).containsExactly(inner + " 400 300 ", inner + " 200 100 7631");
    }

    @Test
    void writesTheVectorsOfTheSpec() {
        try (var writer = new MemDataWriter(guard)) {
            writer.add(Dumps.bytes(KEY), 100, 200, Dumps.bytes("7631"));
            writer.add(Dumps.bytes(KEY), 300, 400, new byte[0]);

            assertThat(Dumps.hex(writer.copyV1())).isEqualTo(V1);
            assertThat(Dumps.hex(writer.copyV2(new byte[0]))).isEqualTo(V2);
        }
    }

    @Test
    void splitsTxnFileRefs() {
        String refs = "0a2708f40310e90710ea0718d804221101f4010000000000005802000000000000300a3a0174420175";

        MemDataParts parts = split(Dumps.bytes("02000000080000000000000000000000000000002900" + "0000" + refs));

        assertThat(Dumps.hex(parts.txnFileRefs())).isEqualTo(refs);
        assertThat(parts.rows().byteSize()).isEqualTo(8);
    }

    @Test
    void takesNothingAsNoRows() {
        assertThat(decode(new byte[0])).isEmpty();
        assertThat(decode(Dumps.bytes("01000000" + "0000000000000000"))).isEmpty();
        assertThat(decode(Dumps.bytes("02000000" + "0800000000000000" + "0000000000000000" + "00000000")))
                .isEmpty();
    }

    @Test
    void refusesUnknownFormatWithTheReferencesText() {
        assertThatThrownBy(() -> decode(Dumps.bytes("03000000")))
                .hasMessage("unsupported mem data format 3")
                .extracting(e -> ((CoplaneException) e).code())
                .isEqualTo(ErrorCode.BAD_MEM_DATA);
    }

    @Test
    void checksRowCountBeforeItAllocates() {
        assertThatThrownBy(() -> decode(Dumps.bytes("01000000" + "ffffffffffffff7f" + "00".repeat(64))))
                .isInstanceOf(CoplaneException.class)
                .hasMessageStartingWith("failed to deserialize mem table data: ");
    }

    @Test
    void keepsWhatIsNewerAsTheReference() {
        try (var writer = new MemDataWriter(guard)) {
            writer.add(new byte[] {2}, 1, 10, new byte[] {1});
            writer.add(new byte[] {1}, 1, 30, new byte[] {2});
            writer.add(new byte[] {2}, 1, 10, new byte[] {3});
            writer.add(new byte[] {1}, 1, 20, new byte[] {4});
            writer.add(new byte[] {2}, 1, 11, new byte[] {5});
            writer.add(new byte[] {1}, 1, -1, new byte[] {6});

            assertThat(decode(writer.copyV1()))
                    .containsExactly("01 18446744073709551615 1 06", "01 30 1 02", "02 11 1 05", "02 10 1 01");
        }
    }

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void ordersRowsLikeAMap(long seed) {
        var random = new SplittableRandom(seed);
        var model = new TreeMap<byte[], TreeMap<Long, String>>(Arrays::compareUnsigned);
        int rows = random.nextInt(3_000);
        try (var writer = new MemDataWriter(guard)) {
            for (int i = 0; i < rows; i++) {
                byte[] key = key(random);
                long version = random.nextInt(1, 40);
                byte[] value = new byte[random.nextInt(3)];
                random.nextBytes(value);
                writer.add(key, version - 1, version, value);
                var versions =
                        model.computeIfAbsent(InnerKeys.trim(key), k -> new TreeMap<>(Comparator.reverseOrder()));
                if (versions.isEmpty() || versions.firstKey() < version) {
                    versions.put(version, Dumps.hex(value));
                }
            }
            var expected = new ArrayList<String>();
            model.forEach((key, versions) -> versions.forEach((version, value) ->
                    expected.add(Dumps.hex(key) + " " + version + " " + (version - 1) + " " + value)));

            assertThat(decode(writer.copyV2(new byte[0]))).isEqualTo(expected);
        }
    }

    @Test
    void survivesAnyDamage() {
        for (String vector : List.of(V1, V2)) {
            Corrupt.everyWay(Dumps.bytes(vector), 1, 20_000, (damage, bytes) -> {
                try {
                    decode(bytes);
                } catch (CoplaneException e) {
                    assertThat(e.code()).isEqualTo(ErrorCode.BAD_MEM_DATA);
                }
                assertThat(guard.chargedBytes()).isZero();
            });
        }
    }

    private static byte[] key(SplittableRandom random) {
        byte[] key = new byte[random.nextInt(12)];
        for (int i = 0; i < key.length; i++) {
            key[i] = (byte) (random.nextInt(3) == 0 ? 'x' : random.nextInt(2) * 0xFF);
        }
        return key;
    }

    private static MemDataParts split(byte[] memData) {
        return MemDataParts.split(MemorySegment.ofArray(memData));
    }

    private List<String> decode(byte[] memData) {
        var lines = new ArrayList<String>();
        try (MemRows rows = MemRows.decode(split(memData).rows(), guard)) {
            for (int i = 0; i < rows.count(); i++) {
                lines.add(hex(rows.segment(), rows.keyOffset(i), rows.keyLength(i)) + " "
                        + Long.toUnsignedString(rows.commitTs(i)) + " " + Long.toUnsignedString(rows.startTs(i)) + " "
                        + hex(rows.segment(), rows.valueOffset(i), rows.valueLength(i)));
            }
        }
        return lines;
    }

    private static String hex(MemorySegment segment, long offset, int length) {
        return Dumps.hex(segment.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE));
    }
}
