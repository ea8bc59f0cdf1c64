package io.coplane.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.v1.CompactProgress;
import io.coplane.proto.v1.CompactRequest;
import io.coplane.proto.v1.DataPlaneGrpc;
import io.coplane.proto.v1.StatusRequest;
import io.coplane.proto.v1.StatusResponse;
import io.coplane.sst.ChecksumType;
import io.coplane.sst.ColumnFamily;
import io.coplane.sst.CompressionType;
import io.coplane.sst.L0Builder;
import io.coplane.sst.SstBuilder;
import io.coplane.sst.SstOptions;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.Waits;
import io.coplane.worker.config.ConfigLoader;
import io.coplane.worker.config.Machine;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** A job that ends in the middle, because its worker dies or its client leaves: the same request goes on where it was, to the same answer. */
@ExtendWith(NoLeaks.class)
@Timeout(300)
final class CompactionResumeTest {
    private static final int KEYS = 12_000;
    private static final int INPUT_ID = 1;
    private static final String SLOW = "dfs.zstd-compression-level = \"19\"\n";
    private static final byte[] REQUEST = request();

    @TempDir
    private Path folder;

    private HttpClient http;
    private Worker worker;

    @BeforeEach
    void fill() {
        http = HttpClient.newHttpClient();
        var random = new SplittableRandom(1);
        var options = new SstOptions(4096, CompressionType.NONE, 3, ChecksumType.CRC32, null);
        MemoryGuard guard = MemoryGuard.unlimited();
        try (var store = new DirectoryStore(folder, "", 1);
                var arena = new NativeArena(guard);
                var builder = new L0Builder(options, INPUT_ID, 7, guard)) {
            SstBuilder writes = builder.family(ColumnFamily.WRITE);
            byte[] meta = ByteBuffer.allocate(17)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .put((byte) 1)
                    .putLong(8)
                    .putLong(9)
                    .array();
            byte[] value = new byte[200];
            for (int i = 0; i < KEYS; i++) {
                byte[] key = ByteBuffer.allocate(9).put((byte) 't').putLong(i).array();
                for (int at = 0; at < value.length; at++) {
                    value[at] = (byte) ('a' + random.nextInt(4));
                }
                writes.add(key, 0, key.length, 9, 0, meta, 0, meta.length, value, 0, value.length);
            }
            store.put(FileKind.SST, INPUT_ID, builder.finish(arena).bytes()).join();
        }
    }

    @AfterEach
    void nothingIsHeld() {
        http.close();
        stop();
    }

    @Test
    void aWorkerThatIsKilledIsFollowedByOneThatGoesOn() throws Exception {
        try (WorkerProcess killed = WorkerProcess.start(folder, toml("journals"), "-Xmx256m")) {
            CompletableFuture<HttpResponse<byte[]>> lost =
                    post(URI.create("http://127.0.0.1:" + killed.http().getPort()));
            Waits.until(() -> outputs().size() >= 3);

            assertThat(killed.process().destroyForcibly().waitFor(30, TimeUnit.SECONDS))
                    .isTrue(); // SIGKILL

            assertThat(lost.handle((answer, failure) -> failure != null).join()).isTrue();
        }
        goesOn(outputs());
    }

    @Test
    void aCallThatIsCancelledEndsItsJobWhichCanBeGoneOnWith() throws Exception {
        start("journals");
        ManagedChannel channel = NettyChannelBuilder.forAddress(worker.grpcAddress())
                .usePlaintext()
                .build();
        try {
            var status = new CompletableFuture<Status>();
            ClientCall<CompactRequest, CompactProgress> call =
                    channel.newCall(DataPlaneGrpc.getCompactMethod(), CallOptions.DEFAULT);
            call.start(
                    new ClientCall.Listener<>() {
                        @Override
                        public void onClose(Status end, Metadata trailers) {
                            status.complete(end);
                        }
                    },
                    new Metadata());
            call.sendMessage(CompactRequest.newBuilder()
                    .setJson(ByteString.copyFrom(REQUEST))
                    .build());
            call.halfClose();
            call.request(1_000);
            Waits.until(() -> outputs().size() >= 3);

            call.cancel("enough", null);

            assertThat(status.get(30, TimeUnit.SECONDS).getCode()).isEqualTo(Status.Code.CANCELLED);
            DataPlaneGrpc.DataPlaneBlockingStub stub = DataPlaneGrpc.newBlockingStub(channel);
            Waits.until(() -> {
                StatusResponse now = stub.status(StatusRequest.getDefaultInstance());
                return now.getRunningCount() == 0 && now.getPermits().getInUse() == 0;
            });
            Waits.until(() -> worker.memory().usedBytes() == worker.cachedBytes());
        } finally {
            channel.shutdownNow();
        }
        Map<String, Object> kept = outputs();
        stop();
        goesOn(kept);
    }

