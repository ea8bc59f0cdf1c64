package io.coplane.worker.config;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.util.Locale;

/**
 * Table {@code dfs} (worker.md 4.6), and our own backend {@code local}.
 *
 * @param backend {@code local}, {@code azure} (both in any case), or S3 for every other word
 * @param prefix first part of every object key; empty means {@code default}
 * @param localDir root of backend {@code local}
 * @param zstdCompressionLevel level of written blocks
 * @param readOnly every write fails
 */
public record DfsConfig(String backend, String prefix, String localDir, int zstdCompressionLevel, boolean readOnly) {
    private static final String LOCAL = "local";
    private static final String DEFAULT_LEVEL = "5";

    static DfsConfig from(TomlTable table) {
        String level = table.text("zstd-compression-level", "");
        return new DfsConfig(
                table.text("backend", "s3"),
                table.text("prefix", ""),
                table.text("local-dir", ""),
                level(level.isEmpty() ? DEFAULT_LEVEL : level),
                table.flag("read-only", false));
    }

    /**
     * The backend is a directory on this machine.
     *
     * @throws CoplaneException BAD_CONFIG for a backend that is not built yet, or a directory that is not named
     */
    public void requireBuilt() {
        if (!backend.toLowerCase(Locale.ROOT).equals(LOCAL)) {
            String name = backend.equalsIgnoreCase("azure") ? "Azure" : "S3";
            throw new CoplaneException(
                    ErrorCode.BAD_CONFIG,
                    "dfs.backend \"" + backend + "\" means " + name
                            + ", which is not built yet: set dfs.backend = \"local\" and dfs.local-dir");
        }
        if (localDir.isEmpty()) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, "dfs.backend = \"local\" needs dfs.local-dir");
        }
    }

    private static int level(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            throw new CoplaneException(
                    ErrorCode.BAD_CONFIG, "dfs.zstd-compression-level is no signed integer: value=" + text, e);
        }
    }
}
