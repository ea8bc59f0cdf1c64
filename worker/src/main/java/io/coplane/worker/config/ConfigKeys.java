package io.coplane.worker.config;

import static io.coplane.worker.config.ConfigKey.Kind.ANY;
import static io.coplane.worker.config.ConfigKey.Kind.DURATION;
import static io.coplane.worker.config.ConfigKey.Kind.FLAG;
import static io.coplane.worker.config.ConfigKey.Kind.IDS;
import static io.coplane.worker.config.ConfigKey.Kind.INTEGER;
import static io.coplane.worker.config.ConfigKey.Kind.NUMBER;
import static io.coplane.worker.config.ConfigKey.Kind.SECRET;
import static io.coplane.worker.config.ConfigKey.Kind.SIZE;
import static io.coplane.worker.config.ConfigKey.Kind.SIZE_OR_PERCENT;
import static io.coplane.worker.config.ConfigKey.Kind.TEXT;
import static io.coplane.worker.config.ConfigKey.Kind.TEXTS;

import io.coplane.worker.config.ConfigKey.Kind;
import io.coplane.worker.config.ConfigKey.Use;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Every key of the configuration file that is known, in the order in which people read them: the reference's (worker.md 4, and the sections of its other
 * parts) and ours.
 */
public final class ConfigKeys {
    private static final Map<String, ConfigKey> ALL = new LinkedHashMap<>();

    /** Further from every known name than this part of its length, a name is like none of them. */
    private static final int LIKE_PART = 3;

