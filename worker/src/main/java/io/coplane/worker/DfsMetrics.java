package io.coplane.worker;

import io.coplane.nativecache.store.S3Store;
import io.coplane.nativecache.store.StoreMetrics;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** Metrics of the object store: the reference's (ia.md 23), and what the client holds. Thread-safe. */
final class DfsMetrics implements StoreMetrics {
    private static final double NANOS_PER_MILLI = TimeUnit.MILLISECONDS.toNanos(1);
    private static final int BUCKETS = 21;

    private final Counter bytes;
    private final Histogram millis;
    private final Counter retries;

    DfsMetrics(PrometheusRegistry registry) {
        bytes = Counter.builder()
                .name("kv_engine_dfs_throughput_bytes")
                .help("Bytes moved.")
                .labelNames("type")
                .register(registry);
        millis = Histogram.builder()
                .name("kv_engine_dfs_latency_ms")
                .help("Calls that succeeded, with their retries.")
                .labelNames("type")
                .classicOnly()
                .classicExponentialUpperBounds(1, 2, BUCKETS)
                .register(registry);
        retries = Counter.builder()
                .name("kv_engine_dfs_rw_retry_count")
                .help("Repeated attempts.")
                .labelNames("type")
                .register(registry);
    }

    /** Shows what is on the wire. @param mostBytes cap of the bytes in flight */
    void wire(PrometheusRegistry registry, S3Store store, long mostBytes) {
        gauge(registry, "coplane_s3_requests_in_flight", "Requests on the wire.", store::requestsInFlight);
        gauge(registry, "coplane_s3_native_bytes", "Read windows of requests on the wire.", store::bytesInFlight);
        gauge(registry, "coplane_s3_native_capacity_bytes", "Most that they can be.", () -> mostBytes);
    }

    @Override
    public void ended(Call call, long moved, long nanos) {
        if (moved > 0) {
            bytes.labelValues(call.label()).inc(moved);
        }
        millis.labelValues(call.label()).observe(nanos / NANOS_PER_MILLI);
    }

    @Override
    public void retried(Call call) {
        retries.labelValues(call.label()).inc();
    }

    private static void gauge(PrometheusRegistry registry, String name, String help, LongSupplier value) {
        GaugeWithCallback.builder()
                .name(name)
                .help(help)
                .callback(callback -> callback.call((double) value.getAsLong()))
                .register(registry);
    }
}
