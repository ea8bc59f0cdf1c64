package io.coplane.worker.config;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.toml.TomlMapper;
import io.coplane.nativecache.AsciiNumbers;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.worker.config.ConfigKey.Kind;
import io.coplane.worker.config.ConfigKey.Use;
import io.coplane.worker.config.LoadedConfig.Setting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads the configuration: the file, options over it, the environment over both (worker.md 1). Reads nothing but its arguments name. */
public final class ConfigLoader {
    private static final String TRUE = "true";
    private static final String MASK = "\"***\"";

    /** Environment variable and key of {@code dfs} and {@code security}, worker.md 4.5, 4.6. */
    private static final Map<String, String> VARIABLES = Map.ofEntries(
            Map.entry("CSE_MASTER_KEY_ID", "security.master-key.key-id"),
            Map.entry("CSE_MASTER_KEY_CIPHER_TEXT", "security.master-key.cipher-text"),
            Map.entry("CSE_MASTER_KEY_VENDOR", "security.master-key.vendor"),
            Map.entry("AWS_REGION", "security.master-key.region"),
            Map.entry("CA_PATH", "security.ca-path"),
            Map.entry("CERT_PATH", "security.cert-path"),
            Map.entry("KEY_PATH", "security.key-path"),
            Map.entry("DFS_BACKEND", "dfs.backend"),
            Map.entry("DFS_PREFIX", "dfs.prefix"),
            Map.entry("DFS_S3_ENDPOINT", "dfs.s3-endpoint"),
            Map.entry("DFS_S3_KEY_ID", "dfs.s3-key-id"),
            Map.entry("DFS_S3_SECRET_KEY", "dfs.s3-secret-key"),
            Map.entry("DFS_S3_BUCKET", "dfs.s3-bucket"),
            Map.entry("DFS_S3_REGION", "dfs.s3-region"),
            Map.entry("DFS_AZURE_CONNECTION_STRING", "dfs.azure.connection-string"),
            Map.entry("DFS_AZURE_ACCOUNT_NAME", "dfs.azure.account-name"),
            Map.entry("DFS_AZURE_ACCOUNT_KEY", "dfs.azure.account-key"),
            Map.entry("DFS_AZURE_CONTAINER", "dfs.azure.container"),
            Map.entry("DFS_AZURE_ENDPOINT", "dfs.azure.endpoint"),
            Map.entry("DFS_REMOTE_COMPACTOR_ADDR", "dfs.remote-compactor-addr"),
            Map.entry("DFS_ZSTD_COMPRESSION_LEVEL", "dfs.zstd-compression-level"));

    private static final String FALLBACK_VARIABLE = "DFS_ALLOW_FALLBACK_LOCAL";

    private final TomlTable root;
    private final Map<String, String> sources = new HashMap<>();
    private final List<String> unknown = new ArrayList<>();
    private final List<String> accepted = new ArrayList<>();

    private ConfigLoader(ObjectNode tree) {
        root = new TomlTable(tree);
    }

    /** The configuration alone; parameters and errors as of {@link #read}. */
    public static WorkerConfig load(Optional<Path> file, Map<String, Object> options, Map<String, String> environment) {
        return read(file, options, environment).config();
    }

    /**
     * Reads and checks.
     *
     * @param file TOML; empty = all defaults
     * @param options values by dotted key; they replace the file's. Flags are Booleans, integers Longs, all else texts
     * @param environment replaces both: the reference's variables for {@code dfs} and {@code security}, then those of {@link ConfigKey#variable}
     * @throws CoplaneException BAD_CONFIG naming the file, or the key and its value
     */
    public static LoadedConfig read(Optional<Path> file, Map<String, Object> options, Map<String, String> environment) {
        ObjectNode tree = file.map(ConfigLoader::parse).orElseGet(JsonNodeFactory.instance::objectNode);
        ConfigLoader loader = new ConfigLoader(tree);
        loader.lookAtNames(tree, "");
        options.forEach((key, value) -> loader.set(key, value, "option"));
        loader.environment(environment);
        WorkerConfig config = WorkerConfig.from(loader.root);
        return new LoadedConfig(config, loader.settings(tree), loader.unknown, loader.accepted);
    }

