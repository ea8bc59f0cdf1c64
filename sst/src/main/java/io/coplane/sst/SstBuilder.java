package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import javax.crypto.spec.SecretKeySpec;

/**
 * Writes a table file as the reference does (sst.md 8): where blocks are cut, what is counted, how it is laid out.
 *
 * <p>Entries come by key ascending, versions of one key descending. Several files may be written in turn: {@link #finish()}, then {@link #reset};
 * the memory of the last one is used again. A file is built where it ends up: {@link #takeFile} hands that memory over.
 *
 * <p>Owns native memory charged to the guard, and codec state, until closed. Allocates nothing on the heap per entry. One thread.
 */
public final class SstBuilder implements AutoCloseable {
    private static final byte[] NO_KEY = {};

    private final SstOptions options;
    private final boolean lockFamily;
    private final long snapVersion;
    private final MemoryGuard guard;
    private final boolean filler;
    private final SecretKeySpec fileKey; // null: not encrypted
    private final BlockCompressor compressor;
    private final NativeArena scratch;
    private final BlockWriter main; // whose blocks are the file, to which all else is appended
    private final BlockWriter old;
    private final NativeBytes hashes;
    private final NativeBytes filterWork;
    private BlockCipher cipher; // made when first needed
    private byte[] lock = NO_KEY;

