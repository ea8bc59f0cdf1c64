package io.coplane.worker;

import io.coplane.engine.DataPlane;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.worker.http.HttpServer;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

/** The page {@code /coplane/}: what the worker is at, for people. Stands alone: no script, no other file. */
final class StatusPage {
    private static final String PAGE = """
            <!DOCTYPE html>
            <html lang="en">
            <head><meta charset="utf-8"><meta http-equiv="refresh" content="5"><title>Coplane worker</title>
            <style>
            body { font: 16px/1.5 system-ui, sans-serif; margin: 3rem auto; max-width: 40rem; padding: 0 1rem; color: #222; background: #fff }
            table { border-collapse: collapse; width: 100%% }
            th, td { text-align: left; padding: .4rem 0; border-bottom: 1px solid #ddd; font-weight: normal }
            td { text-align: right; font-variant-numeric: tabular-nums }
            progress { width: 100%% }
            @media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818 } th, td { border-color: #333 } }
            </style></head>
            <body>
            <h1>Coplane worker</h1>
            <table>
            <tr><th>Version</th><td>%s</td></tr>
            <tr><th>Up</th><td>%s</td></tr>
            <tr><th>Listens on</th><td>%s</td></tr>
            <tr><th>HTTP requests so far</th><td>%,d</td></tr>
            <tr><th>Coprocessor requests in work</th><td>%,d</td></tr>
            <tr><th>Connections</th><td>%,d</td></tr>
            <tr><th>Memory held by requests</th><td>%s of %s</td></tr>
            <tr><th>Memory held by bodies</th><td>%s of %s</td></tr>
            </table>
            <p><progress max="1000" value="%d">%s</progress></p>
            <p><a href="/metrics">metrics</a> · <a href="/healthz">health</a></p>
            </body>
            </html>
            """;

    private static final double KIB = 1024;

    private StatusPage() {}

    static String html(DataPlane plane, MemoryLimiter bodies, HttpServer server) {
        long used = plane.memory().usedBytes();
        long cap = Math.max(1, plane.memory().capBytes());
        Duration up = Duration.ofMillis(ManagementFactory.getRuntimeMXBean().getUptime());
        return String.format(
                Locale.ROOT,
                PAGE,
                Version.text(),
                up.truncatedTo(ChronoUnit.SECONDS).toString().substring(2).toLowerCase(Locale.ROOT),
                server.address(),
                server.requestCount(),
                plane.requestsInWork(),
                server.connectionCount(),
                bytes(used),
                bytes(cap),
                bytes(bodies.usedBytes()),
                bytes(bodies.capBytes()),
                (int) (1000.0 * used / cap),
                bytes(used));
    }

    private static String bytes(long bytes) {
        double value = bytes;
        for (String unit : new String[] {"B", "KiB", "MiB", "GiB"}) {
            if (value < KIB) {
                return String.format(Locale.ROOT, unit.equals("B") ? "%.0f %s" : "%.1f %s", value, unit);
            }
            value /= KIB;
        }
        return String.format(Locale.ROOT, "%.1f TiB", value);
    }
}
