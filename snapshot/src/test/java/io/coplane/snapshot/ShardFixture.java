package io.coplane.snapshot;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.cache.BlockCache;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.proto.enginepb.BlobCreate;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.enginepb.L0Create;
import io.coplane.proto.enginepb.TableCreate;
import io.coplane.proto.enginepb.TxnFileRef;
import io.coplane.proto.enginepb.TxnFileRefs;
import io.coplane.sst.BlobBuilder;
import io.coplane.sst.BlobOptions;
import io.coplane.sst.ChecksumType;
import io.coplane.sst.ColumnFamily;
import io.coplane.sst.CompressionType;
import io.coplane.sst.L0Builder;
import io.coplane.sst.ShardKey;
import io.coplane.sst.SstBuilder;
import io.coplane.sst.SstFile;
import io.coplane.sst.SstOptions;
import io.coplane.sst.TxnChunkBuilder;
import io.coplane.sst.ValueMeta;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * A random shard: a history of versions laid out over memtable, L0 files and levels, newest first, and what a reader must see of it. Files hold
 * keys beyond the shard, locks, and rollbacks.
 */
final class ShardFixture {
    /** One version of a key. {@code value}: null = tombstone, empty = delete. */
    record Version(long startTs, long commitTs, byte[] value) {}

    /** A transaction that a txn file delivers: what it writes, by inner key. */
    private record Txn(long startTs, long commitTs, NavigableMap<byte[], byte[]> writes) {}

    private static final int LEVELS = 3;
    private static final byte[] MASTER_KEY = new byte[32];

    final FolderStore store = new FolderStore(null);
    /** Inner key to versions, newest first. */
    final NavigableMap<byte[], List<Version>> history = new TreeMap<>(Arrays::compareUnsigned);

    final long maxTs;
    final byte[] prefix;
    final byte[] memData;
    final byte[] snapData;
    final byte[] masterKey;

    private final SplittableRandom random;
    private final ShardKey key; // null: not encrypted
    private final List<Txn> txns = new ArrayList<>();
    private final ChangeSet.Builder changeSet =
            ChangeSet.newBuilder().setShardID(7).setShardVer(3);
    private long nextFileId = 100;
    private long clock = 1;

    ShardFixture(long seed) {
        random = new SplittableRandom(seed);
        prefix = random.nextBoolean() ? new byte[] {'x', 0, 0, 42} : new byte[0];
        key = random.nextInt(3) == 0 ? ShardKey.plain(randomBytes(64, 65), random.nextInt(3)) : null;
        masterKey = key == null ? new byte[0] : MASTER_KEY;
        var snapshot = changeSet.getSnapshotBuilder();
        boolean whole = random.nextBoolean();
        if (prefix.length > 0) {
            snapshot.setOuterStart(ByteString.copyFrom(outer(whole ? new byte[0] : new byte[] {'a'})))
                    .setOuterEnd(ByteString.copyFrom(
                            whole ? new byte[] {'x', 0, 0, 43} : outer(new byte[] {(byte) 0xF0, 1})));
        } else {
            snapshot.setOuterStart(ByteString.copyFrom(whole ? new byte[0] : new byte[] {'a'}))
                    .setOuterEnd(ByteString.copyFrom(whole ? InnerKeys.globalEnd() : new byte[] {(byte) 0xF0, 1}));
        }
        if (key != null) {
            snapshot.getPropertiesBuilder()
                    .addKeys("_encryption")
                    .addValues(ByteString.copyFrom(key.export(MASTER_KEY)));
        }
        makeHistory();
        maxTs = clock;
        memData = layOut();
        snapData = changeSet.build().toByteArray();
    }

    /** The snapshot of this shard; the caller closes it. {@code cache}: or null. */
    Snapshot open(MemoryLimiter limiter, BlockCache cache) {
        return new SnapshotBuilder(store, limiter, Runnable::run, masterKey, PrepareType.SST_ONLY, cache)
                .build(MemorySegment.ofArray(memData), MemorySegment.ofArray(snapData), DeadlineCheck.NONE)
                .join();
    }

