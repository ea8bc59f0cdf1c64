package io.coplane.worker.replay;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.proto.enginepb.BlobCreate;
import io.coplane.proto.enginepb.L0Create;
import io.coplane.proto.enginepb.Snapshot;
import io.coplane.proto.enginepb.TableCreate;
import io.coplane.proto.enginepb.TxnFileRefs;
import io.coplane.sst.BlobBuilder;
import io.coplane.sst.BlobOptions;
import io.coplane.sst.BlobRef;
import io.coplane.sst.ChecksumType;
import io.coplane.sst.ColumnFamily;
import io.coplane.sst.CompressionType;
import io.coplane.sst.L0Builder;
import io.coplane.sst.ShardKey;
import io.coplane.sst.SstBuilder;
import io.coplane.sst.SstFile;
import io.coplane.sst.SstOptions;
import io.coplane.sst.ValueMeta;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Decides where each version of a data set goes, and writes the files. Place 0 is the memtable, 1 .. {@value #L0_FILES} are L0 files from the newest, then
 * come levels 1 to 3. An older version of a key never stands above a newer one. One thread, one call.
 */
final class LayoutFiles {
    private static final int L0_FILES = 4;
    private static final int IN_TXN_FILE = -1;
    private static final int FIRST_LEVEL = L0_FILES + 1;
    private static final int LEVELS = 3;
    private static final int FILES_PER_LEVEL = 3;
    private static final long SNAP_VERSION_BASE = 1_000;
    private static final int LEAST_BLOB_BYTES = 24;
    private static final int USER_META_BYTES = 17;
    private static final int KEY_TEXT_BYTES = 64;
    private static final int KEY_VERSIONS = 3;

    /** An encoded lock: a put of primary key {@code pk} (sst.md 2.6). */
    private static final byte[] LOCK = {'P', 4, 'p', 'k', 1, 10};

    private static final CompressionType[] LEVEL_COMPRESSION = {
        CompressionType.LZ4, CompressionType.ZSTD, CompressionType.ZSTD
    };

    private final Versions versions;
    private final Shape shape;
    private final ObjectStore store;
    private final SplittableRandom random;
    private final Snapshot.Builder snapshot = Snapshot.newBuilder();
    private final TxnFileRefs.Builder txnFileRefs = TxnFileRefs.newBuilder();
    private final boolean[] inMemtable;
    private final boolean hasBlobs;
    private final ShardKey key; // null: not encrypted
    private long nextFileId;

    LayoutFiles(Versions versions, Shape shape, ObjectStore store, long firstFileId, long seed) {
        this.versions = versions;
        this.shape = shape;
        this.store = store;
        nextFileId = firstFileId;
        random = new SplittableRandom(seed);
        inMemtable = new boolean[versions.count()];
        hasBlobs = shape == Shape.BLOB || shape == Shape.ENCRYPTED;
        key = shape == Shape.ENCRYPTED ? newKey() : null;
    }

    private ShardKey newKey() {
        byte[] text = new byte[KEY_TEXT_BYTES];
        random.nextBytes(text);
        ShardKey fresh = ShardKey.plain(text, KEY_VERSIONS);
        snapshot.getPropertiesBuilder()
                .addKeys("_encryption")
                .addValues(ByteString.copyFrom(fresh.export(CorpusLayout.MASTER_KEY)));
        return fresh;
    }

    /** Files of the shard, for its ChangeSet; complete after {@link #write}. */
    Snapshot.Builder snapshot() {
        return snapshot;
    }

    /** Which versions are left to the memtable. */
    boolean[] inMemtable() {
        return inMemtable;
    }

    /** Txn files, for the memtable part of a request; complete after {@link #write}. */
    byte[] txnFileRefs() {
        return txnFileRefs.build().toByteArray();
    }

    /** Writes all files. */
    void write() {
        switch (shape) {
            case MEM -> Arrays.fill(inMemtable, true);
            case L0 -> writeFiles(places(1, L0_FILES));
            case LN -> writeFiles(places(FIRST_LEVEL, L0_FILES + LEVELS));
            case MIXED, BLOB -> writeFiles(places(0, L0_FILES + LEVELS));
            case TXN, ENCRYPTED -> {
                LayoutTxnFiles txnFiles = new LayoutTxnFiles(versions);
                writeFiles(places(txnFiles));
                txnFileRefs.addAllTxnFileRefs(txnFiles.write(store, fileKey(), nextFileId, random));
            }
        }
    }

    private int[] places(int first, int last) {
        int[] place = new int[versions.count()];
        for (int i = 0; i < place.length; i++) {
            int least = versions.sameKeyAsBefore(i) ? place[i - 1] : first;
            place[i] = random.nextInt(least, last + 1);
            inMemtable[i] = place[i] == 0;
        }
        return place;
    }

    /** As {@link #places(int, int)}, but what txn files hold, and all newer versions of its key, goes above the files. */
    private int[] places(LayoutTxnFiles txnFiles) {
        int[] place = new int[versions.count()];
        int first = 0;
        for (int i = 0; i < place.length; i++) {
            first = versions.sameKeyAsBefore(i) ? first : i;
            if (txnFiles.contains(i)) {
                for (int newer = first; newer < i; newer++) {
                    place[newer] = place[newer] == IN_TXN_FILE ? IN_TXN_FILE : 0;
                }
                place[i] = IN_TXN_FILE;
            } else {
                place[i] = random.nextInt(i == first ? 0 : Math.max(0, place[i - 1]), L0_FILES + LEVELS + 1);
            }
        }
        for (int i = 0; i < place.length; i++) {
            inMemtable[i] = place[i] == 0;
        }
        return place;
    }

    private void writeFiles(int[] place) {
        boolean firstIsSplit = random.nextBoolean();
        for (int l0 = 1; l0 <= L0_FILES; l0++) {
            writeL0(entries(place, l0), l0, (l0 % 2 == 0) == firstIsSplit);
        }
        for (int level = 1; level <= LEVELS; level++) {
            writeLevel(entries(place, L0_FILES + level), level);
        }
    }

    private static int[] entries(int[] place, int chosen) {
        int[] entries = new int[place.length];
        int count = 0;
        for (int i = 0; i < place.length; i++) {
            entries[count] = i;
            count += place[i] == chosen ? 1 : 0;
        }
        return Arrays.copyOf(entries, count);
    }

    private void writeL0(int[] entries, int number, boolean split) {
        if (entries.length == 0) {
            return;
        }
        long snapVersion = SNAP_VERSION_BASE - number;
        long fileId = nextFileId++;
        SstOptions options = options(CompressionType.NONE);
        try (MemoryGuard guard = MemoryGuard.unlimited();
                NativeArena arena = new NativeArena(guard);
                L0Builder whole = new L0Builder(options, fileId, snapVersion, guard);
                SstBuilder writeOnly = SstBuilder.splitL0(options, fileId, snapVersion, guard);
                BlobFiles blobs = new BlobFiles(guard, arena)) {
            SstBuilder target = split ? writeOnly : whole.family(ColumnFamily.WRITE);
            for (int entry : entries) {
                add(target, entry, blobs);
            }
            if (!split) {
                addOtherFamilies(whole, entries[entries.length / 2], snapVersion);
            }
            SstFile file = split ? writeOnly.finish(arena) : whole.finish(arena);
            store.put(FileKind.SST, file.fileId(), file.bytes()).join();
            snapshot.addL0Creates(L0Create.newBuilder()
                    .setID(file.fileId())
                    .setSmallest(ByteString.copyFrom(file.smallest()))
                    .setBiggest(ByteString.copyFrom(file.biggest()))
                    .setSize((int) file.bytes().byteSize()));
            blobs.finish();
        }
    }

    /** A lock and a rollback, which no coprocessor request may notice. */
    private void addOtherFamilies(L0Builder file, int i, long snapVersion) {
        byte[] bytes = versions.bytes();
        int start = versions.keyStart(i);
        int length = versions.keyLength(i);
        file.family(ColumnFamily.LOCK).add(bytes, start, length, snapVersion, 0, LOCK, 0, 0, LOCK, 0, LOCK.length);
        byte[] rolledBack = Arrays.copyOf(Arrays.copyOfRange(bytes, start, start + length), length + Long.BYTES);
        byte[] userMeta = userMeta(versions.startTs(i), 0);
        file.family(ColumnFamily.EXTRA)
                .add(
                        rolledBack,
                        0,
                        rolledBack.length,
                        versions.startTs(i),
                        0,
                        userMeta,
                        0,
                        userMeta.length,
                        new byte[1],
                        0,
                        1);
    }

    private void writeLevel(int[] entries, int level) {
        int perFile = entries.length / FILES_PER_LEVEL + 1;
        int from = 0;
        while (from < entries.length) {
            int to = Math.min(entries.length, from + perFile);
            while (to < entries.length && isSameKey(entries[to - 1], entries[to])) {
                to++;
            }
            writeTable(Arrays.copyOfRange(entries, from, to), level);
            from = to;
        }
    }

    private boolean isSameKey(int before, int after) {
        return Arrays.equals(
                versions.bytes(),
                versions.keyStart(before),
                versions.keyStart(before) + versions.keyLength(before),
                versions.bytes(),
                versions.keyStart(after),
                versions.keyStart(after) + versions.keyLength(after));
    }

    private void writeTable(int[] entries, int level) {
        try (MemoryGuard guard = MemoryGuard.unlimited();
                NativeArena arena = new NativeArena(guard);
                SstBuilder builder = new SstBuilder(options(LEVEL_COMPRESSION[level - 1]), nextFileId++, false, guard);
                BlobFiles blobs = new BlobFiles(guard, arena)) {
            for (int entry : entries) {
                add(builder, entry, blobs);
            }
            SstFile file = builder.finish(arena);
            store.put(FileKind.SST, file.fileId(), file.bytes()).join();
            snapshot.addTableCreates(TableCreate.newBuilder()
                    .setID(file.fileId())
                    .setLevel(level)
                    .setCF(ColumnFamily.WRITE.number())
                    .setSmallest(ByteString.copyFrom(file.smallest()))
                    .setBiggest(ByteString.copyFrom(file.biggest()))
                    .setMetaOffset((int) file.metaOffset()));
            blobs.finish();
        }
    }

    private SstOptions options(CompressionType compression) {
        return SstOptions.of(compression).withKey(fileKey());
    }

    /** The shard's key, with another version for each file. */
    private ShardKey fileKey() {
        return key == null ? null : key.withVersion(random.nextInt(KEY_VERSIONS + 1));
    }

    private void add(SstBuilder target, int i, BlobFiles blobs) {
        byte[] userMeta = userMeta(versions.startTs(i), versions.commitTs(i));
        if (hasBlobs && versions.valueLength(i) >= LEAST_BLOB_BYTES) {
            target.addBlob(
                    versions.bytes(),
                    versions.keyStart(i),
                    versions.keyLength(i),
                    versions.commitTs(i),
                    ValueMeta.BLOB_REF,
                    MemorySegment.ofArray(userMeta),
                    0,
                    userMeta.length,
                    blobs.add(i));
            return;
        }
        target.add(
                versions.bytes(),
                versions.keyStart(i),
                versions.keyLength(i),
                versions.commitTs(i),
                0,
                userMeta,
                0,
                userMeta.length,
                versions.bytes(),
                versions.valueStart(i),
                versions.valueLength(i));
    }

    static byte[] userMeta(long startTs, long commitTs) {
        return ByteBuffer.allocate(USER_META_BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put((byte) 1)
                .putLong(startTs)
                .putLong(commitTs)
                .array();
    }

    /** The blob file beside one table file, if it gets a value. Owns its builder, borrows guard and arena. */
    private final class BlobFiles implements AutoCloseable {
        private final BlobBuilder builder;
        private final NativeArena arena;

        private BlobFiles(MemoryGuard guard, NativeArena arena) {
            this.arena = arena;
            BlobOptions options = new BlobOptions(
                    CompressionType.values()[random.nextInt(CompressionType.values().length)],
                    SstOptions.DEFAULT_COMPRESSION_LEVEL,
                    random.nextBoolean() ? ChecksumType.NONE : ChecksumType.CRC32,
                    LEAST_BLOB_BYTES,
                    SstOptions.DEFAULT_BLOCK_BYTES,
                    fileKey());
            builder = new BlobBuilder(options, hasBlobs ? nextFileId++ : 0, guard);
        }

        private BlobRef add(int i) {
            return builder.add(
                    versions.bytes(),
                    versions.keyStart(i),
                    versions.keyLength(i),
                    versions.bytes(),
                    versions.valueStart(i),
                    versions.valueLength(i));
        }

        private void finish() {
            if (builder.isEmpty()) {
                return;
            }
            SstFile file = builder.finish(arena);
            store.put(FileKind.BLOB, file.fileId(), file.bytes()).join();
            snapshot.addBlobCreates(BlobCreate.newBuilder()
                    .setID(file.fileId())
                    .setSmallest(ByteString.copyFrom(file.smallest()))
                    .setBiggest(ByteString.copyFrom(file.biggest()))
                    .setMetaOffset((int) file.metaOffset()));
        }

        @Override
        public void close() {
            builder.close();
        }
    }
}
