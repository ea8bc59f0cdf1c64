package io.coplane.engine;

/**
 * What a coprocessor request did, as far as it came; for log lines. Holds no data of users.
 *
 * @param waitNanos for permits
 * @param snapshotNanos from the permits to the snapshot
 * @param processNanos of execution
 * @param files that the snapshot was made of
 * @param memDataBytes memtable in the request
 * @param scannedKeys keys of the write CF that were looked at
 * @param scannedBytes their bytes, as the client is told
 * @param digest of the query, hexadecimal; empty where the request names none
 */
public record RequestWork(
        long waitNanos,
        long snapshotNanos,
        long processNanos,
        int files,
        long memDataBytes,
        long scannedKeys,
        long scannedBytes,
        String digest) {
    /** Of a request that did nothing. */
    public static final RequestWork NONE = new RequestWork(0, 0, 0, 0, 0, 0, 0, "");
}
