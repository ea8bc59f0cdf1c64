package io.coplane.compaction;

import io.coplane.proto.enginepb.ChangeSet;

/**
 * What a compaction came to.
 *
 * @param changeSet      the answer to the store
 * @param inputEntries   versions read
 * @param outputEntries  versions written
 * @param outputFiles    files uploaded
 * @param outputBytes    bytes of them
 * @param copiedBytes    bytes of blocks among them that this attempt copied as they were stored
 * @param resumedEntries versions among those read that an earlier attempt had read
 * @param resumedFiles   files among those uploaded that an earlier attempt had uploaded
 * @param resumedBytes   bytes of them
 */
public record CompactionResult(
        ChangeSet changeSet,
        long inputEntries,
        long outputEntries,
        int outputFiles,
        long outputBytes,
        long copiedBytes,
        long resumedEntries,
        int resumedFiles,
        long resumedBytes) {
    /** Part of the output that was copied; 0 .. 1. */
    public double copiedShare() {
        return outputBytes == 0 ? 0 : (double) copiedBytes / outputBytes;
    }
}
