package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.spec.SecretKeySpec;

/**
 * Writes a table file as the reference does (sst.md 8): where blocks are cut, what is counted, how it is laid out.
 *
 * <p>Entries come by key ascending, versions of one key descending. Several files may be written in turn: {@link #finish}, then {@link #reset}.
 * Owns heap memory charged to the guard, and codec state, until closed. One thread.
 */
public final class SstBuilder implements AutoCloseable {
    private static final int FIRST_HASHES = 1 << 10;

    private final SstOptions options;
    private final boolean lockFamily;
    private final long snapVersion;
    private final MemoryGuard guard;
    private final boolean filler;
    private final SecretKeySpec fileKey; // null: not encrypted
    private final BlockCompressor compressor;
    private final BlockWriter main;
    private final BlockWriter old;
    private final GrowableBytes meta;
    private long[] hashes = new long[0];

    private long fileId;
    private int keys;
    private byte[] smallest = new byte[0];
    private byte[] biggest = new byte[0];
    private long lastVersion;
    private long maxTs;
    private long maxLockTs;
    private int oldEntries;
    private int tombs;
    private long kvBytes;
    private long blobBytes;
    private long propertiesAt;
    private boolean finished;

    /**
     * A builder of tables of levels 1 to 3.
     *
     * @param fileId     of the first file
     * @param lockFamily whether entries are locks, whose newest start ts is noted
     * @param guard      charged for what is held; borrowed
     */
    public SstBuilder(SstOptions options, long fileId, boolean lockFamily, MemoryGuard guard) {
        this(options, fileId, lockFamily, 0, true, guard);
    }

    /**
     * A builder of split L0 tables: write family only, not compressed (sst.md 6.2).
     *
     * @param snapVersion of the memtable; not 0
     */
    public static SstBuilder splitL0(SstOptions options, long fileId, long snapVersion, MemoryGuard guard) {
        return new SstBuilder(options.withCompression(CompressionType.NONE), fileId, false, snapVersion, true, guard);
    }

    /** @param filler whether unused filter slots get pseudo-random bytes; tests that compare bytes want 0 */
    SstBuilder(
            SstOptions options, long fileId, boolean lockFamily, long snapVersion, boolean filler, MemoryGuard guard) {
        this.options = options;
        this.fileId = fileId;
        this.lockFamily = lockFamily;
        this.snapVersion = snapVersion;
        this.filler = filler;
        this.guard = guard;
        this.fileKey = options.key() == null
                ? null
                : options.key().fileKey(options.key().version());
        this.compressor = new BlockCompressor(options.compression(), options.compressionLevel());
        this.main = new BlockWriter(compressor, options.checksum(), guard);
        this.old = new BlockWriter(compressor, options.checksum(), guard);
        this.meta = new GrowableBytes(guard);
    }

    /**
     * Adds an entry.
     *
     * @param key      inner key, copied; 1 .. 65,535 bytes, not beginning with a keyspace prefix
     * @param version  unsigned; of one key descending, and the older ones not 0
     * @param bits     of {@link ValueMeta}; {@link ValueMeta#HAS_OLD_VERSION} is ignored
     * @param userMeta copied; at most 255 bytes
     * @param value    copied; with {@link ValueMeta#BLOB_REF} a {@link BlobRef}
     * @throws CoplaneException of code BAD_ARGUMENT if the entry is out of order or out of bounds
     */
    public void add(
            byte[] key,
            int keyOffset,
            int keyLength,
            long version,
            int bits,
            MemorySegment userMeta,
            long userMetaOffset,
            int userMetaLength,
            MemorySegment value,
            long valueOffset,
            int valueLength) {
        BlockWriter to = place(key, keyOffset, keyLength, version, userMetaLength);
        to.begin(key, keyOffset, keyLength, version, bits, userMetaLength, valueLength);
        GrowableBytes payload = to.payload();
        payload.put(userMeta, userMetaOffset, userMetaLength);
        int valueAt = payload.length;
        payload.put(value, valueOffset, valueLength);
        count(to, keyLength, version, bits, userMetaLength, valueAt, valueLength);
    }

