package io.coplane.snapshot;

/** Asks whether work should go on. Called every few thousand entries by scans and between files by the builder. Thread-safe. */
@FunctionalInterface
public interface DeadlineCheck {
    /** Never stops the work. */
    DeadlineCheck NONE = () -> {};

    /** @throws io.coplane.nativecache.CoplaneException of code DEADLINE if the time is over or the client is gone */
    void check();
}
