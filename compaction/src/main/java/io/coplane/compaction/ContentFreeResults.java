package io.coplane.compaction;

import io.coplane.compaction.CompactionType.Columnar;
import io.coplane.compaction.CompactionType.ColumnarMajor;
import io.coplane.compaction.CompactionType.FtsAddIndex;
import io.coplane.compaction.CompactionType.FtsCleanup;
import io.coplane.compaction.CompactionType.FtsCompactL0;
import io.coplane.compaction.CompactionType.FtsCompactL2;
import io.coplane.compaction.CompactionType.FtsCreateL0;
import io.coplane.compaction.CompactionType.LeveledFile;
import io.coplane.compaction.CompactionType.TableIndex;
import io.coplane.compaction.CompactionType.VectorIndex;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.enginepb.ColumnarCompaction;
import io.coplane.proto.enginepb.ColumnarDelete;
import io.coplane.proto.enginepb.FtsUpdate;
import io.coplane.proto.enginepb.TableChange;
import io.coplane.proto.enginepb.TableIndexId;
import io.coplane.proto.enginepb.UpdateVectorIndex;
import java.util.List;

/**
 * Results of columnar, vector index and full text requests that touch no file content (compaction.md 3.8 to 3.11): those that
 * {@link JobShape#isBuilt} lets through.
 */
final class ContentFreeResults {
    private ContentFreeResults() {}

    static void columnar(Columnar request, ChangeSet.Builder to) {
        ColumnarCompaction.Builder result = to.getColumnarCompactionBuilder().setSnapVersion(request.snapVersion());
        if (!request.sourceRowFiles().isEmpty()) {
            result.setTargetLevel((int) request.level());
            for (LeveledFile file : request.sourceRowFiles()) {
                if (file.level() == 0) {
                    result.addRowL0S(file.fileId());
                }
            }
            return;
        }
        TableChange.Builder change = result.getColumnarChangeBuilder();
        switch ((int) Math.min(Integer.MAX_VALUE, request.level())) {
            case 0 -> {
                for (LeveledFile file : request.sourceColumnarFiles()) {
                    if (file.level() != 0) {
                        throw bad("file of another level: level=" + file.level());
                    }
                }
                result.setTargetLevel(1);
                addDeletes(request.sourceColumnarFiles(), change);
            }
            case 1 -> result.setTargetLevel(2); // no file of level 1: nothing changes
            case 2 -> result.setTargetLevel(2).setIsManualMajorCompaction(true);
            default -> throw bad("no such columnar level: level=" + request.level());
        }
    }

    static void columnarMajor(ColumnarMajor request, ChangeSet.Builder to) {
        ColumnarCompaction.Builder result = to.getColumnarCompactionBuilder()
                .setSnapVersion(request.snapVersion())
                .setTargetLevel((int) request.targetLevel());
        TableChange.Builder change = result.getColumnarChangeBuilder();
        if (request.snapVersion() == 0) {
            addDeletes(request.oldColumnarTables(), change);
            return;
        }
        for (long id : request.l0Tables()) {
            result.addRowL0S(id);
        }
        for (long id : request.tableIdsToAdd()) {
            result.addColumnarTableIds(id);
        }
        for (long id : request.tableIdsToClear()) {
            result.addColumnarTableIdsToClear(id);
        }
    }

    static void vectorIndex(VectorIndex request, ChangeSet.Builder to) {
        UpdateVectorIndex.Builder result = to.getUpdateVectorIndexBuilder()
                .setTableId(request.tableId())
                .setIndexId(request.indexId())
                .setColId(request.colId())
                .setSnapVersion(request.snapVersion());
        for (long id : request.removeFileIds()) {
            result.addRemoved(id);
        }
    }

    static void ftsCreateL0(FtsCreateL0 request, ChangeSet.Builder to) {
        FtsUpdate.Builder result = to.getFtsUpdateBuilder().setSetSnapVersion(request.snapVersion());
        for (long id : request.colL0FileIds()) {
            result.addPendingColumnarL0RemoveFiles(id);
        }
    }

    static void ftsAddIndex(FtsAddIndex request, ChangeSet.Builder to) {
        FtsUpdate.Builder result = to.getFtsUpdateBuilder();
        for (TableIndex index : request.ftsIndexesToAdd()) {
            result.addAddTrackedIndexes(
                    TableIndexId.newBuilder().setTableId(index.tableId()).setIndexId(index.indexId()));
        }
    }

    static void ftsCompactL0(FtsCompactL0 request, ChangeSet.Builder to) {
        requireNone(request.l0FileIds().length + request.l1FileIds().length);
        to.getFtsUpdateBuilder();
    }

    /** A single file stays as it is: the reference removed it without a replacement (compaction.md 9.7). */
    static void ftsCompactL2(FtsCompactL2 request, ChangeSet.Builder to) {
        requireNone(Math.max(0, request.l2FileIds().length - 1));
        to.getFtsUpdateBuilder();
    }

    static void ftsCleanup(FtsCleanup request, ChangeSet.Builder to) {
        FtsUpdate.Builder result = to.getFtsUpdateBuilder();
        for (long id : request.l1FileIds()) {
            result.addL1RemoveFiles(id);
        }
        for (long id : request.l2FileIds()) {
            result.addL2RemoveFiles(id);
        }
    }

    private static void addDeletes(List<LeveledFile> files, TableChange.Builder to) {
        for (LeveledFile file : files) {
            to.addColumnarDeletes(
                    ColumnarDelete.newBuilder().setID(file.fileId()).setLevel((int) file.level()));
        }
    }

    private static void requireNone(int files) {
        if (files != 0) {
            throw new CoplaneException(ErrorCode.UNSUPPORTED, Admission.INCOMPATIBLE);
        }
    }

    private static CoplaneException bad(String message) {
        return new CoplaneException(ErrorCode.BAD_ARGUMENT, message);
    }
}
