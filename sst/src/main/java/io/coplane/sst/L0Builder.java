package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.memory.NativeArena;
import java.util.Arrays;

/**
 * Writes an L0 file with all column families (sst.md 6.1; layout in {@link L0Reader}); never compressed. Owns native memory charged to the guard until
 * closed. One thread.
 */
public final class L0Builder implements AutoCloseable {
    private final SstBuilder[] families = new SstBuilder[Formats.CF_COUNT];
    private final long fileId;
    private final long snapVersion;
    private SstBuilder first; // whose memory holds the finished file

    /**
     * @param options     compression is ignored
     * @param snapVersion orders L0 files
     * @param guard       charged for what is held; borrowed
     */
    public L0Builder(SstOptions options, long fileId, long snapVersion, MemoryGuard guard) {
        this(options, fileId, snapVersion, true, guard);
    }

    L0Builder(SstOptions options, long fileId, long snapVersion, boolean filler, MemoryGuard guard) {
        this.fileId = fileId;
        this.snapVersion = snapVersion;
        SstOptions plain = options.withCompression(CompressionType.NONE);
        for (int cf = 0; cf < Formats.CF_COUNT; cf++) {
            // the newest lock is not noted at level 0 (sst.md 12.5)
            families[cf] = new SstBuilder(plain, fileId, false, 0, filler, guard);
        }
    }

    /** The builder of a family: add its entries to it, but leave finishing to {@link #finish}. */
    public SstBuilder family(ColumnFamily family) {
        return families[family.ordinal()];
    }

    /** Whether no family has an entry: then there is no file to write. */
    public boolean isEmpty() {
        return Arrays.stream(families).allMatch(SstBuilder::isEmpty);
    }

    /**
     * Completes the file in memory of the caller's; its meta offsets are 0.
     *
     * @param arena owns the file's memory; borrowed
     */
    public SstFile finish(NativeArena arena) {
        return finish().copyInto(arena);
    }

    /** Completes the file; its meta offsets are 0, its bytes valid until this is closed, or as long as what {@link #takeFile} returns. */
    public SstFile finish() {
        if (isEmpty()) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "an L0 file needs an entry: fileId=" + fileId);
        }
        int[] starts = new int[Formats.CF_COUNT];
        NativeBytes file = null; // the first table's, to which the others are appended
        byte[] smallest = null;
        byte[] biggest = null;
        for (int cf = 0; cf < Formats.CF_COUNT; cf++) {
            SstBuilder family = families[cf];
            starts[cf] = file == null ? 0 : file.length;
            if (family.isEmpty()) {
                continue;
            }
            family.assemble(starts[cf]);
            if (file == null) {
                file = family.file();
                first = family;
            } else {
                file.put(family.file().segment, 0, family.file().length);
                family.takeFile().close();
            }
            byte[] from = family.smallestKey();
            byte[] to = family.biggestKey();
            smallest = smallest == null || Arrays.compareUnsigned(from, smallest) < 0 ? from : smallest;
            biggest = biggest == null || Arrays.compareUnsigned(to, biggest) > 0 ? to : biggest;
        }
        for (int start : starts) {
            file.putInt(start);
        }
        file.putLong(snapVersion);
        file.putInt(Formats.CF_COUNT);
        file.putInt(Formats.SST_MAGIC);
        return new SstFile(fileId, 0, 0, smallest, biggest, file.view());
    }

    /** Hands over the memory of the finished file. */
    public NativeBytes takeFile() {
        return first.takeFile();
    }

    @Override
    public void close() {
        for (SstBuilder family : families) {
            family.close();
        }
    }
}