    boolean hasBlobs() {
        return changeSet.getSnapshot().getBlobCreatesCount() > 0;
    }

    boolean hasTxnFiles() {
        return !txns.isEmpty();
    }

    byte[] outer(byte[] inner) {
        byte[] key = Arrays.copyOf(prefix, prefix.length + inner.length);
        System.arraycopy(inner, 0, key, prefix.length, inner.length);
        return key;
    }

    /** The version that a reader sees of a key, null if none or deleted. */
    Version visible(byte[] inner, long readTs) {
        for (Version version : history.getOrDefault(inner, List.of())) {
            if (Long.compareUnsigned(version.commitTs, readTs) <= 0) {
                return version.value == null || version.value.length == 0 ? null : version;
            }
        }
        return null;
    }

    byte[] randomKey(SplittableRandom from) {
        byte[] key;
        if (from.nextBoolean()) {
            key = new byte[] {
                't',
                (byte) 0x80,
                0,
                0,
                0,
                0,
                0,
                0,
                (byte) from.nextInt(2),
                '_',
                'r',
                (byte) 0x80,
                0,
                0,
                0,
                0,
                0,
                0,
                (byte) from.nextInt(256)
            };
        } else {
            key = new byte[from.nextInt(1, 12)];
            byte[] alphabet = {0, 1, 'a', 't', (byte) 0x80, (byte) 0xF0, (byte) 0xFF};
            for (int i = 0; i < key.length; i++) {
                key[i] = alphabet[from.nextInt(i == 0 ? alphabet.length - 1 : alphabet.length)];
            }
        }
        return key;
    }

    private void makeHistory() {
        int keys = random.nextInt(1, 250);
        for (int i = 0; i < keys; i++) {
            history.put(randomKey(random), new ArrayList<>());
        }
        int depth = random.nextInt(1, 6);
        for (int round = 0; round < depth; round++) {
            if (random.nextInt(3) == 0) {
                makeTransaction();
                continue;
            }
            for (List<Version> versions : history.values()) {
                if (random.nextInt(3) > 0) {
                    long startTs = clock;
                    clock += random.nextInt(1, 4);
                    versions.addFirst(new Version(startTs, clock, randomValue()));
                }
            }
        }
        history.values().removeIf(List::isEmpty);
    }

    /** Many keys written at one timestamp. */
    private void makeTransaction() {
        long startTs = clock;
        clock += random.nextInt(1, 4);
        var txn = new Txn(startTs, clock, new TreeMap<>(Arrays::compareUnsigned));
        int one = random.nextInt(1, 6);
        history.forEach((key, versions) -> {
            if (random.nextInt(one) == 0) {
                byte[] value = randomValue();
                value = value == null ? new byte[0] : value;
                versions.addFirst(new Version(txn.startTs, txn.commitTs, value));
                txn.writes.put(key, value);
            }
        });
        txns.add(txn);
    }

    private byte[] randomValue() {
        return switch (random.nextInt(8)) {
            case 0 -> null;
            case 1 -> new byte[0];
            case 2 -> randomBytes(0, 2_000);
            default -> randomBytes(1, 40);
        };
    }

    private byte[] randomBytes(int from, int to) {
        byte[] bytes = new byte[random.nextInt(from, to)];
        random.nextBytes(bytes);
        return bytes;
    }

