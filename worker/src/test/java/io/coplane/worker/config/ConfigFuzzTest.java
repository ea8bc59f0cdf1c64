package io.coplane.worker.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.testing.FuzzMutator;
import io.coplane.testing.Seeds;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whatever a configuration file holds: a configuration or a sentence that says what is wrong. */
final class ConfigFuzzTest {
    private static final List<byte[]> SEEDS = List.of(bytes("""
                    addr = "127.0.0.1:1"
                    update-interval = "1h30m"
                    cop-block-cache-size = "1.5MiB"
                    memory-upper-threshold = "12.5%"
                    thread-pool-size-factor = 1.25
                    checksum-type = "crc32c"
                    [pd]
                    endpoints = ["a:1", 'b:2']
                    [worker-limiter]
                    global-concurrency-factor = 2
                    [black-list.remote-cop]
                    keyspace-ids = [1, 4294967295]
                    """), bytes("""
                    [security]
                    master-key = { vendor = "test", key-id = "\\u0041" }
                    [dfs]
                    s3-bucket = "b"
                    zstd-compression-level = "-3"
                    conn-options = { max-retry-count = 3, dispatch-timeout = "1s" }
                    [txn-chunk-manager]
                    gc-ttl = "1d2h3m4s5ms6us"
                    [coplane]
                    fixed-clock-micros = 1600000000000000
                    max-body-size = 4096
                    # the end
                    """));

    @Test
    void anyFileIsReadOrRefused(@TempDir Path folder) {
        Path file = folder.resolve("coplane.toml");

        long executions = FuzzMutator.fuzz(
                "config",
                Seeds.fresh(),
                SEEDS,
                TimeUnit.SECONDS.toNanos(Long.getLong("coplane.fuzz.seconds", 2)),
                bytes -> load(file, bytes));

        System.out.println("fuzz target=CONFIG executions=" + executions);
    }

    private static void load(Path file, byte[] bytes) {
        try {
            Files.write(file, bytes);
            ConfigLoader.load(Optional.of(file), Map.of(), Map.of()).dataPlane(new Machine(1 << 30, 2));
        } catch (CoplaneException e) {
            assertThat(e.code()).isNotEqualTo(ErrorCode.INVARIANT_BROKEN);
            assertThat(e.getMessage()).isNotEmpty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
