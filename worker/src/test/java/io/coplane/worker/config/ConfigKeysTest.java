package io.coplane.worker.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.coplane.worker.config.ConfigKey.Use;
import io.coplane.worker.config.LoadedConfig.Setting;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Which keys are known, what becomes of the others, and what people are shown (worker.md 4). */
final class ConfigKeysTest {
    private static final Path ROOT = Path.of(System.getProperty("coplane.root"));

    @TempDir
    private Path folder;

    @Test
    void theDefaultsFileReadsBackAsAnEmptyOne() {
        LoadedConfig defaults = read(ConfigText.defaults(), Map.of());
        LoadedConfig empty = read("", Map.of());

        assertThat(defaults.config()).isEqualTo(empty.config());
        assertThat(defaults.unknown()).isEmpty();
        assertThat(defaults.accepted()).isEmpty();
        assertThat(defaults.settings())
                .filteredOn(setting -> setting.source().equals("default"))
                .extracting(setting -> setting.key().name())
                // of the machine; below data-dir; none
                .containsExactly("cop-block-cache-size", "coplane.compact-journal-dir", "coplane.fixed-clock-micros");
    }

    /** What is shown as a default is what the code takes where a key is missing: another value changes the configuration. */
    @ParameterizedTest
    @MethodSource("usedKeys")
    void everyUsedKeyChangesTheConfiguration(ConfigKey key) throws IOException {
        WorkerConfig without = read("", Map.of()).config();
        Path pem = Files.writeString(folder.resolve("x.pem"), "x");
        String tls = "security.ca-path = \"%s\"\nsecurity.cert-path = \"%s\"\nsecurity.key-path = \"%s\"\n"
                .replace("%s", pem.toString());
        String other = switch (key.name()) {
            case "addr", "cop-addr" -> "\"127.0.0.1:5\"";
            case "checksum-type" -> "\"none\"";
            case "coplane.log-format" -> "\"json\"";
            case "dfs.zstd-compression-level" -> "\"7\"";
            case "worker-limiter.global-concurrency-factor" -> "97.5";
            default ->
                switch (key.kind()) {
                    case TEXT, SECRET -> "\"other\"";
                    case FLAG -> key.fallback().equals("true") ? "false" : "true";
                    case INTEGER -> "3";
                    case NUMBER -> "1.5";
                    case SIZE, SIZE_OR_PERCENT -> "\"1MiB\"";
                    case DURATION -> "\"7s\"";
                    case TEXTS -> "[\"other\"]";
                    case IDS -> "[77]";
                    case ANY -> throw new AssertionError("used, but anything: " + key.name());
                };
        };
        boolean isTls = key.name().matches("security\\.(ca|cert|key)-path");

        LoadedConfig with = read(isTls ? tls : key.name() + " = " + other + "\n", Map.of());

        assertThat(with.config()).isNotEqualTo(without);
        assertThat(with.unknown()).isEmpty();
        assertThat(setting(with, key.name()).source()).isEqualTo("file");
    }

    static Stream<ConfigKey> usedKeys() {
        return ConfigKeys.all().stream().filter(key -> key.use() != Use.ACCEPTED);
    }

    /** A key that the code reads and the table does not know would be called unknown. */
    @Test
    void everyKeyThatIsReadIsInTheTable() {
        TomlTable root = new TomlTable(JsonNodeFactory.instance.objectNode());
        WorkerConfig.from(root);

        List<String> used = usedKeys().map(ConfigKey::name).toList();
        assertThat(root.asked()).containsExactlyInAnyOrderElementsOf(used);
    }

