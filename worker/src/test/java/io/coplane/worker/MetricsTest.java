package io.coplane.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.kvrpcpb.Context;
import io.coplane.proto.tipb.AnalyzeIndexReq;
import io.coplane.proto.tipb.AnalyzeReq;
import io.coplane.proto.tipb.AnalyzeType;
import io.coplane.proto.tipb.ChecksumRequest;
import io.coplane.snapshot.RemoteRequestBody;
import io.coplane.testing.NoLeaks;
import io.coplane.worker.config.ConfigLoader;
import io.coplane.worker.config.Machine;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every metric of the data plane by name, type, labels and buckets (worker.md 20.1, 20.2), and ours as docs/operations.md has them, from a worker that has
 * done one of everything. Those of parts that are not built are not there: IA (prefetch, cache hits), native BR, scaler, schema manager, load data.
 */
@ExtendWith(NoLeaks.class)
@Timeout(60)
final class MetricsTest {
    private static final byte[] NOTHING = {};

    /** The reference's. */
    private static final List<String> COUNTERS = List.of(
            "tikv_worker_remote_cop_dag_request_counter",
            "tikv_worker_remote_cop_dag_response_size",
            "tikv_worker_remote_analyze_request_counter",
            "tikv_worker_remote_analyze_response_size",
            "tikv_worker_remote_checksum_request_counter",
            "tikv_worker_remote_checksum_response_size",
            "tikv_worker_remote_cop_failed_requests_counter{type=\"snapshot\"}",
            "tikv_worker_remote_cop_topn_paging_rewrite_total",
            "tikv_worker_remote_compact_failed_requests_counter{type=\"503\"}",
            "kv_engine_remote_compact_exceed_memory_limit_counter");

    private static final List<String> GAUGES = List.of(
            "tikv_worker_remote_cop_processing_requests_counter",
            "tikv_worker_remote_compact_processing_requests_counter",
            "tikv_worker_limiter_waiting_requests_counter{type=\"coprocessor\"}",
            "tikv_worker_memory_limiter_current_used");

    /** exp(0.0005, 2, 20). */
    private static final List<String> SECONDS = List.of(
            "tikv_worker_remote_cop_snapshot_duration_seconds",
            "tikv_worker_remote_cop_process_duration_seconds",
            "tikv_worker_remote_cop_request_duration_seconds",
            "tikv_worker_remote_compact_request_duration_seconds",
            "tikv_worker_limiter_request_wait_duration_seconds{type=\"coprocessor\"}");

    private static final List<String> OUR_COUNTERS =
            List.of("coplane_compact_not_built_counter{variant=\"VectorIndex\"}", "process_cpu_seconds_total");

    private static final List<String> OUR_GAUGES = List.of(
            "coplane_memory_limiter_capacity_bytes",
            "coplane_http_body_bytes",
            "coplane_http_body_capacity_bytes",
            "coplane_parsed_bytes",
            "coplane_parsed_capacity_bytes",
            "coplane_permits",
            "coplane_permits_free",
            "coplane_vector_index_permits_free",
            "coplane_block_cache_bytes",
            "coplane_block_cache_capacity_bytes",
            "coplane_block_cache_values",
            "coplane_heap_capacity_bytes",
            "jvm_memory_used_bytes{area=\"heap\"}",
            "jvm_memory_used_bytes{area=\"nonheap\"}",
            "jvm_buffer_pool_used_bytes{pool=\"direct\"}",
            "tikv_server_cpu_cores_quota",
            "process_virtual_memory_bytes",
            "process_resident_memory_bytes",
            "process_start_time_seconds",
            "process_threads",
            "process_open_fds",
            "process_max_fds");

    @TempDir
    private Path folder;

    private final HttpClient client = HttpClient.newHttpClient();
    private Worker worker;

    @BeforeEach
    void start() throws IOException {
        Path file = Files.writeString(folder.resolve("worker.toml"), String.format(Locale.ROOT, """
                addr = "127.0.0.1:0"
                cop-addr = ""
                cop-topn-max-pushdown-rows = 10
                dfs.backend = "local"
                dfs.local-dir = "%s"
                """, folder));
        worker = Worker.start(ConfigLoader.load(Optional.of(file), Map.of(), Map.of()), new Machine(64L << 30, 2));
    }

    @AfterEach
    void stop() {
        client.close();
        worker.close();
    }

    @Test
    void everyMetricIsThereUnderItsName() throws Exception {
        doOneOfEverything();

        String text = get("/metrics");

        assertAll(text, COUNTERS, "counter");
        assertAll(text, GAUGES, "gauge");
        assertAll(text, OUR_COUNTERS, "counter");
        assertAll(text, OUR_GAUGES, "gauge");
        for (String histogram : SECONDS) {
            assertBuckets(text, histogram);
        }
        assertThat(text)
                .contains("\ncoplane_permits 192\n", "\ncoplane_permits_free 192\n")
                .contains("\ntikv_worker_remote_cop_topn_paging_rewrite_total 1\n");
    }

    @Test
    void nothingIsSaidOfWhatDidNotHappenButGaugesStay() throws Exception {
        String text = get("/metrics");

        for (String counter : COUNTERS) {
            assertThat(text).doesNotContain(family(counter));
        }
        for (String histogram : SECONDS) {
            assertThat(text).doesNotContain(family(histogram));
        }
        assertAll(text, GAUGES, "gauge");
    }

