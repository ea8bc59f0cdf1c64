package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Writes an L0 file with all column families (sst.md 6.1; layout in {@link L0Reader}); never compressed. Owns heap memory charged to the guard until
 * closed. One thread.
 */
public final class L0Builder implements AutoCloseable {
    private final SstBuilder[] families = new SstBuilder[Formats.CF_COUNT];
    private final long fileId;
    private final long snapVersion;

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
     * Completes the file; its meta offsets are 0.
     *
     * @param arena owns the file's memory; borrowed
     */
    public SstFile finish(NativeArena arena) {
        if (isEmpty()) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "an L0 file needs an entry: fileId=" + fileId);
        }
        long[] starts = new long[Formats.CF_COUNT];
        long size = 0;
        byte[] smallest = null;
        byte[] biggest = null;
        for (int cf = 0; cf < Formats.CF_COUNT; cf++) {
            starts[cf] = size;
            if (families[cf].isEmpty()) {
                continue;
            }
            size += families[cf].assemble(size);
            byte[] from = families[cf].smallestKey();
            byte[] to = families[cf].biggestKey();
            smallest = smallest == null || Arrays.compareUnsigned(from, smallest) < 0 ? from : smallest;
            biggest = biggest == null || Arrays.compareUnsigned(to, biggest) > 0 ? to : biggest;
        }
        MemorySegment bytes = arena.allocate(size + L0Reader.TAIL_BYTES);
        for (int cf = 0; cf < Formats.CF_COUNT; cf++) {
            if (!families[cf].isEmpty()) {
                families[cf].copyTo(bytes, starts[cf]);
            }
            bytes.set(Layouts.LE_INT, size + (long) Integer.BYTES * cf, (int) starts[cf]);
        }
        bytes.set(Layouts.LE_LONG, size + L0Reader.SNAP_VERSION_AT, snapVersion);
        bytes.set(Layouts.LE_INT, size + L0Reader.FAMILIES_AT, Formats.CF_COUNT);
        bytes.set(Layouts.LE_INT, size + L0Reader.MAGIC_AT, Formats.SST_MAGIC);
        return new SstFile(fileId, 0, 0, smallest, biggest, bytes);
    }

    @Override
    public void close() {
        for (SstBuilder family : families) {
            family.close();
        }
    }
}
