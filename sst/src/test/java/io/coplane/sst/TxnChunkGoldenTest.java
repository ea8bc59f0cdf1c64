package io.coplane.sst;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.testing.Corrupt;
import io.coplane.testing.Dumps;
import io.coplane.testing.GoldenCase;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.TestData;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(NoLeaks.class)
class TxnChunkGoldenTest {
    private static final int DAMAGED_BYTES = Boolean.getBoolean("coplane.long") ? 100_000_000 : 3_000_000;

    static Stream<GoldenCase> cases() {
        return TestData.cases("txn_chunk");
    }

    @ParameterizedTest
    @MethodSource("cases")
    void readsWhatTheReferenceReads(GoldenCase golden) {
        Map<String, String> meta = golden.meta();
        try (var file = new TestFile(golden.bytes("chunk.txn"))) {
            TxnChunkReader chunk =
                    TxnChunkReader.open(file.bytes, Long.parseUnsignedLong(meta.get("chunk_id")), key(meta));

            assertThat(Dumps.hex(chunk.smallest())).isEqualTo(meta.get("smallest"));
            assertThat(Dumps.hex(chunk.biggest())).isEqualTo(meta.get("biggest"));
            assertThat(chunk.blocks()).isEqualTo(Integer.parseInt(meta.get("num_blocks")));
            assertThat(chunk.insertCount()).isEqualTo(Long.parseLong(meta.get("inserts")));
            assertThat(chunk.checkNotExistCount()).isEqualTo(Long.parseLong(meta.get("check_non_exists")));
            for (String[] line : golden.tsv("blocks.tsv")) {
                assertThat(chunk.blockStart(Integer.parseInt(line[0]))).isEqualTo(Long.parseLong(line[1]));
            }
            TxnChunkCursor cursor = chunk.cursor(file.arena);
            List<String> expected = golden.tsv("entries.tsv").stream()
                    .map(line -> String.join("\t", line))
                    .toList();
            assertThat(forward(cursor)).isEqualTo(expected);
            List<String> backward = backward(cursor);
            Collections.reverse(backward);
            assertThat(backward).isEqualTo(expected);
            seeks(golden, cursor);
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void writesAsTheReferenceDoes(GoldenCase golden) {
        Map<String, String> meta = golden.meta();
        byte[] expected = golden.bytes("chunk.txn");
        long chunkId = Long.parseUnsignedLong(meta.get("chunk_id"));
        ShardKey key = key(meta);
        ShardKey writing =
                key == null ? null : key.withVersion(Integer.parseUnsignedInt(meta.get("enc.writer_version")));
        try (var file = new TestFile(expected);
                var builder = new TxnChunkBuilder(
                        chunkId, Integer.parseInt(meta.get("target_block_size")), writing, file.guard)) {
            TxnChunkCursor cursor =
                    TxnChunkReader.open(file.bytes, chunkId, key).cursor(file.arena);
            cursor.first();
            do {
                builder.add(
                        cursor.keyBytes(),
                        cursor.keyOffset(),
                        cursor.keyLength(),
                        cursor.op(),
                        cursor.valueSegment(),
                        cursor.valueOffset(),
                        cursor.valueLength());
            } while (cursor.next());

            SstFile ours = builder.finish(file.arena);

            assertThat(Dumps.hex(ours.smallest())).isEqualTo(meta.get("smallest"));
            assertThat(Dumps.hex(ours.biggest())).isEqualTo(meta.get("biggest"));
            assertThat(ours.bytes().toArray(Layouts.BYTE)).isEqualTo(expected);
        }
    }

    private static void seeks(GoldenCase golden, TxnChunkCursor cursor) {
        List<byte[]> keys = golden.distinctKeys("entries.tsv");
        for (String[] line : golden.tsv("seeks.tsv")) {
            byte[] sought = Dumps.key(line[1], keys);
            boolean found = line[0].equals("f") ? cursor.seekCeiling(sought) : cursor.seekFloor(sought);
            assertThat(found).as(String.join(" ", line)).isEqualTo(!Dumps.isNone(line[2]));
            if (found) {
                assertThat(cursor.copyKey()).as(String.join(" ", line)).isEqualTo(Dumps.key(line[2], keys));
                assertThat(cursor.op()).isEqualTo(Integer.parseInt(line[3]));
            }
        }
        for (String[] line : golden.tsv("gets.tsv")) {
            boolean found = cursor.find(Dumps.key(line[0], keys));
            assertThat(found).as(String.join(" ", line)).isEqualTo(!Dumps.isNone(line[1]));
            if (found) {
                assertThat(cursor.op()).isEqualTo(Integer.parseInt(line[1]));
                assertThat(Dumps.value(cursor.copyValue())).isEqualTo(line[2]);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void damageGivesATypedErrorOrTheRightAnswer(GoldenCase golden) {
        Map<String, String> meta = golden.meta();
        List<String> expected = golden.tsv("entries.tsv").stream()
                .map(line -> String.join("\t", line))
                .toList();
        byte[] good = golden.bytes("chunk.txn");
        long chunkId = Long.parseUnsignedLong(meta.get("chunk_id"));
        int budget = Math.clamp(DAMAGED_BYTES / good.length, 45, 20_000);

        int tried = Corrupt.everyWay(good, 1, budget, (damage, bytes) -> {
            try (var file = new TestFile(bytes)) {
                TxnChunkReader chunk = TxnChunkReader.open(file.bytes, chunkId, key(meta));
                TxnChunkCursor cursor = chunk.cursor(file.arena);
                assertThat(forward(cursor)).isEqualTo(expected);
                cursor.seekFloor(chunk.biggest());
                cursor.find(chunk.smallest());
            } catch (CoplaneException e) {
                assertThat(e.code())
                        .isIn(
                                ErrorCode.FILE_CHECKSUM,
                                ErrorCode.FILE_FORMAT,
                                ErrorCode.FILE_TRUNCATED,
                                ErrorCode.FILE_ENCRYPTED);
            }
        });

        assertThat(tried).isGreaterThanOrEqualTo(45);
    }

    @Test
    void needsTheKeyOfAnEncryptedChunk() {
        GoldenCase golden = TestData.cases("txn_chunk")
                .filter(encrypted -> encrypted.meta().containsKey("enc.master_key"))
                .findFirst()
                .orElseThrow();
        try (var file = new TestFile(golden.bytes("chunk.txn"))) {
            assertThatThrownBy(() -> TxnChunkReader.open(file.bytes, 77, null))
                    .hasMessage("Need encryption key for txn chunk 77, encryption version "
                            + golden.meta().get("encryption_ver"))
                    .extracting(e -> ((CoplaneException) e).code())
                    .isEqualTo(ErrorCode.FILE_ENCRYPTED);
        }
    }

    private static List<String> forward(TxnChunkCursor cursor) {
        var entries = new ArrayList<String>();
        cursor.first();
        do {
            entries.add(line(cursor));
        } while (cursor.next());
        return entries;
    }

    private static List<String> backward(TxnChunkCursor cursor) {
        var entries = new ArrayList<String>();
        cursor.last();
        do {
            entries.add(line(cursor));
        } while (cursor.previous());
        return entries;
    }

    private static String line(TxnChunkCursor cursor) {
        return Dumps.hex(cursor.copyKey()) + "\t" + cursor.op() + "\t" + Dumps.value(cursor.copyValue());
    }

    private static ShardKey key(Map<String, String> meta) {
        String master = meta.get("enc.master_key");
        return master == null ? null : ShardKey.unwrap(Dumps.bytes(master), Dumps.bytes(meta.get("enc.exported")));
    }
}
