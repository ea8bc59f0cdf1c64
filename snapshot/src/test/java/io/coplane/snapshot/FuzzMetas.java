package io.coplane.snapshot;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.proto.enginepb.TxnFileRef;
import io.coplane.proto.keyspace_encryptionpb.DataKey;
import io.coplane.proto.keyspace_encryptionpb.EncryptionEpoch;
import io.coplane.proto.keyspace_encryptionpb.EncryptionMeta;
import io.coplane.proto.keyspace_encryptionpb.MasterKey;
import io.coplane.sst.FileInspector;
import io.coplane.sst.FileVisitor;
import io.coplane.sst.Fingerprint64;
import io.coplane.sst.Lock;
import io.coplane.sst.MetaFile;
import io.coplane.sst.MetaPack;
import io.coplane.sst.RowFileKind;
import io.coplane.sst.ShardKey;
import io.coplane.sst.SstReader;
import io.coplane.sst.TableCursor;
import io.coplane.sst.TinyMeta;
import io.coplane.sst.TinyMetaRecord;
import io.coplane.sst.TxnChunkReader;
import io.coplane.sst.TxnFileCursor;
import io.coplane.sst.TxnFileReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** Reads parts of files that are kept apart, txn files, locks and encryption metadata. */
final class FuzzMetas {
    private static final int FOOTER_BYTES = 28;
    private static final int BLOB_FOOTER_BYTES = 24;
    private static final int BLOB_INDEX_AT = 4;
    private static final int FILTER_AT = 12;
    private static final int PROPERTIES_AT = 16;
    private static final int CHECKSUM_TYPE_AT = 21;
    private static final long FILE_ID = 9;

    /** One input in so many is opened for writing, which waits for the disk. */
    private static final int SYNCED = 32;

    private FuzzMetas() {}

    /** The meta part of a table, with checksums that fit. */
    static void metaFile(byte[] bytes, NativeArena arena) {
        MemorySegment meta = MetaFile.ofTable(FuzzTarget.copy(FuzzFiles.repair(bytes), arena), FILE_ID);
        MetaFile file = MetaFile.openSst(FuzzTarget.copy(meta.toArray(Layouts.BYTE), arena), FILE_ID);
        file.segmentOffsets(1);
        file.segmentOffsets(1 << 20);
        file.dataRange(file.smallest(), file.biggest());
        file.property("max_ts");
        TinyMeta.open(file.tinyMeta(), FILE_ID).properties();
        file.verifyFilter();
    }

    static void blobMeta(byte[] bytes, NativeArena arena) {
        int from = bytes.length < BLOB_FOOTER_BYTES
                ? 0
                : little(bytes).getInt(bytes.length - BLOB_FOOTER_BYTES + BLOB_INDEX_AT);
        byte[] meta = from < 0 || from > bytes.length ? bytes : Arrays.copyOfRange(bytes, from, bytes.length);
        MetaFile file = MetaFile.openBlob(FuzzTarget.copy(meta, arena), FILE_ID);
        file.segmentOffsets(1);
        file.dataRange(file.smallest(), file.biggest());
    }

    /** As it is, and with a checksum that fits. */
    static void tinyMeta(byte[] bytes, NativeArena arena) {
        if (bytes.length >= FOOTER_BYTES + Integer.BYTES) {
            byte[] repaired = bytes.clone();
            repaired[bytes.length - FOOTER_BYTES + CHECKSUM_TYPE_AT] = 0;
            little(repaired).putInt(0, 0);
            TinyMeta.open(FuzzTarget.copy(repaired, arena), FILE_ID).properties();
        }
        TinyMeta.open(FuzzTarget.copy(bytes, arena), FILE_ID).properties();
    }

    static List<byte[]> tinyMetaSeeds() {
        return FuzzTarget.files("sst", ".sst").stream()
                .map(table -> Arrays.copyOfRange(
                        table, little(table).getInt(table.length - FOOTER_BYTES + PROPERTIES_AT), table.length))
                .toList();
    }

    private static final class Pack {
        static final Path FILE = temporary();