    static {
        used("addr", TEXT, "\"0.0.0.0:19000\"", "HTTP listen address, IP:PORT; stores are told it as it is written");
        used("cop-addr", TEXT, "\"0.0.0.0:9500\"", "gRPC listen address; empty = no gRPC");
        used("register", FLAG, "false", "tell all stores that they find a compactor at addr");
        used("update-interval", DURATION, "\"10m\"", "period of that registration");
        used("log-file", TEXT, "\"\"", "file instead of standard output");
        used("log-level", TEXT, "\"\"", "trace, debug, info, warn, error; empty = info");
        used("data-dir", TEXT, "\"\"", "root of local state; empty = none");
        used(
                "cop-block-cache-size",
                SIZE,
                "",
                "files and blocks kept between requests; default 20 % of the memory limit");
        used("cop-max-resp-size", SIZE, "\"32MiB\"", "size at which a response is closed early");
        used("cop-remote-dfs-cache-ttl", DURATION, "\"10m\"", "younger files are read at the sender of the request");
        used("cop-topn-max-pushdown-rows", INTEGER, "0", "a larger TopN is answered in pages; 0 = off");
        used("thread-pool-size-factor", NUMBER, "1.0", "worker threads per core, used within 1 .. 8");
        used("memory-upper-threshold", SIZE_OR_PERCENT, "\"80%\"", "what all requests may hold together");
        used("checksum-type", TEXT, "\"Crc32\"", "of written files: None, Crc32c, Crc32");
        used("push-metrics-addr", TEXT, "\"\"", "pushgateway, HOST:PORT; empty = off");
        used("push-metrics-interval", DURATION, "\"30s\"", "period of pushes; 0s = off");
        accepted("cop-block-size", SIZE);
        accepted("report-wru", FLAG);
        accepted("enable-load-data-check-point", FLAG);
        accepted("enable-load-data-multi-threads", FLAG);
        used("txn-chunk-target-block-size", INTEGER, "65536", "size by which blocks of txn chunks are cut");
        accepted("read-columnar", FLAG);

        used("worker-limiter.global-concurrency-factor", NUMBER, "96.0", "requests in work per core; at most 256");
        used("worker-limiter.keyspace-concurrency-factor", NUMBER, "32.0", "the same for one keyspace");

        String listed = "keyspaces whose requests of this type are refused";
        used("black-list.remote-cop.keyspace-ids", IDS, "[]", listed);
        used("black-list.analyze.keyspace-ids", IDS, "[]", listed);
        used("black-list.checksum.keyspace-ids", IDS, "[]", listed);

        used("txn-chunk-manager.gc-interval", DURATION, "\"1m\"", "how often unused chunks are looked for");
        used("txn-chunk-manager.gc-ttl", DURATION, "\"10m\"", "how long a chunk is kept after its last use");

        used("pd.endpoints", TEXTS, "[]", "addresses of PD; empty = the worker stands alone");
        used("pd.retry-interval", DURATION, "\"300ms\"", "pause between attempts to connect at the start");
        used("pd.retry-max-count", INTEGER, "9223372036854775807", "further attempts; -1 = without end");
        used("pd.retry-log-every", INTEGER, "10", "one of so many failures is logged");
        used("pd.update-interval", DURATION, "\"10m\"", "the leader is looked up again");
        used("pd.enable-forwarding", FLAG, "false", "go through a follower while the leader can't be reached");
        used("pd.force-legacy-tso", FLAG, "false", "never use the separate timestamp service");

        used("security.ca-path", TEXT, "\"\"", "CA bundle, PEM; with cert-path and key-path: TLS everywhere");
        used("security.cert-path", TEXT, "\"\"", "certificate chain, PEM");
        used("security.key-path", TEXT, "\"\"", "private key, PEM");
        used("security.cert-allowed-cn", TEXTS, "[]", "common names that gRPC peers may have; empty = any");
        used("security.cert-reload-interval", DURATION, "\"30s\"", "least time between two looks at the certificate");
        accepted("security.redact-info-log", FLAG); // no log line holds user data
        accepted("security.encryption", ANY);
        used("security.master-key.vendor", TEXT, "\"\"", "where the master key comes from; empty = the fixed key");
        used("security.master-key.key-id", SECRET, "\"\"", "key of the vendor; of vendor test the key itself");
        used("security.master-key.cipher-text", SECRET, "\"\"", "the encrypted key, base64");
        used("security.master-key.region", TEXT, "\"\"", "region of the vendor");
        used("security.master-key.endpoint", TEXT, "\"\"", "endpoint of the vendor");

        used("dfs.backend", TEXT, "\"s3\"", "local, azure (not built), or S3 for every other word");
        used("dfs.prefix", TEXT, "\"\"", "first part of every object key; empty = default");
        ours("dfs.local-dir", TEXT, "\"\"", "root of backend local; must exist");
        used("dfs.read-only", FLAG, "false", "every write fails");
        used("dfs.zstd-compression-level", TEXT, "\"5\"", "of written blocks, text of an integer, used within 1 .. 22");
        used("dfs.s3-bucket", TEXT, "\"\"", "must be set for S3");
        used("dfs.s3-endpoint", TEXT, "\"\"", "empty = AWS in s3-region");
        used("dfs.s3-region", TEXT, "\"\"", "region of the signature");
        used("dfs.s3-key-id", TEXT, "\"\"", "static credentials; empty = as AWS tools find them");
        used("dfs.s3-secret-key", SECRET, "\"\"", "belongs to s3-key-id");
        ours("dfs.s3-requests-in-flight", INTEGER, "128", "requests on the wire at one time");
        accepted("dfs.remote-compactor-addr", TEXT);
        accepted("dfs.allow-fallback-local", FLAG);
        accepted("dfs.azure.connection-string", SECRET);
        accepted("dfs.azure.account-name", TEXT);
        accepted("dfs.azure.account-key", SECRET);
        accepted("dfs.azure.container", TEXT);
        accepted("dfs.azure.endpoint", TEXT);
        used("dfs.conn-options.max-retry-count", INTEGER, "9", "attempts after the first");
        used("dfs.conn-options.retry-sleep-interval", DURATION, "\"500ms\"", "pause before retry n: 2^n times this");
        used("dfs.conn-options.conn-timeout", DURATION, "\"5s\"", "until a connection stands");
        used("dfs.conn-options.dispatch-timeout", DURATION, "\"10s\"", "until the head of the answer");
        used("dfs.conn-options.write-timeout-per-mb", DURATION, "\"100ms\"", "more time for a put, for each MiB");
        used("dfs.conn-options.read-body-timeout", DURATION, "\"10s\"", "between two pieces of a body");
        used("dfs.conn-options.keep-alive-duration", DURATION, "\"20s\"", "of connections");
        used("dfs.conn-options.pool-idle-timeout", DURATION, "\"30s\"", "of connections that nobody uses");

        ours("coplane.max-body-size", SIZE, "\"1GiB\"", "a longer request body is refused with 413");
        ours("coplane.max-inflight-body-bytes", SIZE_OR_PERCENT, "\"10%\"", "what all bodies may hold until decoded");
        ours("coplane.max-header-size", SIZE, "\"64KiB\"", "longer header lines are refused with 431");
        ours("coplane.max-connections", INTEGER, "16384", "more are closed at once");
        ours("coplane.io-threads", INTEGER, "0", "threads that read and write sockets; 0 = one a core");
        ours("coplane.head-timeout", DURATION, "\"600s\"", "a connection without a complete request head is closed");
        ours("coplane.body-idle-timeout", DURATION, "\"60s\"", "a body that stands still is given up with 408");
        ours("coplane.write-idle-timeout", DURATION, "\"60s\"", "a client that takes nothing is given up");
        ours("coplane.shutdown-timeout", DURATION, "\"60s\"", "what work in hand may take after a signal");
        ours("coplane.grpc-permits", FLAG, "false", "requests over gRPC wait for the permits of those over HTTP");
        ours("coplane.max-grpc-message-size", SIZE, "\"256MiB\"", "a larger gRPC message is refused");
        ours("coplane.store-threads", INTEGER, "16", "threads that read backend local");
        ours(
                "coplane.compact-memory-window",
                SIZE,
                "0",
                "most memory admitted for one compaction; 0 = twice its input");
        ours(
                "coplane.compact-journal-dir",
                TEXT,
                "",
                "journals of compactions, of this worker alone; default compact-journal below data-dir; empty = off");
        ours("coplane.compact-copy-through", FLAG, "true", "blocks that stay whole are copied as they are stored");
        ours(
                "coplane.slow-log-threshold",
                DURATION,
                "\"1s\"",
                "slower requests are logged with phases and counts; 0s = none");
        ours("coplane.log-format", TEXT, "\"text\"", "text, or json: one object a line");
        ours(
                "coplane.push-all-metrics",
                FLAG,
                "false",
                "push every metric, not only the one that the reference pushes");
        ours("coplane.vector-index-factor", NUMBER, "1.0", "compactions of vector indexes at one time, per core");
        ours(
                "coplane.fixed-clock-micros",
                INTEGER,
                "",
                "the wall clock stands at this time, for replaying; default: it runs");

        accepted("local-gc.interval", DURATION);
        accepted("local-gc.ia.meta-lifetime", DURATION);
        accepted("local-gc.ia.segment-interval", DURATION);
        accepted("local-gc.ia.tmp-lifetime", DURATION);
        accepted("memory.enable-heap-profiling", FLAG);
        accepted("memory.profiling-sample-per-bytes", SIZE);
        accepted("memory.enable-thread-exclusive-arena", FLAG);
        accepted("memory-profile-auto-dump", ANY); // the name of its switch is not known (worker.md 4.10)
        accepted("resource-metering.receiver-address", TEXT);
        accepted("resource-metering.report-receiver-interval", DURATION);
        accepted("resource-metering.max-resource-groups", INTEGER);
        accepted("resource-metering.precision", DURATION);
        accepted("resource-metering.enable-network-io-collection", FLAG);
        otherParts();
    }