    private long fileId;
    private int keys;
    private byte[] smallest = NO_KEY;
    private byte[] biggest = NO_KEY;
    private long lastVersion;
    private long maxTs;
    private long maxLockTs;
    private int oldEntries;
    private int tombs;
    private long kvBytes;
    private long blobBytes;
    private long copiedBytes;
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
        this.compressor = new BlockCompressor(options.compression(), options.compressionLevel(), guard);
        this.scratch = new NativeArena(guard);
        this.main = new BlockWriter(compressor, options.checksum(), scratch, new NativeBytes(guard));
        this.old = new BlockWriter(compressor, options.checksum(), scratch, new NativeBytes(guard));
        this.hashes = new NativeBytes(guard);
        this.filterWork = new NativeBytes(scratch);
    }

    /** Has the next file built in this memory. Before its first entry. @param memory taken */
    public void buildIn(NativeBytes memory) {
        if (keys != 0) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "table file is begun: fileId=" + fileId);
        }
        main.blocks.close();
        memory.clear();
        main.blocks = memory;
    }

    /** Hands over the memory of the finished file, whose bytes stay valid until it is closed. The next file gets other memory. */
    public NativeBytes takeFile() {
        NativeBytes file = main.blocks;
        main.blocks = new NativeBytes(guard);
        return file;
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
        NativeBytes payload = to.payload();
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
        NativeBytes payload = to.payload();
        payload.put(userMeta, userMetaOffset, userMetaLength);
        int valueAt = payload.length;
        payload.put(value, valueOffset, valueLength);
        count(to, keyLength, version, bits, userMetaLength, valueAt, valueLength);
    }

    /** Adds the entry that a cursor stands on. */
    public void add(TableCursor from) {
        byte[] key = from.keyBytes();
        int keyLength = from.keyLength();
        int userMetaLength = from.userMetaLength();
        int valueLength = from.valueLength();
        int payloadBytes = userMetaLength + valueLength; // in a block the value follows the user meta
        BlockWriter to = place(key, 0, keyLength, from.version(), userMetaLength);
        if ((from.meta() & ValueMeta.HAS_OLD_VERSION) == 0) {
            int rest = BlockWriter.FIELDS_BYTES + payloadBytes;
            to.beginKey(key, 0, keyLength, rest);
            to.payload().put(from.valueSegment(), from.userMetaOffset() - BlockWriter.FIELDS_BYTES, rest);
        } else {
            to.begin(key, 0, keyLength, from.version(), from.meta(), userMetaLength, valueLength);
            to.payload().put(from.valueSegment(), from.userMetaOffset(), payloadBytes);
        }
        int valueAt = to.payload().length - valueLength;
        count(to, keyLength, from.version(), from.meta(), userMetaLength, valueAt, valueLength);
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

    /**
     * Whether {@link #addBlock} can take the block that a cursor stands in, so that the file stays within so many bytes by {@link #exceeds} whichever
     * of its keys is looked at.
     *
     * @param olderBytes of the older versions of its keys, by {@link TableCursor#mostBlockBytes}
     */
    public boolean takesBlock(TableCursor from, long olderBytes, long mostBytes) {
        long openBytes = main.mostOpenBytes() + old.mostOpenBytes();
        return from.isStoredAs(options)
                && withMargin(blockBytes() + openBytes + from.blockBodyBytes() + olderBytes) <= mostBytes;
    }

    /**
     * Adds the block that a cursor stands in, at its first key, as it is stored: neither encoded nor compressed anew. Keys are counted, noted in the
     * filter and compared as if they were added one by one. Older versions of its keys come with it: blocks of them as they are stored if all that is
     * in one belongs here, else entry by entry. Leaves the cursor on the block's last key.
     *
     * <p>Of a lock in a blob file the caller notes the ts, as in {@link #add(TableCursor)}.
     *
     * @return entries added, of all versions
     */
    public int addBlock(TableCursor from) {
        requireUnfinished();
        if (keys == 0) {
            smallest = from.copyKey();
        }
        long before = main.blocks.length;
        int entries = from.blockEntries();
        int olderBefore = oldEntries;
        int copiedOldBlock = -1;
        for (int i = 0; i < entries; i++) {
            from.moveInBlock(i);
            byte[] key = from.keyBytes();
            int length = from.keyLength();
            boolean fits = length > 0 && length <= Formats.MAX_KEY_BYTES && !Bytes.hasKeyspace(key, 0, length);
            if (!fits || keys > 0 && main.compareToLast(key, 0, length) <= 0) {
                throw new CoplaneException(
                        ErrorCode.FILE_FORMAT,
                        "keys of a block are out of order or out of bounds: entry=" + i + " keyBytes=" + length);
            }
            if (i == 0) {
                main.copyBlock(from);
                copiedBytes += main.blocks.length - before;
            }
            main.noteKey(key, length);
            hashes.putLong(Fingerprint64.hash(key, 0, length));
            keys++;
            countCopied(from, length);
            if (from.nextVersion()) {
                copiedOldBlock = addOlder(from, copiedOldBlock);
            }
        }
        from.moveInBlock(entries - 1);
        lastVersion = from.version();
        return entries + oldEntries - olderBefore;
    }

    /**
     * Adds the older versions of a key of a copied block.
     *
     * @param copiedOldBlock the old block of the cursor's that is in the file already; -1: none
     * @return the same, after this key
     */
    private int addOlder(TableCursor from, int copiedOldBlock) {
        int copied = copiedOldBlock;
        boolean encodes = from.oldBlock() != copied;
        if (encodes && from.isAtWholeOldBlock(options)) {
            int before = old.blocks.length;
            old.copyOldBlock(from);
            copiedBytes += old.blocks.length - before;
            copied = from.oldBlock();
            encodes = false;
        }
        if (encodes && old.isOver(options.blockBytes())) {
            old.closeBlock();
        }
        do {
            int userMetaLength = from.userMetaLength();
            int valueLength = from.valueLength();
            if (userMetaLength > Formats.MAX_USER_META_BYTES || from.version() == 0) {
                throw new CoplaneException(
                        ErrorCode.FILE_FORMAT,
                        "older version is out of bounds: version=" + Long.toUnsignedString(from.version()));
            }
            if (encodes) {
                old.begin(
                        from.keyBytes(), 0, from.keyLength(), from.version(), from.meta(), userMetaLength, valueLength);
                old.payload().put(from.valueSegment(), from.userMetaOffset(), userMetaLength + valueLength);
            }
            if ((from.meta() & ValueMeta.BLOB_REF) != 0) {
                blobBytes += BlobRef.storedBytes(from.valueSegment(), from.valueOffset(), valueLength);
            }
            oldEntries++;
            tombs += valueLength == 0 ? 1 : 0;
        } while (from.nextVersion());
        return copied;
    }

    private void countCopied(TableCursor from, int keyLength) {
        int valueLength = from.valueLength();
        long valueBytes = valueLength;
        boolean blob = (from.meta() & ValueMeta.BLOB_REF) != 0;
        if (blob) {
            valueBytes = BlobRef.valueBytes(from.valueSegment(), from.valueOffset(), valueLength);
            blobBytes += BlobRef.storedBytes(from.valueSegment(), from.valueOffset(), valueLength);
        }
        countKey(keyLength, from.version(), from.userMetaLength(), valueBytes);
        if (lockFamily && !blob) {
            noteLock(from.valueSegment(), from.valueOffset(), valueLength);
        }
        tombs += valueLength == 0 ? 1 : 0;
    }

    /** Bytes of blocks that {@link #addBlock} took, in all files. */
    public long copiedBytes() {
        return copiedBytes;
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
        int order = keys > 0 ? main.compareToLast(key, offset, length) : 1;
        boolean isOlder = order == 0 && main.isOpen(); // with a copied block came its older versions
        if (order < 0 || order == 0 && (!isOlder || Long.compareUnsigned(version, lastVersion) >= 0 || version == 0)) {
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
        hashes.putLong(Fingerprint64.hash(key, offset, length));
        keys++;
        return main;
    }

    private void requireUnfinished() {
        if (finished) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "table file is finished: fileId=" + fileId);
        }
    }

    private void count(
            BlockWriter to, int keyLength, long version, int bits, int userMetaLength, int valueAt, int valueLength) {
        MemorySegment bytes = to.payload().segment;
        boolean blob = (bits & ValueMeta.BLOB_REF) != 0;
        if (to == main) {
            long valueBytes = blob ? BlobRef.valueBytes(bytes, valueAt, valueLength) : valueLength;
            countKey(keyLength, version, userMetaLength, valueBytes);
            if (lockFamily && !blob) { // of a blob the caller notes it
                noteLock(bytes, valueAt, valueLength);
            }
        }
        if (blob) {
            blobBytes += BlobRef.storedBytes(bytes, valueAt, valueLength);
        }
        tombs += valueLength == 0 ? 1 : 0;
    }

    /**
     * Notes a lock: of the table itself the builder does, one in a blob file is the caller's to note.
     *
     * @param value the lock
     */
    public void noteLock(MemorySegment value, long offset, int length) {
        if (lock.length < length) {
            lock = new byte[2 * length];
        }
        MemorySegment.copy(value, Layouts.BYTE, offset, lock, 0, length);
        noteLockTs(LockTs.parse(lock, 0, length));
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
        return withMargin(blockBytes() + main.openBytes() + old.openBytes());
    }

    /** Whether {@link #estimatedBytes} are more than so many; cheap while they are far from it. */
    public boolean exceeds(long bytes) {
        long most = withMargin(blockBytes() + main.mostOpenBytes() + old.mostOpenBytes());
        return most > bytes && estimatedBytes() > bytes;
    }

    private long blockBytes() {
        return (long) main.blocks.length + old.blocks.length;
    }

    private static long withMargin(long bytes) {
        return bytes + bytes / 32;
    }

    /**
     * Completes the file in memory of the caller's.
     *
     * @param arena owns the file's memory; borrowed
     */
    public SstFile finish(NativeArena arena) {
        return finish().copyInto(arena);
    }

    /** Completes the file; its bytes are valid until {@link #reset} or {@link #close}, or, after {@link #takeFile}, as long as what that returned. */
    public SstFile finish() {
        long data = assemble(0);
        return new SstFile(fileId, data, data + propertiesAt, smallest, biggest, main.blocks.view());
    }

    /**
     * Completes all sections for a place in a file, in {@link #file}.
     *
     * @param base offset of the place
     * @return bytes of the blocks
     */
    long assemble(long base) {
        if (keys == 0) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "a table file needs an entry: fileId=" + fileId);
        }
        requireUnfinished();
        finished = true;
        biggest = main.copyLastKey();
        main.closeBlock();
        old.closeBlock();
        NativeBytes file = main.blocks;
        int mainBytes = file.length;
        file.put(old.blocks.segment, 0, old.blocks.length);
        int dataBytes = file.length;
        if (fileKey != null) {
            if (cipher == null) {
                cipher = new BlockCipher();
            }
            main.encrypt(cipher, fileKey, fileId, file, 0, mainBytes, base);
            old.encrypt(cipher, fileKey, fileId, file, mainBytes, dataBytes, base + mainBytes);
        }
        main.writeIndex(fileId, base, file);
        int oldIndexAt = file.length;
        old.writeIndex(fileId, base + mainBytes, file);
        int filterAt = file.length;
        writeFilter(file);
        propertiesAt = (long) file.length - dataBytes;
        writeProperties(file);
        if (file.length + base > Integer.MAX_VALUE - Formats.MAX_KEY_BYTES) {
            throw new CoplaneException(
                    ErrorCode.BAD_ARGUMENT, "table file is too large: bytes=" + (file.length + base));
        }
        file.putInt(mainBytes);
        file.putInt(dataBytes);
        file.putInt(oldIndexAt);
        file.putInt(filterAt);
        file.putInt((int) (dataBytes + propertiesAt));
        file.putByte(options.compression().number());
        file.putByte(options.checksum().number());
        file.putShort(Formats.TABLE_FORMAT);
        file.putInt(snapVersion != 0 ? Formats.SPLIT_L0_MAGIC : Formats.SST_MAGIC);
        return dataBytes;
    }

    /** What {@link #assemble} has completed. */
    NativeBytes file() {
        return main.blocks;
    }

    private void writeFilter(NativeBytes meta) {
        int start = meta.length;
        meta.putInt(0); // checksum, set when the section is whole
        meta.putInt(Formats.FILTER_TYPE);
        int lengthAt = meta.length;
        meta.putInt(0);
        if (!buildFilter(meta)) {
            meta.length = start; // a table without a filter is slower, not wrong
            return;
        }
        meta.setInt(lengthAt, meta.length - start - FilterSection.HEADER_BYTES);
        BlockWriter.patchChecksum(meta, start, main.checksum());
    }

    /** @return false if no seed works, or no memory is left to the job */
    private boolean buildFilter(NativeBytes meta) {
        try {
            return BinaryFuse8Builder.build(hashes, filler, filterWork, meta);
        } catch (MemoryLimitException e) {
            return false;
        }
    }

    private void writeProperties(NativeBytes meta) {
        int start = meta.length;
        meta.putInt(0); // checksum, set when the section is whole
        property(meta, TableProperties.SMALLEST, smallest);
        property(meta, TableProperties.BIGGEST, biggest);
        property(meta, TableProperties.MAX_TS, maxTs);
        if (maxLockTs != 0) {
            property(meta, TableProperties.MAX_LOCK_TS, maxLockTs);
        }
        property(meta, TableProperties.ENTRIES, keys);
        property(meta, TableProperties.OLD_ENTRIES, oldEntries);
        property(meta, TableProperties.TOMBS, tombs);
        property(meta, TableProperties.KV_SIZE, kvBytes);
        property(meta, TableProperties.BLOB_SIZE, blobBytes);
        if (options.key() != null) {
            property(meta, TableProperties.ENCRYPTION_VERSION, options.key().version());
        }
        if (snapVersion != 0) {
            property(meta, TableProperties.L0_VERSION, snapVersion);
        }
        BlockWriter.patchChecksum(meta, start, main.checksum());
    }

    private static void property(NativeBytes meta, String name, byte[] value) {
        propertyName(meta, name);
        meta.putInt(value.length);
        meta.put(value, 0, value.length);
    }

    private static void property(NativeBytes meta, String name, long value) {
        propertyName(meta, name);
        meta.putInt(Long.BYTES);
        meta.putLong(value);
    }

    private static void property(NativeBytes meta, String name, int value) {
        propertyName(meta, name);
        meta.putInt(Integer.BYTES);
        meta.putInt(value);
    }

    private static void propertyName(NativeBytes meta, String name) {
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
        hashes.clear();
        keys = 0;
        smallest = NO_KEY;
        biggest = NO_KEY;
        maxTs = 0;
        maxLockTs = 0;
        oldEntries = 0;
        tombs = 0;
        kvBytes = 0;
        blobBytes = 0;
    }

    @Override
    public void close() {
        main.blocks.close();
        old.blocks.close();
        hashes.close();
        scratch.close();
        compressor.close();
    }
}
