package io.coplane.worker;

import io.coplane.worker.config.Machine;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.model.registry.Collector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import java.io.IOException;
import java.lang.management.ManagementFactory;
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
        gauge(registry, "tikv_server_cpu_cores_quota", "Cores that the process may use.", machine::cpuQuota);
        Collector cpu = ProcessMetrics::cpu; // the library's counter with callback forgets the name it was given
        registry.register(cpu);
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
