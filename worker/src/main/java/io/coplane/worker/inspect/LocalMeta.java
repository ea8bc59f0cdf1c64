package io.coplane.worker.inspect;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.sst.MetaFile;
import io.coplane.sst.MetaPack;
import io.coplane.sst.TableProperties;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a node keeps beside its table files: meta parts ({@code ID.sst.meta}, {@code ID.blob.meta}) and meta packs (sst.md 10). Both are small, so each is
 * read as a whole and opened by the reader that a node would use.
 */
final class LocalMeta {
    private static final long PACK_HEADER = 0x0108_0000_0002L; // two bytes of protobuf: version 1
    private static final long PACK_HEADER_MASK = 0xFFFF_FFFF_FFFFL;
    private static final int PACK_HEADER_BYTES = 6;

    private final OpenedFile file;
    private final MetaFile.Name meta; // null: a pack

    private long badOffset;

    private LocalMeta(OpenedFile file, MetaFile.Name meta) {
        this.file = file;
        this.meta = meta;
    }

    /** A file as a meta part or a pack, by its name or its first bytes; null if it is neither. */
    static LocalMeta of(OpenedFile file) {
        Path fileName = Path.of(file.name()).getFileName();
        MetaFile.Name meta = fileName == null ? null : MetaFile.Name.parse(fileName.toString());
        if (meta != null && (meta.kind() == FileKind.SST || meta.kind() == FileKind.BLOB)) {
            return new LocalMeta(file, meta);
        }
        MemorySegment bytes = file.viewBytes();
        boolean isPack = bytes.byteSize() >= Long.BYTES
                ? (bytes.get(Layouts.LE_LONG, 0) & PACK_HEADER_MASK) == PACK_HEADER
                : fileName != null && fileName.toString().endsWith(".pack");
        return isPack ? new LocalMeta(file, null) : null;
    }

    /** Name of the kind, as other kinds are printed. */
    String kind() {
        return meta == null ? "meta_pack" : "meta";
    }

    /** Where the first broken part begins, once {@link #print} failed. */
    long badOffset() {
        return badOffset;
    }

    /**
     * Prints what is in the file.
     *
     * @return records: 1 for a meta part
     * @throws CoplaneException FILE_FORMAT, FILE_TRUNCATED, FILE_CHECKSUM for a broken file; what was sound before is printed
     */
    long print(Lines lines) {
        if (meta != null) {
            MetaFile opened = printMeta(lines);
            badOffset = opened.filterOffset();
            opened.verifyFilter();
            return 1;
        }
        badOffset = 0;
        long[] count = {0};
        MetaPack.read(Path.of(file.name()), record -> {
            Map<String, Object> values = new LinkedHashMap<>();
            values.put("offset", Math.max(PACK_HEADER_BYTES, badOffset));
            values.put("file_id", Long.toUnsignedString(record.fileId()));
            badOffset = Math.max(PACK_HEADER_BYTES, badOffset);
            var tiny = record.open();
            values.put("file_bytes", tiny.fileBytes());
            values.put("meta_offset", tiny.metaOffset());
            values.putAll(properties(tiny.properties()));
            if (record.hasSegmentOffsets()) {
                values.put("segment_offsets", Arrays.toString(record.segmentOffsets()));
            }
            lines.print(1, "record", values);
            badOffset += record.encodedBytes();
            count[0]++;
        });
        return count[0];
    }

    private MetaFile printMeta(Lines lines) {
        MetaFile opened = meta.kind() == FileKind.BLOB
                ? MetaFile.openBlob(file.viewBytes(), meta.fileId())
                : MetaFile.openSst(file.viewBytes(), meta.fileId());
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("file_id", Long.toUnsignedString(opened.fileId()));
        values.put("file_bytes", opened.fileBytes());
        values.put("meta_offset", opened.metaOffset());
        values.put("smallest", HexFormat.of().formatHex(opened.smallest()));
        values.put("biggest", HexFormat.of().formatHex(opened.biggest()));
        if (opened.properties() != null) {
            values.putAll(properties(opened.properties()));
        }
        lines.print(1, "meta", values);
        return opened;
    }

    private static Map<String, Object> properties(TableProperties properties) {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("smallest", HexFormat.of().formatHex(properties.smallest()));
        values.put("biggest", HexFormat.of().formatHex(properties.biggest()));
        values.put("max_ts", Long.toUnsignedString(properties.maxTs()));
        values.put("entries", properties.entries());
        values.put("old_entries", properties.oldEntries());
        values.put("tombs", properties.tombs());
        values.put("kv_size", properties.kvBytes());
        return values;
    }
}
