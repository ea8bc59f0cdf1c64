package io.coplane.sst;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.nativecache.memory.NativeArena;
import io.coplane.testing.Dumps;
import io.coplane.testing.GoldenCase;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Compares one table with the dumps that the reference made of it ({@code testdata/golden/README.md}). */
final class TableDumps {
    private final GoldenCase golden;
    private final String prefix;
    private final SstReader reader;
    private final NativeArena arena;
    private final List<byte[]> keys;

    /** @param prefix of the dumps' names, such as {@code cf0.}; may be empty */
    TableDumps(GoldenCase golden, String prefix, SstReader reader, NativeArena arena) {
        this.golden = golden;
        this.prefix = prefix;
        this.reader = reader;
        this.arena = arena;
        this.keys = golden.distinctKeys(prefix + "entries.tsv");
    }

    void all() {
        meta();
        blocks();
        entries();
        backwards();
        seeks();
        gets();
        filter();
    }

    void meta() {
        Map<String, String> meta = golden.meta();
        TableProperties p = reader.properties();
        SstFooter f = reader.footer();
        long start = f.tableStart();
        var actual = new LinkedHashMap<String, String>();
        actual.put("footer.old_data_offset", u(f.oldDataOffset() - start));
        actual.put("footer.index_offset", u(f.indexOffset() - start));
        actual.put("footer.old_index_offset", u(f.oldIndexOffset() - start));
        actual.put("footer.aux_index_offset", u(f.filterOffset() - start));
        actual.put("footer.properties_offset", u(f.propertiesOffset() - start));
        actual.put("footer.compression_type", u(f.compression().number()));
        actual.put("footer.checksum_type", u(f.checksum().number()));
        actual.put("footer.magic", Integer.toUnsignedString(f.magic()));
        actual.put("table_size", u(f.footerOffset() + SstFooter.BYTES - start));
        actual.put("smallest", Dumps.hex(reader.smallest()));
        actual.put("biggest", Dumps.hex(reader.biggest()));
        actual.put("max_ts", u(p.maxTs()));
        actual.put("get_max_lock_ts", u(p.maxLockTs()));
        actual.put("entries", u(p.entries()));
        actual.put("old_entries", u(p.oldEntries()));
        actual.put("tombs", u(p.tombs()));
        actual.put("kv_size", u(p.kvBytes()));
        actual.put("in_use_total_blob_size", u(p.inUseBlobBytes()));
        actual.put("encryption_ver", u(p.encryptionVersion()));
        actual.put("snap_version", u(p.snapVersion()));
        actual.put("filter_size", u(f.propertiesOffset() - f.filterOffset()));
        actual.put("main_blocks", u(reader.blocks().index.count()));
        actual.put("old_blocks", u(reader.blocks().oldIndex.count()));
        var expected = new LinkedHashMap<String, String>();
        actual.keySet().forEach(name -> expected.put(name, meta.get(prefix + name)));
        assertThat(actual).isEqualTo(expected);
    }

    void blocks() {
        var actual = new ArrayList<String>();
        var loader = new BlockLoader(arena);
        for (boolean old : new boolean[] {false, true}) {
            BlockIndex index = old ? reader.blocks().oldIndex : reader.blocks().index;
            for (int i = 0; i < index.count(); i++) {
                var view = new BlockView();
                loader.load(reader.blocks(), old, i, view);
                actual.add(String.join(
                        "\t",
                        old ? "old" : "main",
                        "" + i,
                        Dumps.hex(index.copyKey(i)),
                        u(index.originFileId(i)),
                        u(index.originOffset(i)),
                        u(index.start(i)),
                        u(view.viewBody().byteSize()),
                        Dumps.sha256(view.viewBody().toArray(ValueLayout.JAVA_BYTE))));
            }
        }
        var expected = golden.tsv(prefix + "blocks.tsv").stream()
                .map(line -> {
                    line[2] = Dumps.hex(Dumps.key(line[2], keys));
                    return String.join("\t", line);
                })
                .toList();
        assertThat(actual).isEqualTo(expected);
    }

    void entries() {
        TableCursor cursor = reader.cursor(false, arena);
        int line = 0;
        List<String[]> expected = golden.tsv(prefix + "entries.tsv");
        assertThat(expected).isNotEmpty();
        for (boolean more = cursor.rewind(); more; more = cursor.nextAllVersions()) {
            assertThat(entry(cursor)).as("line %d", line).isEqualTo(String.join("\t", expected.get(line)));
            line++;
        }
        assertThat(line).isEqualTo(expected.size());
        assertThat(cursor.valid()).isFalse();
    }

