package io.coplane.compaction;

import io.coplane.compaction.CompactionType.InPlaceWithColumnar;
import io.coplane.compaction.CompactionType.LeveledFile;
import io.coplane.compaction.CompactionType.RowFile;
import io.coplane.compaction.CompactionType.Spec;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.enginepb.ColumnarDelete;
import io.coplane.proto.enginepb.TableChange;
import io.coplane.proto.enginepb.TableDelete;
import io.coplane.sst.ColumnFamily;
import io.coplane.sst.L0Builder;
import io.coplane.sst.L0Reader;
import io.coplane.sst.SstBuilder;
import io.coplane.sst.SstFile;
import io.coplane.sst.SstOptions;
import io.coplane.sst.SstReader;
import io.coplane.sst.TableCursor;
import io.coplane.sst.ValueMeta;

/**
 * Rewrites files one to one through a filter (compaction.md 3.7): all versions of what passes are copied unchanged, references to blobs as well.
 * Borrows its job. One thread.
 */
final class InPlaceJob {
    /** Decides about one entry. Called per entry: one receiver a job. */
    private interface Filter {
        boolean keeps(TableCursor entry, boolean isLock);
    }

    private static final int KEYSPACE_BYTES = 4; // that outer keys begin with

    private final Job job;
    private final InPlaceWithColumnar request;
    private final int keyspaceBytes;

    InPlaceJob(Job job, InPlaceWithColumnar request, long innerKeyOffset) {
        this.job = job;
        this.request = request;
        this.keyspaceBytes = innerKeyOffset > 0 ? KEYSPACE_BYTES : 0;
    }

