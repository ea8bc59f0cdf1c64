package io.coplane.worker.config;

import io.coplane.worker.config.ConfigKey.Use;
import io.coplane.worker.config.LoadedConfig.Setting;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Configurations as TOML for people. */
public final class ConfigText {
    private ConfigText() {}

    /** A file of all keys that this worker uses, with their defaults and what they mean. It reads back as an empty one does. */
    public static String defaults() {
        StringBuilder out = new StringBuilder(16 << 10);
        out.append("# Every key that this worker uses, with its default.\n");
        tables(ConfigKeys.all().stream()
                        .filter(key -> key.use() != Use.ACCEPTED)
                        .map(key -> new Setting(key, key.fallback(), ""))
                        .toList())
                .forEach((table, settings) -> {
                    head(out, table);
                    for (Setting setting : settings) {
                        ConfigKey key = setting.key();
                        out.append("# ").append(key.meaning());
                        out.append(key.use() == Use.OURS ? " (not a key of the reference)\n" : "\n");
                        out.append(key.fallback().isEmpty() ? "# " : "");
                        out.append(key.lastName())
                                .append(" = ")
                                .append(key.fallback())
                                .append('\n');
                    }
                });
        return out.toString();
    }

    /** What is in force, and where each value comes from. Secrets are masked. */
    public static String effective(LoadedConfig loaded) {
        StringBuilder out = new StringBuilder(16 << 10);
        tables(loaded.settings()).forEach((table, settings) -> {
            head(out, table);
            for (Setting setting : settings) {
                ConfigKey key = setting.key();
                String line = key.lastName() + " = " + setting.value();
                out.append(setting.value().isEmpty() ? "# " : "")
                        .append(line)
                        .append("  # ")
                        .append(setting.source());
                out.append(setting.value().isEmpty() ? ": " + key.meaning() + "\n" : "\n");
            }
        });
        return out.toString();
    }

    private static Map<String, List<Setting>> tables(List<Setting> settings) {
        Map<String, List<Setting>> tables = new LinkedHashMap<>();
        tables.put("", List.of()); // top level first, whatever the order
        for (Setting setting : settings) {
            tables.merge(setting.key().table(), List.of(setting), ConfigText::joined);
        }
        return tables;
    }

    private static List<Setting> joined(List<Setting> left, List<Setting> right) {
        List<Setting> all = new ArrayList<>(left);
        all.addAll(right);
        return all;
    }

    private static void head(StringBuilder out, String table) {
        if (!table.isEmpty()) {
            out.append("\n[").append(table).append("]\n");
        }
    }
}
