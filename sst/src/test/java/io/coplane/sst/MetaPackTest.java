package io.coplane.sst;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.testing.Corrupt;
import io.coplane.testing.Dumps;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Layouts of sst.md 10 and 12.8. */
class MetaPackTest {
    private static final byte[] PAYLOAD = Tables.bytes("footer and properties data");
    private static final String HEADER = "020000000801";
    private static final String FIRST = "cd81010000000000" + "01" + "1a000000" + Dumps.hex(PAYLOAD) + "03000000"
            + "03000000" + "07000000" + "0b000000";
    private static final String SECOND = "7b00000000000000" + "00" + "1a000000" + Dumps.hex(PAYLOAD);
    private static final String THIRD = "c801000000000000" + "01" + "1a000000" + Dumps.hex(PAYLOAD) + "00000000";

    @TempDir
    Path folder;

    @Test
    void writesAndReadsTheVectorsOfTheSpec() throws IOException {
        Path path = folder.resolve("pack");
        try (MetaPack pack = MetaPack.open(path)) {
            pack.append(new TinyMetaRecord(98_765, PAYLOAD, new int[] {3, 7, 11}));
            pack.append(new TinyMetaRecord(123, PAYLOAD, null));
            pack.append(new TinyMetaRecord(456, PAYLOAD, new int[0]));
            pack.sync();
        }

        assertThat(Dumps.hex(Files.readAllBytes(path))).isEqualTo(HEADER + FIRST + SECOND + THIRD);
        List<TinyMetaRecord> records = read(path);
        assertThat(records).hasSize(3);
        assertThat(records.get(0).segmentOffsets()).containsExactly(3, 7, 11);
        assertThat(records.get(0).hasSegmentOffsets()).isTrue();
        assertThat(records.get(1).segmentOffsets()).isNull();
        assertThat(records.get(2).hasSegmentOffsets()).isFalse();
        assertThat(records.get(2).tinyMeta()).isEqualTo(PAYLOAD);
    }

    @Test
    void aRecordThatIsCutNamesWhatIsMissing() throws IOException {
        for (String[] cut : new String[][] {
            {FIRST.substring(0, 24), "Corrupted meta pack: length mismatch: 12 < 13"},
            {SECOND.substring(0, 26) + "00".repeat(7), "Corrupted meta pack: data length mismatch: 7 < 26"},
            {FIRST.substring(0, 80), "Corrupted meta pack: segment offsets length mismatch"},
            {FIRST.substring(0, 100), "Corrupted meta pack: segment offsets data length mismatch"},
            {"000000000000000000ffffffff", "Corrupted meta pack: data length mismatch: 0 < 4294967295"},
            {"00000000000000000100000000ffffffff", "Corrupted meta pack: segment offsets data length mismatch"}
        }) {
            Path path = folder.resolve("cut");
            Files.write(path, Dumps.bytes(HEADER + SECOND + cut[0]));

            assertThatThrownBy(() -> read(path))
                    .hasMessageStartingWith(cut[1])
                    .hasMessageContaining("file=cut offset=");
            try (MetaPack pack = MetaPack.open(path)) { // a writer cuts it off
                assertThat(pack.count()).isOne();
                pack.append(new TinyMetaRecord(1, PAYLOAD, null));
            }
            assertThat(read(path)).hasSize(2);
        }
    }

    @Test
    void aBrokenHeaderMakesThePackEmptyAnotherVersionDoesNot() throws IOException {
        Path path = folder.resolve("header");
        for (String header : new String[] {"", "02", "0200000008", "ffffffff0801"}) {
            Files.write(path, Dumps.bytes(header));
            assertThatThrownBy(() -> read(path)).hasMessageStartingWith("Corrupted meta pack: header ");
            MetaPack.open(path).close();
            assertThat(Dumps.hex(Files.readAllBytes(path))).isEqualTo(HEADER);
        }
        Files.write(path, Dumps.bytes("020000000802" + SECOND));
        assertThatThrownBy(() -> MetaPack.open(path))
                .hasMessageStartingWith("Corrupted meta pack: unsupported meta pack version: 2")
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.FILE_FORMAT));
        assertThat(Files.size(path)).isEqualTo(6 + SECOND.length() / 2);
    }

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void laterRecordsReplaceEarlierOnes(long seed) throws IOException {
        var random = new SplittableRandom(seed);
        Path path = folder.resolve("pack");
        Map<Long, byte[]> expected = new HashMap<>();
        for (int round = 0; round < 4; round++) {
            try (MetaPack pack = MetaPack.open(path)) {
                for (int i = 0; i < 100; i++) {
                    long id = random.nextInt(40);
                    if (random.nextInt(8) == 0 && round == 3) {
                        pack.remove(id);
                        expected.remove(id);
                        continue;
                    }
                    byte[] bytes = new byte[random.nextInt(200)];
                    random.nextBytes(bytes);
                    pack.append(new TinyMetaRecord(id, bytes, random.nextBoolean() ? new int[] {0, 9} : null));
                    expected.put(id, bytes);
                }
                if (random.nextBoolean()) {
                    long before = pack.byteSize();
                    pack.compact();
                    assertThat(pack.byteSize()).isLessThan(before).isEqualTo(Files.size(path));
                }
                assertThat(pack.count()).isEqualTo(expected.size());
                expected.forEach(
                        (id, bytes) -> assertThat(pack.get(id).tinyMeta()).isEqualTo(bytes));
            }
        }
        assertThat(Files.exists(folder.resolve("pack.compact"))).isFalse();
    }

    @Test
    void isRewrittenWhenMostOfItIsOutOfDate() throws IOException {
        Path path = folder.resolve("pack");
        byte[] large = new byte[100_000];
        try (MetaPack pack = MetaPack.open(path)) {
            for (int i = 0; i < 10; i++) {
                pack.append(new TinyMetaRecord(i % 2, large, null));
                assertThat(pack.compactIfWorthIt()).isFalse();
            }
            pack.append(new TinyMetaRecord(0, large, null));
            assertThat(pack.compactIfWorthIt()).isTrue();
            assertThat(pack.count()).isEqualTo(2);
            assertThat(pack.byteSize()).isEqualTo(Files.size(path)).isLessThan(201_000);
        }
        assertThat(read(path)).hasSize(2);
    }

    @Test
    void anyDamageIsATypedErrorOrRecords() throws IOException {
        Path path = folder.resolve("damaged");
        byte[] good = Dumps.bytes(HEADER + FIRST + SECOND + THIRD);

        Corrupt.everyWay(good, 1, 2_000, (damage, bytes) -> {
            Files.write(path, bytes);
            try {
                read(path);
            } catch (CoplaneException e) {
                assertThat(e.code()).isIn(ErrorCode.FILE_TRUNCATED, ErrorCode.FILE_FORMAT);
            }
        });

        assertThat(Arrays.equals(good, Dumps.bytes(HEADER + FIRST + SECOND + THIRD)))
                .isTrue();
    }

    private static List<TinyMetaRecord> read(Path path) {
        var records = new ArrayList<TinyMetaRecord>();
        MetaPack.read(path, records::add);
        return records;
    }
}
