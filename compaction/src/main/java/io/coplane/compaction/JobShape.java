package io.coplane.compaction;

import io.coplane.compaction.CompactionType.BlobTableOptions;
import io.coplane.compaction.CompactionType.Columnar;
import io.coplane.compaction.CompactionType.ColumnarMajor;
import io.coplane.compaction.CompactionType.FtsAddIndex;
import io.coplane.compaction.CompactionType.FtsCleanup;
import io.coplane.compaction.CompactionType.FtsCompactL0;
import io.coplane.compaction.CompactionType.FtsCompactL2;
import io.coplane.compaction.CompactionType.FtsCreateL0;
import io.coplane.compaction.CompactionType.InPlaceWithColumnar;
import io.coplane.compaction.CompactionType.L0;
import io.coplane.compaction.CompactionType.L1Plus;
import io.coplane.compaction.CompactionType.LevelFiles;
import io.coplane.compaction.CompactionType.LeveledFile;
import io.coplane.compaction.CompactionType.Major;
import io.coplane.compaction.CompactionType.RowFile;
import io.coplane.compaction.CompactionType.TableOptions;
import io.coplane.compaction.CompactionType.Unknown;
import io.coplane.compaction.CompactionType.VectorIndex;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.sst.ColumnFamily;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What the machinery needs to know of a variant: the one place in which all of them are told apart.
 *
 * @param isBuilt     whether it can be executed: row work, and what touches no columnar, vector or full text content
 * @param isOfRows    whether its work is on row files
 * @param writesFiles whether it may write files: others have nothing to resume
 * @param inputs      row files that it reads, in its order; those of one element are opened together
 * @param blobTables  ids of blob tables that it reads
 * @param otherInputs ids of files that it names without reading them
 * @param sources     how many row files are read at the same time, at most
 * @param outputs     how its outputs are cut; null: one for each input, or none
 * @param work        what it does
 */