    /** Gives each source, from new to old, the newest versions of each key that no newer source has. @return mem_data */
    private byte[] layOut() {
        int l0Files = random.nextInt(4);
        var shares = new ArrayList<NavigableMap<byte[], List<Version>>>();
        for (int i = 0; i < 1 + l0Files + LEVELS; i++) {
            shares.add(new TreeMap<>(Arrays::compareUnsigned));
        }
        chooseTransactions();
        history.forEach((key, versions) -> {
            int source = 0;
            int pinned = lastInTxnFile(key, versions);
            for (int i = 0; i < versions.size(); i++) {
                Version version = versions.get(i);
                if (i <= pinned) {
                    if (!isInTxnFile(key, version)) {
                        shares.getFirst()
                                .computeIfAbsent(key, k -> new ArrayList<>())
                                .add(version);
                    }
                    continue;
                }
                source = random.nextInt(3) == 0 ? random.nextInt(source, shares.size()) : source;
                if (source == 0 && version.value == null) {
                    source = shares.size() - 1; // rows of memtables are never tombstones
                }
                shares.get(source).computeIfAbsent(key, k -> new ArrayList<>()).add(version);
            }
        });
        try (MemoryGuard guard = MemoryGuard.unlimited();
                var arena = new NativeArena(guard);
                var blobs = new BlobBuilder(blobOptions(), 50, guard)) {
            var l0Order = new ArrayList<Integer>();
            for (int i = 0; i < l0Files; i++) {
                l0Order.add(i);
            }
            Collections.shuffle(l0Order, new java.util.Random(random.nextLong()));
            for (int i : l0Order) {
                writeL0(shares.get(1 + i), 1_000 - i, blobs, guard, arena);
            }
            for (int level = 1; level <= LEVELS; level++) {
                writeLevel(shares.get(l0Files + level), level, blobs, guard, arena);
            }
            if (!blobs.isEmpty()) {
                SstFile file = blobs.finish(arena);
                store.put(FileKind.BLOB, file.fileId(), file.bytes().toArray(ValueLayout.JAVA_BYTE));
                changeSet
                        .getSnapshotBuilder()
                        .addBlobCreates(BlobCreate.newBuilder().setID(file.fileId()));
            }
            // never loaded: not of the write CF
            changeSet
                    .getSnapshotBuilder()
                    .addTableCreates(
                            TableCreate.newBuilder().setID(1).setLevel(1).setCF(1))
                    .addTableCreates(
                            TableCreate.newBuilder().setID(2).setLevel(1).setCF(2));
            return writeMemData(shares.getFirst(), writeTxnFiles(guard, arena), guard);
        }
    }

    /** Leaves the transactions that txn files deliver, without the keys that a tombstone covers: those can't stand in memory above them. */
    private void chooseTransactions() {
        txns.removeIf(txn -> random.nextInt(4) == 0);
        for (Txn txn : txns) {
            txn.writes
                    .keySet()
                    .removeIf(key -> history.get(key).stream()
                            .anyMatch(version -> version.value == null && version.commitTs > txn.commitTs));
        }
        txns.removeIf(txn -> txn.writes.isEmpty());
    }

    private boolean isInTxnFile(byte[] key, Version version) {
        return txns.stream().anyMatch(txn -> txn.commitTs == version.commitTs && txn.writes.containsKey(key));
    }

    private int lastInTxnFile(byte[] key, List<Version> versions) {
        int last = -1;
        for (int i = 0; i < versions.size(); i++) {
            last = isInTxnFile(key, versions.get(i)) ? i : last;
        }
        return last;
    }

    /** Chunks of each transaction, with locks and checks among the writes and foreign writes beyond the bounds. */
    private TxnFileRefs writeTxnFiles(MemoryGuard guard, NativeArena arena) {
        var refs = TxnFileRefs.newBuilder();
        for (Txn txn : txns) {
            byte[] lower = random.nextBoolean() ? new byte[0] : txn.writes.firstKey();
            byte[] upper = random.nextBoolean()
                    ? new byte[0]
                    : Arrays.copyOf(txn.writes.lastKey(), txn.writes.lastKey().length + 1);
            var ref = TxnFileRef.newBuilder()
                    .setStartTs(txn.startTs)
                    .setVersion(txn.commitTs)
                    .setUserMeta(ByteString.copyFrom(userMeta(txn.startTs, txn.commitTs)))
                    .setInnerLowerBound(ByteString.copyFrom(lower))
                    .setInnerUpperBound(ByteString.copyFrom(upper));
            var mutations = new TreeMap<byte[], Integer>(Arrays::compareUnsigned); // key to op
            for (int i = random.nextInt(20); i > 0; i--) {
                byte[] other = randomKey(random);
                boolean beyond = Arrays.compareUnsigned(other, lower) < 0
                        || upper.length > 0 && Arrays.compareUnsigned(other, upper) >= 0;
                mutations.put(other, beyond ? 0 : random.nextBoolean() ? 2 : 6);
            }
            txn.writes.forEach(
                    (key, value) -> mutations.put(key, value.length == 0 ? 1 : random.nextBoolean() ? 0 : 4));
            int chunks = random.nextInt(1, 4);
            int perChunk = mutations.size() / chunks + 1;
            while (!mutations.isEmpty()) {
                ref.addChunkIds(writeChunk(txn, mutations, perChunk, guard, arena));
            }
            refs.addTxnFileRefs(ref);
        }
        return refs.build();
    }

