package io.coplane.engine;

import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.cache.BlockCache;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.CounterWithCallback;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Metrics of the data plane, under the reference's names (worker.md 20.1). Thread-safe. */
final class DataPlaneMetrics {
    private static final double NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final double FIRST_BOUND = 0.0005;
    private static final int BOUNDS = 20;
    private static final String COPROCESSOR = "coprocessor";

    private final Counter[] requests;
    private final Counter[] responseBytes;
    private final Histogram snapshotSeconds;
    private final Histogram processSeconds;
    private final Histogram requestSeconds;
    private final Gauge processing;
    private final Counter failed;
    private final Counter topnRewrites;
    private final Histogram waitSeconds;
    private final Counter pages;

    /** @param cache null if there is none */
    DataPlaneMetrics(
            PrometheusRegistry registry,
            MemoryLimiter limiter,
            MemoryLimiter parsed,
            WorkerLimiter permits,
            BlockCache cache) {
        String[] kinds = {"cop_dag", "analyze", "checksum"};
        requests = new Counter[kinds.length];
        responseBytes = new Counter[kinds.length];
        for (int i = 0; i < kinds.length; i++) {
            requests[i] = counter(registry, "tikv_worker_remote_" + kinds[i] + "_request_counter", "Requests.");
            responseBytes[i] =
                    counter(registry, "tikv_worker_remote_" + kinds[i] + "_response_size", "Bytes of responses.");
        }
        snapshotSeconds = seconds(registry, "snapshot", "Snapshot construction.");
        processSeconds = seconds(registry, "process", "Execution.");
        requestSeconds = seconds(registry, "request", "Whole request.");
        processing = Gauge.builder()
                .name("tikv_worker_remote_cop_processing_requests_counter")
                .help("Requests in work.")
                .register(registry);
        failed = Counter.builder()
                .name("tikv_worker_remote_cop_failed_requests_counter")
                .help("Failed requests by reason.")
                .labelNames("type")
                .register(registry);
        topnRewrites = counter(
                registry, "tikv_worker_remote_cop_topn_paging_rewrite_total", "Large TopN requests that were paged.");
        pages = counter(registry, "coplane_stream_pages_total", "Pages of streamed answers that were executed.");
        GaugeWithCallback.builder()
                .name("tikv_worker_memory_limiter_current_used")
                .help("Bytes reserved in the memory limiter.")
                .callback(callback -> callback.call((double) limiter.usedBytes()))
                .register(registry);
        gauge(registry, "coplane_memory_limiter_capacity_bytes", "Cap of the memory limiter.", limiter::capBytes);
        gauge(registry, "coplane_parsed_bytes", "Heap that parsed requests may hold.", parsed::usedBytes);
        gauge(registry, "coplane_parsed_capacity_bytes", "Most that they may hold.", parsed::capBytes);
        registerPermits(registry, permits);
        waitSeconds = Histogram.builder()
                .name("tikv_worker_limiter_request_wait_duration_seconds")
                .help("Waits for permits; those that did not have to wait are 0.")
                .labelNames("type")
                .classicOnly()
                .classicExponentialUpperBounds(FIRST_BOUND, 2, BOUNDS)
                .register(registry);
        if (cache != null) {
            registerCache(registry, cache);
        }
    }

    private static void registerPermits(PrometheusRegistry registry, WorkerLimiter permits) {
        GaugeWithCallback.builder()
                .name("tikv_worker_limiter_waiting_requests_counter")
                .help("Requests that wait for a permit.")
                .labelNames("type")
                .callback(callback -> callback.call(permits.waiting(), COPROCESSOR))
                .register(registry);
        gauge(registry, "coplane_permits_free", "Global permits that are free.", permits::freeGlobalPermits);
        gauge(registry, "coplane_permits", "Global permits in all.", permits::globalPermits);
    }

    /** The reference has no metrics of its block cache (worker.md 20, sst.md 9.5), so the names are ours. */
    private static void registerCache(PrometheusRegistry registry, BlockCache cache) {
        gauge(registry, "coplane_block_cache_bytes", "Native bytes that the block cache holds.", cache::usedBytes);
        gauge(registry, "coplane_block_cache_capacity_bytes", "Capacity of the block cache.", cache::capacityBytes);
        gauge(
                registry,
                "coplane_block_cache_values",
                "Files and decoded blocks in the block cache.",
                cache::valueCount);
        total(registry, "hits", "Look-ups that found a value or a load in work.", cache::hitCount);
        total(registry, "misses", "Look-ups that began a load.", cache::missCount);
        total(registry, "load_failures", "Loads that failed.", cache::failureCount);
        total(registry, "dropped", "Values dropped for room, or because they were broken.", cache::droppedCount);
    }

    private static void gauge(PrometheusRegistry registry, String name, String help, LongSupplier value) {
        GaugeWithCallback.builder()
                .name(name)
                .help(help)
                .callback(callback -> callback.call((double) value.getAsLong()))
                .register(registry);
    }

    private static void total(PrometheusRegistry registry, String name, String help, LongSupplier value) {
        CounterWithCallback.builder()
                .name("coplane_block_cache_" + name)
                .help(help)
                .callback(callback -> callback.call((double) value.getAsLong()))
                .register(registry);
    }

    void started(RequestType type) {
        processing.inc();
        if (type != RequestType.UNKNOWN) {
            requests[type.ordinal()].inc();
        }
    }

    void ended() {
        processing.dec();
    }

    void succeeded(RequestType type, long bytes, long snapshotNanos, long processNanos, long requestNanos) {
        if (type != RequestType.UNKNOWN) {
            responseBytes[type.ordinal()].inc((double) bytes);
        }
        snapshotSeconds.observe(snapshotNanos / NANOS_PER_SECOND);
        processSeconds.observe(processNanos / NANOS_PER_SECOND);
        requestSeconds.observe(requestNanos / NANOS_PER_SECOND);
    }

    void waited(long nanos) {
        waitSeconds.labelValues(COPROCESSOR).observe(nanos / NANOS_PER_SECOND);
    }

    void failed(String reason) {
        failed.labelValues(reason).inc();
    }

    void executedPage() {
        pages.inc();
    }

    void rewroteTopN() {
        topnRewrites.inc();
    }

    private static Counter counter(PrometheusRegistry registry, String name, String help) {
        return Counter.builder().name(name).help(help).register(registry);
    }

    private static Histogram seconds(PrometheusRegistry registry, String stage, String help) {
        return Histogram.builder()
                .name("tikv_worker_remote_cop_" + stage + "_duration_seconds")
                .help(help)
                .classicOnly()
                .classicExponentialUpperBounds(FIRST_BOUND, 2, BOUNDS)
                .register(registry);
    }
}
