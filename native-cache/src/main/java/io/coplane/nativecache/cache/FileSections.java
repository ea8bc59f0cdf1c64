package io.coplane.nativecache.cache;

import io.coplane.nativecache.Require;

/**
 * What of a cached file serves only to find its blocks, and how long that stays once nobody uses the file (sst.md 9.1).
 *
 * @param indexStart bytes from file start; the indexes begin here, and what lies before stays with the file
 * @param filterStart the indexes end and the filter begins here
 * @param filterEnd the filter ends here; {@code filterStart} if there is none
 * @param indexIdleNanos at least {@code filterIdleNanos}
 * @param filterIdleNanos at least 0
 */
public record FileSections(
        long indexStart, long filterStart, long filterEnd, long indexIdleNanos, long filterIdleNanos) {
    public FileSections {
        Require.range("indexStart", indexStart, 1, Long.MAX_VALUE);
        Require.range("filterStart", filterStart, indexStart + 1, Long.MAX_VALUE);
        Require.range("filterEnd", filterEnd, filterStart, Long.MAX_VALUE);
        Require.range("filterIdleNanos", filterIdleNanos, 0, Long.MAX_VALUE);
        Require.range("indexIdleNanos", indexIdleNanos, filterIdleNanos, Long.MAX_VALUE);
    }
}
