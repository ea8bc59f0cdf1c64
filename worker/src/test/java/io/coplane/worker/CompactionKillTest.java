package io.coplane.worker;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.compaction.CompactionConfig;
import io.coplane.compaction.CompactionRequest;
import io.coplane.compaction.CompactionResult;
import io.coplane.compaction.Compactor;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.sst.ChecksumType;
import io.coplane.sst.ColumnFamily;
import io.coplane.sst.CompressionType;
import io.coplane.sst.L0Builder;
import io.coplane.sst.SstBuilder;
import io.coplane.sst.SstOptions;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.Seeds;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code coplane compact} killed at random moments, and started again: what it comes to is what an uninterrupted run comes to, files and ids included,
 * and what the journal kept isn't done again.
 */
@ExtendWith(NoLeaks.class)
@Timeout(1200)
final class CompactionKillTest {
    private static final Path ROOT = Path.of(System.getProperty("coplane.root"));
    private static final int JOBS = Boolean.getBoolean("coplane.long") ? 200 : 20;
    private static final int KEYS = 600;

    @TempDir
    private Path folder;

    private final AtomicInteger resumed = new AtomicInteger();

    @Test
    void aJobThatIsKilledGoesOnWhereItWas() throws Exception {
        long fresh = Seeds.fresh();
        try (ExecutorService two =
                Executors.newFixedThreadPool(2, Thread.ofPlatform().factory())) {
            var jobs = IntStream.range(0, JOBS)
                    .mapToObj(i -> two.submit(() -> {
                        try {
                            new Job(fresh + i, folder.resolve("job" + i)).run();
                            return null;
                        } catch (AssertionError | RuntimeException e) {
                            throw new AssertionError("failed with seed " + (fresh + i), e);
                        }
                    }))
                    .toList();
            for (Future<?> job : jobs) {
                job.get();
            }
        }
        assertThat(resumed.get()).isGreaterThan(JOBS / 4); // or the test would prove nothing
    }

    /** One request with its own store. */
    private final class Job {
        private final SplittableRandom random;
        private final Path store;
        private final Path undisturbed;
        private final Path journals;
        private final Path request;
        private final Path result;
        private final int tableBytes;
        private final boolean blobs;
        private String inputs = "";

        Job(long seed, Path folder) throws IOException {
            random = new SplittableRandom(seed);
            store = Files.createDirectories(folder.resolve("store"));
            undisturbed = Files.createDirectories(folder.resolve("undisturbed"));
            journals = folder.resolve("journals");
            request = folder.resolve("request.json");
            result = folder.resolve("result.pb");
            tableBytes = random.nextInt(3000, 12_000);
            blobs = random.nextInt(3) > 0;
        }

