package io.coplane.engine;

import io.coplane.compaction.CompactionResult;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.concurrent.TimeUnit;

/** Metrics of compactions, under the reference's names where it has one (compaction.md 1.12, worker.md 20.1). Thread-safe. */
final class CompactionMetrics {
    private static final double NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

    private final Histogram seconds;
    private final Gauge processing;
    private final Counter failed;
    private final Counter exceeded;
    private final Counter notBuilt;
    private final Counter outputBytes;
    private final Counter continued;

    /** @param vectorIndexes permits of compactions of vector indexes */
    CompactionMetrics(PrometheusRegistry registry, AsyncSemaphore vectorIndexes) {
        GaugeWithCallback.builder()
                .name("coplane_vector_index_permits_free")
                .help("Permits of vector index compactions that are free.")
                .callback(callback -> callback.call(vectorIndexes.freePermits()))
                .register(registry);
        seconds = Histogram.builder()
                .name("tikv_worker_remote_compact_request_duration_seconds")
                .help("Successful compactions, from the first byte of the request on.")
                .classicOnly()
                .classicExponentialUpperBounds(0.0005, 2, 20)
                .register(registry);
        processing = Gauge.builder()
                .name("tikv_worker_remote_compact_processing_requests_counter")
                .help("Compactions in work.")
                .register(registry);
        failed = Counter.builder()
                .name("tikv_worker_remote_compact_failed_requests_counter")
                .help("Compaction requests that failed, by status.")
                .labelNames("type")
                .register(registry);
        exceeded = Counter.builder()
                .name("kv_engine_remote_compact_exceed_memory_limit_counter")
                .help("Compactions that the memory limiter refused.")
                .register(registry);
        notBuilt = Counter.builder()
                .name("coplane_compact_not_built_counter")
                .help("Compactions left to the store because their kind is not built, by variant.")
                .labelNames("variant")
                .register(registry);
        outputBytes = Counter.builder()
                .name("coplane_compact_output_bytes_counter")
                .help(
                        "Bytes of the files that compactions came to: of an earlier attempt, of blocks copied as they were stored, of all else.")
                .labelNames("way")
                .register(registry);
        continued = Counter.builder()
                .name("coplane_compact_continued_counter")
                .help("Compactions that did not begin anew: joined one in work, resumed, or answered from the journal.")
                .labelNames("how")
                .register(registry);
    }

    void continued(String how) {
        continued.labelValues(how).inc();
    }

    void started() {
        processing.inc();
    }

    void ended() {
        processing.dec();
    }

    void succeeded(long nanos) {
        seconds.observe(nanos / NANOS_PER_SECOND);
    }

    void succeeded(CompactionResult result) {
        outputBytes.labelValues("resumed").inc(result.resumedBytes());
        outputBytes.labelValues("copied").inc(result.copiedBytes());
        outputBytes.labelValues("encoded").inc(result.outputBytes() - result.resumedBytes() - result.copiedBytes());
    }

    void failed(int status) {
        failed.labelValues(Integer.toString(status)).inc();
    }

    void exceeded() {
        exceeded.inc();
    }

    void notBuilt(String variant) {
        notBuilt.labelValues(variant).inc();
    }
}