    private void environment(Map<String, String> environment) {
        VARIABLES.forEach((variable, key) -> {
            String value = environment.get(variable);
            if (value != null) {
                set(key, value, "environment " + variable);
            }
        });
        String fallback = environment.get(FALLBACK_VARIABLE);
        if (fallback != null) {
            set("dfs.allow-fallback-local", fallback.equals(TRUE), "environment " + FALLBACK_VARIABLE);
        }
        for (ConfigKey key : ConfigKeys.all()) {
            String value = key.variable().isEmpty() ? null : environment.get(key.variable());
            if (value != null) {
                set(key.name(), typed(key, value), "environment " + key.variable());
            }
        }
    }

    /** A variable's text as its key's kind; a text that is not of the kind stays one, and is refused under the key's name when it is read. */
    private static Object typed(ConfigKey key, String text) {
        return switch (key.kind()) {
            case FLAG -> text.equals(TRUE) || text.equals("false") ? (Object) text.equals(TRUE) : text;
            case INTEGER -> integer(text);
            case NUMBER -> number(text);
            case TEXTS, IDS -> items(key, text);
            case TEXT, SECRET, SIZE, SIZE_OR_PERCENT, DURATION, ANY -> text;
        };
    }

    private static Object integer(String text) {
        try {
            return AsciiNumbers.parseLong(text);
        } catch (NumberFormatException e) {
            return text;
        }
    }

    private static Object number(String text) {
        try {
            return AsciiNumbers.parseDouble(text);
        } catch (NumberFormatException e) {
            return text;
        }
    }

    private static List<Object> items(ConfigKey key, String text) {
        List<Object> items = new ArrayList<>();
        for (String item : text.split(",", -1)) {
            String trimmed = item.strip();
            if (!trimmed.isEmpty()) {
                items.add(key.kind() == Kind.IDS ? integer(trimmed) : trimmed);
            }
        }
        return items;
    }

    private void set(String dottedKey, Object value, String source) {
        List<String> parts = List.of(dottedKey.split("\\.", -1));
        TomlTable table = root;
        for (String part : parts.subList(0, parts.size() - 1)) {
            table = table.writable(part);
        }
        table.set(parts.getLast(), value);
        sources.put(dottedKey, source);
    }

    /** Sorts the names of the file into those that are used, accepted, and unknown. */
    private void lookAtNames(ObjectNode table, String path) {
        table.properties().forEach(entry -> {
            String name = path + entry.getKey();
            Optional<ConfigKey> key = ConfigKeys.find(name);
            if (key.isPresent()) {
                sources.put(name, "file");
                if (key.get().use() == Use.ACCEPTED) {
                    accepted.add(name);
                }
            } else if (entry.getValue() instanceof ObjectNode below && ConfigKeys.isTable(name)) {
                lookAtNames(below, name + ".");
            } else if (!ConfigKeys.isTable(name)) { // where a table is wanted and a value stands, reading it fails
                unknown.add("unknown key: " + name
                        + ConfigKeys.nearest(name)
                                .map(known -> ", did you mean " + known + "?")
                                .orElse(""));
            }
        });
    }

    private List<Setting> settings(ObjectNode tree) {
        List<Setting> settings = new ArrayList<>();
        for (ConfigKey key : ConfigKeys.all()) {
            if (key.use() != Use.ACCEPTED) {
                JsonNode value = tree.at("/" + key.name().replace('.', '/'));
                String text = value.isMissingNode() ? key.fallback() : value.toString();
                boolean hidden = key.kind() == Kind.SECRET && !text.equals("\"\"");
                settings.add(new Setting(key, hidden ? MASK : text, sources.getOrDefault(key.name(), "default")));
            }
        }
        return settings;
    }

    private static ObjectNode parse(Path file) {
        JsonNode tree;
        try {
            tree = TomlMapper.builder().build().readTree(Files.readString(file));
        } catch (IOException e) {
            throw new CoplaneException(
                    ErrorCode.BAD_CONFIG, "can't read the configuration: file=" + file + " cause=" + e.getMessage(), e);
        }
        if (tree instanceof ObjectNode table) {
            return table;
        }
        throw new CoplaneException(ErrorCode.BAD_CONFIG, "the configuration is no table: file=" + file);
    }
}
