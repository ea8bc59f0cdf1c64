package io.coplane.nativecache.store;

/** What a remote store tells about its calls (ia.md 23). Called by I/O threads, so it must be quick. Thread-safe. */
public interface StoreMetrics {
    /** Tells nobody. */
    StoreMetrics NONE = new StoreMetrics() {};

    /** Kinds of calls, as the labels of the reference's metrics name them. */
    enum Call {
        READ("read"),
        WRITE("write"),
        DELETE("delete"),
        HEAD("head"),
        LIST("list");

        private final String label;

        Call(String label) {
            this.label = label;
        }

        /** Value of the label {@code type}. */
        public String label() {
            return label;
        }
    }

    /** A call succeeded, retries included. @param bytes moved; 0 for calls without a body */
    default void ended(Call call, long bytes, long nanos) {}

    /** A call is about to be repeated. */
    default void retried(Call call) {}
}