    private ConfigKeys() {}

    /** Keys of the reference's parts that are no part of the data plane (ia.md 1, scaler.md 2, schema-manager.md 2, replication.md 2, backup.md 24). */
    private static void otherParts() {
        Map<String, String> tables = Map.of(
                "ia",
                "mem-cap disk-cap segment-size freq-update-interval dfs-concurrency dfs-keyspace-concurrency fd-cache-capacity"
                        + " table-meta-mtime-interval dynamic-capacity cache-cap-to-total-data-size-ratio disable-sync-read"
                        + " sync-read-timeout force-ia auto-ia-check-interval",
                "worker-scaler",
                "run namespace template-sts-name name worker-port max-size spawn-data-size spawn-running-tasks"
                        + " worker-max-cores pod-warm-up-sec cancelled-task-expire-sec finished-task-expire-sec"
                        + " idle-task-expire-sec worker-min-storage-gb worker-count-limit sts-configs shared-min-replicas"
                        + " shared-idle-pod-expire-sec shared-sts-config",
                "schema-manager",
                "enabled dir keyspace-refresh-interval http-timeout scan-batch-size blacklist-file tikv-stores-tier"
                        + " schema-upload-concurrency schema-file-history-versions schema-refresh-threshold",
                "replication-worker",
                "enabled grpc-addr advertise-addr pd-sts-name cdc-sts-name namespace tolerate-store-err"
                        + " update-stores-wal-size-limit incr-scan-concurrency-limit sync-interval report-region-interval"
                        + " local-file-gc-timeout skip-store-addr-keywords min-wal-target-time-span"
                        + " max-wal-target-time-span fetch-wal-target-from-backup safepoint merged-engine",
                "native-br",
                "restore-task-ttl restore-timeout-wait-flush restore-timeout-restore-snapshot"
                        + " restore-snapshot-concurrency restore-timeout-fetch-wal restore-timeout-pd-control"
                        + " restore-max-retry restore-coarse-split-regions-factor restore-store-concurrency"
                        + " restore-concurrency-per-core restore-tolerate-err retore-use-rfengine-cache"
                        + " restore-object-cache-capacity restore-cache-for-decompressed-wal-chunks"
                        + " wal-chunk-target-file-size lower-memory instant-backup-timeout backup-interval"
                        + " backup-batch-interval backup-delay backup-ts-wait-timeout backup-ts-ttl backup-tolerate-err"
                        + " restore-rate-limit");
        tables.forEach((table, names) -> {
            for (String name : names.split(" ", -1)) {
                accepted(table + "." + name, ANY);
            }
        });
    }

