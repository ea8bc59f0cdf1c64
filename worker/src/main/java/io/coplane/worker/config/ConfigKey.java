package io.coplane.worker.config;

import java.util.Locale;

/**
 * One key of the configuration file.
 *
 * @param name dotted path, kebab-case
 * @param kind what its value may be
 * @param use what this worker does with it
 * @param fallback its default as TOML; empty where none can be written, which {@code meaning} explains then
 * @param meaning one sentence part for people
 */
public record ConfigKey(String name, Kind kind, Use use, String fallback, String meaning) {
    private static final String OWN_TABLE = "coplane.";

    /** What a value may be (worker.md 4.1). */
    public enum Kind {
        /** A string. */
        TEXT,
        /** A string that is never shown. */
        SECRET,
        /** {@code true} or {@code false}. */
        FLAG,
        /** A whole number. */
        INTEGER,
        /** Any number. */
        NUMBER,
        /** Bytes: an integer, or a number and a unit. */
        SIZE,
        /** A size, or a share of the machine's memory or disk. */
        SIZE_OR_PERCENT,
        /** Parts in descending order of d, h, m, s, ms, us. */
        DURATION,
        /** A list of strings. */
        TEXTS,
        /** A list of unsigned 32-bit ids. */
        IDS,
        /** Whatever the reference allows below this name: it is not looked at. */
        ANY
    }

    /** What this worker does with a key. */
    public enum Use {
        /** The reference's, and it does what it does there. */
        USED,
        /** Ours: the reference does not have it. */
        OURS,
        /** The reference's, of a part that is not built here, or that storage nodes use: accepted and not looked at. */
        ACCEPTED
    }

    /** The environment variable that replaces its value, whatever file and options say; empty where there is none. */
    public String variable() {
        if (kind == Kind.ANY || use == Use.ACCEPTED) {
            return "";
        }
        String path = name.startsWith(OWN_TABLE) ? name.substring(OWN_TABLE.length()) : name;
        return "COPLANE_" + path.replace(".", "__").replace('-', '_').toUpperCase(Locale.ROOT);
    }

    /** The table that it stands in; empty for the top level. */
    public String table() {
        int dot = name.lastIndexOf('.');
        return dot < 0 ? "" : name.substring(0, dot);
    }

    /** Its name within its table. */
    public String lastName() {
        return name.substring(name.lastIndexOf('.') + 1);
    }
}
