package io.coplane.nativecache.store;

/**
 * A text that must not be seen: it shows as dots in logs, errors and records' texts.
 *
 * @param value the text itself; empty = none
 */
public record Secret(String value) {
    /** No secret. */
    public static final Secret NONE = new Secret("");

    /** True if there is none. */
    public boolean isEmpty() {
        return value.isEmpty();
    }

    @Override
    public String toString() {
        return value.isEmpty() ? "(none)" : "(hidden)";
    }
}
