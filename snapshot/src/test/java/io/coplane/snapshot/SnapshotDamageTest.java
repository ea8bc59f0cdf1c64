package io.coplane.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.testing.Corrupt;
import io.coplane.testing.Dumps;
import io.coplane.testing.GoldenCase;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.TestData;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Damaged bodies and files: a typed error or the right answer, and nothing stays allocated. */
@ExtendWith(NoLeaks.class)
class SnapshotDamageTest {
    private static final int BUDGET = Boolean.getBoolean("coplane.long") ? 60_000 : 3_000;

    private final MemoryLimiter limiter = new MemoryLimiter(64 << 20);

    /** The smallest shard. */
    private static GoldenCase golden() {
        return TestData.cases("snapshot")
                .min(Comparator.comparing(golden -> golden.bytes("shard_all_cfs.changeset.pb").length))
                .orElseThrow();
    }

    private static byte[] masterKey(GoldenCase golden) {
        String hex = golden.meta().get("enc.master_key");
        return hex == null ? new byte[0] : Dumps.bytes(hex);
    }

    private static String request(GoldenCase golden) {
        return golden.tsv("requests.tsv").getFirst()[0];
    }

    static Stream<Arguments> files() {
        GoldenCase golden = golden();
        GoldenCase rich = TestData.cases("snapshot")
                .filter(shard ->
                        !shard.files(".blob").isEmpty() && !shard.files(".txn").isEmpty())
                .findFirst()
                .orElseThrow();
        return Stream.concat(
                golden.files(".sst").stream().map(file -> Arguments.of(golden, file)),
                Stream.of(".sst", ".blob", ".txn")
                        .map(suffix -> Arguments.of(rich, rich.files(suffix).getFirst())));
    }

    static Stream<Arguments> bodies() {
        GoldenCase golden = golden();
        return Stream.of(Arguments.of(golden, request(golden)));
    }

    @ParameterizedTest
    @MethodSource("bodies")
    void survivesDamagedBodies(GoldenCase golden, String request) {
        var store = new FolderStore(golden.dir());
        Corrupt.everyWay(golden.bytes(request + ".body"), 1, 3 * BUDGET, (damage, bytes) -> {
            try {
                read(store, bytes, masterKey(golden));
            } catch (CoplaneException e) {
                assertThat(e.code()).isNotEqualTo(ErrorCode.INVARIANT_BROKEN);
            }
            assertClean();
        });
    }

    @ParameterizedTest
    @MethodSource("files")
    void survivesDamagedFiles(GoldenCase golden, String file) {
        var store = new FolderStore(golden.dir());
        byte[] body = golden.bytes(request(golden) + ".body");
        List<String> expected = read(store, body, masterKey(golden));
        long fileId = Long.parseUnsignedLong(file.substring(0, file.indexOf('.')), 16);

        FileKind kind =
                file.endsWith(".sst") ? FileKind.SST : file.endsWith(".blob") ? FileKind.BLOB : FileKind.TXN_CHUNK;
        Corrupt.everyWay(golden.bytes(file), 1, BUDGET / 2, (damage, bytes) -> {
            store.put(kind, fileId, bytes);
            try {
                List<String> seen = read(store, body, masterKey(golden));
                if (kind != FileKind.BLOB) { // the reference writes blobs without checksums
                    assertThat(seen).isEqualTo(expected);
                }
            } catch (CoplaneException e) {
                assertThat(e.code())
                        .isIn(
                                ErrorCode.FILE_CHECKSUM,
                                ErrorCode.FILE_FORMAT,
                                ErrorCode.FILE_TRUNCATED,
                                ErrorCode.FILE_MISMATCH,
                                ErrorCode.BAD_MEM_DATA,
                                ErrorCode.FILE_ENCRYPTED,
                                ErrorCode.BAD_ENCRYPTION_KEY, // of a blob's properties, which have no checksum
                                ErrorCode.BAD_CHANGE_SET);
            }
            assertClean();
        });
    }

    private void assertClean() {
        assertThat(limiter.usedBytes()).isZero();
        NoLeaks.assertNoNativeBytes();
    }

    /** All rows in both directions. */
    private List<String> read(FolderStore store, byte[] bodyBytes, byte[] masterKey) {
        RemoteRequestBody body = RemoteRequestBody.split(MemorySegment.ofArray(bodyBytes));
        var lines = new ArrayList<String>();
        try (Snapshot snapshot = build(store, body, masterKey)) {
            for (boolean reverse : new boolean[] {false, true}) {
                try (SnapshotScanner scanner = snapshot.scanner(
                                -1, reverse, new ReadStatistics(), DeadlineCheck.NONE, ReaderThreads.CALLER);
                        var rows = new RowBuffer(snapshot.guard())) {
                    scanner.setRange(snapshot.outerStart(), snapshot.outerEnd());
                    scanner.fill(rows, Integer.MAX_VALUE);
                    lines.add(Arrays.toString(Arrays.copyOf(rows.bytes(), rows.byteCount())));
                    lines.add(Arrays.toString(Arrays.copyOf(rows.commitTs(), rows.rows())));
                }
            }
        }
        return lines;
    }

    private Snapshot build(FolderStore store, RemoteRequestBody body, byte[] masterKey) {
        try {
            return new SnapshotBuilder(store, limiter, Runnable::run, masterKey)
                    .build(body.memData(), body.snapData(), DeadlineCheck.NONE)
                    .join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof CoplaneException typed) {
                throw typed;
            }
            throw e;
        }
    }
}
