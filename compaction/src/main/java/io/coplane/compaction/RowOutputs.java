package io.coplane.compaction;

import com.google.protobuf.ByteString;
import io.coplane.compaction.CompactionType.BlobTableOptions;
import io.coplane.compaction.kernel.EntrySink;
import io.coplane.nativecache.FileKind;
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
import java.util.List;

/**
 * The files that one family of a row compaction becomes: where they are cut, what goes to blob tables (compaction.md 3.3). Hot: adds run per entry.
 * Owns its builders. One thread.
 */
final class RowOutputs implements EntrySink, AutoCloseable {
    private static final byte[] NOTHING = {};

    private final Job job;
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

    /**
     * Takes an id for a table, and one for a blob table if they are built, whether they are needed or not.
     *
     * @param inputBytes   of the tables that are merged
     * @param newestLockTs of the inputs: what is said of a lock in a blob table that isn't read
     */
    RowOutputs(
            Job job,
            ColumnFamily family,
            int level,
            SstOptions options,
            long mostTableBytes,
            BlobTableOptions blobOptions,
            OldBlobs oldBlobs,
            long inputBytes,
            long newestLockTs) {
        this.job = job;
        this.family = family;
        this.level = level;
        this.mostTableBytes = mostTableBytes < 0 ? Long.MAX_VALUE : mostTableBytes;
        this.oldBlobs = oldBlobs;
        this.newestLockTs = newestLockTs;
        long tableId = job.ids.next();
        BlobBuilder blobBuilder = null;
        if (blobOptions != null) {
            leastBlobBytes = blobOptions.minBlobSize();
            mostBlobBytes = blobOptions.maxBlobTableSize();
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
                    job.ids.next(),
                    job.guard);
        } else {
            leastBlobBytes = 0;
            mostBlobBytes = 0;
        }
        blobs = blobBuilder;
        table = new SstBuilder(options, tableId, family == ColumnFamily.LOCK, job.guard)
                .expecting(Math.min(this.mostTableBytes, inputBytes));
        table.buildIn(job.memory.take());
    }

    /** Cuts what is large enough. Called before the first entry of each key but the first. */
    @Override
    public void beforeKey() {
        job.checkAlive();
        if (table.exceeds(mostTableBytes)) {
            finishTable();
            table.reset(job.ids.next());
            table.buildIn(job.memory.take());
        }
        if (blobs != null && !blobs.isEmpty() && Long.compareUnsigned(blobs.totalBlobBytes(), mostBlobBytes) > 0) {
            finishBlobs();
            blobs.reset(job.ids.next());
            blobs.buildIn(job.memory.take());
        }
    }

    /** Adds the entry that a cursor stands on, with its value where it belongs. */
    @Override
    public void add(TableCursor entry) {
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
        BlobRef ref = blobs.add(entry.keyBytes(), 0, entry.keyLength(), value, offset, length);
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
    public boolean takesBlock(TableCursor entry) {
        return job.config.copyThrough() && table.takesBlock(entry, mostTableBytes);
    }

    @Override
    public boolean keepsAsStored(TableCursor entry) {
        return (entry.meta() & ValueMeta.BLOB_REF) != 0
                ? oldBlobs == null
                : blobs == null || entry.valueLength() < leastBlobBytes || entry.valueLength() == 0;
    }

    /** Adds a whole block, and counts its entries. */
    @Override
    public void addBlock(TableCursor entry) {
        table.addBlock(entry);
        job.outputEntries += entry.blockEntries();
    }

    /** Completes the last files. */
    void finish() {
        if (!table.isEmpty()) {
            finishTable();
        }
        if (blobs != null && !blobs.isEmpty()) {
            finishBlobs();
        }
    }

    private void finishTable() {
        SstFile file = table.finish();
        job.uploads.submit(FileKind.SST, file, table.takeFile());
        tableCreates.add(Rows.create(file, level, family.number()));
    }

    private void finishBlobs() {
        SstFile file = blobs.finish();
        job.uploads.submit(FileKind.BLOB, file, blobs.takeFile());
        blobCreates.add(BlobCreate.newBuilder()
                .setID(file.fileId())
                .setSmallest(ByteString.copyFrom(file.smallest()))
                .setBiggest(ByteString.copyFrom(file.biggest()))
                .setMetaOffset((int) file.metaOffset())
                .build());
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