        private static Path temporary() {
            try {
                Path file = Files.createTempFile("fuzz", ".pack");
                file.toFile().deleteOnExit();
                return file;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Read by whoever looks, then by whoever goes on writing. */
    static void metaPack(byte[] bytes, NativeArena arena) {
        try {
            Files.write(Pack.FILE, bytes);
            CoplaneException refused = null;
            try {
                MetaPack.read(Pack.FILE, record -> record.open().properties());
            } catch (CoplaneException e) {
                refused = e;
            }
            if (bytes.length % SYNCED == 0) {
                write();
            }
            if (refused != null) {
                throw refused;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void write() {
        try (MetaPack pack = MetaPack.open(Pack.FILE)) {
            TinyMetaRecord record = pack.get(FILE_ID);
            if (record != null) {
                record.open();
            }
            pack.compact();
        }
    }

    static List<byte[]> metaPackSeeds() {
        List<byte[]> seeds = new ArrayList<>();
        List<byte[]> tiny = tinyMetaSeeds();
        for (int[] offsets : new int[][] {{}, {0, 100, 5000}}) {
            try {
                Path file = Files.createTempFile("fuzz", ".pack");
                Files.delete(file);
                try (MetaPack pack = MetaPack.open(file)) {
                    pack.append(new TinyMetaRecord(FILE_ID, tiny.getFirst(), offsets));
                    pack.append(new TinyMetaRecord(FILE_ID + 1, tiny.getLast(), offsets));
                    pack.append(new TinyMetaRecord(FILE_ID, tiny.getLast(), offsets));
                }
                seeds.add(Files.readAllBytes(file));
                Files.delete(file);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return seeds;
    }

    private static final class Table {
        static final byte[] BYTES = FuzzTarget.files("sst", ".sst").stream()
                .filter(table -> filterBytes(table) > 0)
                .findFirst()
                .orElseThrow();
    }

    private static int filterBytes(byte[] table) {
        int footer = table.length - FOOTER_BYTES;
        return little(table).getInt(footer + PROPERTIES_AT) - little(table).getInt(footer + FILTER_AT);
    }

    /** A golden table with these bytes as its filter, header included. */
    static void filter(byte[] bytes, NativeArena arena) {
        byte[] table = Table.BYTES;
        int footer = table.length - FOOTER_BYTES;
        int filterAt = little(table).getInt(footer + FILTER_AT);
        int propertiesAt = little(table).getInt(footer + PROPERTIES_AT);
        byte[] file = new byte[filterAt + bytes.length + table.length - propertiesAt];
        System.arraycopy(table, 0, file, 0, filterAt);
        System.arraycopy(bytes, 0, file, filterAt, bytes.length);
        System.arraycopy(table, propertiesAt, file, filterAt + bytes.length, table.length - propertiesAt);
        little(file).putInt(file.length - FOOTER_BYTES + PROPERTIES_AT, filterAt + bytes.length);
        SstReader reader = SstReader.open(FuzzTarget.copy(FuzzFiles.repair(file), arena), FILE_ID, 1, null);
        TableCursor cursor = reader.cursor(false, arena);
        for (long hash = Long.MIN_VALUE; hash < Long.MAX_VALUE / 2; hash += Long.MAX_VALUE / 50) {
            reader.mayContain(hash);
        }
        byte[] key = reader.biggest();
        cursor.find(key, 0, key.length, Fingerprint64.hash(key), -1);
    }

    static List<byte[]> filterSeeds() {
        return FuzzTarget.files("sst", ".sst").stream()
                .filter(table -> filterBytes(table) > 0)
                .map(table -> {
                    int footer = table.length - FOOTER_BYTES;
                    int from = little(table).getInt(footer + FILTER_AT);
                    return Arrays.copyOfRange(table, from, from + filterBytes(table));
                })
                .toList();
    }

    /** What was parsed says the same when it is written and parsed again. */
    static void lock(byte[] bytes, NativeArena arena) {
        Lock lock = Lock.parse(bytes);
        if (!Arrays.equals(Lock.parse(lock.encode()).encode(), lock.encode())) {
            throw new AssertionError("lock changes: " + HexFormat.of().formatHex(bytes));
        }
    }

    static List<byte[]> lockSeeds() {
        return Stream.of(
                        "5004706b010a",
                        "4404706b010a760b73686f72745f76616c7565",
                        "5004706b6fde01760b73686f72745f76616c756566000000000000014d7400000000000001bc63000000000000022b6101026b",
                        "5004706b6fde01760b73686f72745f76616c756566000000000000014d7400000000000001bc63000000000000022b7203"
                                + "000000000000000c0000000000000018000000000000000d",
                        "4c04706b010a6600000000000000067400000000000000106300000000000000086c0000000000000004027301",
                        "440201030c740000000000000064630000000000000001547603616263")
                .map(HexFormat.of()::parseHex)
                .toList();
    }

    static void encryptionMeta(byte[] bytes, NativeArena arena) {
        KeyspaceEncryption.parse(MemorySegment.ofArray(bytes), 155)
                .key((vendor, keyId, region, endpoint, ciphertext) -> new byte[32]);
    }

    static List<byte[]> encryptionMetaSeeds() {
        byte[] key = ShardKey.exportDataKey(new byte[32], new byte[32]);
        return Stream.of(1, 3)
                .map(keys -> {
                    EncryptionMeta.Builder meta = EncryptionMeta.newBuilder()
                            .setKeyspaceId(42)
                            .setCurrent(
                                    EncryptionEpoch.newBuilder().setFileId(155).setDataKeyId(0x0A0B01))
                            .setMasterKey(
                                    MasterKey.newBuilder().setVendor("test").setCmekId("k"));
                    for (int i = 1; i <= keys; i++) {
                        meta.putDataKeys(
                                0x0A0B00 + i,
                                DataKey.newBuilder()
                                        .setCiphertext(ByteString.copyFrom(key))
                                        .build());
                        meta.addHistory(EncryptionEpoch.newBuilder().setFileId(150 + i));
                    }
                    return meta.build().toByteArray();
                })
                .toList();
    }

    /** A chunk seen as a transaction's writes and as its locks. */
    static void txnFile(byte[] bytes, NativeArena arena) {
        TxnChunkReader chunk = TxnChunkReader.open(FuzzTarget.copy(bytes, arena), FILE_ID, null);
        for (String prefix : List.of("", "500201030c74000000000000006463000000000000000154")) {
            TxnFile file = TxnFile.of(TxnFileRef.newBuilder()
                    .addChunkIds(FILE_ID)
                    .setVersion(7)
                    .setLockValPrefix(ByteString.copyFrom(HexFormat.of().parseHex(prefix)))
                    .build());
            TxnFileReader reader = file.open(id -> chunk);
            TxnFileCursor cursor = reader.cursor(true, reader.skippedInScans(), arena);
            for (boolean more = cursor.rewind(); more; more = cursor.next()) {
                cursor.copyKey();
            }
            if (prefix.isEmpty()) {
                try (MemoryGuard guard = MemoryGuard.unlimited()) {
                    file.load(id -> chunk, guard, arena);
                }
            }
        }
    }

    /** First byte: the kind. Nothing but a refusal of memory may be thrown: what is broken is told. */
    static void inspect(byte[] bytes, NativeArena arena) {
        if (bytes.length < 2) {
            return;
        }
        RowFileKind kind = RowFileKind.values()[(bytes[0] & 0xFF) % RowFileKind.values().length];
        byte[] file = Arrays.copyOfRange(bytes, 1, bytes.length);
        try (MemoryGuard guard = new MemoryLimiter(32 << 20).acquire(0)) {
            for (byte[] each : kind == RowFileKind.SST ? List.of(file, FuzzFiles.repair(file)) : List.of(file)) {
                FileInspector.inspect(FuzzTarget.copy(each, arena), kind, FILE_ID, null, guard, new Listener());
            }
        } catch (CoplaneException e) {
            if (e.code() != ErrorCode.MEMORY_LIMIT) {
                throw new AssertionError("inspecting throws", e);
            }
        }
    }

    static List<byte[]> inspectSeeds() {
        List<byte[]> seeds = new ArrayList<>();
        String[][] families = {{"sst", ".sst"}, {"l0", ".sst"}, {"blob", ".blob"}, {"txn_chunk", ".txn"}};
        RowFileKind[] kinds = {RowFileKind.SST, RowFileKind.L0, RowFileKind.BLOB, RowFileKind.TXN_CHUNK};
        for (int i = 0; i < kinds.length; i++) {
            for (byte[] file : FuzzTarget.files(families[i][0], families[i][1])) {
                byte[] seed = new byte[file.length + 1];
                seed[0] = (byte) kinds[i].ordinal();
                System.arraycopy(file, 0, seed, 1, file.length);
                seeds.add(seed);
            }
        }
        return seeds;
    }

    private static ByteBuffer little(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Looks at what it is told of entries and blocks. */
    private static final class Listener implements FileVisitor {
        @Override
        public boolean wantsEntries() {
            return true;
        }

        @Override
        public void beginTable(String name) {
            Objects.requireNonNull(name);
        }

        @Override
        public void footer(String name, long value) {
            Objects.requireNonNull(name);
        }

        @Override
        public void section(String name, long offset, long bytes) {
            Objects.requireNonNull(name);
        }

        @Override
        public void property(String name, long value) {
            Objects.requireNonNull(name);
        }

        @Override
        public void property(String name, byte[] value) {
            Objects.requireNonNull(value);
        }

        @Override
        public void beginBlock(BlockInfo block) {
            Objects.requireNonNull(block.firstKey());
        }

        @Override
        public void entry(EntryInfo entry) {
            Objects.requireNonNull(entry.key());
            if (entry.value().byteSize() > 0) {
                entry.value().get(Layouts.BYTE, entry.value().byteSize() - 1);
            }
        }

        @Override
        public void endBlock() {
            // nothing to look at
        }

        @Override
        public void endTable() {
            // as above
        }

        @Override
        public void problem(ErrorCode code, long offset, String what) {
            Objects.requireNonNull(what);
        }
    }
}
