package io.coplane.compaction;

import io.coplane.compaction.CompactionType.BlobTableOptions;
import io.coplane.compaction.kernel.EntrySink;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.proto.enginepb.BlobCreate;
import io.coplane.proto.enginepb.TableCreate;
import io.coplane.sst.BlobBuilder;
import io.coplane.sst.BlobOptions;
import io.coplane.sst.BlobRef;
import io.coplane.sst.ChecksumType;
import io.coplane.sst.ColumnFamily;
import io.coplane.sst.SstBuilder;
import io.coplane.sst.SstFile;
import io.coplane.sst.SstOptions;
import io.coplane.sst.TableCursor;
import io.coplane.sst.ValueMeta;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The files that one family of a row compaction becomes: where they are cut, what goes to blob tables (compaction.md 3.3). Hot: adds run per entry.
 * Owns its builders. One thread.
 */
final class RowOutputs implements EntrySink, AutoCloseable {
    private static final byte[] NOTHING = {};

    private final Job job;
    private final int step;
    private final ResumePoint from; // null: the step begins
    private final ColumnFamily family;
    private final int level;
    private final long mostTableBytes;
    private final SstBuilder table;
    private final BlobBuilder blobs; // null: none are built
    private final long mostBlobBytes;
    private final long leastBlobBytes;
    private final OldBlobs oldBlobs; // null: references stay
    private final long newestLockTs;
    private final List<TableCreate> tableCreates = new ArrayList<>();
    private final List<BlobCreate> blobCreates = new ArrayList<>();
    private long tableId;
    private long blobId;
    private byte[] blobKey = NOTHING; // of the first value in the open blob table
    private boolean rebuilding; // values of the open blob table are added again; all else is in outputs already
    private long repeated; // entries looked at meanwhile

    /**
     * Takes an id for a table, and one for a blob table if they are built, whether they are needed or not; or goes on behind the job's resume point.
     *
     * @param step         number of the step, as {@link ResumePoint} counts
     * @param newestLockTs of the inputs: what is said of a lock in a blob table that isn't read
     */
    RowOutputs(
            Job job,
            int step,
            ColumnFamily family,
            int level,
            SstOptions options,
            long mostTableBytes,
            BlobTableOptions blobOptions,
            OldBlobs oldBlobs,
            long newestLockTs) {
        this.job = job;
        this.step = step;
        this.from = job.pointWithin(step);
        this.family = family;
        this.level = level;
        this.mostTableBytes = mostTableBytes < 0 ? Long.MAX_VALUE : mostTableBytes;
        this.oldBlobs = oldBlobs;
        this.newestLockTs = newestLockTs;
        tableId = from == null ? job.ids.next() : from.tableId();
        BlobBuilder blobBuilder = null;
        if (blobOptions != null) {
            leastBlobBytes = blobOptions.minBlobSize();
            mostBlobBytes = blobOptions.maxBlobTableSize();
            blobId = from == null ? job.ids.next() : from.blobId();
            blobBuilder = new BlobBuilder(
                    new BlobOptions(
                            Rows.compression(blobOptions.compressionType()),
                            job.config.zstdLevel(),
                            ChecksumType.NONE,
                            (int) Math.min(Integer.MAX_VALUE, leastBlobBytes),
                            Math.clamp(
                                    blobOptions.blockSize() < 0 ? Long.MAX_VALUE : blobOptions.blockSize(),
                                    0,
                                    Integer.MAX_VALUE),
                            job.key),
                    blobId,
                    job.guard);
        } else {
            leastBlobBytes = 0;
            mostBlobBytes = 0;
        }
        blobs = blobBuilder;
        rebuilding = from != null && from.hasOpenBlobs();
        table = new SstBuilder(options, tableId, family == ColumnFamily.LOCK, job.guard);
        table.buildIn(job.memory.take());
    }

    /** Where the merge begins: an inner key, inclusive. */
    byte[] start() {
        if (from == null) {
            return job.bounds.start();
        }
        return from.hasOpenBlobs() ? from.blobKey() : from.key();
    }

    /** Cuts what is large enough. Called before the first entry of each key but the first. */
    @Override
    public void beforeKey(TableCursor entry, long seen) {
        job.checkAlive();
        if (rebuilding && entry.compareKey(from.key(), 0, from.key().length) >= 0) {
            endRebuilding(seen);
        }
        boolean cut = table.exceeds(mostTableBytes);
        if (cut) {
            finishTable();
            tableId = job.ids.next();
            table.reset(tableId);
            table.buildIn(job.memory.take());
        }
        if (blobs != null && !blobs.isEmpty() && Long.compareUnsigned(blobs.totalBlobBytes(), mostBlobBytes) > 0) {
            finishBlobs();
            blobId = job.ids.next();
            blobs.reset(blobId);
            blobs.buildIn(job.memory.take());
        }
        if (cut) {
            notePoint(Arrays.copyOf(entry.keyBytes(), entry.keyLength()), seen - repeated);
        }
    }

    private void notePoint(byte[] key, long seen) {
        boolean open = blobs != null && !blobs.isEmpty();
        if (open && blobKey.length == 0) {
            return; // an empty key can't be told from none
        }
        job.point(
                step,
                key,
                tableId,
                blobId,
                open ? blobKey : NOTHING,
                open ? blobs.totalBlobBytes() : 0,
                job.inputEntries + seen);
    }

    private void endRebuilding(long seen) {
        rebuilding = false;
        repeated = seen;
        if (blobs.totalBlobBytes() != from.blobBytes()) {
            throw new CoplaneException(
                    ErrorCode.FILE_MISMATCH,
                    "inputs give another blob table than when the compaction began: fileId="
                            + Long.toUnsignedString(blobId) + " bytes=" + blobs.totalBlobBytes() + " before="
                            + from.blobBytes());
        }
    }