    /** In reverse: keys descending, the versions of each still newest first. */
    void backwards() {
        var expected = new ArrayList<List<String>>();
        String last = null;
        for (String[] line : golden.tsv(prefix + "entries.tsv")) {
            if (!line[0].equals(last)) {
                expected.add(0, new ArrayList<>());
                last = line[0];
            }
            expected.get(0).add(String.join("\t", line));
        }
        TableCursor cursor = reader.cursor(true, arena);
        int key = 0;
        for (boolean more = cursor.rewind(); more; more = cursor.next()) {
            var versions = new ArrayList<String>();
            do {
                versions.add(entry(cursor));
            } while (cursor.nextVersion());
            assertThat(versions).isEqualTo(expected.get(key++));
        }
        assertThat(key).isEqualTo(expected.size());
    }

    void seeks() {
        TableCursor forward = reader.cursor(false, arena);
        TableCursor reverse = reader.cursor(true, arena);
        for (String[] line : golden.tsv(prefix + "seeks.tsv")) {
            byte[] sought = Dumps.key(line[1], keys);
            TableCursor cursor = line[0].equals("f") ? forward : reverse;
            boolean found = cursor.seek(sought, 0, sought.length);
            String actual = found ? Dumps.hex(cursor.copyKey()) + " " + u(cursor.version()) : "- -";
            String key = Dumps.isNone(line[2]) ? "-" : Dumps.hex(Dumps.key(line[2], keys));
            assertThat(actual).as(String.join(" ", line)).isEqualTo(key + " " + line[3]);
        }
    }

    void gets() {
        TableCursor cursor = reader.cursor(false, arena);
        for (String[] line : golden.tsv(prefix + "gets.tsv")) {
            byte[] key = Dumps.key(line[1], keys);
            long version = Long.parseUnsignedLong(line[2]);
            long hash = Fingerprint64.hash(key);
            boolean found = line[0].equals("get")
                    ? cursor.find(key, 0, key.length, hash, version)
                    : cursor.findNewer(key, 0, key.length, hash, version);
            String actual = found ? fields(cursor) : "-\t-\t-\t-";
            assertThat(actual)
                    .as(String.join(" ", line))
                    .isEqualTo(String.join("\t", line[3], line[4], line[5], line[6]));
        }
    }

    void filter() {
        List<String[]> lines = golden.tsvIfPresent(prefix + "filter.tsv");
        assertThat(reader.hasFilter()).isEqualTo(!lines.isEmpty());
        for (String[] line : lines) {
            long hash = Long.parseUnsignedLong(line[2], 16);
            if (!Dumps.isNone(line[1])) {
                byte[] key = Dumps.key(line[1], keys);
                assertThat(Fingerprint64.hash(key)).as(line[1]).isEqualTo(hash);
            }
            assertThat(reader.mayContain(hash)).as(String.join(" ", line)).isEqualTo(line[3].equals("1"));
        }
    }

    static String entry(TableCursor cursor) {
        return Dumps.hex(cursor.copyKey()) + "\t" + fields(cursor);
    }

    private static String fields(TableCursor cursor) {
        return String.join(
                "\t",
                u(cursor.version()),
                HexFormat.of().toHexDigits((byte) cursor.meta()),
                Dumps.hex(cursor.copyUserMeta()),
                Dumps.value(cursor.copyValue()));
    }

    private static String u(long value) {
        return Long.toUnsignedString(value);
    }

    /** The key that the case's tables were read back with; null if they are not encrypted. */
    static ShardKey shardKey(GoldenCase golden) {
        Map<String, String> meta = golden.meta();
        if (!meta.containsKey("enc.exported")) {
            return null;
        }
        byte[] master = Dumps.bytes(meta.get("enc.master_key"));
        ShardKey key = ShardKey.unwrap(master, Dumps.bytes(meta.get("enc.exported")))
                .withVersion(Integer.parseUnsignedInt(meta.get("enc.reader_current_version")));
        assertThat(Dumps.hex(key.fileKey(key.version()).getEncoded()))
                .isEqualTo(meta.get("enc.reader_current_file_key"));
        return key;
    }
}
