package io.coplane.snapshot;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.testing.TestData;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * A decoder that is fed bytes from outside. Any bytes: the right answer or a typed error, all memory given back; never another exception, a hang
 * or memory beyond the limit.
 */
@SuppressWarnings("ImmutableEnumChecker") // method references without state
enum FuzzTarget {
    SST(FuzzFiles::sst, () -> files("sst", ".sst")),
    /** With its checksums made right, or else nothing behind them is ever reached. */
    SST_CHECKED((bytes, arena) -> FuzzFiles.sst(FuzzFiles.repair(bytes), arena), () -> files("sst", ".sst")),
    L0(FuzzFiles::l0, () -> files("l0", ".sst")),
    BLOB(FuzzFiles::blob, () -> files("blob", ".blob")),
    TXN_CHUNK(FuzzFiles::txnChunk, () -> files("txn_chunk", ".txn")),
    BODY((bytes, arena) -> RemoteRequestBody.split(copy(bytes, arena)), () -> files("snapshot", ".body")),
    MEM_DATA(FuzzBodies::memData, FuzzBodies::memDataSeeds),
    CHANGE_SET(
            (bytes, arena) -> ShardFiles.parse(MemorySegment.ofArray(bytes), PrepareType.ALL),
            () -> files("snapshot", ".changeset.pb")),
    TXN_FILE(FuzzMetas::txnFile, () -> files("txn_chunk", ".txn")),
    META_FILE(FuzzMetas::metaFile, () -> files("sst", ".sst")),
    BLOB_META(FuzzMetas::blobMeta, () -> files("blob", ".blob")),
    TINY_META(FuzzMetas::tinyMeta, FuzzMetas::tinyMetaSeeds),
    META_PACK(FuzzMetas::metaPack, FuzzMetas::metaPackSeeds),
    FILTER(FuzzMetas::filter, FuzzMetas::filterSeeds),
    LOCK(FuzzMetas::lock, FuzzMetas::lockSeeds),
    ENCRYPTION_META(FuzzMetas::encryptionMeta, FuzzMetas::encryptionMetaSeeds),
    /** What {@code verify} does to a file that is broken anywhere. */
    INSPECTOR(FuzzMetas::inspect, FuzzMetas::inspectSeeds),
    TXN_FILE_REFS((bytes, arena) -> TxnFile.parse(MemorySegment.ofArray(bytes)), FuzzBodies::txnFileRefSeeds),
    SNAPSHOT(FuzzBodies::snapshot, FuzzBodies::snapshotSeeds),
    ROW(FuzzValues::row, FuzzValues::rowSeeds),
    DATUMS(FuzzValues::datums, FuzzValues::datumSeeds),
    VALUE(FuzzValues::value, FuzzValues::valueSeeds),
    JSON(FuzzValues::json, FuzzValues::jsonSeeds),
    INDEX_VALUE(FuzzValues::indexValue, FuzzValues::indexValueSeeds),
    KEY(FuzzValues::key, FuzzValues::keySeeds);

    private static final long LIMIT_BYTES = 64 << 20;
    private static final int MOST_SEEDS = 24;
    private static final int MOST_SEED_BYTES = 64 << 10;

    /** Reads bytes; may throw CoplaneException. */
    interface Decoder {
        void decode(byte[] bytes, NativeArena arena);
    }

    private final Decoder decoder;
    private final Supplier<List<byte[]>> seeds;

    FuzzTarget(Decoder decoder, Supplier<List<byte[]>> seeds) {
        this.decoder = decoder;
        this.seeds = seeds;
    }

    static FuzzTarget named(String name) {
        return valueOf(name.toUpperCase(Locale.ROOT).replace('-', '_'));
    }

    /** Inputs to start from, read from the golden files. */
    List<byte[]> seeds() {
        List<byte[]> all = seeds.get();
        if (all.isEmpty()) {
            throw new AssertionError("no seeds for " + this);
        }
        return all;
    }

    /** Feeds one input. */
    void run(byte[] bytes) {
        var limiter = new MemoryLimiter(LIMIT_BYTES);
        try (MemoryGuard guard = limiter.acquire(0);
                var arena = new NativeArena(guard)) {
            decoder.decode(bytes, arena);
        } catch (CoplaneException e) {
            if (e.code() == ErrorCode.INVARIANT_BROKEN) {
                throw e;
            }
        }
        if (limiter.usedBytes() != 0 || NativeArena.mappedBytes() != 0) {
            throw new AssertionError(
                    "memory is held: used=" + limiter.usedBytes() + " mapped=" + NativeArena.mappedBytes());
        }
    }

    static MemorySegment copy(byte[] bytes, NativeArena arena) {
        MemorySegment segment = arena.allocate(bytes.length);
        segment.copyFrom(MemorySegment.ofArray(bytes));
        return segment;
    }

    /** The smallest files of a golden family, of several cases. */
    static List<byte[]> files(String family, String suffix) {
        var all = new ArrayList<byte[]>();
        try (Stream<byte[]> files = TestData.cases(family)
                .flatMap(golden -> golden.files(suffix).stream().limit(2).map(golden::bytes))) {
            files.filter(bytes -> bytes.length <= MOST_SEED_BYTES).forEach(all::add);
        }
        return spread(all);
    }

    /** Some of many: small and large ones, no two alike. */
    static List<byte[]> spread(List<byte[]> all) {
        List<byte[]> sorted = all.stream()
                .sorted(Comparator.<byte[]>comparingInt(bytes -> bytes.length).thenComparing(Arrays::compare))
                .toList();
        var some = new ArrayList<byte[]>();
        int step = Math.max(1, sorted.size() / MOST_SEEDS);
        for (int i = 0; i < sorted.size(); i += step) {
            some.add(sorted.get(i));
        }
        return some;
    }
}