    private static void used(String name, Kind kind, String fallback, String meaning) {
        ALL.put(name, new ConfigKey(name, kind, Use.USED, fallback, meaning));
    }

    private static void ours(String name, Kind kind, String fallback, String meaning) {
        ALL.put(name, new ConfigKey(name, kind, Use.OURS, fallback, meaning));
    }

    private static void accepted(String name, Kind kind) {
        ALL.put(name, new ConfigKey(name, kind, Use.ACCEPTED, "", ""));
    }

    /** All keys, in the order of the defaults file. */
    public static Collection<ConfigKey> all() {
        return Collections.unmodifiableCollection(ALL.values());
    }

    /** The key of a dotted path, or the one below whose name everything is accepted. */
    static Optional<ConfigKey> find(String path) {
        ConfigKey exact = ALL.get(path);
        if (exact != null) {
            return Optional.of(exact);
        }
        for (int dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1)) {
            ConfigKey above = ALL.get(path.substring(0, dot));
            if (above != null && above.kind() == ANY) {
                return Optional.of(above);
            }
        }
        return Optional.empty();
    }

    /** True if some key stands in a table of this path. */
    static boolean isTable(String path) {
        return ALL.keySet().stream().anyMatch(name -> name.startsWith(path + "."));
    }

    /** The known name most like an unknown one: the same last part in another table, or few letters away. */
    static Optional<String> nearest(String unknown) {
        String last = unknown.substring(unknown.lastIndexOf('.') + 1);
        List<String> elsewhere = new ArrayList<>();
        String best = "";
        int bestEdits = Integer.MAX_VALUE;
        Set<String> names = new LinkedHashSet<>(ALL.keySet());
        ALL.values().forEach(key -> names.add(key.table()));
        for (String name : names) {
            if (name.endsWith("." + last) || name.equals(last)) {
                elsewhere.add(name);
            }
            int edits = edits(unknown, name);
            if (edits < bestEdits) {
                bestEdits = edits;
                best = name;
            }
        }
        if (bestEdits <= Math.max(2, unknown.length() / LIKE_PART) && (elsewhere.size() != 1 || bestEdits <= 2)) {
            return Optional.of(best);
        }
        return elsewhere.size() == 1 ? Optional.of(elsewhere.getFirst()) : Optional.empty();
    }

    /** Letters to insert, delete or replace. */
    private static int edits(String from, String to) {
        int[] row = new int[to.length() + 1];
        for (int j = 0; j <= to.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= from.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= to.length(); j++) {
                int replaced = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[to.length()];
    }
}
