package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.sst.FileVisitor.BlockInfo;
import io.coplane.sst.FileVisitor.EntryInfo;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import javax.crypto.spec.SecretKeySpec;

/** Walks tables of one file (sst.md 3). Borrows bytes, arena and visitor. One thread. */
final class TableInspector extends Inspector {
    private static final int FIRST_KEY_BYTES = 256;

    private final MemorySegment bytes;
    private final long fileId;
    private final String file;
    private final ShardKey shardKey; // null: none
    private final NativeArena arena;
    private final BlockLoader loader;
    private final BlockView view = new BlockView();

    private SstFooter footer;
    private TableProperties properties; // null: broken
    private BinaryFuse8 filter; // null: none, or broken
    private long filterMisses;

    // what the blocks say, to compare with the properties
    private byte[] key = new byte[FIRST_KEY_BYTES];
    private int keyLength;
    private boolean hasKey;
    private long version;
    private long[] counted = new long[2]; // entries of main and old blocks
    private long tombs;
    private long kvBytes;
    private long blobBytes;
    private long maxTs;
    private byte[] smallest = new byte[0];
    private byte[] biggest = new byte[0];

    TableInspector(MemorySegment bytes, long fileId, ShardKey shardKey, NativeArena arena, FileVisitor visitor) {
        super(visitor);
        this.bytes = bytes;
        this.fileId = fileId;
        this.shardKey = shardKey;
        this.arena = arena;
        file = Formats.sstName(fileId);
        loader = new BlockLoader(arena);
    }

    /** Walks the table in {@code start .. end - 1}, which are in bounds. */
    void inspect(String name, long start, long end) {
        visitor.beginTable(name);
        reset();
        if (step(Math.max(start, end - SstFooter.BYTES), () -> footer = SstFooter.read(bytes, start, end, file))) {
            walk(start, end);
        }
        visitor.endTable();
    }

    private void reset() {
        properties = null;
        filter = null;
        filterMisses = 0;
        problems = 0;
        hasKey = false;
        keyLength = 0;
        counted = new long[2];
        tombs = 0;
        kvBytes = 0;
        blobBytes = 0;
        maxTs = 0;
        smallest = new byte[0];
        biggest = new byte[0];
    }

    private void walk(long start, long end) {
        describe(start, end);
        long at = footer.propertiesOffset();
        boolean sound = step(at, () -> section(at, footer.footerOffset(), "properties"));
        sound = step(at, () -> properties = readProperties(start, end)) && sound;
        if (properties != null) {
            describe(properties);
        }
        BlockIndex index = index(footer.indexOffset(), footer.oldIndexOffset(), start, footer.oldDataOffset(), "index");
        BlockIndex oldIndex = index(
                footer.oldIndexOffset(),
                footer.filterOffset(),
                footer.oldDataOffset(),
                footer.indexOffset(),
                "old index");
        openFilter();
        if (index == null || oldIndex == null || !sound) {
            return;
        }
        if (index.hasKeyspaces()) {
            filter = null; // it is over other keys (sst.md 13)
        }
        SecretKeySpec[] fileKey = new SecretKeySpec[1];
        if (step(footer.propertiesOffset(), () -> fileKey[0] = fileKey())) {
            walkBlocks(start, index, oldIndex, fileKey[0]);
        }
    }

    private TableProperties readProperties(long start, long end) {
        long to = footer.footerOffset();
        long from = Math.min(footer.propertiesOffset() + Formats.CHECKSUM_BYTES, to);
        return TableProperties.read(bytes, from, to, file, fileId, end - start);
    }

    private void section(long from, long to, String name) {
        Formats.verifySection(bytes, from, to, footer.checksum(), file, name);
    }

    private BlockIndex index(long from, long to, long blocksStart, long blocksEnd, String name) {
        BlockIndex[] index = new BlockIndex[1];
        step(from, () -> {
            section(from, to, name);
            index[0] = BlockIndex.open(bytes, from + Formats.CHECKSUM_BYTES, to, blocksStart, blocksEnd, file);
        });
        return index[0];
    }

    private void openFilter() {
        long from = footer.filterOffset();
        long to = footer.propertiesOffset();
        if (from < to) {
            step(from, () -> {
                section(from, to, "filter");
                FilterSection.check(bytes, from, to, file);
                filter = BinaryFuse8.open(bytes, from + FilterSection.HEADER_BYTES, to, file);
            });
        }
    }

    private SecretKeySpec fileKey() {
        if (shardKey != null) {
            return shardKey.fileKey(
                    properties.encryptionVersion(), properties.encrypted(), file, footer.propertiesOffset());
        }
        if (properties.encrypted()) {
            throw new CoplaneException(
                    ErrorCode.FILE_ENCRYPTED,
                    "blocks are encrypted and no key is given: version=" + properties.encryptionVersion());
        }
        return null;
    }