    /** As the other one, with user meta and value on the heap. */
    public void add(
            byte[] key,
            int keyOffset,
            int keyLength,
            long version,
            int bits,
            byte[] userMeta,
            int userMetaOffset,
            int userMetaLength,
            byte[] value,
            int valueOffset,
            int valueLength) {
        BlockWriter to = place(key, keyOffset, keyLength, version, userMetaLength);
        to.begin(key, keyOffset, keyLength, version, bits, userMetaLength, valueLength);
        GrowableBytes payload = to.payload();
        payload.put(userMeta, userMetaOffset, userMetaLength);
        int valueAt = payload.length;
        payload.put(value, valueOffset, valueLength);
        count(to, keyLength, version, bits, userMetaLength, valueAt, valueLength);
    }

    /** Adds the entry that a cursor stands on. */
    public void add(TableCursor from) {
        MemorySegment body = from.valueSegment();
        add(
                from.keyBytes(),
                0,
                from.keyLength(),
                from.version(),
                from.meta(),
                body,
                from.userMetaOffset(),
                from.userMetaLength(),
                body,
                from.valueOffset(),
                from.valueLength());
    }

    /**
     * Adds an entry whose value was moved to a blob file.
     *
     * @param blob where it is; {@link BlobRef#valueBytes} is the length that the entry counts with
     */
    public void addBlob(
            byte[] key,
            int keyOffset,
            int keyLength,
            long version,
            int bits,
            MemorySegment userMeta,
            long userMetaOffset,
            int userMetaLength,
            BlobRef blob) {
        BlockWriter to = place(key, keyOffset, keyLength, version, userMetaLength);
        to.begin(key, keyOffset, keyLength, version, bits | ValueMeta.BLOB_REF, userMetaLength, BlobRef.BYTES);
        to.payload().put(userMeta, userMetaOffset, userMetaLength);
        blob.write(to.payload());
        long valueBytes = Integer.toUnsignedLong(blob.valueBytes());
        if (to == main) {
            countKey(keyLength, version, userMetaLength, valueBytes);
        }
        blobBytes += Integer.toUnsignedLong(blob.storedBytes());
        tombs += valueBytes == 0 ? 1 : 0;
    }

    private BlockWriter place(byte[] key, int offset, int length, long version, int userMetaLength) {
        requireUnfinished();
        boolean fits = length > 0
                && length <= Formats.MAX_KEY_BYTES
                && userMetaLength <= Formats.MAX_USER_META_BYTES
                && !Bytes.hasKeyspace(key, offset, length);
        if (!fits) {
            throw new CoplaneException(
                    ErrorCode.BAD_ARGUMENT,
                    "entry is out of bounds: keyBytes=" + length + " userMetaBytes=" + userMetaLength);
        }
        int order = main.isOpen() ? main.compareToLast(key, offset, length) : 1;
        if (order < 0 || order == 0 && (Long.compareUnsigned(version, lastVersion) >= 0 || version == 0)) {
            throw new CoplaneException(
                    ErrorCode.BAD_ARGUMENT,
                    "entry is out of order: version=" + Long.toUnsignedString(version) + " lastVersion="
                            + Long.toUnsignedString(lastVersion));
        }
        lastVersion = version;
        if (order == 0) {
            main.noteOldVersion(version);
            oldEntries++;
            return old;
        }
        if (main.isOver(options.blockBytes())) {
            main.closeBlock();
        }
        if (old.isOver(options.blockBytes())) {
            old.closeBlock();
        }
        if (keys == 0) {
            smallest = Arrays.copyOfRange(key, offset, offset + length);
        }
        noteHash(Fingerprint64.hash(key, offset, length));
        return main;
    }

