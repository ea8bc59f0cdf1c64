package io.coplane.worker;

import io.coplane.worker.config.ConfigLoader;
import io.coplane.worker.config.LoadedConfig;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Options that say how a worker is configured: the reference's (worker.md 1). */
final class WorkerOptions {
    @Option(
            names = {"-C", "--config"},
            paramLabel = "FILE",
            description = "Configuration, TOML.")
    private Path config;

    @Option(
            names = {"-A", "--addr"},
            paramLabel = "IP:PORT",
            description = "HTTP listen address; overrides addr.")
    private String addr;

    @Option(
            names = {"-f", "--log-file"},
            paramLabel = "FILE",
            description = "Overrides log-file.")
    private String logFile;

    @Option(
            names = {"-L", "--log-level"},
            paramLabel = "LEVEL",
            description = "Overrides log-level.")
    private String logLevel;

    @Option(names = "--pd-endpoints", paramLabel = "LIST", description = "Overrides pd.endpoints.")
    private String pdEndpoints;

    @Option(names = "--cacert", paramLabel = "FILE", description = "Overrides security.ca-path.")
    private String caCert;

    @Option(names = "--cert", paramLabel = "FILE", description = "Overrides security.cert-path.")
    private String cert;

    @Option(names = "--key", paramLabel = "FILE", description = "Overrides security.key-path.")
    private String key;

    @Option(names = "--update-interval", paramLabel = "DURATION", description = "Overrides update-interval.")
    private String updateInterval;

    @Option(names = "--register", paramLabel = "BOOL", description = "Overrides register.")
    private String register;

    @Option(names = "--data-dir", paramLabel = "DIR", description = "Overrides data-dir.")
    private String dataDir;

    @Option(names = "--cop-addr", paramLabel = "IP:PORT", description = "Overrides cop-addr.")
    private String copAddr;

    @Option(names = "--run-worker-scaler", paramLabel = "BOOL", description = "Overrides worker-scaler.run.")
    private String runWorkerScaler;

    @Option(names = "--report-wru", paramLabel = "BOOL", description = "Overrides report-wru.")
    private String reportWru;

    @Option(
            names = "--enable-load-data-check-point",
            paramLabel = "BOOL",
            description = "Overrides enable-load-data-check-point.")
    private String loadDataCheckPoint;

    @Option(names = "--enable-load-data-multi-threads", paramLabel = "BOOL", description = "Accepted and ignored.")
    private String loadDataMultiThreads;

    @Option(names = "--push-metrics-addr", paramLabel = "HOST:PORT", description = "Overrides push-metrics-addr.")
    private String pushMetricsAddr;

    @Option(
            names = "--push-metrics-interval",
            paramLabel = "SECONDS",
            description = "Overrides push-metrics-interval, also if it is not given.",
            defaultValue = "30")
    private String pushMetricsInterval;

    /** File, options and environment together. */
    LoadedConfig read(Map<String, String> environment) {
        return ConfigLoader.read(Optional.ofNullable(config), options(), environment);
    }

    /** Options that were given, by the key that they override. */
    private Map<String, Object> options() {
        Map<String, Object> options = new LinkedHashMap<>();
        text(options, "addr", addr);
        text(options, "log-file", logFile);
        text(options, "log-level", logLevel);
        text(options, "pd.endpoints", pdEndpoints);
        text(options, "security.ca-path", caCert);
        text(options, "security.cert-path", cert);
        text(options, "security.key-path", key);
        text(options, "update-interval", updateInterval);
        text(options, "data-dir", dataDir);
        text(options, "cop-addr", copAddr);
        text(options, "push-metrics-addr", pushMetricsAddr);
        text(options, "push-metrics-interval", pushMetricsInterval + "s");
        flag(options, "register", register);
        flag(options, "worker-scaler.run", runWorkerScaler);
        flag(options, "report-wru", reportWru);
        flag(options, "enable-load-data-check-point", loadDataCheckPoint);
        flag(options, "enable-load-data-multi-threads", loadDataMultiThreads);
        return options;
    }

    private static void text(Map<String, Object> options, String key, String value) {
        if (value != null) {
            options.put(key, value);
        }
    }

    /** True exactly when the text is {@code true}; every other text is false. */
    private static void flag(Map<String, Object> options, String key, String value) {
        if (value != null) {
            options.put(key, value.equals("true"));
        }
    }
}
