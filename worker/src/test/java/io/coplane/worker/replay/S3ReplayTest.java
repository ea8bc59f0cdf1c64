package io.coplane.worker.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.engine.DataPlane;
import io.coplane.engine.DataPlaneConfig;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.store.StoreUrl;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.S3Server;
import io.coplane.testing.TestData;
import io.coplane.worker.Worker;
import io.coplane.worker.config.ConfigLoader;
import io.coplane.worker.config.LoadedConfig;
import io.coplane.worker.config.Machine;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Recorded requests over files that lie in an S3 server. */
@ExtendWith(NoLeaks.class)
@Timeout(120)
final class S3ReplayTest {
    private static final Map<String, String> ENVIRONMENT =
            Map.of("DFS_S3_KEY_ID", S3Server.KEY_ID, "DFS_S3_SECRET_KEY", S3Server.SECRET_KEY);
    private static final int REQUESTS = 60;

    private static S3Server server;

    @BeforeAll
    static void start() throws Exception {
        server = S3Server.start();
    }

    @AfterAll
    static void stop() throws Exception {
        server.close();
    }

    @Test
    void aDataPlaneReadsItsFilesFromS3() throws Exception {
        DataPlaneConfig config = DataPlaneConfig.defaults(2, 2L << 30).withMasterKey(CorpusLayout.MASTER_KEY);
        try (ObjectStore store = store("plane");
                DataPlane plane =
                        DataPlane.open(config, store, ReplayCommand.recordedClock(), new PrometheusRegistry());
                InProcessTarget target = new InProcessTarget(plane, store)) {
            assertThat(failures(target)).isZero();
            assertThat(store.list("", 10).join().entries()).isNotEmpty();
        }
    }

    @Test
    void aWorkerServesFilesOfS3(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(
                folder.resolve("coplane.toml"),
                String.format(
                        Locale.ROOT,
                        """
                addr = "127.0.0.1:0"
                cop-addr = ""
                [dfs]
                prefix = "worker"
                s3-bucket = "%s"
                s3-endpoint = "%s"
                s3-region = "us-east-1"
                s3-key-id = "%s"
                s3-secret-key = "%s"
                [coplane]
                fixed-clock-micros = %d
                """,
                        S3Server.BUCKET,
                        server.endpoint(),
                        S3Server.KEY_ID,
                        S3Server.SECRET_KEY,
                        ReplayCommand.RECORDED_WALL_MICROS));
        try (Worker worker = Worker.start(
                        ConfigLoader.load(Optional.of(file), Map.of(), Map.of()), new Machine(64L << 30, 2));
                ObjectStore store = store("worker");
                HttpTarget target = new HttpTarget(
                        URI.create("http://127.0.0.1:" + worker.address().getPort()), store)) {
            assertThat(failures(target)).isZero();
            assertThat(metrics(worker))
                    .contains("kv_engine_dfs_throughput_bytes")
                    .contains("kv_engine_dfs_latency_ms_bucket{type=\"read\"")
                    .contains("coplane_s3_native_capacity_bytes")
                    .doesNotContain(S3Server.SECRET_KEY);
        }
    }

    /** worker.md 1, 4: every key of the reference at its default; the bucket comes by the environment and the ports by options, as a deployment has them. */
    @Test
    void aFileOfTheReferenceStartsAWorker() throws Exception {
        Path file = Path.of(System.getProperty("coplane.root")).resolve("worker/src/test/resources/reference.toml");
        Map<String, String> environment = Map.of(
                "DFS_PREFIX",
                "reference",
                "DFS_S3_BUCKET",
                S3Server.BUCKET,
                "DFS_S3_ENDPOINT",
                server.endpoint().toString(),
                "DFS_S3_REGION",
                "us-east-1",
                "DFS_S3_KEY_ID",
                S3Server.KEY_ID,
                "DFS_S3_SECRET_KEY",
                S3Server.SECRET_KEY,
                "COPLANE_FIXED_CLOCK_MICROS",
                String.valueOf(ReplayCommand.RECORDED_WALL_MICROS));
        Map<String, Object> options = Map.of("addr", "127.0.0.1:0", "cop-addr", "127.0.0.1:0");
        LoadedConfig loaded = ConfigLoader.read(Optional.of(file), options, environment);
        try (Worker worker = Worker.start(loaded.config(), new Machine(64L << 30, 2));
                ObjectStore store = store("reference");
                HttpTarget target = new HttpTarget(
                        URI.create("http://127.0.0.1:" + worker.address().getPort()), store)) {
            assertThat(loaded.unknown()).isEmpty();
            assertThat(worker.grpcAddress().getPort()).isPositive();
            assertThat(failures(target, 3)).isZero();
            assertThat(store.list("", 10).join().entries()).isNotEmpty();
        }
    }

    private static ObjectStore store(String prefix) {
        return StoreUrl.parse("s3://" + S3Server.BUCKET + "/" + prefix + "?endpoint=" + server.endpoint())
                .open(ENVIRONMENT, 1);
    }

    private static int failures(ReplayTarget target) throws Exception {
        return failures(target, REQUESTS);
    }

    private static int failures(ReplayTarget target, int requests) throws Exception {
        ReplayReport report = new ReplayReport();
        new Replay(target, Shape.MIXED, OptionalInt.empty(), 1, 2)
                .run(Corpus.open(TestData.root()).load("smoke"), 1_000, requests, report, done -> {});
        return report.notPassed();
    }

    private static String metrics(Worker worker) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            URI uri = URI.create("http://127.0.0.1:" + worker.address().getPort() + "/metrics");
            return client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString())
                    .body();
        }
    }
}
