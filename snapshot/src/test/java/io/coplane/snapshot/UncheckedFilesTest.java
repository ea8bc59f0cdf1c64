package io.coplane.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.enginepb.L0Create;
import io.coplane.proto.enginepb.TableCreate;
import io.coplane.sst.ChecksumType;
import io.coplane.sst.ColumnFamily;
import io.coplane.sst.CompressionType;
import io.coplane.sst.L0Builder;
import io.coplane.sst.SstBuilder;
import io.coplane.sst.SstOptions;
import io.coplane.testing.Corrupt;
import io.coplane.testing.Dumps;
import io.coplane.testing.NoLeaks;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Damage that no checksum tells: other keys, values, versions. Rows may be wrong then, but every read ends, with rows or a typed error. */
@ExtendWith(NoLeaks.class)
class UncheckedFilesTest {
    private static final int BUDGET = Boolean.getBoolean("coplane.long") ? 200_000 : 3_000;
    private static final int KEYS = 12;
    private static final int BLOCK_BYTES = 100;
    private static final long LIMIT_BYTES = 16 << 20;
    private static final SstOptions OPTIONS =
            new SstOptions(BLOCK_BYTES, CompressionType.NONE, 3, ChecksumType.NONE, null);
    private static final Set<ErrorCode> EXPECTED = Set.of(
            ErrorCode.FILE_FORMAT,
            ErrorCode.FILE_TRUNCATED,
            ErrorCode.FILE_CHECKSUM,
            ErrorCode.FILE_ENCRYPTED,
            ErrorCode.FILE_NOT_FOUND, // a bit made the value a reference to a blob
            ErrorCode.CORRUPT_VALUE,
            ErrorCode.BAD_CHANGE_SET);

    private final MemoryLimiter limiter = new MemoryLimiter(LIMIT_BYTES);
    private final FolderStore store = new FolderStore(null);

    @Test
    @Timeout(120)
    void everyReadEnds() {
        byte[] l0 = l0();
        byte[] table = table();
        store.put(FileKind.SST, 1, l0);
        store.put(FileKind.SST, 2, table);
        assertThat(read()).isEqualTo(2 * (KEYS + KEYS / 2));

        Corrupt.everyWay(l0, 3, BUDGET, (damage, bytes) -> check(1, bytes));
        store.put(FileKind.SST, 1, l0);
        Corrupt.everyWay(table, 3, BUDGET, (damage, bytes) -> check(2, bytes));
    }

    private void check(long fileId, byte[] bytes) {
        store.put(FileKind.SST, fileId, bytes);
        try {
            assertThat(read()).isLessThan(1_000);
        } catch (CoplaneException e) {
            assertThat(e.code()).isIn(EXPECTED);
        }
        assertThat(limiter.usedBytes()).isZero();
    }

    /** Both directions over all, then every key. @return rows seen by the scans */
    private int read() {
        int seen = 0;
        try (Snapshot snapshot = build()) {
            for (boolean reverse : new boolean[] {false, true}) {
                try (SnapshotScanner scanner = snapshot.scanner(
                                -1, reverse, new ReadStatistics(), DeadlineCheck.NONE, ReaderThreads.CALLER);
                        var rows = new RowBuffer(snapshot.guard())) {
                    scanner.setRange(snapshot.outerStart(), snapshot.outerEnd());
                    scanner.fill(rows, Integer.MAX_VALUE);
                    seen += rows.rows();
                }
            }
            try (SnapshotScanner scanner =
                            snapshot.scanner(5, false, new ReadStatistics(), DeadlineCheck.NONE, ReaderThreads.CALLER);
                    var rows = new RowBuffer(snapshot.guard())) {
                for (int i = 0; i < KEYS; i += 3) {
                    scanner.setRange(outer(i), outer(i + 2));
                    scanner.fill(rows, Integer.MAX_VALUE);
                }
            }
        }
        return seen;
    }

    private Snapshot build() {
        ChangeSet.Builder changeSet = ChangeSet.newBuilder().setShardID(7).setShardVer(1);
        changeSet
                .getSnapshotBuilder()
                .setOuterStart(ByteString.copyFrom(Dumps.bytes("7800002a")))
                .setOuterEnd(ByteString.copyFrom(Dumps.bytes("7800002b")))
                .addL0Creates(L0Create.newBuilder().setID(1))
                .addTableCreates(TableCreate.newBuilder().setID(2).setLevel(1));
        try {
            return new SnapshotBuilder(store, limiter, Runnable::run, new byte[0])
                    .build(
                            MemorySegment.ofArray(new byte[0]),
                            MemorySegment.ofArray(changeSet.build().toByteArray()),
                            DeadlineCheck.NONE)
                    .join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof CoplaneException typed) {
                throw typed;
            }
            throw e;
        }
    }

    /** Every key, two versions of every third. */
    private static byte[] table() {
        try (MemoryGuard guard = MemoryGuard.unlimited();
                var arena = new NativeArena(guard);
                var builder = new SstBuilder(OPTIONS, 2, false, guard)) {
            for (int i = 0; i < KEYS; i++) {
                add(builder, i, 6);
                if (i % 3 == 0) {
                    add(builder, i, 4);
                    add(builder, i, 2);
                }
            }
            return builder.finish(arena).bytes().toArray(ValueLayout.JAVA_BYTE);
        }
    }

    /** Newer versions of every other key and keys between them. */
    private static byte[] l0() {
        try (MemoryGuard guard = MemoryGuard.unlimited();
                var arena = new NativeArena(guard);
                var builder = new L0Builder(OPTIONS, 1, 9, guard)) {
            for (int i = 0; i < KEYS; i += 2) {
                add(builder.family(ColumnFamily.WRITE), i, 8);
                add(builder.family(ColumnFamily.WRITE), i, 7);
                byte[] between = (key(i) + "+").getBytes(StandardCharsets.US_ASCII);
                builder.family(ColumnFamily.WRITE)
                        .add(between, 0, between.length, 7, 0, new byte[17], 0, 17, between, 0, between.length);
            }
            return builder.finish(arena).bytes().toArray(ValueLayout.JAVA_BYTE);
        }
    }

    private static void add(SstBuilder builder, int i, long version) {
        byte[] key = key(i).getBytes(StandardCharsets.US_ASCII);
        builder.add(key, 0, key.length, version, 0, new byte[17], 0, 17, key, 0, key.length);
    }

    private static String key(int i) {
        return String.format(Locale.ROOT, "t_key%03d", i);
    }

    private static byte[] outer(int i) {
        return Dumps.bytes("7800002a" + Dumps.hex(key(i).getBytes(StandardCharsets.US_ASCII)));
    }
}