    /** Adds the entry that a cursor stands on, with its value where it belongs. */
    @Override
    public void add(TableCursor entry) {
        if (rebuilding) {
            addAgain(entry);
            return;
        }
        job.outputEntries++;
        if ((entry.meta() & ValueMeta.BLOB_REF) != 0) {
            if (oldBlobs == null) {
                table.add(entry);
                if (family == ColumnFamily.LOCK) {
                    table.noteLockTs(newestLockTs);
                }
                return;
            }
            BlobRef ref = BlobRef.read(entry.valueSegment(), entry.valueOffset(), entry.valueLength());
            MemorySegment value = oldBlobs.fetch(ref);
            place(entry, value, 0, Math.toIntExact(value.byteSize()));
            return;
        }
        int length = entry.valueLength();
        if (blobs == null || length < leastBlobBytes || length == 0) {
            table.add(entry);
            return;
        }
        place(entry, entry.valueSegment(), entry.valueOffset(), length);
    }

    /** Of an entry that is in a table already only the value, if that belongs to the open blob table. */
    private void addAgain(TableCursor entry) {
        MemorySegment value = entry.valueSegment();
        long offset = entry.valueOffset();
        int length = entry.valueLength();
        if ((entry.meta() & ValueMeta.BLOB_REF) != 0) {
            if (oldBlobs == null) {
                return;
            }
            value = oldBlobs.fetch(BlobRef.read(value, offset, length));
            offset = 0;
            length = Math.toIntExact(value.byteSize());
        }
        if (length >= leastBlobBytes && length > 0) {
            addBlob(entry, value, offset, length);
        }
    }

    private BlobRef addBlob(TableCursor entry, MemorySegment value, long offset, int length) {
        if (blobs.isEmpty()) {
            blobKey = Arrays.copyOf(entry.keyBytes(), entry.keyLength());
        }
        return blobs.add(entry.keyBytes(), 0, entry.keyLength(), value, offset, length);
    }

    /** Adds an entry with a value from elsewhere. An empty value stays in the table: there it means a delete. */
    private void place(TableCursor entry, MemorySegment value, long offset, int length) {
        int bits = entry.meta() & ~ValueMeta.BLOB_REF;
        if (blobs == null || length < leastBlobBytes || length == 0) {
            table.add(
                    entry.keyBytes(),
                    0,
                    entry.keyLength(),
                    entry.version(),
                    bits,
                    entry.valueSegment(),
                    entry.userMetaOffset(),
                    entry.userMetaLength(),
                    value,
                    offset,
                    length);
            return;
        }
        BlobRef ref = addBlob(entry, value, offset, length);
        table.addBlob(
                entry.keyBytes(),
                0,
                entry.keyLength(),
                entry.version(),
                bits,
                entry.valueSegment(),
                entry.userMetaOffset(),
                entry.userMetaLength(),
                ref);
        if (family == ColumnFamily.LOCK) {
            table.noteLock(value, offset, length);
        }
    }

    /** Adds a tombstone in the place of an entry. */
    @Override
    public void addTombstone(TableCursor entry) {
        if (rebuilding) {
            return;
        }
        job.outputEntries++;
        table.add(
                entry.keyBytes(),
                0,
                entry.keyLength(),
                entry.version(),
                ValueMeta.DELETE,
                NOTHING,
                0,
                0,
                NOTHING,
                0,
                0);
    }

    @Override
    public boolean takesBlock(TableCursor entry, long olderBytes) {
        return job.config.copyThrough() && !rebuilding && table.takesBlock(entry, olderBytes, mostTableBytes);
    }

    @Override
    public boolean keepsAsStored(TableCursor entry) {
        return (entry.meta() & ValueMeta.BLOB_REF) != 0
                ? oldBlobs == null && family != ColumnFamily.LOCK
                : blobs == null || entry.valueLength() < leastBlobBytes || entry.valueLength() == 0;
    }

    /** Adds a whole block, and counts its entries. */
    @Override
    public int addBlock(TableCursor entry) {
        int entries = table.addBlock(entry);
        job.outputEntries += entries;
        return entries;
    }

    /** Completes the last files. @param seen entries looked at */
    void finish(long seen) {
        if (rebuilding) { // the point's own key is always there
            throw new CoplaneException(
                    ErrorCode.FILE_MISMATCH, "inputs end before the key at which the compaction goes on");
        }
        job.inputEntries += seen - repeated;
        if (!table.isEmpty()) {
            finishTable();
        }
        if (blobs != null && !blobs.isEmpty()) {
            finishBlobs();
        }
    }

    private void finishTable() {
        SstFile file = table.finish();
        JournalOutput output = JournalOutput.table(file, level, family.number());
        tableCreates.add(job.uploads.submit(output, file, table.takeFile()).tableCreate());
    }

    private void finishBlobs() {
        SstFile file = blobs.finish();
        blobCreates.add(job.uploads
                .submit(JournalOutput.blob(file), file, blobs.takeFile())
                .blobCreate());
    }

    List<TableCreate> tableCreates() {
        return tableCreates;
    }

    List<BlobCreate> blobCreates() {
        return blobCreates;
    }

    @Override
    public void close() {
        job.copiedBytes += table.copiedBytes();
        job.memory.giveBack(table.takeFile());
        table.close();
        if (blobs != null) {
            job.memory.giveBack(blobs.takeFile());
            blobs.close();
        }
    }
}