    /** worker.md 4.2 to 4.12 and the tables of the other parts, every key at its default. */
    @Test
    void aFileOfTheReferenceIsTakenAsItIs() throws IOException {
        String file = Files.readString(ROOT.resolve("worker/src/test/resources/reference.toml"));

        LoadedConfig loaded = read(file, Map.of());

        assertThat(loaded.unknown()).isEmpty();
        assertThat(loaded.accepted())
                .contains(
                        "ia.mem-cap",
                        "worker-scaler.sts-configs",
                        "replication-worker.merged-engine",
                        "security.encryption",
                        "memory-profile-auto-dump");
        WorkerConfig defaults = read("", Map.of()).config();
        assertThat(loaded.config().dfs()).isEqualTo(defaults.dfs());
        assertThat(loaded.config().limiter()).isEqualTo(defaults.limiter());
        assertThat(loaded.config().pd()).isEqualTo(defaults.pd());
        assertThat(loaded.config().copBlockCacheBytes()).isEqualTo(1 << 30);
        assertThat(loaded.config())
                .usingRecursiveComparison()
                .ignoringFields("copBlockCacheBytes", "logLevel")
                .isEqualTo(defaults);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "cop_addr = 1 | unknown key: cop_addr, did you mean cop-addr?",
                "memory-uper-threshold = 1 | unknown key: memory-uper-threshold, did you mean memory-upper-threshold?",
                "global-concurrency-factor = 1 | unknown key: global-concurrency-factor, did you mean worker-limiter.global-concurrency-factor?",
                "dfs.s3-buket = 1 | unknown key: dfs.s3-buket, did you mean dfs.s3-bucket?",
                "coplane.max-bodysize = 1 | unknown key: coplane.max-bodysize, did you mean coplane.max-body-size?",
                "some-key-of-the-future = [1] | unknown key: some-key-of-the-future",
                "[tikv]~a = 1~b = 2 | unknown key: tikv",
                "[worker-limitr]~a = 1 | unknown key: worker-limitr, did you mean worker-limiter?"
            })
    void unknownNamesAreToldWithTheNearestKnownOne(String toml, String sentence) {
        assertThat(read(toml.replace("~", "\n"), Map.of()).unknown())
                .singleElement()
                .asString()
                .startsWith(sentence);
    }

    @Test
    void whatIsShownSaysWhereItComesFromAndHidesSecrets() {
        String toml = """
                addr = "1.1.1.1:1"
                log-level = "debug"
                [dfs]
                backend = "local"
                s3-secret-key = "sesame"
                [security.master-key]
                cipher-text = "c2VzYW1l"
                """;

        LoadedConfig loaded = ConfigLoader.read(
                Optional.of(write(toml)),
                Map.of("addr", "2.2.2.2:2"),
                Map.of("DFS_PREFIX", "p", "CSE_MASTER_KEY_ID", "sesame", "COPLANE_MAX_BODY_SIZE", "2MiB"));
        String shown = ConfigText.effective(loaded);

        assertThat(shown)
                .contains("addr = \"2.2.2.2:2\"  # option\n")
                .contains("log-level = \"debug\"  # file\n")
                .contains("cop-addr = \"0.0.0.0:9500\"  # default\n")
                .contains("prefix = \"p\"  # environment DFS_PREFIX\n")
                .contains("s3-secret-key = \"***\"  # file\n")
                .contains("cipher-text = \"***\"  # file\n")
                .contains("key-id = \"***\"  # environment CSE_MASTER_KEY_ID\n")
                .contains("max-body-size = \"2MiB\"  # environment COPLANE_MAX_BODY_SIZE\n")
                .doesNotContain("sesame", "c2VzYW1l");
        assertThat(loaded.config().own().maxBodyBytes()).isEqualTo(2 << 20);
        assertThat(loaded.config().toString()).doesNotContain("sesame", "c2VzYW1l");
    }

    @Test
    void everyKeyHasAVariable() throws IOException {
        Map<String, String> environment = new LinkedHashMap<>();
        environment.put("COPLANE_LOG_LEVEL", "warn");
        environment.put("COPLANE_THREAD_POOL_SIZE_FACTOR", "2.5");
        environment.put("COPLANE_COP_TOPN_MAX_PUSHDOWN_ROWS", "9");
        environment.put("COPLANE_DFS__READ_ONLY", "true");
        environment.put("COPLANE_DFS__CONN_OPTIONS__MAX_RETRY_COUNT", "2");
        environment.put("COPLANE_BLACK_LIST__REMOTE_COP__KEYSPACE_IDS", "1, 4294967295");
        environment.put("COPLANE_PD__ENDPOINTS", "a:1,b:2");
        environment.put("COPLANE_SLOW_LOG_THRESHOLD", "5ms");

        WorkerConfig config = read("", environment).config();

        assertThat(config.logLevel()).isEqualTo("warn");
        assertThat(config.threadPoolSizeFactor()).isEqualTo(2.5);
        assertThat(config.copTopnMaxPushdownRows()).isEqualTo(9);
        assertThat(config.dfs().readOnly()).isTrue();
        assertThat(config.dfs().bucket().timing().maxRetries()).isEqualTo(2);
        assertThat(config.blackList().remoteCop()).containsExactlyInAnyOrder(1, -1);
        assertThat(config.pd().endpoints()).containsExactly("a:1", "b:2");
        assertThat(config.own().slowLogThreshold()).hasMillis(5);
        assertThat(usedKeys().map(ConfigKey::variable).filter(name -> !name.isEmpty()))
                .doesNotHaveDuplicates()
                .hasSize((int) usedKeys().count());
    }

    @ParameterizedTest
    @CsvSource({
        "COPLANE_REGISTER, yes, register must be true or false",
        "COPLANE_IO_THREADS, many, coplane.io-threads must be an integer",
        "COPLANE_HEAD_TIMEOUT, 5, coplane.head-timeout",
        "COPLANE_BLACK_LIST__ANALYZE__KEYSPACE_IDS, x, black-list.analyze.keyspace-ids must be a list of unsigned"
    })
    void aBadVariableIsNamedByItsKey(String variable, String value, String message) {
        assertThatThrownBy(() -> read("", Map.of(variable, value))).hasMessageContaining(message);
    }

    /** docs/operations.md has a row, or a mention in one, for each key. */
    @Test
    void everyUsedKeyIsDocumented() throws IOException {
        String page = Files.readString(ROOT.resolve("docs/operations.md"));

        List<String> missing = usedKeys()
                .filter(key -> !page.contains("`" + key.name() + "`")
                        && !page.contains("`" + key.lastName() + "`")
                        && !page.contains(key.name().replace(".keyspace-ids", "."))) // rows of a table name it short
                .map(ConfigKey::name)
                .toList();
        assertThat(missing).isEmpty();
    }

    private static Setting setting(LoadedConfig loaded, String name) {
        return loaded.settings().stream()
                .filter(setting -> setting.key().name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private LoadedConfig read(String toml, Map<String, String> environment) {
        return ConfigLoader.read(Optional.of(write(toml)), Map.of(), environment);
    }

    private Path write(String toml) {
        try {
            return Files.writeString(folder.resolve("config.toml"), toml);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