    private void requireUnfinished() {
        if (finished) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "table file is finished: fileId=" + fileId);
        }
    }

    private void noteHash(long hash) {
        if (keys == hashes.length) {
            int capacity = Math.max(FIRST_HASHES, 2 * keys);
            guard.charge((long) Long.BYTES * capacity);
            long before = (long) Long.BYTES * hashes.length;
            hashes = Arrays.copyOf(hashes, capacity);
            guard.release(before);
        }
        hashes[keys++] = hash;
    }

    private void count(
            BlockWriter to, int keyLength, long version, int bits, int userMetaLength, int valueAt, int valueLength) {
        byte[] bytes = to.payload().bytes;
        boolean blob = (bits & ValueMeta.BLOB_REF) != 0;
        if (to == main) {
            long valueBytes = blob ? BlobRef.valueBytes(bytes, valueAt, valueLength) : valueLength;
            countKey(keyLength, version, userMetaLength, valueBytes);
            if (lockFamily && !blob) { // of a blob the caller notes it
                noteLockTs(LockTs.parse(bytes, valueAt, valueAt + valueLength));
            }
        }
        if (blob) {
            blobBytes += BlobRef.storedBytes(bytes, valueAt, valueLength);
        }
        tombs += valueLength == 0 ? 1 : 0;
    }

    /**
     * Notes a lock that is not in the table itself but in a blob file.
     *
     * @param value the lock
     */
    public void noteLock(MemorySegment value, long offset, int length) {
        byte[] bytes = value.asSlice(offset, length).toArray(Layouts.BYTE);
        noteLockTs(LockTs.parse(bytes, 0, length));
    }

    /** Notes the start ts of a lock in a blob file, or one that is no less; unsigned. A file with an older newest lock may be dropped with it. */
    public void noteLockTs(long ts) {
        maxLockTs = Long.compareUnsigned(ts, maxLockTs) > 0 ? ts : maxLockTs;
    }

    private void countKey(int keyLength, long version, int userMetaLength, long valueBytes) {
        kvBytes += keyLength + userMetaLength + valueBytes;
        maxTs = Long.compareUnsigned(version, maxTs) > 0 ? version : maxTs;
    }

    /** Whether nothing was added. */
    public boolean isEmpty() {
        return keys == 0;
    }

    /** Size by which files are cut: the blocks so far and a thirty-second of them. */
    public long estimatedBytes() {
        long bytes = (long) main.blocks.length() + old.blocks.length() + main.openBytes() + old.openBytes();
        return bytes + bytes / 32;
    }

    /**
     * Completes the file.
     *
     * @param arena owns the file's memory; borrowed
     */
    public SstFile finish(NativeArena arena) {
        long size = assemble(0);
        MemorySegment bytes = arena.allocate(size);
        copyTo(bytes, 0);
        long data = (long) main.blocks.length() + old.blocks.length();
        return new SstFile(fileId, data, data + propertiesAt, smallest, biggest, bytes);
    }

    /** Completes all sections for a place in a file. @return bytes of the table; {@link #copyTo} delivers them */
    long assemble(long base) {
        if (keys == 0) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "a table file needs an entry: fileId=" + fileId);
        }
        requireUnfinished();
        finished = true;
        biggest = main.copyLastKey();
        main.closeBlock();
        old.closeBlock();
        long mainBytes = main.blocks.length();
        long dataBytes = mainBytes + old.blocks.length();
        if (fileKey != null) {
            Cipher cipher = ShardKey.newCipher();
            encrypt(cipher, main, base);
            encrypt(cipher, old, base + mainBytes);
        }
        meta.clear();
        main.writeIndex(fileId, base, meta);
        int oldIndexAt = meta.length;
        old.writeIndex(fileId, base + mainBytes, meta);
        int filterAt = meta.length;
        writeFilter();
        propertiesAt = meta.length;
        writeProperties();
        if (dataBytes + meta.length + base > Integer.MAX_VALUE - Formats.MAX_KEY_BYTES) {
            throw new CoplaneException(
                    ErrorCode.BAD_ARGUMENT, "table file is too large: bytes=" + (dataBytes + meta.length));
        }
        meta.putInt((int) mainBytes);
        meta.putInt((int) dataBytes);
        meta.putInt((int) dataBytes + oldIndexAt);
        meta.putInt((int) dataBytes + filterAt);
        meta.putInt((int) (dataBytes + propertiesAt));
        meta.putByte(options.compression().number());
        meta.putByte(options.checksum().number());
        meta.putShort(Formats.TABLE_FORMAT);
        meta.putInt(snapVersion != 0 ? Formats.SPLIT_L0_MAGIC : Formats.SST_MAGIC);
        return dataBytes + meta.length;
    }

    void copyTo(MemorySegment to, long at) {
        long next = old.blocks.copyTo(to, main.blocks.copyTo(to, at));
        MemorySegment.copy(MemorySegment.ofArray(meta.bytes), 0, to, next, meta.length);
    }

    private void encrypt(Cipher cipher, BlockWriter writer, long base) {
        int[] offsets = writer.blockOffsets();
        int block = 0;
        int pieceAt = 0;
        for (GrowableBytes piece : writer.blocks.pieces()) {
            for (; offsets[block] < pieceAt + piece.length; block++) {
                int from = offsets[block] - pieceAt;
                int to = offsets[block + 1] - pieceAt;
                ShardKey.crypt(cipher, fileKey, fileId, (int) (base + offsets[block]), piece.bytes, from, to);
            }
            pieceAt += piece.length;
        }
    }

    private void writeFilter() {
        int start = meta.length;
        meta.putInt(0); // checksum, set when the section is whole
        meta.putInt(Formats.FILTER_TYPE);
        int lengthAt = meta.length;
        meta.putInt(0);
        if (!BinaryFuse8Builder.build(hashes, keys, filler, guard, meta)) {
            meta.length = start; // a table without a filter is slower, not wrong
            return;
        }
        Bytes.LE_INT.set(meta.bytes, lengthAt, meta.length - start - FilterSection.HEADER_BYTES);
        BlockWriter.patchChecksum(meta, start, main.checksum());
    }

    private void writeProperties() {
        int start = meta.length;
        meta.putInt(0); // checksum, set when the section is whole
        property(TableProperties.SMALLEST, smallest);
        property(TableProperties.BIGGEST, biggest);
        property(TableProperties.MAX_TS, maxTs);
        if (maxLockTs != 0) {
            property(TableProperties.MAX_LOCK_TS, maxLockTs);
        }
        property(TableProperties.ENTRIES, keys);
        property(TableProperties.OLD_ENTRIES, oldEntries);
        property(TableProperties.TOMBS, tombs);
        property(TableProperties.KV_SIZE, kvBytes);
        property(TableProperties.BLOB_SIZE, blobBytes);
        if (options.key() != null) {
            property(TableProperties.ENCRYPTION_VERSION, options.key().version());
        }
        if (snapVersion != 0) {
            property(TableProperties.L0_VERSION, snapVersion);
        }
        BlockWriter.patchChecksum(meta, start, main.checksum());
    }

    private void property(String name, byte[] value) {
        propertyName(name);
        meta.putInt(value.length);
        meta.put(value, 0, value.length);
    }

    private void property(String name, long value) {
        propertyName(name);
        meta.putInt(Long.BYTES);
        meta.putLong(value);
    }

    private void property(String name, int value) {
        propertyName(name);
        meta.putInt(Integer.BYTES);
        meta.putInt(value);
    }

    private void propertyName(String name) {
        byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
        meta.putShort(bytes.length);
        meta.put(bytes, 0, bytes.length);
    }

    byte[] smallestKey() {
        return smallest;
    }

    byte[] biggestKey() {
        return biggest;
    }

    /** Forgets what was added and begins another file. */
    public void reset(long newFileId) {
        fileId = newFileId;
        finished = false;
        main.reset();
        old.reset();
        meta.clear();
        keys = 0;
        smallest = new byte[0];
        biggest = new byte[0];
        maxTs = 0;
        maxLockTs = 0;
        oldEntries = 0;
        tombs = 0;
        kvBytes = 0;
        blobBytes = 0;
    }

    @Override
    public void close() {
        main.close();
        old.close();
        meta.close();
        compressor.close();
        guard.release((long) Long.BYTES * hashes.length);
        hashes = new long[0];
    }
}