    private void describe(long start, long end) {
        visitor.footer("table_offset", start);
        visitor.footer("table_size", end - start);
        visitor.footer("old_data_offset", footer.oldDataOffset() - start);
        visitor.footer("index_offset", footer.indexOffset() - start);
        visitor.footer("old_index_offset", footer.oldIndexOffset() - start);
        visitor.footer("aux_index_offset", footer.filterOffset() - start);
        visitor.footer("properties_offset", footer.propertiesOffset() - start);
        visitor.footer("compression_type", footer.compression().number());
        visitor.footer("checksum_type", footer.checksum().number());
        visitor.footer("magic", Integer.toUnsignedLong(footer.magic()));
        long[] bounds = {
            start,
            footer.oldDataOffset(),
            footer.indexOffset(),
            footer.oldIndexOffset(),
            footer.filterOffset(),
            footer.propertiesOffset(),
            footer.footerOffset(),
            end
        };
        String[] names = {"data", "old data", "index", "old index", "filter", "properties", "footer"};
        for (int i = 0; i < names.length; i++) {
            visitor.section(names[i], bounds[i], bounds[i + 1] - bounds[i]);
        }
    }

    private void describe(TableProperties p) {
        visitor.property(TableProperties.SMALLEST, p.smallest());
        visitor.property(TableProperties.BIGGEST, p.biggest());
        visitor.property(TableProperties.MAX_TS, p.maxTs());
        visitor.property(TableProperties.MAX_LOCK_TS, p.maxLockTs());
        visitor.property(TableProperties.ENTRIES, Integer.toUnsignedLong(p.entries()));
        visitor.property(TableProperties.OLD_ENTRIES, Integer.toUnsignedLong(p.oldEntries()));
        visitor.property(TableProperties.TOMBS, Integer.toUnsignedLong(p.tombs()));
        visitor.property(TableProperties.KV_SIZE, p.kvBytes());
        visitor.property(TableProperties.BLOB_SIZE, p.inUseBlobBytes());
        if (p.encrypted()) {
            visitor.property(TableProperties.ENCRYPTION_VERSION, Integer.toUnsignedLong(p.encryptionVersion()));
        }
        if (p.snapVersion() != 0) {
            visitor.property(TableProperties.L0_VERSION, p.snapVersion());
        }
        if ((p.snapVersion() != 0) != (footer.magic() == Formats.SPLIT_L0_MAGIC)) {
            problem(footer.footerOffset(), "magic and snap version disagree on whether this is a split L0 table");
        }
    }

    private void walkBlocks(long start, BlockIndex index, BlockIndex oldIndex, SecretKeySpec fileKey) {
        var table = new BlockTable(
                bytes,
                null,
                fileId,
                file,
                index,
                oldIndex,
                footer.compression(),
                footer.checksum(),
                fileKey,
                properties.smallest(),
                properties.biggest(),
                properties.maxTs(),
                null,
                false);
        if (index.count() == 0) {
            problem(footer.indexOffset(), "table without blocks");
            return;
        }
        if (index.start(0) != start) {
            problem(start, "bytes before the first block: bytes=" + (index.start(0) - start));
        }
        if (oldIndex.count() > 0
                ? oldIndex.start(0) != footer.oldDataOffset()
                : footer.oldDataOffset() != footer.indexOffset()) {
            problem(footer.oldDataOffset(), "bytes that belong to no block of old versions");
        }
        walkBlocks(table, false);
        walkBlocks(table, true);
        if (filterMisses > 0) {
            problem(footer.filterOffset(), "filter denies keys of the table: keys=" + filterMisses);
        }
        if (problems == 0) {
            compareProperties();
            matchVersions(table);
        }
    }

    private void walkBlocks(BlockTable table, boolean old) {
        BlockIndex index = old ? table.oldIndex : table.index;
        hasKey = false;
        for (int i = 0; i < index.count(); i++) {
            int block = i;
            long offset = index.start(i);
            if (step(offset, () -> loader.loadUnordered(table, old, block, view))) {
                step(offset, () -> walkBlock(index, block, old));
            }
        }
    }

    private void walkBlock(BlockIndex index, int block, boolean old) {
        long offset = index.start(block);
        byte[] firstKey = index.copyKey(block);
        visitor.beginBlock(new BlockInfo(
                old ? "old" : "main",
                block,
                offset,
                index.end(block) - offset,
                view.viewBody().byteSize(),
                view.count,
                firstKey));
        try {
            for (int i = 0; i < view.count; i++) {
                view.read(i);
                byte[] entryKey = new byte[view.prefixLength + view.suffixLength + BlockView.KEY_SLACK_BYTES];
                view.copyPrefix(entryKey);
                view.copySuffix(entryKey, view.prefixLength);
                int length = view.prefixLength + view.suffixLength;
                if (i == 0 && !Arrays.equals(entryKey, 0, length, firstKey, 0, firstKey.length)) {
                    problem(offset, "first key of the block is not the one of the index: block=" + block);
                }
                order(entryKey, length, old, offset, i);
                count(old);
                describe(entryKey, length, old, offset, i);
            }
        } finally {
            visitor.endBlock();
        }
    }

