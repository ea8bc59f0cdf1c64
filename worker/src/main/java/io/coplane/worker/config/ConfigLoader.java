package io.coplane.worker.config;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.toml.TomlMapper;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads the configuration: the file, options over it, the environment over both (worker.md 1). Reads nothing but its arguments name. */
public final class ConfigLoader {
    private static final String TRUE = "true";

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

    private ConfigLoader() {}

    /**
     * @param file TOML; empty = all defaults
     * @param options values by dotted key; they replace the file's. Flags are Booleans, integers Longs, all else texts
     * @param environment replaces both, for {@code dfs} and {@code security}
     * @throws CoplaneException BAD_CONFIG naming the file, or the key and its value
     */
    public static WorkerConfig load(Optional<Path> file, Map<String, Object> options, Map<String, String> environment) {
        TomlTable root =
                new TomlTable(file.map(ConfigLoader::read).orElseGet(JsonNodeFactory.instance::objectNode), "");
        options.forEach((key, value) -> set(root, key, value));
        VARIABLES.forEach((variable, key) -> {
            String value = environment.get(variable);
            if (value != null) {
                set(root, key, value);
            }
        });
        String fallback = environment.get(FALLBACK_VARIABLE);
        if (fallback != null) {
            set(root, "dfs.allow-fallback-local", fallback.equals(TRUE));
        }
        return WorkerConfig.from(root);
    }

    private static void set(TomlTable root, String dottedKey, Object value) {
        List<String> parts = List.of(dottedKey.split("\\.", -1));
        TomlTable table = root;
        for (String part : parts.subList(0, parts.size() - 1)) {
            table = table.writable(part);
        }
        if (value instanceof Boolean flag) {
            table.set(parts.getLast(), flag);
        } else if (value instanceof Long number) {
            table.set(parts.getLast(), number);
        } else {
            table.set(parts.getLast(), value.toString());
        }
    }

    private static ObjectNode read(Path file) {
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
