package io.coplane.sst;

import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.sst.FileVisitor.BlockInfo;
import io.coplane.sst.FileVisitor.EntryInfo;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** Walks a txn chunk (snapshot.md 7.1 to 7.5). Borrows bytes, arena and visitor. One thread. */
final class TxnChunkInspector extends Inspector {
    private static final int HASH_ENTRY_BYTES = Long.BYTES + 2 * Short.BYTES;

    private final MemorySegment bytes;
    private final long chunkId;
    private final String file;
    private final ShardKey shardKey; // null: none
    private final NativeArena arena;
    private TxnChunkFooter footer;
    private TxnChunkReader reader;

    private byte[] lastKey; // null: none yet
    private long keys;
    private long inserts;
    private long checks;
    private long hashMisses;

    TxnChunkInspector(MemorySegment bytes, long chunkId, ShardKey shardKey, NativeArena arena, FileVisitor visitor) {
        super(visitor);
        this.bytes = bytes;
        this.chunkId = chunkId;
        this.shardKey = shardKey;
        this.arena = arena;
        file = Formats.txnName(chunkId);
    }

    void inspect() {
        visitor.beginTable("");
        long footerAt = Math.max(0, bytes.byteSize() - TxnChunkFooter.BYTES);
        if (step(footerAt, () -> footer = TxnChunkFooter.read(bytes, file))) {
            walk();
        }
        visitor.endTable();
    }

    private void walk() {
        long at = footer.footerOffset();
        visitor.footer("index_offset", footer.indexOffset());
        visitor.footer("hash_index_offset", footer.hashIndexOffset());
        visitor.footer("properties_offset", footer.propertiesOffset());
        visitor.footer("checksum_type", footer.checksum().number());
        int checksum = bytes.get(Layouts.BYTE, at + TxnChunkFooter.CHECKSUM_AT) & 0xFF;
        if (bytes.get(Layouts.BYTE, at + TxnChunkFooter.RESERVED_AT) != 0) {
            problem(at, "reserved byte of the footer is not 0");
        }
        if (checksum >= ChecksumType.values().length) {
            problem(at, "unknown checksum type " + checksum);
        }
        visitor.section("blocks", 0, footer.indexOffset());
        boolean sound = section("index", footer.indexOffset(), footer.hashIndexOffset());
        sound = section("hash index", footer.hashIndexOffset(), footer.propertiesOffset()) && sound;
        sound = section("properties", footer.propertiesOffset(), at) && sound;
        visitor.section("footer", at, TxnChunkFooter.BYTES);
        if (sound && step(footer.indexOffset(), () -> reader = TxnChunkReader.open(bytes, chunkId, shardKey))) {
            visitor.property("smallest", reader.smallest());
            visitor.property("biggest", reader.biggest());
            visitor.property("insert", reader.insertCount());
            visitor.property("check_ne", reader.checkNotExistCount());
            walkBlocks();
        }
    }

    private boolean section(String name, long from, long to) {
        visitor.section(name, from, to - from);
        return step(from, () -> verify(from, to, name));
    }

    private void verify(long from, long to, String name) {
        long stop = to - Formats.CHECKSUM_BYTES;
        if (stop < from) {
            throw FileErrors.format(file, from, "Invalid checksum data is too short: section=" + name);
        }
        int stored = bytes.get(Layouts.LE_INT, stop);
        int computed = Formats.compute(bytes, from, stop, Formats.checksum(footer.checksum()));
        if (stored != computed) {
            throw FileErrors.checksum(
                    file,
                    from,
                    "Invalid checksum checksum mismatch expect " + Integer.toUnsignedString(stored) + " got "
                            + Integer.toUnsignedString(computed) + ": section=" + name);
        }
    }

    private void walkBlocks() {
        if (reader.blockStart(0) != 0) {
            problem(0, "bytes before the first block: bytes=" + reader.blockStart(0));
        }
        if (reader.blockEnd(reader.blocks() - 1) != footer.indexOffset()) {
            problem(reader.blockEnd(reader.blocks() - 1), "bytes behind the last block");
        }
        boolean hashIndex = step(footer.hashIndexOffset(), this::checkHashIndex);
        TxnChunkCursor cursor = reader.cursor(arena);
        for (int i = 0; i < reader.blocks(); i++) {
            int block = i;
            step(reader.blockStart(i), () -> walkBlock(cursor, block, hashIndex));
        }
        if (problems > 0) {
            return;
        }
        long at = footer.propertiesOffset();
        same(at, "insert", reader.insertCount(), inserts);
        same(at, "check_ne", reader.checkNotExistCount(), checks);
        same(footer.hashIndexOffset(), "hash index entries", hashEntries(), keys);
        if (hashMisses > 0) {
            problem(footer.hashIndexOffset(), "hash index lacks keys of the chunk: keys=" + hashMisses);
        }
        if (!Arrays.equals(reader.biggest(), lastKey)) {
            problem(footer.indexOffset(), "biggest key is not the last one");
        }
    }

