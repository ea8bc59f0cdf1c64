package io.coplane.worker.config;

import java.time.Duration;
import java.util.List;

/**
 * Table {@code pd} (worker.md 4.4).
 *
 * @param endpoints addresses of PD, {@code host:port} or URLs; empty = standalone, without PD
 * @param retryInterval pause between connection attempts at the start
 * @param retryMaxCount further attempts at the start; negative = without end
 * @param retryLogEvery one of so many failures is logged; at least 1
 * @param updateInterval the leader is looked up again after so long
 * @param isForwardingEnabled requests go through a follower while the leader can't be reached
 * @param isLegacyTsoForced the separate timestamp service is never used
 */
public record PdConfig(
        List<String> endpoints,
        Duration retryInterval,
        long retryMaxCount,
        long retryLogEvery,
        Duration updateInterval,
        boolean isForwardingEnabled,
        boolean isLegacyTsoForced) {
    static PdConfig from(TomlTable table) {
        return new PdConfig(
                List.copyOf(table.textsOrList("endpoints")),
                table.duration("retry-interval", Duration.ofMillis(300)),
                table.integer("retry-max-count", Long.MAX_VALUE, -1, Long.MAX_VALUE),
                table.integer("retry-log-every", 10, 1, Long.MAX_VALUE),
                table.duration("update-interval", Duration.ofMinutes(10)),
                table.flag("enable-forwarding", false),
                table.flag("force-legacy-tso", false));
    }
}
