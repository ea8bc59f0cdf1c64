package io.coplane.compaction;

import io.coplane.proto.enginepb.ChangeSet;

/**
 * What a compaction came to.
 *
 * @param changeSet     the answer to the store
 * @param inputEntries  versions read
 * @param outputEntries versions written
 * @param outputFiles   files uploaded
 * @param outputBytes   bytes of them
 * @param copiedBytes   bytes of blocks among them that were copied as they were stored
 */
public record CompactionResult(
        ChangeSet changeSet, long inputEntries, long outputEntries, int outputFiles, long outputBytes, long copiedBytes) {
    /** Part of the output that was copied; 0 .. 1. */
    public double copiedShare() {
        return outputBytes == 0 ? 0 : (double) copiedBytes / outputBytes;
    }
}