        void run() throws Exception {
            write();
            ChangeSet expected = uninterrupted();
            Map<String, byte[]> expectedFiles = files(undisturbed);
            int outputs = expectedFiles.size() - files(store).size();

            for (int kills = JOBS > 20 ? random.nextInt(1, 3) : 1; kills > 0; kills--) {
                kill(start(), files(store).size() + random.nextInt(outputs + 2));
            }
            Map<String, Object> before = inodes();
            Process last = start();
            String output = new String(last.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(last.waitFor()).as(output).isZero();

            assertThat(ChangeSet.parseFrom(Files.readAllBytes(result))).isEqualTo(expected);
            assertThat(files(store).keySet()).isEqualTo(expectedFiles.keySet());
            files(store).forEach((name, bytes) -> assertThat(bytes).as(name).isEqualTo(expectedFiles.get(name)));
            int byEarlier = output.contains("# of these")
                    ? Integer.parseInt(output.replaceAll("(?s).*and (\\d+) files by earlier attempts.*", "$1"))
                    : 0;
            Map<String, Object> after = inodes();
            long untouched = after.entrySet().stream()
                    .filter(file -> file.getValue().equals(before.get(file.getKey())))
                    .filter(file -> !inputs.contains(file.getKey()))
                    .count();
            assertThat(untouched).isEqualTo(byEarlier); // a file that is put again is another inode
            resumed.addAndGet(byEarlier > 0 ? 1 : 0);
        }

        private ChangeSet uninterrupted() throws IOException {
            try (var files = new DirectoryStore(undisturbed, "", 2);
                    MemoryGuard guard = new MemoryLimiter(1L << 30).acquire(1 << 20)) {
                CompactionResult done = new Compactor(new CompactionConfig(ChecksumType.CRC32, 5), files, new byte[0])
                        .compact(
                                CompactionRequest.parse(Files.readAllBytes(request)),
                                count -> {
                                    throw new AssertionError("the request has ids enough");
                                },
                                guard,
                                () -> false);
                return done.changeSet();
            }
        }

        /** Three L0 files whose keys and versions interleave, in both stores, and the request. */
        private void write() throws IOException {
            SstOptions options = new SstOptions(512, CompressionType.NONE, 3, ChecksumType.CRC32, null);
            try (var one = new DirectoryStore(store, "", 1);
                    var other = new DirectoryStore(undisturbed, "", 1)) {
                for (int file = 1; file <= 3; file++) {
                    MemoryGuard guard = MemoryGuard.unlimited();
                    try (var builder = new L0Builder(options, file, file, guard);
                            var arena = new NativeArena(guard)) {
                        for (ColumnFamily family : List.of(ColumnFamily.WRITE, ColumnFamily.EXTRA)) {
                            add(builder.family(family), file);
                        }
                        var bytes = builder.finish(arena).bytes();
                        one.put(FileKind.SST, file, bytes).join();
                        other.put(FileKind.SST, file, bytes).join();
                    }
                }
            }
            inputs = files(store).keySet().toString();
            String ids = LongStream.range(1000, 3000).mapToObj(Long::toString).collect(Collectors.joining(","));
            Files.writeString(
                    request,
                    "{\"shard-id\":5,\"shard-ver\":3,\"start\":[],\"end\":[],\"file-ids\":[" + ids
                            + "],\"compaction-tp\":{\"L0\":{\"safe_ts\":150,\"l0_tables\":[1,2,3],"
                            + "\"multi_cf_l1_tables\":[[],[],[]],\"sst_config\":{\"block_size\":512,\"max_table_size\":"
                            + tableBytes
                            + ",\"compression_tps\":[1,2,2],\"compression_lvl\":3,\"flush_split_l0\":false},"
                            + "\"bt_config\":"
                            + (blobs ? "{\"min-blob-size\":100,\"max-blob-table-size\":20000}" : "null")
                            + "}},\"compactor-version\":3,\"input-size\":1000000}");
        }

        private void add(SstBuilder to, int file) {
            for (int i = 0; i < KEYS; i++) {
                if (random.nextInt(3) == 0) {
                    byte[] key = String.format(Locale.ROOT, "t%06d", i).getBytes(StandardCharsets.UTF_8);
                    long ts = 100L * file + random.nextInt(90);
                    byte[] meta = ByteBuffer.allocate(17)
                            .order(ByteOrder.LITTLE_ENDIAN)
                            .put((byte) 1)
                            .putLong(ts - 1)
                            .putLong(ts)
                            .array();
                    byte[] value = new byte[random.nextInt(4) == 0 ? random.nextInt(100, 400) : random.nextInt(1, 60)];
                    random.nextBytes(value);
                    to.add(key, 0, key.length, ts, 0, meta, 0, meta.length, value, 0, value.length);
                }
            }
        }

        private Process start() throws IOException {
            var command = new ArrayList<String>();
            command.add(Path.of(System.getProperty("java.home"), "bin/java").toString());
            command.addAll(Files.readAllLines(ROOT.resolve("config/jvm.flags")));
            command.addAll(List.of("-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
            command.addAll(List.of("-cp", System.getProperty("java.class.path"), "io.coplane.worker.CoplaneMain"));
            command.addAll(List.of("compact", "--quiet", "--request", request.toString()));
            command.addAll(List.of("--store", store.toString(), "--journal-dir", journals.toString()));
            command.addAll(List.of("--result", result.toString()));
            return new ProcessBuilder(command).redirectErrorStream(true).start();
        }

        /** SIGKILL once so many files are there, or a little later; perhaps it is through by then. */
        private void kill(Process process, int count) throws Exception {
            while (process.isAlive() && count(store.toFile()) < count) {
                if (process.waitFor(5, TimeUnit.MILLISECONDS)) {
                    break;
                }
            }
            long spins = random.nextInt(3) * 200_000L;
            while (spins-- > 0) {
                Thread.onSpinWait();
            }
            process.destroyForcibly().waitFor();
        }

        /** Objects below a folder in which files come and go. */
        private static int count(File folder) {
            File[] all = folder.listFiles();
            int count = 0;
            for (File file : all == null ? new File[0] : all) {
                count += file.isDirectory() ? count(file) : file.getName().endsWith(".tmp") ? 0 : 1;
            }
            return count;
        }

        private Map<String, Object> inodes() throws IOException {
            var inodes = new TreeMap<String, Object>();
            for (String name : files(store).keySet()) {
                inodes.put(name, Files.getAttribute(store.resolve(name), "unix:ino"));
            }
            return inodes;
        }

        /** Whole objects by name. */
        private static Map<String, byte[]> files(Path root) throws IOException {
            var files = new TreeMap<String, byte[]>();
            try (Stream<Path> all = Files.walk(root)) {
                for (Path file : all.filter(Files::isRegularFile)
                        .filter(f -> !f.toString().endsWith(".tmp"))
                        .toList()) {
                    files.put(root.relativize(file).toString(), Files.readAllBytes(file));
                }
            }
            return files;
        }
    }
}
