package io.coplane.compaction;

import io.coplane.compaction.CompactionType.InPlaceWithColumnar;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.ObjectStore;
import io.coplane.sst.ColumnFamily;
import io.coplane.sst.L0Reader;
import io.coplane.sst.ShardKey;
import io.coplane.sst.SstReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;

/**
 * What a compaction of row files would read, as far as footers, indexes and properties of its inputs tell; nothing is merged or written.
 *
 * @param inputs        files, L0 first; an L0 file once for each family in it
 * @param fileBytes     bytes of all input files
 * @param blobFileBytes bytes of the blob tables among them
 * @param blockBytes    bytes of the blocks of newest versions in all inputs
 * @param loneBytes     bytes among them in blocks whose keys no other source can have, of a job in place all: the most that can be copied as stored. An
 *                      upper bound: what retention drops, values that move to or from blob tables, another compression, and bounds of the shard make
 *                      it less
 * @param sources       inputs that are merged at the same time, at most
 * @param idsGiven      ids in the request
 * @param idsNeeded     ids that are taken if nothing is dropped; a guess from the input's bytes
 */
public record CompactionPlan(
        List<Input> inputs,
        long fileBytes,
        long blobFileBytes,
        long blockBytes,
        long loneBytes,
        int sources,
        int idsGiven,
        long idsNeeded) {
    /**
     * One table of the input.
     *
     * @param cf           number of the column family
     * @param byteSize     of the file; of an L0 file that of the whole file
     * @param entries      versions
     * @param smallest     inner key
     * @param biggest      inner key
     * @param touchedBytes bytes of the files of other sources that share a part of its key range
     * @param touchedFiles how many those are
     */
    public record Input(
            long fileId,
            int level,
            int cf,
            long byteSize,
            long entries,
            byte[] smallest,
            byte[] biggest,
            long touchedBytes,
            int touchedFiles) {}

    /** A table with its place: tables of one source don't overlap. */
    private record Placed(SstReader table, int source, int level, int cf, long byteSize) {
        boolean touches(Placed other) {
            return table.touches(other.table.smallest(), other.table.biggest(), true);
        }
    }

    /**
     * Looks at the inputs of a request.
     *
     * @param guard charged for indexes; borrowed. At zero again when this returns
     * @throws CoplaneException as {@link Compactor#compact} for inputs that are missing or broken; UNSUPPORTED for work that isn't on row files
     */
    public static CompactionPlan of(CompactionRequest request, ObjectStore store, byte[] masterKey, MemoryGuard guard) {
        JobShape shape = JobShape.of(request.type());
        if (!shape.isOfRows()) {
            throw new CoplaneException(
                    ErrorCode.UNSUPPORTED,
                    "only compactions of row files are planned: variant="
                            + request.type().variant());
        }
        ShardKey key = request.exportedKey().length == 0 ? null : ShardKey.unwrap(masterKey, request.exportedKey());
        var ids = new OutputIds(
                new long[0],
                count -> {
                    throw new CoplaneException(ErrorCode.INVARIANT_BROKEN, "a plan takes no ids");
                },
                new HashSet<>());
        try (var job = new Job(
                CompactionConfig.DEFAULT,
                store,
                guard,
                key,
                ShardBounds.of(request),
                ids,
                shape.sources(),
                () -> false,
                new CompactionProgress(),
                JobJournal.off(),
                null)) {
            List<Placed> tables = new ArrayList<>();
            for (JobShape.Files files : shape.inputs()) {
                if (files.level() == 0) {
                    placeL0s(job, files.ids(), tables);
                } else {
                    placeLevel(job, files.ids(), (int) files.level(), files.cf(), tables);
                }
            }
            long blobBytes = Job.await(shape.blobTables(), id -> OldBlobs.find(job, id)).stream()
                    .mapToLong(StoreFile::byteSize)
                    .sum();
            return of(request, shape, tables, blobBytes);
        }
    }

    private static void placeL0s(Job job, long[] fileIds, List<Placed> to) {
        for (L0Reader l0 : job.openL0s(fileIds)) {
            int source = nextSource(to);
            for (ColumnFamily family : ColumnFamily.values()) {
                if (l0.family(family) != null) {
                    to.add(new Placed(l0.family(family), source, 0, family.number(), l0.byteSize()));
                }
            }
        }
    }

    private static void placeLevel(Job job, long[] fileIds, int level, long cf, List<Placed> to) {
        int family = RowCompaction.family(cf).number();
        int source = nextSource(to);
        List<SstReader> opened = job.openTables(fileIds);
        long[] sizes = Job.await(fileIds, id -> job.store.byteSize(FileKind.SST, id)).stream()
                .mapToLong(Long::longValue)
                .toArray();
        for (int i = 0; i < sizes.length; i++) {
            to.add(new Placed(opened.get(i), source, level, family, sizes[i]));
        }
    }

    private static int nextSource(List<Placed> placed) {
        return placed.isEmpty() ? 0 : placed.getLast().source() + 1;
    }

    private static CompactionPlan of(CompactionRequest request, JobShape shape, List<Placed> tables, long blobBytes) {
        var inputs = new ArrayList<Input>();
        var files = new HashSet<Long>();
        long fileBytes = blobBytes;
        long blockBytes = 0;
        long loneBytes = 0;
        boolean merges = !(request.type() instanceof InPlaceWithColumnar);
        for (Placed table : tables) {
            List<Placed> touching = tables.stream()
                    .filter(other -> merges
                            && other.source() != table.source()
                            && other.cf() == table.cf()
                            && other.touches(table))
                    .toList();
            inputs.add(new Input(
                    table.table().fileId(),
                    table.level(),
                    table.cf(),
                    table.byteSize(),
                    Integer.toUnsignedLong(table.table().properties().entries()),
                    table.table().smallest(),
                    table.table().biggest(),
                    touching.stream().mapToLong(Placed::byteSize).sum(),
                    touching.size()));
            if (files.add(table.table().fileId())) {
                fileBytes += table.byteSize();
            }
            for (int block = 0; block < table.table().blockCount(); block++) {
                blockBytes += table.table().blockBytes(block);
                loneBytes +=
                        isLone(table.table(), block, touching) ? table.table().blockBytes(block) : 0;
            }
        }
        inputs.sort(Comparator.comparingInt(Input::level).thenComparingInt(Input::cf));
        return new CompactionPlan(
                List.copyOf(inputs),
                fileBytes,
                blobBytes,
                blockBytes,
                loneBytes,
                shape.sources(),
                request.fileIds().length,
                idsNeeded(shape, fileBytes));
    }

    /** Whether no block of the others can have a key of this one: of a block the index knows its first key and that of the next. */
    private static boolean isLone(SstReader table, int block, List<Placed> others) {
        byte[] first = table.copyBlockKey(block);
        for (Placed other : others) {
            SstReader reader = other.table();
            int low = 0; // blocks below end before this one
            int high = reader.blockCount();
            while (low < high) {
                int middle = (low + high) >>> 1;
                if (endsBefore(reader, middle, first)) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            if (low < reader.blockCount() && !endsBefore(table, block, reader.copyBlockKey(low))) {
                return false;
            }
        }
        return true;
    }

    /** Whether all keys of a block are less than a key: they are less than the next block's first, the last block's no more than the biggest. */
    private static boolean endsBefore(SstReader table, int block, byte[] key) {
        return block + 1 < table.blockCount()
                ? Arrays.compareUnsigned(table.copyBlockKey(block + 1), key) <= 0
                : Arrays.compareUnsigned(table.biggest(), key) < 0;
    }

    /** One for each family at its beginning, one for each cut; or one for each input. */
    private static long idsNeeded(JobShape shape, long bytes) {
        JobShape.Outputs outputs = shape.outputs();
        if (outputs == null) {
            return shape.inputs().size();
        }
        long cuts = bytes / Math.max(1, unsigned(outputs.tables().maxTableSize()));
        if (outputs.blobs() == null) {
            return outputs.families() + cuts;
        }
        long blobCuts = bytes / Math.max(1, unsigned(outputs.blobs().maxBlobTableSize()));
        return 2L * outputs.families() + cuts + blobCuts;
    }

    private static long unsigned(long bytes) {
        return bytes < 0 ? Long.MAX_VALUE : bytes;
    }
}
