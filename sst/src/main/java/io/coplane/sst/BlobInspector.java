package io.coplane.sst;

import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.sst.FileVisitor.BlockInfo;
import io.coplane.sst.FileVisitor.EntryInfo;
import java.lang.foreign.MemorySegment;

/** Walks a blob file (sst.md 7), record by record. Borrows bytes, arena and visitor. One thread. */
final class BlobInspector extends Inspector {
    private static final int INDEX_COUNT_AT = 2 * Integer.BYTES;
    private static final int INDEX_KEYS_AT = INDEX_COUNT_AT + Integer.BYTES;

    private final MemorySegment bytes;
    private final long fileId;
    private final String file;
    private final ShardKey shardKey; // null: none
    private final NativeScratch plain;
    private final NativeScratch value;
    private BlobReader reader;
    private int indexed; // index entries whose record was met
    private long totalBytes;

    BlobInspector(MemorySegment bytes, long fileId, ShardKey shardKey, NativeArena arena, FileVisitor visitor) {
        super(visitor);
        this.bytes = bytes;
        this.fileId = fileId;
        this.shardKey = shardKey;
        file = Formats.blobName(fileId);
        plain = new NativeScratch(arena);
        value = new NativeScratch(arena);
    }

    void inspect() {
        visitor.beginTable("");
        long footerAt = Math.max(0, bytes.byteSize() - BlobFooter.BYTES);
        if (step(footerAt, () -> reader = BlobReader.open(bytes, fileId, shardKey))) {
            walk(footerAt);
        }
        visitor.endTable();
    }

    private void walk(long footerAt) {
        long index = reader.metaOffset();
        visitor.footer("total_blob_size", Integer.toUnsignedLong(reader.totalBlobBytes()));
        visitor.footer("index_offset", index);
        visitor.footer("properties_offset", reader.propertiesOffset());
        visitor.footer("min_blob_size", Integer.toUnsignedLong(reader.minBlobBytes()));
        visitor.footer("compression_type", reader.compression().number());
        visitor.footer("checksum_type", reader.checksum().number());
        visitor.section("records", 0, index);
        visitor.section("index", index, reader.propertiesOffset() - index);
        visitor.section("properties", reader.propertiesOffset(), footerAt - reader.propertiesOffset());
        visitor.section("footer", footerAt, BlobFooter.BYTES);
        visitor.property(BlobFooter.Properties.SMALLEST, reader.smallest());
        visitor.property(BlobFooter.Properties.BIGGEST, reader.biggest());
        boolean hasIndex = step(index, this::checkIndex);
        walkRecords(hasIndex);
        if (problems == 0 && (int) totalBytes != reader.totalBlobBytes()) {
            problem(
                    footerAt,
                    "total differs from the records: stated=" + Integer.toUnsignedString(reader.totalBlobBytes())
                            + " found=" + totalBytes);
        }
    }

    /** Sizes of the index, so that {@link #indexedOffset} stays inside. */
    private void checkIndex() {
        long from = reader.metaOffset();
        long to = reader.propertiesOffset();
        Formats.verifySection(bytes, from, to, reader.checksum(), file, "index");
        long left = to - from - INDEX_KEYS_AT - Short.BYTES - Integer.BYTES;
        int count = left < 0 ? 0 : indexCount();
        left -= 2L * Integer.BYTES * count;
        if (count < 1 || left < 0) {
            throw FileErrors.format(file, from, "index is too short: entries=" + Integer.toUnsignedString(count));
        }
        if (bytes.get(Layouts.LE_INT, from + Formats.CHECKSUM_BYTES) != Formats.INDEX_FORMAT) {
            throw FileErrors.format(file, from, "unknown index format");
        }
        long prefixAt = from + INDEX_KEYS_AT + 2L * Integer.BYTES * count;
        int prefix = bytes.get(Layouts.LE_SHORT, prefixAt) & 0xFFFF;
        left -= prefix;
        if (left < 0 || bytes.get(Layouts.LE_INT, prefixAt + Short.BYTES + prefix) != left) {
            throw FileErrors.format(file, from, "index has another key area than it says");
        }
        int before = 0;
        for (int i = 0; i < count; i++) {
            int offset = bytes.get(Layouts.LE_INT, from + INDEX_KEYS_AT + 4L * i);
            if (offset < before || offset > left) {
                throw FileErrors.format(file, from, "index key offset is out of order: entry=" + i);
            }
            before = offset;
        }
    }

    private int indexCount() {
        return bytes.get(Layouts.LE_INT, reader.metaOffset() + INDEX_COUNT_AT);
    }

