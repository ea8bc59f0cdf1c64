package io.coplane.worker.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.engine.DataPlaneConfig;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.store.S3Config;
import io.coplane.nativecache.store.S3Timing;
import io.coplane.nativecache.store.Secret;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys, defaults, checks and what overrides what (worker.md 1, 4). */
final class ConfigLoaderTest {
    private static final DfsConfig.Bucket NO_BUCKET =
            new DfsConfig.Bucket("", "", "", "", Secret.NONE, S3Config.DEFAULT_REQUESTS_IN_FLIGHT, S3Timing.DEFAULTS);

    private static final Machine MACHINE = new Machine(1000, 4);

    @TempDir
    private Path folder;

    @Test
    void anEmptyFileIsTheDefaults() throws IOException {
        WorkerConfig config = load("");

        assertThat(config.addr()).isEqualTo(new InetSocketAddress("0.0.0.0", 19000));
        assertThat(config.logFile()).isEmpty();
        assertThat(config.logLevel()).isEmpty();
        assertThat(config.dataDir()).isEmpty();
        assertThat(config.dfs()).isEqualTo(new DfsConfig("s3", "", "", 5, false, NO_BUCKET));
        assertThat(config.security().isTls()).isFalse();
        assertThat(config.own().fixedClockMicros()).isEmpty();
        assertThat(config.own().headTimeout()).isEqualTo(Duration.ofSeconds(600));
        DataPlaneConfig plane = config.dataPlane(MACHINE);
        assertThat(plane.workerThreads()).isEqualTo(4);
        assertThat(plane.globalPermits()).isEqualTo(384);
        assertThat(plane.keyspacePermits()).isEqualTo(128);
        assertThat(plane.memoryCapBytes()).isEqualTo(800);
        assertThat(plane.maxResponseBytes()).isEqualTo(32 << 20);
        assertThat(plane.topnMaxPushdownRows()).isZero();
        assertThat(plane.masterKey()).hasSize(32).containsOnly(1);
        assertThat(plane.chunkTtlMillis()).isEqualTo(600_000);
        assertThat(plane.chunkSweepMillis()).isEqualTo(60_000);
    }

    @Test
    void everyKeyIsRead() throws IOException {
        WorkerConfig config = load("""
                addr = "[::1]:8"
                log-file = "w.log"
                log-level = "debug"
                data-dir = "d"
                cop-max-resp-size = "1MiB"
                cop-topn-max-pushdown-rows = 100
                thread-pool-size-factor = 100
                memory-upper-threshold = 123
                some-key-of-the-future = [1, 2]
                [security.master-key]
                vendor = "TEST"
                key-id = "abc"
                [dfs]
                backend = "Local"
                local-dir = "files"
                prefix = "p"
                zstd-compression-level = "-3"
                read-only = true
                [worker-limiter]
                global-concurrency-factor = 2
                keyspace-concurrency-factor = 0.1
                [txn-chunk-manager]
                gc-interval = "5s"
                gc-ttl = "0s"
                [black-list.remote-cop]
                keyspace-ids = [1, 4294967295]
                [black-list.checksum]
                keyspace-ids = [4]
                [coplane]
                max-body-size = "2MiB"
                max-inflight-body-bytes = "3%"
                max-header-size = 2048
                max-connections = 7
                io-threads = 3
                head-timeout = "1s"
                body-idle-timeout = "2s"
                write-idle-timeout = "3s"
                shutdown-timeout = "4s"
                store-threads = 5
                compact-copy-through = false
                grpc-permits = true
                max-grpc-message-size = "1MiB"
                slow-log-threshold = "5s"
                log-format = "json"
                push-all-metrics = true
                vector-index-factor = 0.25
                fixed-clock-micros = 1600000000000000
                """);

        assertThat(config.addr()).isEqualTo(new InetSocketAddress("::1", 8));
        assertThat(config.logFile()).isEqualTo("w.log");
        assertThat(config.logLevel()).isEqualTo("debug");
        assertThat(config.dataDir()).isEqualTo(Path.of("d").toAbsolutePath().toString());
        assertThat(config.dfs()).isEqualTo(new DfsConfig("Local", "p", "files", -3, true, NO_BUCKET));
        config.dfs().requireBuilt();
        assertThat(config.own())
                .isEqualTo(new OwnConfig(
                        2 << 20,
                        SizeOrPercent.ofPercent(3),
                        2048,
                        7,
                        3,
                        Duration.ofSeconds(1),
                        Duration.ofSeconds(2),
                        Duration.ofSeconds(3),
                        Duration.ofSeconds(4),
                        5,
                        0,
                        false,
                        Path.of("d").toAbsolutePath() + "/compact-journal",
                        true,
                        1 << 20,
                        Duration.ofSeconds(5),
                        true,
                        true,
                        0.25,
                        OptionalLong.of(1_600_000_000_000_000L)));
        DataPlaneConfig plane = config.dataPlane(MACHINE);
        assertThat(plane.workerThreads()).isEqualTo(32);
        assertThat(plane.globalPermits()).isEqualTo(8);
        assertThat(plane.keyspacePermits()).isEqualTo(2);
        assertThat(plane.memoryCapBytes()).isEqualTo(123);
        assertThat(plane.maxResponseBytes()).isEqualTo(1 << 20);
        assertThat(plane.topnMaxPushdownRows()).isEqualTo(100);
        assertThat(plane.chunkTtlMillis()).isZero();
        assertThat(plane.chunkSweepMillis()).isEqualTo(5000);
        assertThat(plane.masterKey()).startsWith('a', 'b', 'c', 11, 11).hasSize(32);
        assertThat(plane.blackList().remoteCop()).isEqualTo(Set.of(1, -1));
        assertThat(plane.blackList().analyze()).isEmpty();
        assertThat(plane.blackList().checksum()).isEqualTo(Set.of(4));
    }