    private void walkBlock(TxnChunkCursor cursor, int block, boolean hashIndex) {
        long offset = reader.blockStart(block);
        cursor.toBlock(block);
        byte[] firstKey = Bytes.trim(reader.firstKey(block));
        if (!Arrays.equals(cursor.copyKey(), firstKey)) {
            problem(offset, "first key of the block is not the one of the index: block=" + block);
        }
        long length = reader.blockEnd(block) - offset;
        visitor.beginBlock(new BlockInfo("txn", block, offset, length, length, cursor.blockEntries(), firstKey));
        boolean checking = false;
        try {
            for (int left = cursor.blockEntries(); left > 0; left--) {
                byte[] key = cursor.copyKey();
                if (lastKey != null && Arrays.compareUnsigned(lastKey, key) >= 0) {
                    problem(offset, "entry is out of order: entry=" + cursor.entry());
                }
                lastKey = key;
                keys++;
                checking |= count(cursor, offset);
                hashMisses += hashIndex && !isHashed(key, block, cursor.entry()) ? 1 : 0;
                if (visitor.wantsEntries()) {
                    visitor.entry(new EntryInfo(
                            key,
                            0,
                            cursor.op(),
                            0,
                            MemorySegment.NULL,
                            cursor.valueSegment().asSlice(cursor.valueOffset(), cursor.valueLength()),
                            null));
                }
                if (left > 1) {
                    cursor.next();
                }
            }
        } finally {
            visitor.endBlock();
        }
        if (checking && !reader.mayCheck(block)) {
            problem(footer.propertiesOffset(), "block inserts or checks, which its mark denies: block=" + block);
        }
    }

    private boolean count(TxnChunkCursor cursor, long offset) {
        switch (cursor.op()) {
            case TxnChunkCursor.OP_INSERT -> inserts++;
            case TxnChunkCursor.OP_CHECK_NOT_EXIST -> checks++;
            case TxnChunkCursor.OP_PUT, TxnChunkCursor.OP_DELETE, TxnChunkCursor.OP_LOCK -> {
                return false;
            }
            default -> problem(offset, "unknown mutation: op=" + cursor.op() + " entry=" + cursor.entry());
        }
        return true;
    }

    private int buckets() {
        return bytes.get(Layouts.LE_INT, footer.hashIndexOffset());
    }

    private long hashEntriesAt() {
        return footer.hashIndexOffset() + Integer.BYTES + 4L * (buckets() + 1L);
    }

    private long hashEntries() {
        return (footer.propertiesOffset() - Formats.CHECKSUM_BYTES - hashEntriesAt()) / HASH_ENTRY_BYTES;
    }

    private void checkHashIndex() {
        long from = footer.hashIndexOffset();
        long end = footer.propertiesOffset() - Formats.CHECKSUM_BYTES;
        int buckets = end - from < 2L * Integer.BYTES ? 0 : buckets();
        if (buckets < 1 || Integer.bitCount(buckets) != 1 || hashEntriesAt() > end) {
            throw FileErrors.format(
                    file, from, "hash index is too short: buckets=" + Integer.toUnsignedString(buckets));
        }
        long before = 0;
        for (int i = 0; i <= buckets; i++) {
            long offset = bucketStart(i);
            if (offset < before || offset % HASH_ENTRY_BYTES != 0 || i == 0 && offset != 0) {
                throw FileErrors.format(file, from, "bucket of the hash index is out of order: bucket=" + i);
            }
            before = offset;
        }
        if (before != end - hashEntriesAt()) {
            throw FileErrors.format(file, from, "hash index has another length than its buckets say");
        }
    }

    private long bucketStart(int bucket) {
        return bytes.get(Layouts.LE_INT, footer.hashIndexOffset() + Integer.BYTES + 4L * bucket) & 0xFFFF_FFFFL;
    }

    private boolean isHashed(byte[] key, int block, int entry) {
        long hash = Fingerprint64.hash(key, 0, key.length);
        int bucket = (int) (hash & (buckets() - 1));
        long to = hashEntriesAt() + bucketStart(bucket + 1);
        for (long at = hashEntriesAt() + bucketStart(bucket); at < to; at += HASH_ENTRY_BYTES) {
            if (bytes.get(Layouts.LE_LONG, at) == hash
                    && (bytes.get(Layouts.LE_SHORT, at + Long.BYTES) & 0xFFFF) == block
                    && (bytes.get(Layouts.LE_SHORT, at + Long.BYTES + Short.BYTES) & 0xFFFF) == entry) {
                return true;
            }
        }
        return false;
    }

    private void same(long offset, String name, long stated, long found) {
        if (stated != found) {
            problem(offset, "count differs from the blocks: name=" + name + " stated=" + stated + " found=" + found);
        }
    }
}
