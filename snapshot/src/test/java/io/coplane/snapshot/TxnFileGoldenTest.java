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
import io.coplane.testing.Dumps;
import io.coplane.testing.GoldenCase;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.TestData;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Txn files of the reference: what of them is committed writes. */
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