    @Test
    void optionsReplaceTheFileAndTheEnvironmentBoth() throws IOException {
        Path file = Files.writeString(folder.resolve("c.toml"), """
                addr = "1.1.1.1:1"
                [dfs]
                backend = "local"
                prefix = "of-file"
                """);

        WorkerConfig config = ConfigLoader.load(
                Optional.of(file),
                Map.of("addr", "2.2.2.2:2", "dfs.prefix", "of-option", "register", true),
                Map.of("DFS_PREFIX", "of-environment", "CSE_MASTER_KEY_VENDOR", "test", "ADDR", "3.3.3.3:3"));

        assertThat(config.addr()).isEqualTo(new InetSocketAddress("2.2.2.2", 2));
        assertThat(config.dfs().prefix()).isEqualTo("of-environment");
        assertThat(config.dfs().backend()).isEqualTo("local");
        assertThat(config.security().masterKey().resolve()).containsOnly(11);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "addr = 5 | addr must be a string",
                "addr = \"localhost:1\" | addr is no IP:PORT",
                "addr = \"1.1.1.1:99999\" | addr is no IP:PORT",
                "addr = \"1.1.1.1\" | addr is no IP:PORT",
                "addr = \"::1:80\" | addr is no IP:PORT",
                "cop-max-resp-size = \"5 parsecs\" | cop-max-resp-size: only B, KB",
                "cop-max-resp-size = 0 | cop-max-resp-size must be an integer of 1 ..",
                "cop-topn-max-pushdown-rows = 1.5 | cop-topn-max-pushdown-rows must be an integer",
                "memory-upper-threshold = true | memory-upper-threshold must be",
                "thread-pool-size-factor = \"2\" | thread-pool-size-factor must be a number",
                "dfs = 1 | dfs must be a table",
                "dfs.read-only = \"true\" | dfs.read-only must be true or false",
                "dfs.zstd-compression-level = \"high\" | dfs.zstd-compression-level is no signed integer",
                "worker-limiter.global-concurrency-factor = 256.5 | global concurrency factor must be less than 256",
                "worker-limiter.keyspace-concurrency-factor = 97.0 | global concurrency factor must be greater than keyspace",
                "txn-chunk-manager.gc-interval = \"0s\" | txn-chunk-manager.gc-interval is out of bounds",
                "txn-chunk-manager.gc-ttl = \"366d\" | txn-chunk-manager.gc-ttl is out of bounds",
                "black-list.analyze.keyspace-ids = [-1] | black-list.analyze.keyspace-ids must be a list of unsigned",
                "black-list.analyze.keyspace-ids = 1 | black-list.analyze.keyspace-ids must be a list",
                "coplane.head-timeout = \"5m1h\" | coplane.head-timeout: d, h, m, s, ms, us should occur",
                "coplane.head-timeout = 5 | coplane.head-timeout must be a duration",
                "coplane.max-body-size = \"4GiB\" | coplane.max-body-size is out of bounds",
                "security.ca-path = \"x\" | ca, cert and private key should be all configured.",
                "addr = | can't read the configuration"
            })
    void aBadValueIsNamed(String line, String message) {
        assertThatThrownBy(() -> load(line))
                .isInstanceOf(CoplaneException.class)
                .hasMessageContaining(message);
    }

    @Test
    void aMissingFileIsNamed() {
        assertThatThrownBy(() -> ConfigLoader.load(Optional.of(folder.resolve("none.toml")), Map.of(), Map.of()))
                .isInstanceOf(CoplaneException.class)
                .hasMessageContaining("none.toml");
    }

    @Test
    void filesOfTlsMustOpen() throws IOException {
        Path there = Files.writeString(folder.resolve("ca.pem"), "x");

        assertThatThrownBy(() -> load("[security]\nca-path = \"" + there + "\"\ncert-path = \"" + there
                        + "\"\nkey-path = \"" + folder.resolve("no.pem") + "\"\n"))
                .hasMessageContaining("failed to open")
                .hasMessageContaining("no.pem to load private key");
    }

    @Test
    void azureIsNotBuilt() throws IOException {
        DfsConfig dfs = load("dfs.backend = \"AZURE\"").dfs();

        assertThatThrownBy(dfs::requireBuilt).hasMessageContaining("Azure, which is not built");
    }

    @ParameterizedTest
    @ValueSource(strings = {"s3", "gcs", "S3"})
    void everyOtherWordIsS3(String backend) throws IOException {
        DfsConfig dfs = load("""
                [dfs]
                backend = "%s"
                prefix = "p"
                s3-endpoint = "http://minio:9000"
                s3-bucket = "b"
                s3-region = "r"
                s3-key-id = "k"
                s3-secret-key = "sesame"
                read-only = true
                [dfs.conn-options]
                max-retry-count = 3
                retry-sleep-interval = "1ms"
                conn-timeout = "2s"
                dispatch-timeout = "3s"
                write-timeout-per-mb = "4ms"
                read-body-timeout = "5s"
                keep-alive-duration = "6s"
                pool-idle-timeout = "7s"
                """.replace("%s", backend)).dfs();

        dfs.requireBuilt();
        assertThat(dfs.s3())
                .isEqualTo(new S3Config(
                        "b",
                        "p",
                        "http://minio:9000",
                        "r",
                        "k",
                        new Secret("sesame"),
                        Optional.empty(),
                        true,
                        128,
                        new S3Timing(
                                3,
                                Duration.ofMillis(1),
                                Duration.ofSeconds(2),
                                Duration.ofSeconds(3),
                                Duration.ofMillis(4),
                                Duration.ofSeconds(5),
                                Duration.ofSeconds(6),
                                Duration.ofSeconds(7))));
        assertThat(dfs.toString()).doesNotContain("sesame");
    }

    @Test
    void aBucketNeedsItsNameAndASecretIsNotRepeated() {
        assertThatThrownBy(() -> load("dfs.s3-region = \"r\"").dfs().requireBuilt())
                .hasMessageContaining("dfs.s3-bucket");
        assertThatThrownBy(() -> load("dfs.s3-secret-key = 4711"))
                .hasMessageContaining("dfs.s3-secret-key")
                .hasMessageNotContaining("4711");
    }

    @Test
    void theLocalBackendNeedsADirectory() throws IOException {
        DfsConfig dfs = load("dfs.backend = \"local\"").dfs();

        assertThatThrownBy(dfs::requireBuilt).hasMessageContaining("needs dfs.local-dir");
    }

    @Test
    void aKeyServiceThatIsNotBuiltIsNamed() throws IOException {
        MasterKeyConfig key =
                load("security.master-key.vendor = \"Aliyun\"").security().masterKey();

        assertThatThrownBy(key::resolve).hasMessageContaining("key service of Alibaba Cloud, is not built");
    }

    private WorkerConfig load(String toml) throws IOException {
        return ConfigLoader.load(
                Optional.of(Files.writeString(folder.resolve("config.toml"), toml)), Map.of(), Map.of());
    }
}
