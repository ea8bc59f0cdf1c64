package io.coplane.compaction;

import io.coplane.compaction.CompactionType.BlobTableOptions;
import io.coplane.compaction.CompactionType.L0;
import io.coplane.compaction.CompactionType.L1Plus;
import io.coplane.compaction.CompactionType.LevelFiles;
import io.coplane.compaction.CompactionType.Major;
import io.coplane.compaction.CompactionType.TableOptions;
import io.coplane.compaction.kernel.MergeCursor;
import io.coplane.compaction.kernel.Retention;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.enginepb.Compaction;
import io.coplane.proto.enginepb.MajorCompaction;
import io.coplane.proto.enginepb.TableChange;
import io.coplane.proto.enginepb.TableDelete;
import io.coplane.sst.ColumnFamily;
import io.coplane.sst.L0Reader;
import io.coplane.sst.SstOptions;
import io.coplane.sst.SstReader;
import io.coplane.sst.TableCursor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** The compactions of row files: L0 to L1, a level to the next one, all to the last level (compaction.md 3.4 to 3.6). Borrows its job. One thread. */
final class RowCompaction {
    private final Job job;

    RowCompaction(Job job) {
        this.job = job;
    }

    void l0(L0 request, ChangeSet.Builder to) {
        List<L0Reader> l0s = openL0s(request.l0Tables());
        var levels = new ArrayList<List<SstReader>>();
        for (long[] ids : request.l1Tables()) {
            levels.add(openLevel(ids));
        }
        Compaction.Builder result = to.getCompactionBuilder();
        append(request.l0Tables(), result::addTopDeletes);
        job.restoredTables().forEach(result::addTableCreates);
        job.restoredBlobs().forEach(result::addBlobTables);
        for (ColumnFamily family : ColumnFamily.values()) {
            append(request.l1Tables().get(family.number()), result::addBottomDeletes);
            if (family.number() < job.firstStep()) {
                continue;
            }
            var sources = sources(l0s, family);
            sources.add(levels.get(family.number()));
            merge(
                    family.number(),
                    sources,
                    family,
                    1,
                    request.safeTs(),
                    true,
                    request.tableOptions(),
                    request.blobOptions(),
                    null,
                    out -> {
                        result.addAllTableCreates(out.tableCreates());
                        result.addAllBlobTables(out.blobCreates());
                    });
        }
    }

    void l1Plus(L1Plus request, ChangeSet.Builder to) {
        ColumnFamily family = family(request.cf());
        List<SstReader> upper = openLevel(request.upperLevel());
        List<SstReader> lower = openLevel(request.lowerLevel());
        int target = level(request.level()) + 1;
        Compaction.Builder result =
                to.getCompactionBuilder().setCf(family.number()).setLevel(level(request.level()));
        append(request.upperLevel(), result::addTopDeletes);
        append(request.lowerLevel(), result::addBottomDeletes);
        job.restoredTables().forEach(result::addTableCreates);
        if (job.firstStep() > 0) {
            return; // all was written, but the answer wasn't
        }
        var sources = new ArrayList<List<SstReader>>(List.of(upper, lower));
        merge(
                0,
                sources,
                family,
                target,
                request.safeTs(),
                request.keepLatestObsoleteTombstone(),
                request.tableOptions(),
                null,
                null,
                out -> result.addAllTableCreates(out.tableCreates()));
    }

    void major(Major request, ChangeSet.Builder to) {
        List<L0Reader> l0s = openL0s(request.l0Tables());
        var levels = new ArrayList<List<List<SstReader>>>();
        for (ColumnFamily family : ColumnFamily.values()) {
            var ofFamily = new ArrayList<List<SstReader>>();
            for (LevelFiles level : levelsOf(request, family)) {
                ofFamily.add(openLevel(level.fileIds()));
            }
            levels.add(ofFamily);
        }
        MajorCompaction.Builder result = to.getMajorCompactionBuilder();
        append(request.blobTables(), result::addOldBlobTables);
        TableChange.Builder change = result.getSstableChangeBuilder();
        for (L0Reader l0 : l0s) {
            change.addTableDeletes(TableDelete.newBuilder().setID(l0.fileId()));
        }
        for (ColumnFamily family : ColumnFamily.values()) {
            for (LevelFiles level : levelsOf(request, family)) {
                append(
                        level.fileIds(),
                        id -> change.addTableDeletes(TableDelete.newBuilder()
                                .setID(id)
                                .setLevel(level(level.level()))
                                .setCF(family.number())));
            }
        }
        job.restoredTables().forEach(change::addTableCreates);
        job.restoredBlobs().forEach(result::addNewBlobTables);
        try (OldBlobs oldBlobs = request.blobTables().length == 0 ? null : new OldBlobs(job, request.blobTables())) {
            for (ColumnFamily family : ColumnFamily.values()) {
                var sources = sources(l0s, family);
                sources.addAll(levels.get(family.number()));
                if (family.number() >= job.firstStep() && !sources.stream().allMatch(List::isEmpty)) {
                    merge(
                            family.number(),
                            sources,
                            family,
                            family.levels(),
                            request.safeTs(),
                            false,
                            request.tableOptions(),
                            request.blobOptions(),
                            oldBlobs,
                            out -> {
                                change.addAllTableCreates(out.tableCreates());
                                result.addAllNewBlobTables(out.blobCreates());
                            });
                }
            }
        }
    }

