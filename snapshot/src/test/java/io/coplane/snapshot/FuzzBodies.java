package io.coplane.snapshot;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.testing.GoldenCase;
import io.coplane.testing.TestData;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Reads the parts of a request's body, and whole snapshots. */
final class FuzzBodies {
    private static final int MOST_ROWS = 10_000;

    private FuzzBodies() {}

    static void memData(byte[] bytes, NativeArena arena) {
        MemDataParts parts = MemDataParts.split(MemorySegment.ofArray(bytes));
        var limiter = new MemoryLimiter(32 << 20);
        try (var guard = limiter.acquire(0);
                var tables = new NativeArena(guard)) {
            MemTables.rebuild(parts.rows(), guard, tables, DeadlineCheck.NONE);
        }
        if (limiter.usedBytes() != 0) {
            throw new AssertionError("memtable is held: bytes=" + limiter.usedBytes());
        }
    }

    static List<byte[]> memDataSeeds() {
        return FuzzTarget.spread(
                bodies().map(parts -> parts.memData().toArray(Layouts.BYTE)).toList());
    }

    static List<byte[]> txnFileRefSeeds() {
        return FuzzTarget.spread(bodies().map(parts ->
                        MemDataParts.split(parts.memData()).txnFileRefs().toArray(Layouts.BYTE))
                .toList());
    }

    private static java.util.stream.Stream<RemoteRequestBody> bodies() {
        return FuzzTarget.files("snapshot", ".body").stream()
                .map(body -> RemoteRequestBody.split(MemorySegment.ofArray(body)));
    }

    private static final class Shard {
        static final GoldenCase GOLDEN = TestData.cases("snapshot")
                .filter(shard -> !shard.meta().containsKey("enc.master_key"))
                .min(Comparator.comparing(shard -> shard.bytes("shard_all_cfs.changeset.pb").length))
                .orElseThrow();
        static final FolderStore STORE = new FolderStore(GOLDEN.dir());
    }

    /** A body over the files of one golden shard, read whole. */
    static void snapshot(byte[] bytes, NativeArena arena) {
        var limiter = new MemoryLimiter(32 << 20);
        try {
            RemoteRequestBody parts = RemoteRequestBody.split(MemorySegment.ofArray(bytes));
            var builder = new SnapshotBuilder(Shard.STORE, limiter, Runnable::run, new byte[0]);
            try (Snapshot snapshot = builder.build(parts.memData(), parts.snapData(), DeadlineCheck.NONE)
                            .join();
                    SnapshotScanner scanner = snapshot.scanner(
                            -1, bytes.length % 2 == 0, new ReadStatistics(), DeadlineCheck.NONE, ReaderThreads.CALLER);
                    var rows = new RowBuffer(snapshot.guard())) {
                scanner.setRange(snapshot.outerStart(), snapshot.outerEnd());
                scanner.fill(rows, MOST_ROWS);
            }
        } catch (java.util.concurrent.CompletionException e) {
            if (!(e.getCause() instanceof CoplaneException typed)) {
                throw e;
            }
            requireNothingHeld(limiter);
            throw typed;
        }
        requireNothingHeld(limiter);
    }

    private static void requireNothingHeld(MemoryLimiter limiter) {
        if (limiter.usedBytes() != 0) {
            throw new AssertionError("snapshot is held: bytes=" + limiter.usedBytes());
        }
    }

    static List<byte[]> snapshotSeeds() {
        var seeds = new ArrayList<byte[]>();
        Shard.GOLDEN.files(".body").forEach(file -> seeds.add(Shard.GOLDEN.bytes(file)));
        return FuzzTarget.spread(seeds);
    }
}
