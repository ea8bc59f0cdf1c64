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
 */
public record CompactionResult(
        ChangeSet changeSet, long inputEntries, long outputEntries, int outputFiles, long outputBytes) {}