    @Test
    void theTextIsZippedForThoseWhoTakeIt() throws Exception {
        HttpResponse<byte[]> zipped = client.send(
                HttpRequest.newBuilder(uri("/metrics"))
                        .header("accept-encoding", "gzip")
                        .build(),
                HttpResponse.BodyHandlers.ofByteArray());

        assertThat(zipped.headers().firstValue("content-encoding")).contains("gzip");
        assertThat(zipped.headers().firstValue("content-type")).contains("text/plain; version=0.0.4");
        byte[] text = new GZIPInputStream(new ByteArrayInputStream(zipped.body())).readAllBytes();
        assertThat(new String(text, StandardCharsets.UTF_8)).contains("\ntikv_worker_memory_limiter_current_used 0\n");
    }

    /** docs/operations.md names every metric of this test. */
    @Test
    void everyMetricIsDocumented() throws IOException {
        String page = Files.readString(Path.of(System.getProperty("coplane.root"), "docs/operations.md"));
        List<String> missing = new ArrayList<>();
        for (List<String> names : List.of(COUNTERS, GAUGES, SECONDS, OUR_COUNTERS, OUR_GAUGES)) {
            names.stream()
                    .map(MetricsTest::family)
                    .filter(name -> !page.contains(name))
                    .forEach(missing::add);
        }

        assertThat(missing).isEmpty();
    }

    private void doOneOfEverything() throws Exception {
        Request topN =
                HungryRequests.topN().toBuilder().setPagingSize(0xffff_ffffL).build();
        assertThat(post("/coprocessor", body(topN))).isEqualTo(200);
        assertThat(post(
                        "/coprocessor",
                        body(request(105, ChecksumRequest.getDefaultInstance().toByteString()))))
                .isEqualTo(200);
        ByteString analyze = AnalyzeReq.newBuilder()
                .setTp(AnalyzeType.TypeIndex)
                .setIdxReq(AnalyzeIndexReq.newBuilder().setBucketSize(16).setNumColumns(1))
                .build()
                .toByteString();
        assertThat(post("/coprocessor", body(request(104, analyze)))).isEqualTo(200);
        byte[] noSnapshot =
                RemoteRequestBody.join(request(103, ByteString.EMPTY).toByteArray(), NOTHING, NOTHING);
        assertThat(post("/coprocessor", noSnapshot)).isEqualTo(500);
        String cleanup =
                "{\"shard-id\":5,\"shard-ver\":3,\"compactor-version\":3,\"input-size\":SIZE,\"compaction-tp\":"
                        + "{\"FtsCleanup\":{\"l1_file_ids\":[31],\"l2_file_ids\":[]}}}";
        assertThat(post("/compact", cleanup.replace("SIZE", "1").getBytes(StandardCharsets.UTF_8)))
                .isEqualTo(200);
        assertThat(post(
                        "/compact",
                        cleanup.replace("SIZE", "9223372036854775807").getBytes(StandardCharsets.UTF_8)))
                .isEqualTo(503);
        String vector = "{\"shard-id\":5,\"shard-ver\":3,\"compactor-version\":3,\"input-size\":1,\"compaction-tp\":"
                + "{\"VectorIndex\":{\"table_id\":100,\"index_id\":2,\"col_id\":3,\"snap_version\":400,"
                + "\"schema_file_id\":5,\"col_file_ids\":[[1,2]],\"remove_file_ids\":[31],\"vector_index_build_opts\":{}}}}";
        assertThat(post("/compact", vector.getBytes(StandardCharsets.UTF_8))).isEqualTo(501);
    }

    private static Request request(int tp, ByteString data) {
        return Request.newBuilder()
                .setTp(tp)
                .setStartTs(5)
                .setContext(Context.newBuilder().setKeyspaceId(1))
                .setData(data)
                .build();
    }

    private static byte[] body(Request request) {
        return RemoteRequestBody.join(request.toByteArray(), NOTHING, HungryRequests.emptyShard());
    }

    private static void assertAll(String text, List<String> samples, String type) {
        for (String sample : samples) {
            assertThat(text).contains("# TYPE " + family(sample) + " " + type + "\n");
            assertThat(text).containsPattern("(?m)^" + Pattern.quote(sample) + " [0-9]");
        }
    }

    private static void assertBuckets(String text, String sample) {
        String family = family(sample);
        String labels = sample.length() == family.length()
                ? ""
                : sample.substring(family.length() + 1, sample.length() - 1) + ",";
        assertThat(text).contains("# TYPE " + family + " histogram\n");
        List<String> bounds = new ArrayList<>();
        BigDecimal bound = new BigDecimal("0.0005");
        for (int i = 0; i < 20; i++) {
            bounds.add(bound.stripTrailingZeros().toPlainString());
            bound = bound.add(bound);
        }
        bounds.add("+Inf");
        List<String> found = text.lines()
                .filter(line -> line.startsWith(family + "_bucket{" + labels + "le="))
                .map(line -> line.replaceAll(".*le=\"([^\"]*)\".*", "$1"))
                .toList();
        assertThat(found).as(family).isEqualTo(bounds);
    }

    private static String family(String sample) {
        int labels = sample.indexOf('{');
        return labels < 0 ? sample : sample.substring(0, labels);
    }

    private int post(String path, byte[] body) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(uri(path))
                .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                .build();
        return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
    }

    private String get(String path) throws IOException, InterruptedException {
        return client.send(HttpRequest.newBuilder(uri(path)).build(), HttpResponse.BodyHandlers.ofString())
                .body();
    }

    private URI uri(String path) {
        return URI.create("http://127.0.0.1:" + worker.address().getPort() + path);
    }
}
