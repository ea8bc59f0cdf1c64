package io.coplane.compaction;

import io.coplane.sst.CompressionType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.ChecksumType;
import org.rocksdb.CompactRangeOptions;
import org.rocksdb.CompressionOptions;
import org.rocksdb.EnvOptions;
import org.rocksdb.IngestExternalFileOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.SstFileWriter;

/**
 * The same merge by RocksDB: our key and descending version are its key, our user meta and value its value, so that it keeps every version as ours
 * does. Its files lie in memory where the machine has {@code /dev/shm}. One compaction thread.
 */
final class RocksMerge implements AutoCloseable {
    private static final int FILTER_BITS = 10;

    private final Path folder;
    private final Options options;
    private final List<String> lower = new ArrayList<>();
    private final List<String> upper = new ArrayList<>();
    private int databases;

    RocksMerge(MergeInput input, CompressionType compression) throws IOException, RocksDBException {
        RocksDB.loadLibrary();
        Path memory = Path.of("/dev/shm");
        folder = Files.isDirectory(memory)
                ? Files.createTempDirectory(memory, "coplane-rocks")
                : Files.createTempDirectory("coplane-rocks");
        options = options(compression);
        for (int file = 0; file < MergeInput.LOWER_FILES + MergeInput.UPPER_FILES; file++) {
            String path = folder.resolve(file + ".sst").toString();
            (file < MergeInput.LOWER_FILES ? lower : upper).add(path);
            write(input, file, path);
        }
    }

    private static Options options(CompressionType compression) {
        var table = new BlockBasedTableConfig()
                .setBlockSize(MergeInput.BLOCK_BYTES)
                .setFormatVersion(5)
                .setChecksumType(ChecksumType.kCRC32c)
                .setNoBlockCache(true)
                .setFilterPolicy(new BloomFilter(FILTER_BITS));
        return new Options()
                .setCreateIfMissing(true)
                .setDisableAutoCompactions(true)
                .setMaxBackgroundJobs(1)
                .setMaxSubcompactions(1)
                .setTargetFileSizeBase(MergeInput.TABLE_BYTES)
                .setTableFormatConfig(table)
                .setCompressionOptions(new CompressionOptions().setLevel(3))
                .setCompressionType(
                        switch (compression) {
                            case NONE -> org.rocksdb.CompressionType.NO_COMPRESSION;
                            case LZ4 -> org.rocksdb.CompressionType.LZ4_COMPRESSION;
                            case ZSTD -> org.rocksdb.CompressionType.ZSTD_COMPRESSION;
                        });
    }

    private void write(MergeInput input, int file, String path) throws RocksDBException {
        try (var env = new EnvOptions();
                var writer = new SstFileWriter(env, options)) {
            writer.open(path);
            input.rows(file, (key, version, userMeta, value) -> {
                byte[] k = ByteBuffer.allocate(key.length + Long.BYTES)
                        .put(key)
                        .putLong(~version)
                        .array();
                byte[] v = ByteBuffer.allocate(userMeta.length + value.length)
                        .put(userMeta)
                        .put(value)
                        .array();
                try {
                    writer.put(k, v);
                } catch (RocksDBException e) {
                    throw new IllegalStateException(e);
                }
            });
            writer.finish();
        }
    }

    /** A database with both levels, for one merge. */
    RocksDB open() throws RocksDBException {
        RocksDB db = RocksDB.open(options, folder.resolve("db" + databases++).toString());
        try (var ingest = new IngestExternalFileOptions().setMoveFiles(false)) {
            db.ingestExternalFile(lower, ingest);
            db.ingestExternalFile(upper, ingest);
        }
        return db;
    }

    /** Merges the levels: every file is rewritten, none twice. */
    static void merge(RocksDB db) throws RocksDBException {
        try (var range = new CompactRangeOptions()
                .setExclusiveManualCompaction(true)
                .setBottommostLevelCompaction(CompactRangeOptions.BottommostLevelCompaction.kForceOptimized)) {
            db.compactRange(db.getDefaultColumnFamily(), null, null, range);
        }
    }

    /** Fails unless all rows are in one level. */
    static void check(RocksDB db) throws RocksDBException {
        int rows = 0;
        try (RocksIterator iterator = db.newIterator()) {
            for (iterator.seekToFirst(); iterator.isValid(); iterator.next()) {
                rows++;
            }
        }
        long levels = db.getLiveFilesMetaData().stream()
                .mapToInt(file -> file.level())
                .distinct()
                .count();
        if (rows != MergeInput.ROWS || levels != 1) {
            throw new IllegalStateException("RocksDB did not merge: rows=" + rows + " levels=" + levels);
        }
    }

    @Override
    public void close() throws IOException {
        options.close();
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path path : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