    private static List<LevelFiles> levelsOf(Major request, ColumnFamily family) {
        return request.lnTables().getOrDefault((long) family.number(), List.of());
    }

    private interface Result {
        void take(RowOutputs outputs);
    }

    /** @param step number of the family in a compaction of several, else 0 */
    private void merge(
            int step,
            List<List<SstReader>> sources,
            ColumnFamily family,
            int target,
            long safeTs,
            boolean keepTombstone,
            TableOptions options,
            BlobTableOptions blobOptions,
            OldBlobs oldBlobs,
            Result result) {
        if (target > options.compressionTypes().length) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "no such level: level=" + target);
        }
        SstOptions table =
                job.tableOptions(options.blockSize(), Rows.compression(options.compressionTypes()[target - 1]));
        long newestLockTs = sources.stream()
                .flatMap(List::stream)
                .mapToLong(input -> input.properties().maxLockTs())
                .reduce(0, (a, b) -> Long.compareUnsigned(a, b) < 0 ? b : a);
        try (var scratch = new NativeArena(job.guard);
                var outputs = new RowOutputs(
                        job,
                        step,
                        family,
                        target,
                        table,
                        options.maxTableSize(),
                        blobOptions,
                        oldBlobs,
                        newestLockTs)) {
            var merge = new MergeCursor(sources.stream()
                    .filter(tables -> !tables.isEmpty())
                    .map(tables -> TableCursor.overLevel(tables, false, scratch))
                    .toArray(TableCursor[]::new));
            long seen =
                    new Retention(family, safeTs, keepTombstone).run(merge, outputs.start(), job.bounds.end(), outputs);
            outputs.finish(seen);
            result.take(outputs);
            job.stepDone(step + 1);
        } finally {
            sources.forEach(tables -> tables.forEach(SstReader::release));
        }
    }

    /** L0 files, the newest first; of files with the same snap version those that the request lists first. */
    private List<L0Reader> openL0s(long[] fileIds) {
        var l0s = new ArrayList<>(job.openL0s(fileIds));
        l0s.sort((a, b) -> Long.compareUnsigned(b.snapVersion(), a.snapVersion()));
        return l0s;
    }

    /** The family's tables of L0 files, each a source. */
    private static List<List<SstReader>> sources(List<L0Reader> l0s, ColumnFamily family) {
        var sources = new ArrayList<List<SstReader>>();
        for (L0Reader l0 : l0s) {
            SstReader table = l0.family(family);
            if (table != null) {
                sources.add(List.of(table));
            }
        }
        return sources;
    }

    /** Files of one level by key. That they don't overlap is checked here, before anything is written. */
    private List<SstReader> openLevel(long[] fileIds) {
        var level = new ArrayList<>(job.openTables(fileIds));
        level.sort(Comparator.comparing(SstReader::smallest, Arrays::compareUnsigned));
        for (int i = 1; i < level.size(); i++) {
            if (Arrays.compareUnsigned(level.get(i - 1).biggest(), level.get(i).smallest()) >= 0) {
                throw new CoplaneException(
                        ErrorCode.FILE_MISMATCH,
                        "files of one level overlap: fileId="
                                + Long.toUnsignedString(level.get(i - 1).fileId()) + " otherFileId="
                                + Long.toUnsignedString(level.get(i).fileId()));
            }
        }
        return level;
    }

    static ColumnFamily family(long cf) {
        if (cf < 0 || cf >= ColumnFamily.values().length) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "no such column family: cf=" + cf);
        }
        return ColumnFamily.values()[(int) cf];
    }

    /** A level of files below L0, as a small number. */
    private static int level(long level) {
        if (level < 1 || level > ColumnFamily.WRITE.levels()) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "no such level: level=" + Long.toUnsignedString(level));
        }
        return (int) level;
    }

    private interface IdSink {
        Object add(long id);
    }

    private static void append(long[] ids, IdSink to) {
        for (long id : ids) {
            to.add(id);
        }
    }
}
