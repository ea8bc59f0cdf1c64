package io.coplane.sst;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;

/** Puts tables together byte by byte, with right checksums, so that any field can be wrong. Without common prefixes. */
final class CraftedTable {
    /** A stored block: the key that the index says, and what stands behind the checksum. */
    record Block(String key, byte[] content) {}

    final List<Block> main = new ArrayList<>();
    final List<Block> old = new ArrayList<>();
    CompressionType compression = CompressionType.NONE;
    String smallest = "";
    String biggest = "zzzz";

    /** What an index says instead of the truth; null: the truth. */
    int[] mainOffsets;

    Integer mainCount;
    byte[] filter = new byte[0];
    byte[] moreProperties = new byte[0];

    /** An entry of a block body. */
    static byte[] entry(String key, int meta, long version, long oldVersion, String value) {
        ByteBuffer out = buffer(2 + key.length() + 1 + 8 + 8 + 1 + value.length());
        out.putShort((short) key.length())
                .put(Tables.bytes(key))
                .put((byte) meta)
                .putLong(version);
        if ((meta & ValueMeta.HAS_OLD_VERSION) != 0) {
            out.putLong(oldVersion);
        }
        out.put((byte) 0).put(Tables.bytes(value));
        return Arrays.copyOf(out.array(), out.position());
    }

    /** A block body of entries. */
    static byte[] body(byte[]... entries) {
        int[] offsets = new int[entries.length];
        int at = 0;
        for (int i = 0; i < entries.length; i++) {
            offsets[i] = at;
            at += entries[i].length;
        }
        return body(entries.length, offsets, entries);
    }

    /** A block body that may lie about its entries. */
    static byte[] body(int count, int[] offsets, byte[]... entries) {
        var out = new ByteArrayOutputStream();
        out.writeBytes(ints(Formats.BLOCK_FORMAT, count));
        out.writeBytes(ints(offsets));
        out.writeBytes(new byte[2]); // no common prefix
        for (byte[] entry : entries) {
            out.writeBytes(entry);
        }
        return out.toByteArray();
    }

    /** The file. */
    byte[] build() {
        var file = new ByteArrayOutputStream();
        int[] mainAt = blocks(main, file);
        int oldData = file.size();
        int[] oldAt = blocks(old, file);
        int index = file.size();
        file.writeBytes(checked(index(main, mainOffsets == null ? mainAt : mainOffsets, mainCount)));
        int oldIndex = file.size();
        file.writeBytes(checked(index(old, oldAt, null)));
        int aux = file.size();
        if (filter.length > 0) {
            file.writeBytes(checked(concat(ints(Formats.FILTER_TYPE, filter.length), filter)));
        }
        int properties = file.size();
        file.writeBytes(checked(concat(
                property(TableProperties.SMALLEST, Tables.bytes(smallest)),
                property(TableProperties.BIGGEST, Tables.bytes(biggest)),
                property(TableProperties.MAX_TS, longs(-1)),
                moreProperties)));
        file.writeBytes(ints(oldData, index, oldIndex, aux, properties));
        file.write(compression.number());
        file.write(ChecksumType.CRC32C.number());
        file.write(Formats.TABLE_FORMAT);
        file.write(0);
        file.writeBytes(ints(Formats.SST_MAGIC));
        return file.toByteArray();
    }

    private static int[] blocks(List<Block> blocks, ByteArrayOutputStream file) {
        int[] offsets = new int[blocks.size()];
        for (int i = 0; i < offsets.length; i++) {
            offsets[i] = file.size();
            file.writeBytes(checked(blocks.get(i).content));
        }
        return offsets;
    }

    private static byte[] index(List<Block> blocks, int[] offsets, Integer count) {
        var keyOffsets = new int[blocks.size()];
        var keys = new ByteArrayOutputStream();
        ByteBuffer addresses = buffer(16 * blocks.size());
        for (int i = 0; i < blocks.size(); i++) {
            keyOffsets[i] = keys.size();
            keys.writeBytes(Tables.bytes(blocks.get(i).key));
            addresses.putLong(1).putInt(offsets[i]).putInt(offsets[i]);
        }
        return concat(
                ints(Formats.INDEX_FORMAT, count == null ? blocks.size() : count),
                ints(keyOffsets),
                addresses.array(),
                new byte[2],
                ints(keys.size()),
                keys.toByteArray());
    }

    static byte[] property(String name, byte[] value) {
        return concat(new byte[] {(byte) name.length(), 0}, Tables.bytes(name), ints(value.length), value);
    }

    static byte[] checked(byte[] section) {
        var crc = new CRC32C();
        crc.update(section);
        return concat(ints((int) crc.getValue()), section);
    }

    static byte[] concat(byte[]... parts) {
        var out = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            out.writeBytes(part);
        }
        return out.toByteArray();
    }

    static byte[] ints(int... values) {
        ByteBuffer out = buffer(4 * values.length);
        Arrays.stream(values).forEach(out::putInt);
        return out.array();
    }

    static byte[] longs(long... values) {
        ByteBuffer out = buffer(8 * values.length);
        Arrays.stream(values).forEach(out::putLong);
        return out.array();
    }

    private static ByteBuffer buffer(int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    }
}