    private void order(byte[] entryKey, int length, boolean old, long offset, int entry) {
        if (hasKey) {
            int order = Arrays.compareUnsigned(key, 0, keyLength, entryKey, 0, length);
            boolean ascending = order < 0 || old && order == 0 && Long.compareUnsigned(version, view.version) > 0;
            if (!ascending) {
                problem(offset, "entry is out of order: entry=" + entry);
            }
        } else if (!old) {
            smallest = Arrays.copyOf(entryKey, length);
        }
        hasKey = true;
        key = entryKey;
        keyLength = length;
        version = view.version;
        if (!old) {
            biggest = entryKey;
            if (filter != null && !filter.mayContain(Fingerprint64.hash(entryKey, 0, length))) {
                filterMisses++;
            }
        }
    }

    private void count(boolean old) {
        counted[old ? 1 : 0]++;
        tombs += view.valueLength == 0 ? 1 : 0;
        boolean isBlob = (view.meta & ValueMeta.BLOB_REF) != 0;
        BlobRef blob = isBlob ? BlobRef.read(view.body, view.valueAt, view.valueLength) : null;
        blobBytes += isBlob ? Integer.toUnsignedLong(blob.storedBytes()) : 0;
        if (!old) {
            kvBytes += keyLength
                    + view.userMetaLength
                    + (isBlob ? Integer.toUnsignedLong(blob.valueBytes()) : view.valueLength);
            maxTs = Long.compareUnsigned(view.version, maxTs) > 0 ? view.version : maxTs;
        }
    }

    private void describe(byte[] entryKey, int length, boolean old, long offset, int entry) {
        if (old && (view.meta & ValueMeta.HAS_OLD_VERSION) != 0) {
            problem(offset, "older version that names a still older one: entry=" + entry);
        }
        if (!visitor.wantsEntries()) {
            return;
        }
        visitor.entry(new EntryInfo(
                Arrays.copyOf(entryKey, length),
                view.version,
                view.meta,
                view.oldVersion,
                view.body.asSlice(view.userMetaAt, view.userMetaLength),
                view.body.asSlice(view.valueAt, view.valueLength),
                (view.meta & ValueMeta.BLOB_REF) == 0
                        ? null
                        : BlobRef.read(view.body, view.valueAt, view.valueLength)));
    }

    private void compareProperties() {
        long at = footer.propertiesOffset();
        same(at, TableProperties.ENTRIES, Integer.toUnsignedLong(properties.entries()), counted[0]);
        same(at, TableProperties.OLD_ENTRIES, Integer.toUnsignedLong(properties.oldEntries()), counted[1]);
        same(at, TableProperties.TOMBS, Integer.toUnsignedLong(properties.tombs()), tombs);
        same(at, TableProperties.KV_SIZE, properties.kvBytes(), kvBytes);
        same(at, TableProperties.BLOB_SIZE, properties.inUseBlobBytes(), blobBytes);
        same(at, TableProperties.MAX_TS, properties.maxTs(), maxTs);
        if (!Arrays.equals(properties.smallest(), smallest)) {
            problem(at, "smallest key is not the first one");
        }
        int biggestLength = biggest.length - BlockView.KEY_SLACK_BYTES;
        if (!Arrays.equals(properties.biggest(), 0, properties.biggest().length, biggest, 0, biggestLength)) {
            problem(at, "biggest key is not the last one");
        }
    }

    private void same(long offset, String name, long stated, long found) {
        if (stated != found) {
            problem(
                    offset,
                    "property differs from the blocks: name=" + name + " stated=" + Long.toUnsignedString(stated)
                            + " found=" + Long.toUnsignedString(found));
        }
    }

    /** Every older version must be the one that its key's newest entry leads to. */
    private void matchVersions(BlockTable table) {
        step(footer.oldDataOffset(), () -> {
            var cursor = new TableCursor(new BlockTable[] {table}, false, arena);
            long versions = 0;
            for (boolean more = cursor.rewind(); more; more = cursor.next()) {
                versions++;
                for (long newer = cursor.version(); cursor.nextVersion(); newer = cursor.version()) {
                    versions++;
                    if (Long.compareUnsigned(newer, cursor.version()) <= 0) {
                        problem(footer.oldDataOffset(), "older version that is not older");
                    }
                }
            }
            if (versions != counted[0] + counted[1]) {
                problem(
                        footer.oldDataOffset(),
                        "older versions that no key leads to: count=" + (counted[0] + counted[1] - versions));
            }
        });
    }
}