    void run(ChangeSet.Builder to) {
        TableChange.Builder change;
        switch (request.spec()) {
            case Spec.DestroyRange destroy -> {
                change = to.getDestroyRangeBuilder();
                DeletePrefixes prefixes = DeletePrefixes.parse(destroy.prefixes(), keyspaceBytes);
                rewriteRows(
                        change,
                        (entry, isLock) -> job.bounds.contains(entry.keyBytes(), entry.keyLength())
                                && !prefixes.covers(entry.keyBytes(), entry.keyLength()));
            }
            case Spec.TruncateTs truncate -> {
                change = to.getTruncateTsBuilder();
                rewriteRows(
                        change, (entry, isLock) -> isLock || Long.compareUnsigned(entry.version(), truncate.ts()) <= 0);
            }
            case Spec.TrimOverBound trim -> {
                change = to.getTrimOverBoundBuilder();
                rewriteRows(change, (entry, isLock) -> job.bounds.contains(entry.keyBytes(), entry.keyLength()));
            }
            case Spec.Unknown unknown ->
                throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "unknown in-place compaction");
        }
        for (LeveledFile file : request.colFileIds()) {
            change.addColumnarDeletes(
                    ColumnarDelete.newBuilder().setID(file.fileId()).setLevel((int) file.level()));
        }
    }

    private void rewriteRows(TableChange.Builder change, Filter filter) {
        // all are opened first: a missing or broken one shows before anything is written
        var l0s = job.openL0s(ids(true)).iterator();
        var tables = job.openTables(ids(false)).iterator();
        int step = 0;
        for (RowFile file : request.fileIds()) {
            boolean wasWritten = step < job.firstStep();
            long newId = wasWritten ? job.idsAgain[step] : job.ids.next();
            change.addTableDeletes(TableDelete.newBuilder()
                    .setID(file.fileId())
                    .setLevel((int) file.level())
                    .setCF((int) file.cf()));
            JournalOutput written = file.level() == 0
                    ? rewrite(l0s.next(), file, newId, filter, wasWritten)
                    : rewrite(tables.next(), file, newId, filter, wasWritten);
            if (written != null) {
                change.addTableCreates(written.tableCreate());
                change.addFileIdsMap(file.fileId()).addFileIdsMap(newId);
            }
            step++;
            if (!wasWritten) {
                job.stepDone(step);
            }
        }
    }

    private long[] ids(boolean l0) {
        return request.fileIds().stream()
                .filter(file -> (file.level() == 0) == l0)
                .mapToLong(RowFile::fileId)
                .toArray();
    }

    /** @return null if nothing is left */
    private JournalOutput rewrite(L0Reader from, RowFile file, long newId, Filter filter, boolean wasWritten) {
        if (wasWritten) {
            from.families().forEach(SstReader::release);
            return job.restored(newId);
        }
        SstOptions options = job.tableOptions(request.blockSize(), io.coplane.sst.CompressionType.NONE);
        try (var builder = new L0Builder(options, newId, from.snapVersion(), job.guard)) {
            for (ColumnFamily family : ColumnFamily.values()) {
                SstReader table = from.family(family);
                if (table != null) {
                    copy(table, builder.family(family), filter, family == ColumnFamily.LOCK);
                }
            }
            if (builder.isEmpty()) {
                return null;
            }
            SstFile written = builder.finish();
            return job.uploads.submit(describe(written, file), written, builder.takeFile());
        }
    }

    /** Unlike the reference's, a rewritten lock file still says which lock is the newest (compaction.md 3.7). */
    private JournalOutput rewrite(SstReader from, RowFile file, long newId, Filter filter, boolean wasWritten) {
        if (wasWritten) {
            from.release();
            return job.restored(newId);
        }
        boolean isLock = file.cf() == ColumnFamily.LOCK.number();
        SstOptions options = job.tableOptions(request.blockSize(), from.compression());
        try (var builder = new SstBuilder(options, newId, isLock, job.guard)) {
            builder.buildIn(job.memory.take());
            copy(from, builder, filter, isLock);
            if (builder.isEmpty()) {
                return null;
            }
            SstFile written = builder.finish();
            return job.uploads.submit(describe(written, file), written, builder.takeFile());
        }
    }

    private static JournalOutput describe(SstFile written, RowFile file) {
        return JournalOutput.table(written, (int) file.level(), (int) file.cf());
    }

    private void copy(SstReader from, SstBuilder to, Filter filter, boolean isLock) {
        try (var scratch = new NativeArena(job.guard)) {
            TableCursor cursor = from.cursor(false, scratch);
            boolean more = cursor.rewind();
            while (more) {
                job.checkAlive();
                if (job.config.copyThrough() && cursor.isAtBlockStart() && staysWhole(cursor, to, filter, isLock)) {
                    int entries = to.addBlock(cursor);
                    job.inputEntries += entries;
                    job.outputEntries += entries;
                    more = cursor.next();
                    continue;
                }
                job.inputEntries++;
                if (filter.keeps(cursor, isLock)) {
                    job.outputEntries++;
                    to.add(cursor);
                    if (isLock && (cursor.meta() & ValueMeta.BLOB_REF) != 0) {
                        to.noteLockTs(from.properties().maxLockTs());
                    }
                }
                more = cursor.nextAllVersions();
            }
            job.copiedBytes += to.copiedBytes();
        } finally {
            from.release();
        }
    }

    /** Whether the block that a cursor stands at the beginning of may be added as it is stored, with all older versions of its keys. */
    private static boolean staysWhole(TableCursor cursor, SstBuilder to, Filter filter, boolean isLock) {
        if (!to.takesBlock(cursor, 0, Long.MAX_VALUE)) {
            return false;
        }
        int entries = cursor.blockEntries();
        int firstWithOlder = -1;
        int lastWithOlder = -1;
        boolean stays = true;
        for (int i = 0; stays && i < entries; i++) {
            cursor.moveInBlock(i);
            stays = staysAsStored(cursor, filter, isLock);
            if ((cursor.meta() & ValueMeta.HAS_OLD_VERSION) != 0) {
                firstWithOlder = firstWithOlder < 0 ? i : firstWithOlder;
                lastWithOlder = i;
            }
        }
        if (stays && firstWithOlder >= 0) {
            stays = cursor.hasOlderAtHand(firstWithOlder, lastWithOlder);
            for (int i = firstWithOlder; stays && i <= lastWithOlder; i++) {
                cursor.moveInBlock(i);
                while (stays && cursor.nextVersion()) {
                    stays = staysAsStored(cursor, filter, isLock);
                }
            }
        }
        cursor.moveInBlock(0);
        return stays;
    }

    /** Of a lock in a blob table the newest ts must be noted, which needs a look at each. */
    private static boolean staysAsStored(TableCursor entry, Filter filter, boolean isLock) {
        return filter.keeps(entry, isLock) && !(isLock && (entry.meta() & ValueMeta.BLOB_REF) != 0);
    }
}
