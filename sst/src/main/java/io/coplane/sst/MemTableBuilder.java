package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Builds a {@link MemTable} from rows sorted by key ascending, then version descending.
 *
 * <p>Owns native memory charged to the guard until closed. One thread.
 *
 * <pre>{@code
 * try (var builder = new MemTableBuilder(guard)) {
 *     builder.add(key, 0, key.length, commitTs, 0, userMeta, 0, 17, value, 0, valueLength);
 *     MemTable table = builder.finish(arena);
 * }
 * }</pre>
 */
public final class MemTableBuilder implements AutoCloseable {
    private static final int BLOCK_BYTES = 64 << 10;
    private static final String NAME = "memtable";

    private final NativeArena scratch;
    private final NativeBytes indexes;
    private final BlockWriter main;
    private final BlockWriter old;
    private byte[] smallest = new byte[0];
    private long entries;
    private long maxTs;
    private long lastVersion;

    /** @param guard charged for what is held while building; borrowed */
    public MemTableBuilder(MemoryGuard guard) {
        var plain = new BlockCompressor(CompressionType.NONE, 0, guard);
        scratch = NativeArena.ofThread(guard);
        indexes = new NativeBytes(scratch);
        main = new BlockWriter(plain, ChecksumType.NONE, scratch, new NativeBytes(scratch));
        old = new BlockWriter(plain, ChecksumType.NONE, scratch, new NativeBytes(scratch));
    }

    /**
     * Adds a row.
     *
     * @param key     inner key, copied; at most 65,535 bytes, not beginning with a keyspace prefix
     * @param version commit timestamp, unsigned; of one key descending, and the older ones not 0
     * @param meta    bits of {@link ValueMeta}; {@link ValueMeta#HAS_OLD_VERSION} is ignored
     * @param userMeta copied; at most 255 bytes
     * @param value   copied
     * @throws CoplaneException of code BAD_MEM_DATA if the row is out of order or out of bounds
     */
    public void add(
            byte[] key,
            int keyOffset,
            int keyLength,
            long version,
            int meta,
            MemorySegment userMeta,
            long userMetaOffset,
            int userMetaLength,
            MemorySegment value,
            long valueOffset,
            int valueLength) {
        BlockWriter to = place(key, keyOffset, keyLength, version, userMetaLength);
        to.begin(key, keyOffset, keyLength, version, meta, userMetaLength, valueLength);
        to.payload().put(userMeta, userMetaOffset, userMetaLength);
        to.payload().put(value, valueOffset, valueLength);
        entries++;
    }

    /** As the other one, with user meta and value on the heap. */
    public void add(
            byte[] key,
            int keyOffset,
            int keyLength,
            long version,
            int meta,
            byte[] userMeta,
            int userMetaOffset,
            int userMetaLength,
            byte[] value,
            int valueOffset,
            int valueLength) {
        BlockWriter to = place(key, keyOffset, keyLength, version, userMetaLength);
        to.begin(key, keyOffset, keyLength, version, meta, userMetaLength, valueLength);
        to.payload().put(userMeta, userMetaOffset, userMetaLength);
        to.payload().put(value, valueOffset, valueLength);
        entries++;
    }

    private BlockWriter place(byte[] key, int offset, int length, long version, int userMetaLength) {
        boolean fits = length <= Formats.MAX_KEY_BYTES
                && userMetaLength <= Formats.MAX_USER_META_BYTES
                && !Bytes.hasKeyspace(key, offset, length);
        if (!fits) {
            throw new CoplaneException(
                    ErrorCode.BAD_MEM_DATA,
                    "memtable row is out of bounds: keyBytes=" + length + " userMetaBytes=" + userMetaLength);
        }
        int order = entries > 0 ? main.compareToLast(key, offset, length) : 1;
        if (order < 0 || order == 0 && (Long.compareUnsigned(version, lastVersion) >= 0 || version == 0)) {
            throw new CoplaneException(
                    ErrorCode.BAD_MEM_DATA,
                    "memtable row is out of order: version=" + Long.toUnsignedString(version) + " lastVersion="
                            + Long.toUnsignedString(lastVersion));
        }
        lastVersion = version;
        if (order == 0) {
            main.noteOldVersion(version);
            return old;
        }
        if (main.isOver(BLOCK_BYTES)) {
            main.closeBlock();
        }
        if (old.isOver(BLOCK_BYTES)) {
            old.closeBlock();
        }
        if (entries == 0) {
            smallest = Arrays.copyOfRange(key, offset, offset + length);
        }
        if (Long.compareUnsigned(version, maxTs) > 0) {
            maxTs = version;
        }
        return main;
    }

    /** Rows added, all versions. */
    public long entries() {
        return entries;
    }

    /**
     * Makes the table, empty if no row was added; the builder starts anew.
     *
     * @param arena owns the table's memory; borrowed
     */
    public MemTable finish(NativeArena arena) {
        byte[] biggest = main.copyLastKey();
        main.closeBlock();
        old.closeBlock();
        indexes.clear();
        long mainBytes = main.blocks.length;
        long dataBytes = mainBytes + old.blocks.length;
        main.writeIndex(0, 0, indexes);
        long oldIndexAt = indexes.length;
        old.writeIndex(0, mainBytes, indexes);

        MemorySegment bytes = arena.allocate(dataBytes + indexes.length);
        MemorySegment.copy(main.blocks.segment, 0, bytes, 0, mainBytes);
        MemorySegment.copy(old.blocks.segment, 0, bytes, mainBytes, old.blocks.length);
        MemorySegment.copy(indexes.segment, 0, bytes, dataBytes, indexes.length);
        long indexAt = dataBytes + Formats.CHECKSUM_BYTES;
        var table = new BlockTable(
                bytes,
                null,
                0,
                NAME,
                BlockIndex.open(bytes, indexAt, dataBytes + oldIndexAt, 0, mainBytes, NAME),
                BlockIndex.open(bytes, indexAt + oldIndexAt, bytes.byteSize(), mainBytes, dataBytes, NAME),
                CompressionType.NONE,
                ChecksumType.NONE,
                null,
                smallest,
                biggest,
                maxTs,
                null,
                true);
        var memTable = new MemTable(table, entries, bytes.byteSize());
        main.reset();
        old.reset();
        entries = 0;
        maxTs = 0;
        return memTable;
    }

    @Override
    public void close() {
        scratch.close();
    }
}
