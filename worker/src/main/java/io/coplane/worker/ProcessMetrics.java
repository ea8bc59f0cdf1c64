package io.coplane.worker;

import io.coplane.nativecache.MemoryLimiter;
import io.coplane.worker.config.Machine;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.model.registry.Collector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.StringTokenizer;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;

/** Metrics of the process itself, under the names that Prometheus clients use everywhere. */
final class ProcessMetrics {
    private static final Path STATM = Path.of("/proc/self/statm");
    private static final double PAGE_BYTES = 4096;
    private static final double NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final double MILLIS_PER_SECOND = TimeUnit.SECONDS.toMillis(1);

    private ProcessMetrics() {}

    static void register(PrometheusRegistry registry, Machine machine) {
        gauge(registry, "process_virtual_memory_bytes", "Virtual memory size in bytes.", () -> pages(0) * PAGE_BYTES);
        gauge(registry, "process_resident_memory_bytes", "Resident memory size in bytes.", () -> pages(1) * PAGE_BYTES);
        gauge(
                registry,
                "process_start_time_seconds",
                "Start time of the process since unix epoch in seconds.",
                () -> ManagementFactory.getRuntimeMXBean().getStartTime() / MILLIS_PER_SECOND);
        gauge(
                registry,
                "process_threads",
                "Number of OS threads in the process.",
                () -> ManagementFactory.getThreadMXBean().getThreadCount());
        gauge(registry, "process_open_fds", "Open file descriptors.", () -> files(true));
        gauge(registry, "process_max_fds", "Most open file descriptors.", () -> files(false));
        memory(registry);
        gauge(
                registry,
                "coplane_network_buffer_bytes",
                "Native bytes that the HTTP server's buffers take, the pool's free ones included.",
                ProcessMetrics::bufferBytes);
        gauge(registry, "tikv_server_cpu_cores_quota", "Cores that the process may use.", machine::cpuQuota);
        Collector cpu = ProcessMetrics::cpu; // the library's counter with callback forgets the name it was given
        registry.register(cpu);
    }

    static void registerBodies(PrometheusRegistry registry, MemoryLimiter bodies) {
        gauge(
                registry,
                "coplane_http_body_bytes",
                "Bytes that bodies of HTTP requests hold until they are decoded.",
                bodies::usedBytes);
        gauge(registry, "coplane_http_body_capacity_bytes", "Most that they may hold.", bodies::capBytes);
    }

    private static double files(boolean isOpen) {
        return ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.UnixOperatingSystemMXBean bean
                ? isOpen ? bean.getOpenFileDescriptorCount() : bean.getMaxFileDescriptorCount()
                : 0;
    }

    /** Memory of the JVM, under the names of Prometheus' own client: what the memory limiter does not know of. */
    private static void memory(PrometheusRegistry registry) {
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        GaugeWithCallback.builder()
                .name("jvm_memory_used_bytes")
                .help("Used bytes of a JVM memory area.")
                .labelNames("area")
                .callback(callback -> {
                    callback.call((double) memory.getHeapMemoryUsage().getUsed(), "heap");
                    callback.call((double) memory.getNonHeapMemoryUsage().getUsed(), "nonheap");
                })
                .register(registry);
        gauge(registry, "coplane_heap_capacity_bytes", "Most that the heap may be.", () ->
                (double) Runtime.getRuntime().maxMemory());
        GaugeWithCallback.builder()
                .name("jvm_buffer_pool_used_bytes")
                .help("Used bytes of a JVM buffer pool.")
                .labelNames("pool")
                .callback(callback -> {
                    for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
                        callback.call((double) pool.getMemoryUsed(), pool.getName());
                    }
                })
                .register(registry);
        Collector collections = ProcessMetrics::collections;
        registry.register(collections);
    }

    private static CounterSnapshot collections() {
        CounterSnapshot.Builder all = CounterSnapshot.builder()
                .name("jvm_gc_collection_seconds_total")
                .help("Time spent in a garbage collector.");
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            all.dataPoint(CounterSnapshot.CounterDataPointSnapshot.builder()
                    .labels(Labels.of("gc", collector.getName()))
                    .value(Math.max(0, collector.getCollectionTime()) / MILLIS_PER_SECOND)
                    .build());
        }
        return all.build();
    }

    private static double bufferBytes() {
        return ByteBufAllocator.DEFAULT instanceof ByteBufAllocatorMetricProvider provider
                ? provider.metric().usedDirectMemory()
                : 0;
    }

    private static CounterSnapshot cpu() {
        return CounterSnapshot.builder()
                .name("process_cpu_seconds_total")
                .help("Total user and system CPU time spent in seconds.")
                .dataPoint(CounterSnapshot.CounterDataPointSnapshot.builder()
                        .value(cpuSeconds())
                        .build())
                .build();
    }

    private static double cpuSeconds() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean bean
                ? bean.getProcessCpuTime() / NANOS_PER_SECOND
                : 0;
    }

    /** A field of {@code statm}; 0 where the machine has no such file. */
    private static double pages(int field) {
        try {
            StringTokenizer words = new StringTokenizer(Files.readString(STATM));
            for (int i = 0; i < field; i++) {
                words.nextToken();
            }
            return Double.parseDouble(words.nextToken());
        } catch (IOException e) {
            return 0;
        }
    }

    private static void gauge(PrometheusRegistry registry, String name, String help, DoubleSupplier value) {
        GaugeWithCallback.builder()
                .name(name)
                .help(help)
                .callback(callback -> callback.call(value.getAsDouble()))
                .register(registry);
    }
}