    private long indexedOffset(int i) {
        long at = reader.metaOffset() + INDEX_KEYS_AT + 4L * indexCount() + 4L * i;
        return bytes.get(Layouts.LE_INT, at) & 0xFFFF_FFFFL;
    }

    private void walkRecords(boolean hasIndex) {
        long end = reader.metaOffset();
        int record = 0;
        long at = 0;
        while (at < end) {
            long data = end - at - BlobReader.RECORD_HEADER_BYTES;
            long stored = data < 0 ? 0 : bytes.get(Layouts.LE_INT, at + Integer.BYTES) & 0xFFFF_FFFFL;
            if (data < 0 || stored > data) {
                problem(at, "record is cut: record=" + record + " storedBytes=" + stored);
                return;
            }
            if (hasIndex && indexed < indexCount() && indexedOffset(indexed) == at) {
                indexed++;
            }
            long offset = at;
            int number = record;
            step(at, () -> walkRecord(number, offset, stored));
            at += BlobReader.RECORD_HEADER_BYTES + stored;
            record++;
        }
        if (hasIndex && indexed < indexCount()) {
            problem(reader.metaOffset(), "index entry leads to no record: entry=" + indexed);
        }
    }

    private void walkRecord(int record, long at, long stored) {
        long dataAt = at + BlobReader.RECORD_HEADER_BYTES;
        int expected = bytes.get(Layouts.LE_INT, at);
        if (Formats.compute(bytes, dataAt, dataAt + stored, Formats.checksum(reader.checksum())) != expected) {
            throw FileErrors.checksum(file, at, "Invalid checksum blob checksum mismatch");
        }
        MemorySegment body = decode(at, dataAt, stored);
        totalBytes += body.byteSize();
        visitor.beginBlock(new BlockInfo(
                "record", record, at, BlobReader.RECORD_HEADER_BYTES + stored, body.byteSize(), 1, new byte[0]));
        if (visitor.wantsEntries()) {
            visitor.entry(new EntryInfo(new byte[0], 0, 0, 0, MemorySegment.NULL, body, null));
        }
        visitor.endBlock();
    }

    private MemorySegment decode(long at, long dataAt, long stored) {
        MemorySegment data = bytes.asSlice(dataAt, stored);
        if (stored == 0) {
            return data;
        }
        if (reader.key() != null) {
            MemorySegment clear = plain.atLeast(stored);
            new BlockCipher().decrypt(reader.key(), fileId, (int) at, bytes, dataAt, stored, clear);
            data = clear.asSlice(0, stored);
        }
        return switch (reader.compression()) {
            case NONE -> data;
            case LZ4 -> {
                long length = lz4Bytes(data, at);
                if (length == 0) {
                    yield data.asSlice(0, 0); // readers don't look at the record of an empty value
                }
                Codecs.lz4(data, 0, stored, length, value, file, at);
                yield value.atLeast(length).asSlice(0, length);
            }
            case ZSTD -> {
                long length = Codecs.zstd(data, 0, stored, value, file, at);
                yield value.atLeast(length).asSlice(0, length);
            }
        };
    }

    /** Length that an LZ4 block decodes to, which blob records do not say: the sum over its sequences of literals and matches. */
    private long lz4Bytes(MemorySegment data, long offset) {
        long size = data.byteSize();
        long length = 0;
        long at = 0;
        while (at < size) {
            long token = data.get(Layouts.BYTE, at++) & 0xFF;
            long literals = token >>> 4;
            if (literals == 15) {
                long more = at;
                at = behindLength(data, at, offset);
                literals += sum(data, more, at);
            }
            length += literals;
            at += literals;
            if (at >= size) {
                break;
            }
            at += Short.BYTES;
            long match = token & 0xF;
            if (match == 15) {
                long more = at;
                at = behindLength(data, at, offset);
                match += sum(data, more, at);
            }
            length += match + 4;
        }
        if (at != size) {
            throw FileErrors.format(file, offset, "LZ4 block is broken");
        }
        return length;
    }

    private long behindLength(MemorySegment data, long from, long offset) {
        long at = from;
        while (at < data.byteSize() && data.get(Layouts.BYTE, at) == -1) {
            at++;
        }
        if (at >= data.byteSize()) {
            throw FileErrors.format(file, offset, "LZ4 block is broken");
        }
        return at + 1;
    }

    private static long sum(MemorySegment data, long from, long to) {
        return 255 * (to - from - 1) + (data.get(Layouts.BYTE, to - 1) & 0xFF);
    }
}
