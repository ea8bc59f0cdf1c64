package io.coplane.snapshot;

/** What reads of the write CF examined (snapshot.md 6.7). One thread. */
public final class ReadStatistics {
    private long processedKeys;
    private long processedBytes;
    private boolean metNewer;

    /**
     * Keys examined: every key a scan stopped on, deleted or not, and 1 per point get, also of an absent key. It becomes
     * {@code processed_versions}.
     */
    public long processedKeys() {
        return processedKeys;
    }

    /**
     * Key + value bytes of these keys; a scan counts the outer raw key, a point get the memcomparable-encoded one.
     * {@code processed_versions_size} is half of it.
     */
    public long processedBytes() {
        return processedBytes;
    }

    /** True if some key that was looked at has a version newer than the read timestamp: what was read may differ for a later reader. */
    public boolean metNewer() {
        return metNewer;
    }

    void meetNewer() {
        metNewer = true;
    }

    /** Adds what another reader counted. */
    public void add(ReadStatistics other) {
        count(other.processedKeys, other.processedBytes);
        metNewer |= other.metNewer;
    }

    void count(long keys, long bytes) {
        processedKeys += keys;
        processedBytes += bytes;
    }
}
