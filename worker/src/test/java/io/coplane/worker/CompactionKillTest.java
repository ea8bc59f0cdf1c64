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
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.ProcessBuilder.Redirect;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
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
    private static final int LANES = 2;

    /** Jobs in one process at a time: what costs is the start of a process. */
    private static final int BATCH = 4;

    private static final long POLL_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

    @TempDir
    private Path folder;

    private final AtomicInteger kills = new AtomicInteger();
    private final AtomicInteger hits = new AtomicInteger(); // kills of a job in work
    private final AtomicInteger resumed = new AtomicInteger();
    private final AtomicInteger keptFiles = new AtomicInteger();

    @Test
    void aJobThatIsKilledGoesOnWhereItWas() throws Exception {
        long fresh = Seeds.fresh();
        try (ExecutorService lanes =
                Executors.newFixedThreadPool(LANES, Thread.ofPlatform().factory())) {
            var running = IntStream.range(0, LANES)
                    .mapToObj(lane -> lanes.submit(() -> {
                        runBatches(lane, fresh);
                        return null;
                    }))
                    .toList();
            for (Future<?> lane : running) {
                lane.get();
            }
        }
        System.out.println("killed compactions: jobs=" + JOBS + " kills=" + kills + " hits=" + hits + " resumed="
                + resumed + " filesKept=" + keptFiles);
        assertThat(resumed.get()).isGreaterThan(JOBS / 4); // or the test would prove nothing
    }

    /** Every so manyth batch, one behind the other. Whoever goes on with killed jobs begins the next ones. */
    private void runBatches(int lane, long fresh) throws Exception {
        Child child = new Child(folder.resolve("child" + lane + ".log"));
        try {
            for (int first = lane * BATCH; first < JOBS; first += LANES * BATCH) {
                var random = new SplittableRandom(fresh + first);
                var jobs = new ArrayList<Job>();
                for (int i = first; i < Math.min(JOBS, first + BATCH); i++) {
                    jobs.add(new Job(fresh + i, folder.resolve("job" + i)));
                }
                for (int left = JOBS > 20 ? random.nextInt(1, 3) : 1; left > 0; left--) {
                    killAll(jobs, child, random);
                    child = new Child(folder.resolve("child" + lane + ".log"));
                }
                for (Job job : jobs) {
                    job.goOn(child);
                }
                for (Job job : jobs) {
                    job.check();
                }
            }
        } finally {
            child.kill();
        }
    }

    /** SIGKILL while jobs are in work: once one of them has so many files, or a little later. Others are anywhere then, or perhaps through. */
    private void killAll(List<Job> jobs, Child child, SplittableRandom random) throws Exception {
        Job watched = jobs.get(random.nextInt(jobs.size()));
        int enough = watched.inputs.size() + random.nextInt(watched.outputs() + 2);
        var answers = new ArrayList<CompletableFuture<String>>();
        for (Job job : jobs) {
            answers.add(child.run(job.command()));
        }
        CompletableFuture<String> answer = answers.get(jobs.indexOf(watched));
        while (!answer.isDone() && watched.count() < enough) {
            LockSupport.parkNanos(POLL_NANOS);
        }
        long spins = random.nextInt(3) * 200_000L;
        while (spins-- > 0) {
            Thread.onSpinWait();
        }
        long inWork = answers.stream().filter(each -> !each.isDone()).count();
        child.kill();
        kills.addAndGet(jobs.size());
        hits.addAndGet((int) inWork);
    }

    /** A process that runs commands, several at a time, until it is killed. */
    private static final class Child {
        private final Process process;
        private final PrintWriter commands;
        private final ConcurrentHashMap<String, CompletableFuture<String>> waiting = new ConcurrentHashMap<>();
        private int begun;

        Child(Path log) throws IOException {
            var command = new ArrayList<String>();
            command.add(Path.of(System.getProperty("java.home"), "bin/java").toString());
            command.addAll(Files.readAllLines(ROOT.resolve("config/jvm.flags")));
            command.addAll(List.of("-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
            command.addAll(List.of("-cp", System.getProperty("java.class.path"), CommandLoop.class.getName()));
            process = new ProcessBuilder(command)
                    .redirectError(Redirect.appendTo(log.toFile()))
                    .start();
            commands = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
            Thread.ofVirtual().name("answers").start(this::readAnswers);
        }

        /** Begins a command. @return what it printed, with its exit status, once it is through; fails if the process ends before */
        CompletableFuture<String> run(List<String> arguments) {
            var answer = new CompletableFuture<String>();
            String id = Integer.toString(begun++);
            waiting.put(id, answer);
            commands.println(id + "\t" + String.join("\t", arguments));
            return answer;
        }

        private void readAnswers() {
            try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    String[] parts = line.split("\t", -1);
                    CompletableFuture<String> answer = waiting.remove(parts[0]);
                    if (answer != null) {
                        answer.complete(CommandLoop.decode(parts[1]));
                    }
                }
            } catch (IOException e) {
                // killed
            }
            waiting.values().forEach(answer -> answer.completeExceptionally(new IOException("process ended")));
        }

        /** SIGKILL. */
        void kill() throws InterruptedException {
            process.destroyForcibly().waitFor();
        }
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
        private final ChangeSet expected;
        private final Map<String, byte[]> expectedFiles;
        private final Set<String> inputs;
        private Map<String, Object> before; // files that are there when the job goes on
        private CompletableFuture<String> answer;

        Job(long seed, Path folder) throws IOException {
            random = new SplittableRandom(seed);
            store = Files.createDirectories(folder.resolve("store"));
            undisturbed = Files.createDirectories(folder.resolve("undisturbed"));
            journals = folder.resolve("journals");
            request = folder.resolve("request.json");
            result = folder.resolve("result.pb");
            tableBytes = random.nextInt(1500, 6000);
            blobs = random.nextInt(3) > 0;
            write();
            inputs = files(store).keySet();
            expected = uninterrupted();
            expectedFiles = files(undisturbed);
        }

        int outputs() {
            return expectedFiles.size() - inputs.size();
        }

        void goOn(Child child) throws IOException {
            before = inodes();
            answer = child.run(command());
        }

        void check() throws Exception {
            String output = answer.get(60, TimeUnit.SECONDS);
            assertThat(output).as(request.toString()).endsWith(CommandLoop.STATUS + "0\n");

            assertThat(ChangeSet.parseFrom(Files.readAllBytes(result)))
                    .as(request.toString())
                    .isEqualTo(expected);
            assertThat(files(store).keySet()).isEqualTo(expectedFiles.keySet());
            files(store).forEach((name, bytes) -> assertThat(bytes).as(name).isEqualTo(expectedFiles.get(name)));
            int byEarlier = output.contains("# of these")
                    ? Integer.parseInt(output.replaceAll("(?s).*and (\\d+) files by earlier attempts.*", "$1"))
                    : 0;
            long untouched = inodes().entrySet().stream()
                    .filter(file -> file.getValue().equals(before.get(file.getKey())))
                    .filter(file -> !inputs.contains(file.getKey()))
                    .count();
            assertThat(untouched).isEqualTo(byEarlier); // a file that is put again is another inode
            resumed.addAndGet(byEarlier > 0 ? 1 : 0);
            keptFiles.addAndGet(byEarlier);
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

        private List<String> command() {
            return List.of(
                    "compact",
                    "--quiet",
                    "--request",
                    request.toString(),
                    "--store",
                    store.toString(),
                    "--journal-dir",
                    journals.toString(),
                    "--result",
                    result.toString());
        }

        /** Objects in the store. */
        int count() {
            return count(store.toFile());
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