    private long writeChunk(
            Txn txn, NavigableMap<byte[], Integer> mutations, int most, MemoryGuard guard, NativeArena arena) {
        long id = nextFileId++;
        try (var builder = new TxnChunkBuilder(id, random.nextInt(1, 500), fileKey(), guard)) {
            for (int i = 0; i < most && !mutations.isEmpty(); i++) {
                var next = mutations.pollFirstEntry();
                byte[] value = txn.writes.getOrDefault(next.getKey(), new byte[] {9, 9});
                builder.add(next.getKey(), 0, next.getKey().length, next.getValue(), value, 0, value.length);
            }
            SstFile file = builder.finish(arena);
            store.put(FileKind.TXN_CHUNK, id, file.bytes().toArray(ValueLayout.JAVA_BYTE));
        }
        return id;
    }

    private static byte[] userMeta(long startTs, long commitTs) {
        byte[] bytes = new byte[17];
        bytes[0] = 1;
        MemorySegment.ofArray(bytes).set(Layouts.LE_LONG, 1, startTs);
        MemorySegment.ofArray(bytes).set(Layouts.LE_LONG, 9, commitTs);
        return bytes;
    }

    /** Each file has its own compression, checksum, block size, and version of the key. */
    private SstOptions tableOptions() {
        return new SstOptions(
                random.nextInt(1, 400),
                CompressionType.values()[random.nextInt(CompressionType.values().length)],
                3,
                ChecksumType.values()[random.nextInt(ChecksumType.values().length)],
                fileKey());
    }

    private ShardKey fileKey() {
        return key == null ? null : key.withVersion(random.nextInt(4));
    }

    private BlobOptions blobOptions() {
        return new BlobOptions(
                CompressionType.values()[random.nextInt(CompressionType.values().length)],
                3,
                ChecksumType.values()[random.nextInt(ChecksumType.values().length)],
                1,
                random.nextInt(1, 1_000),
                fileKey());
    }

    private byte[] writeMemData(NavigableMap<byte[], List<Version>> share, TxnFileRefs refs, MemoryGuard guard) {
        try (var writer = new MemDataWriter(guard)) {
            var keys = new ArrayList<>(share.keySet());
            int cut = random.nextInt(keys.size() + 1); // two ranges in the wrong order, the second one twice
            for (List<byte[]> range :
                    List.of(keys.subList(cut, keys.size()), keys.subList(0, cut), keys.subList(0, cut))) {
                for (byte[] key : range) {
                    for (Version version : share.get(key).reversed()) {
                        writer.add(outer(key), version.startTs, version.commitTs, version.value);
                    }
                }
            }
            return random.nextBoolean() && refs.getTxnFileRefsCount() == 0
                    ? writer.copyV1()
                    : writer.copyV2(refs.toByteArray());
        }
    }