    /** Asks again after a part was done: the rest is done, and the answer is that of a job that nothing interrupted. */
    private void goesOn(Map<String, Object> kept) throws Exception {
        start("journals");

        HttpResponse<byte[]> answer = post().join();

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(metric("coplane_compact_continued_counter_total{how=\"resumed\"}"))
                .isEqualTo(1);
        assertThat(metric("coplane_compact_output_bytes_counter_total{way=\"resumed\"}"))
                .isPositive();
        Map<String, Object> all = outputs();
        assertThat(all.size()).isGreaterThan(kept.size());
        assertThat(all.entrySet().stream()
                        .filter(file -> file.getValue().equals(kept.get(file.getKey())))
                        .count())
                .isPositive(); // a file that is put again is another inode
        stop();

        start("other-journals");
        ChangeSet undisturbed = ChangeSet.parseFrom(post().join().body());

        assertThat(metric("coplane_compact_output_bytes_counter_total{way=\"resumed\"}"))
                .isZero();
        assertThat(ChangeSet.parseFrom(answer.body())).isEqualTo(undisturbed);
        assertThat(undisturbed.getCompaction().getTableCreatesCount()).isEqualTo(all.size());
    }

    private static byte[] request() {
        String ids = LongStream.range(1000, 1500).mapToObj(Long::toString).collect(Collectors.joining(","));
        return ("{\"shard-id\":5,\"shard-ver\":3,\"start\":[],\"end\":[],\"file-ids\":[" + ids
                        + "],\"compaction-tp\":{\"L0\":{\"safe_ts\":150,\"l0_tables\":[" + INPUT_ID + "],"
                        + "\"multi_cf_l1_tables\":[[],[],[]],\"sst_config\":{\"block_size\":4096,\"max_table_size\":20000"
                        + ",\"compression_tps\":[2,2,2],\"compression_lvl\":3,\"flush_split_l0\":false},"
                        + "\"bt_config\":null}},\"compactor-version\":3,\"input-size\":4000000}")
                .getBytes(StandardCharsets.UTF_8);
    }

    private String toml(String journals) {
        return "addr = \"127.0.0.1:0\"\ncop-addr = \"127.0.0.1:0\"\n" + SLOW
                + "dfs.backend = \"local\"\ndfs.local-dir = \"" + folder + "\"\n[coplane]\ncompact-journal-dir = \""
                + folder.resolve(journals) + "\"\n";
    }

    private void start(String journals) throws IOException {
        Path file = Files.writeString(folder.resolve("own.toml"), toml(journals));
        worker = Worker.start(ConfigLoader.load(Optional.of(file), Map.of(), Map.of()), new Machine(64L << 30, 2));
    }

    private void stop() {
        if (worker != null) {
            worker.close();
            assertThat(worker.memory().usedBytes()).isZero();
            worker = null;
        }
    }

    private URI base() {
        return URI.create("http://127.0.0.1:" + worker.address().getPort());
    }

    private CompletableFuture<HttpResponse<byte[]>> post() {
        return post(base());
    }

    private CompletableFuture<HttpResponse<byte[]>> post(URI to) {
        return http.sendAsync(
                HttpRequest.newBuilder(to.resolve("/compact"))
                        .POST(HttpRequest.BodyPublishers.ofByteArray(REQUEST))
                        .build(),
                HttpResponse.BodyHandlers.ofByteArray());
    }

    /** Value of a metric that is there; 0 if it isn't. */
    private double metric(String name) {
        String all = http.sendAsync(
                        HttpRequest.newBuilder(base().resolve("/metrics")).build(),
                        HttpResponse.BodyHandlers.ofString())
                .join()
                .body();
        return all.lines()
                .filter(line -> line.startsWith(name.replace("_total", "")) || line.startsWith(name))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                .sum();
    }

    /** Whole outputs with their inodes. */
    private Map<String, Object> outputs() {
        var outputs = new TreeMap<String, Object>();
        try (Stream<Path> files = Files.list(folder.resolve("default"))) {
            for (Path shelf : files.filter(path -> path.getFileName().toString().length() == 2)
                    .toList()) {
                try (Stream<Path> objects = Files.list(shelf)) {
                    for (Path object : objects.filter(path -> path.toString().endsWith(".sst"))
                            .toList()) {
                        outputs.put(object.getFileName().toString(), Files.getAttribute(object, "unix:ino"));
                    }
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        outputs.keySet().removeIf(name -> name.equals("0000000000000001.sst"));
        return outputs;
    }
}
