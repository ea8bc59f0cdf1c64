package io.coplane.snapshot;

/** Who uses and closes a reader of a snapshot. */
public enum ReaderThreads {
    /** The thread that made it: its end costs no other thread anything. */
    CALLER,

    /** Any thread, one at a time. */
    ANY
}