record JobShape(
        boolean isBuilt,
        boolean isOfRows,
        boolean writesFiles,
        List<Files> inputs,
        long[] blobTables,
        long[] otherInputs,
        int sources,
        Outputs outputs,
        Work work) {
    private static final long[] NO_IDS = {};

    /** Row files of one place; of level 0 the family is of no meaning. */
    record Files(long level, long cf, long[] ids) {}

    /** @param blobs null: no blob tables are built */
    record Outputs(TableOptions tables, BlobTableOptions blobs, int families) {}

    /** The execution of a request. */
    interface Work {
        /** @param innerKeyOffset of the request */
        void run(Job job, long innerKeyOffset, ChangeSet.Builder to);
    }

    static JobShape of(CompactionType type) {
        return switch (type) {
            case L0 t -> l0(t);
            case L1Plus t ->
                rows(
                        List.of(
                                new Files(t.level(), t.cf(), t.upperLevel()),
                                new Files(t.level() + 1, t.cf(), t.lowerLevel())),
                        NO_IDS,
                        2,
                        new Outputs(t.tableOptions(), null, 1),
                        (job, offset, to) -> new RowCompaction(job).l1Plus(t, to));
            case Major t -> major(t);
            case InPlaceWithColumnar t -> inPlace(t);
            case Columnar t -> contentFree(isBuilt(t), (job, offset, to) -> ContentFreeResults.columnar(t, to));
            case ColumnarMajor t ->
                contentFree(
                        t.snapVersion() == 0
                                || t.tableIdsToAdd().length == 0
                                        && (t.tableIdsToClear().length == 0
                                                || t.oldColumnarTables().isEmpty()),
                        (job, offset, to) -> ContentFreeResults.columnarMajor(t, to));
            case VectorIndex t ->
                contentFree(t.colFileIds().isEmpty(), (job, offset, to) -> ContentFreeResults.vectorIndex(t, to));
            case FtsCreateL0 t ->
                contentFree(
                        t.ftsIndexes().isEmpty() || t.colL0FileIds().length == 0,
                        (job, offset, to) -> ContentFreeResults.ftsCreateL0(t, to));
            case FtsAddIndex t ->
                contentFree(
                        t.ftsIndexesToAdd().isEmpty() || t.colFileIds().isEmpty(),
                        (job, offset, to) -> ContentFreeResults.ftsAddIndex(t, to));
            case FtsCompactL0 t ->
                contentFree(
                        t.l0FileIds().length == 0 && t.l1FileIds().length == 0,
                        (job, offset, to) -> ContentFreeResults.ftsCompactL0(t, to));
            case FtsCompactL2 t ->
                contentFree(t.l2FileIds().length < 2, (job, offset, to) -> ContentFreeResults.ftsCompactL2(t, to));
            case FtsCleanup t -> contentFree(true, (job, offset, to) -> ContentFreeResults.ftsCleanup(t, to));
            case Unknown t ->
                contentFree(true, (job, offset, to) -> {
                    throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "unknown compaction");
                });
        };
    }

    private static JobShape rows(List<Files> inputs, long[] blobTables, int sources, Outputs outputs, Work work) {
        return new JobShape(true, true, true, inputs, blobTables, NO_IDS, sources, outputs, work);
    }

    private static JobShape contentFree(boolean isBuilt, Work work) {
        return new JobShape(isBuilt, false, false, List.of(), NO_IDS, NO_IDS, 1, null, work);
    }

    private static JobShape l0(L0 t) {
        var inputs = new ArrayList<>(List.of(new Files(0, 0, t.l0Tables())));
        for (int cf = 0; cf < t.l1Tables().size(); cf++) {
            inputs.add(new Files(1, cf, t.l1Tables().get(cf)));
        }
        return rows(
                inputs,
                NO_IDS,
                t.l0Tables().length + 1,
                new Outputs(t.tableOptions(), t.blobOptions(), ColumnFamily.values().length),
                (job, offset, to) -> new RowCompaction(job).l0(t, to));
    }

    private static JobShape major(Major t) {
        var inputs = new ArrayList<>(List.of(new Files(0, 0, t.l0Tables())));
        int mostLevels = 0;
        for (var family : t.lnTables().entrySet()) {
            mostLevels = Math.max(mostLevels, family.getValue().size());
            for (LevelFiles level : family.getValue()) {
                inputs.add(new Files(level.level(), family.getKey(), level.fileIds()));
            }
        }
        return rows(
                inputs,
                t.blobTables(),
                t.l0Tables().length + mostLevels,
                new Outputs(t.tableOptions(), t.blobOptions(), ColumnFamily.values().length),
                (job, offset, to) -> new RowCompaction(job).major(t, to));
    }

    private static JobShape inPlace(InPlaceWithColumnar t) {
        var inputs = new ArrayList<Files>();
        for (RowFile file : t.fileIds()) {
            inputs.add(new Files(file.level(), file.cf(), new long[] {file.fileId()}));
        }
        return new JobShape(
                t.ftsTasks().isEmpty()
                        && (t.colFileIds().isEmpty() || t.schemaFileId() == 0 || t.columnarTableIds().length == 0),
                true,
                !t.fileIds().isEmpty(),
                inputs,
                NO_IDS,
                t.colFileIds().stream().mapToLong(LeveledFile::fileId).toArray(),
                1,
                null,
                (job, innerKeyOffset, to) -> new InPlaceJob(job, t, innerKeyOffset).run(to));
    }

    private static boolean isBuilt(Columnar t) {
        if (!t.sourceRowFiles().isEmpty() || t.level() == 0 || t.level() == 2) {
            return t.columnarTableIds().length == 0;
        }
        // level 1: without an L1 file nothing changes; an empty list of tables means those of the schema
        return t.level() != 1 || t.sourceColumnarFiles().stream().noneMatch(file -> file.level() == 1);
    }

    /** Ids of all files that it names as inputs: none may be one of an output. */
    Set<Long> inputIds() {
        var ids = new HashSet<Long>();
        for (Files files : inputs) {
            addAll(ids, files.ids());
        }
        addAll(ids, blobTables);
        addAll(ids, otherInputs);
        return ids;
    }

    private static void addAll(Set<Long> to, long[] ids) {
        for (long id : ids) {
            to.add(id);
        }
    }
}
