package io.coplane.worker.config;

import java.util.List;

/**
 * A configuration, and how it came about.
 *
 * @param config checked
 * @param settings every key that this worker uses, in the order of {@link ConfigKeys}
 * @param unknown sentences about names in the file that mean nothing
 * @param accepted keys of the file that belong to parts that are not built here, or to storage nodes
 */
public record LoadedConfig(WorkerConfig config, List<Setting> settings, List<String> unknown, List<String> accepted) {
    public LoadedConfig {
        settings = List.copyOf(settings);
        unknown = List.copyOf(unknown);
        accepted = List.copyOf(accepted);
    }

    /**
     * The value of one key.
     *
     * @param value as TOML; secrets masked; empty where there is none
     * @param source {@code default}, {@code file}, {@code option}, or {@code environment} and the variable
     */
    public record Setting(ConfigKey key, String value, String source) {}
}
