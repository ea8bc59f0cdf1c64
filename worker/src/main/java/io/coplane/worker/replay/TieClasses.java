package io.coplane.worker.replay;

import java.util.List;

/**
 * Which rows a TopN may choose: its uncut result in partitions, and these in classes of equal keys.
 *
 * @param full the uncut result, in order
 * @param partitions rows of each partition
 * @param classes rows of each class; no class lies in two partitions
 * @param limit rows that each partition keeps
 * @param total rows kept in all
 */
record TieClasses(List<byte[][]> full, long[] partitions, long[] classes, long limit, long total) {
    /** True if these rows are, class by class in order, rows of the class: all of them, or any at the cut. */
    boolean allows(List<byte[][]> rows, RowTable table) {
        int from = 0;
        int kept = 0;
        int next = 0;
        for (long partition : partitions) {
            long left = Math.min(limit < 0 ? Long.MAX_VALUE : limit, partition);
            long end = from + partition;
            while (from < end) {
                if (next == classes.length || classes[next] <= 0 || from + classes[next] > Math.min(end, full.size())) {
                    return false;
                }
                int size = (int) classes[next++];
                int wanted = (int) Math.min(Math.min(size, left), total - kept);
                if (kept + wanted > rows.size()
                        || !RowComparer.isPart(
                                rows.subList(kept, kept + wanted), full.subList(from, from + size), table)) {
                    return false;
                }
                kept += wanted;
                left -= wanted;
                from += size;
            }
        }
        return kept == rows.size() && from == full.size();
    }
}