    private void writeL0(
            NavigableMap<byte[], List<Version>> share,
            long snapVersion,
            BlobBuilder blobs,
            MemoryGuard guard,
            NativeArena arena) {
        if (share.isEmpty()) {
            return;
        }
        if (random.nextInt(3) == 0) {
            writeSplitL0(share, snapVersion, blobs, guard, arena);
            return;
        }
        long id = nextFileId++;
        try (var builder = new L0Builder(tableOptions(), id, snapVersion, guard)) {
            addAll(builder.family(ColumnFamily.WRITE), share, blobs);
            byte[] lock = {'P', 4, 'p', 'k', 1, 10};
            for (byte[] key : share.keySet()) {
                builder.family(ColumnFamily.LOCK)
                        .add(key, 0, key.length, snapVersion, 0, new byte[0], 0, 0, lock, 0, lock.length);
                byte[] extra = Arrays.copyOf(key, key.length + Long.BYTES);
                builder.family(ColumnFamily.EXTRA).add(extra, 0, extra.length, 9, 0, new byte[0], 0, 0, lock, 0, 1);
                break;
            }
            SstFile file = builder.finish(arena);
            put(file);
            changeSet
                    .getSnapshotBuilder()
                    .addL0Creates(L0Create.newBuilder().setID(id).setSize((int)
                            file.bytes().byteSize()));
        }
    }

    private void writeSplitL0(
            NavigableMap<byte[], List<Version>> share,
            long snapVersion,
            BlobBuilder blobs,
            MemoryGuard guard,
            NativeArena arena) {
        try (var builder = SstBuilder.splitL0(tableOptions(), nextFileId++, snapVersion, guard)) {
            addAll(builder, share, blobs);
            SstFile file = builder.finish(arena);
            put(file);
            changeSet.getSnapshotBuilder().addL0Creates(L0Create.newBuilder().setID(file.fileId()));
        }
    }

    private void writeLevel(
            NavigableMap<byte[], List<Version>> share,
            int level,
            BlobBuilder blobs,
            MemoryGuard guard,
            NativeArena arena) {
        var rest = new TreeMap<>(share);
        var creates = new ArrayList<TableCreate>();
        while (!rest.isEmpty()) {
            var part = new TreeMap<byte[], List<Version>>(Arrays::compareUnsigned);
            int count = random.nextInt(1, 100);
            while (count-- > 0 && !rest.isEmpty()) {
                var first = rest.pollFirstEntry();
                part.put(first.getKey(), first.getValue());
            }
            long id = nextFileId++;
            try (var builder = new SstBuilder(tableOptions(), id, false, guard)) {
                addAll(builder, part, blobs);
                SstFile file = builder.finish(arena);
                put(file);
                creates.add(TableCreate.newBuilder()
                        .setID(id)
                        .setLevel(level)
                        .setMetaOffset((int) file.metaOffset())
                        .build());
            }
        }
        Collections.shuffle(creates, new java.util.Random(random.nextLong()));
        changeSet.getSnapshotBuilder().addAllTableCreates(creates);
    }

    private void addAll(SstBuilder builder, NavigableMap<byte[], List<Version>> share, BlobBuilder blobs) {
        byte[] userMeta = new byte[17];
        userMeta[0] = 1;
        share.forEach((key, versions) -> {
            for (Version version : versions) {
                boolean tombstone = version.value == null;
                byte[] value = tombstone ? new byte[0] : version.value;
                if (value.length > 30 && random.nextBoolean()) {
                    builder.addBlob(
                            key,
                            0,
                            key.length,
                            version.commitTs,
                            ValueMeta.BLOB_REF,
                            MemorySegment.ofArray(userMeta),
                            0,
                            userMeta.length,
                            blobs.add(key, 0, key.length, value, 0, value.length));
                    continue;
                }
                builder.add(
                        key,
                        0,
                        key.length,
                        version.commitTs,
                        tombstone ? 1 : 0,
                        userMeta,
                        0,
                        tombstone ? 0 : userMeta.length,
                        value,
                        0,
                        value.length);
            }
        });
    }

    private void put(SstFile file) {
        store.put(FileKind.SST, file.fileId(), file.bytes().toArray(ValueLayout.JAVA_BYTE));
    }
}
