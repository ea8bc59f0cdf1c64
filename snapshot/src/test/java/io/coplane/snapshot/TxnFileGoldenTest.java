package io.coplane.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.InvalidProtocolBufferException;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.proto.enginepb.TxnFileRef;
import io.coplane.proto.enginepb.TxnFileRefs;
import io.coplane.sst.Fingerprint64;
import io.coplane.sst.ShardKey;
import io.coplane.sst.TableCursor;
import io.coplane.sst.TxnChunkReader;
import io.coplane.sst.TxnFileCursor;
import io.coplane.sst.TxnFileReader;
import io.coplane.testing.Dumps;
import io.coplane.testing.GoldenCase;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.TestData;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Txn files of the reference, as writes and as locks; and what of them a request sees. */
@ExtendWith(NoLeaks.class)
class TxnFileGoldenTest {
    static Stream<GoldenCase> cases() {
        return TestData.cases("txn_file");
    }

    @ParameterizedTest
    @MethodSource("cases")
    void showsTheWritesOfTheReference(GoldenCase golden) throws InvalidProtocolBufferException {
        byte[] refs = TxnFileRefs.newBuilder()
                .addTxnFileRefs(TxnFileRef.parseFrom(golden.bytes("txn_file_ref.pb")))
                .build()
                .toByteArray();
        if (golden.meta().get("is_lock").equals("true")) {
            assertThatThrownBy(() -> TxnFile.parse(MemorySegment.ofArray(refs)))
                    .extracting(e -> ((CoplaneException) e).code())
                    .isEqualTo(ErrorCode.UNSUPPORTED);
            return;
        }
        TxnFile file = TxnFile.parse(MemorySegment.ofArray(refs)).getFirst();
        assertThat(Long.toUnsignedString(file.version()))
                .isEqualTo(golden.meta().get("version"));

        try (MemoryGuard guard = MemoryGuard.unlimited();
                var arena = new NativeArena(guard)) {
            List<TableSource> sources = file.load(id -> open(golden, id, arena), guard, arena);

            assertThat(scan(sources, false, arena)).isEqualTo(expectedScan(golden, "f"));
            assertThat(scan(sources, true, arena)).isEqualTo(expectedScan(golden, "r"));
            for (String[] line : golden.tsv("gets.tsv")) {
                boolean present = !Dumps.isNone(line[1]) && !line[1].equals("2") && !line[1].equals("6");
                byte[] key = Dumps.bytes(line[0]);
                boolean found = false;
                for (TableSource source : sources) {
                    TableCursor cursor = source.cursor(false, arena);
                    found = cursor.find(key, 0, key.length, Fingerprint64.hash(key), -1L);
                    if (found && present) {
                        assertThat(Dumps.hex(cursor.copyUserMeta())).isEqualTo(line[3]);
                        assertThat(Dumps.value(cursor.copyValue())).isEqualTo(line[4]);
                    }
                }
                assertThat(found).as(String.join(" ", line)).isEqualTo(present);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("cases")
    void showsWritesAndLocksOfTheReference(GoldenCase golden) throws InvalidProtocolBufferException {
        Map<String, String> meta = golden.meta();
        TxnFile ref = TxnFile.of(TxnFileRef.parseFrom(golden.bytes("txn_file_ref.pb")));

        try (MemoryGuard guard = MemoryGuard.unlimited();
                var arena = new NativeArena(guard)) {
            TxnFileReader file = ref.open(id -> open(golden, id, arena));

            assertThat("" + file.isLock()).isEqualTo(meta.get("is_lock"));
            assertThat(Long.toUnsignedString(file.version())).isEqualTo(meta.get("version"));
            assertThat(Dumps.hex(file.lower())).isEqualTo(meta.get("lower_bound"));
            assertThat(Dumps.hex(file.upper())).isEqualTo(meta.get("upper_bound"));
            assertThat("" + file.chunkIds()).isEqualTo(meta.get("chunk_ids_kept"));
            assertThat("" + file.insertCount()).isEqualTo(meta.get("inserts"));
            assertThat("" + file.checkNotExistCount()).isEqualTo(meta.get("check_not_exists"));
            assertThat("" + file.estimatedBytes()).isEqualTo(meta.get("size_estimate"));
            var scans = new ArrayList<String>();
            scans.addAll(scan(file.cursor(false, TxnFileReader.SKIP_NOTHING, arena), "f\traw"));
            scans.addAll(scan(file.cursor(false, TxnFileReader.SKIP_LOCKS_AND_CHECKS, arena), "f\tskip26"));
            scans.addAll(scan(file.cursor(false, TxnFileReader.SKIP_CHECKS, arena), "f\tskip6"));
            scans.addAll(scan(file.cursor(true, TxnFileReader.SKIP_NOTHING, arena), "r\traw"));
            scans.addAll(scan(file.cursor(true, TxnFileReader.SKIP_LOCKS_AND_CHECKS, arena), "r\tskip26"));
            scans.addAll(scan(file.cursor(true, TxnFileReader.SKIP_CHECKS, arena), "r\tskip6"));
            assertThat(scans)
                    .containsExactlyInAnyOrderElementsOf(golden.tsv("scan.tsv").stream()
                            .map(line -> String.join("\t", line))
                            .toList());
            seeks(golden, file, arena);
            gets(golden, file, arena);
        }
    }

    private static List<String> scan(TxnFileCursor cursor, String kind) {
        var lines = new ArrayList<String>();
        byte[] last = null;
        for (boolean more = cursor.rewind(); more; more = cursor.next()) {
            byte[] key = cursor.copyKey();
            if (last != null) {
                assertThat(Arrays.compareUnsigned(last, key) < 0).isEqualTo(kind.startsWith("f"));
            }
            last = key;
            lines.add(String.join(
                    "\t",
                    kind,
                    Dumps.hex(key),
                    Long.toUnsignedString(cursor.version()),
                    "00",
                    Dumps.hex(cursor.copyUserMeta()),
                    Dumps.value(cursor.copyValue())));
        }
        assertThat(cursor.valid()).isFalse();
        return lines;
    }

    private static void seeks(GoldenCase golden, TxnFileReader file, NativeArena arena) {
        TxnFileCursor forward = file.cursor(false, TxnFileReader.SKIP_NOTHING, arena);
        TxnFileCursor reverse = file.cursor(true, TxnFileReader.SKIP_NOTHING, arena);
        for (String[] line : golden.tsv("seeks.tsv")) {
            TxnFileCursor cursor = line[0].equals("f") ? forward : reverse;
            boolean found = cursor.seek(Dumps.bytes(line[1]));
            assertThat(found ? Dumps.hex(cursor.copyKey()) : "-")
                    .as(String.join(" ", line))
                    .isEqualTo(line[2]);
        }
    }

    private static void gets(GoldenCase golden, TxnFileReader file, NativeArena arena) {
        TxnFileCursor all = file.cursor(false, TxnFileReader.SKIP_NOTHING, arena);
        for (String[] line : golden.tsv("gets.tsv")) {
            String actual = "- - - -";
            if (all.find(Dumps.bytes(line[0]))) {
                actual = String.join(
                        " ",
                        "" + all.op(),
                        Long.toUnsignedString(all.version()),
                        Dumps.hex(all.copyUserMeta()),
                        Dumps.value(all.copyValue()));
            }
            assertThat(actual)
                    .as(line[0])
                    .isEqualTo(String.join(" ", List.of(line).subList(1, 5)));
        }
    }

    static TxnChunkReader open(GoldenCase golden, long id, NativeArena arena) {
        String master = golden.meta().get("enc.master_key");
        ShardKey key = master == null
                ? null
                : ShardKey.unwrap(Dumps.bytes(master), Dumps.bytes(golden.meta().get("enc.exported")));
        MemorySegment bytes = new FolderStore(golden.dir())
                .read(FileKind.TXN_CHUNK, id, 0, FolderStore.TO_END, arena)
                .join();
        return TxnChunkReader.open(bytes, id, key);
    }

    private static List<String> scan(List<TableSource> sources, boolean reverse, NativeArena arena) {
        var lines = new ArrayList<String>();
        for (TableSource source : sources) {
            TableCursor cursor = source.cursor(reverse, arena);
            for (boolean more = cursor.rewind(); more; more = cursor.next()) {
                lines.add(Dumps.hex(cursor.copyKey()) + "\t" + Long.toUnsignedString(cursor.version()) + "\t"
                        + Dumps.hex(new byte[] {(byte) cursor.meta()}) + "\t" + Dumps.hex(cursor.copyUserMeta()) + "\t"
                        + Dumps.value(cursor.copyValue()));
            }
        }
        return lines;
    }

    private static List<String> expectedScan(GoldenCase golden, String direction) {
        return golden.tsv("scan.tsv").stream()
                .filter(line -> line[0].equals(direction) && line[1].equals("skip26"))
                .map(line -> String.join("\t", List.of(line).subList(2, 7)))
                .toList();
    }
}
