package io.coplane.worker.inspect;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.sst.FileVisitor;
import io.coplane.sst.RowFileKind;
import io.coplane.sst.ValueMeta;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Prints what an inspector finds. Numbers are unsigned decimal, bytes hexadecimal, long ones {@code #LENGTH:SHA256}. One thread. */
final class DumpVisitor implements FileVisitor {
    private static final int LONGEST_HEX_BYTES = 200;
    private static final int USER_META_BYTES = 17;
    private static final HexFormat HEX = HexFormat.of();
    private static final ValueLayout.OfLong LE_LONG =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final List<String> TXN_OPS = List.of("put", "delete", "lock", "3", "insert", "5", "check_not_exist");

    private final Lines lines;
    private final RowFileKind kind;
    private final boolean keysOnly;
    private long entriesLeft;
    private long problems;

    /** @param limit entries printed at most; 0: no blocks' entries at all */
    DumpVisitor(Lines lines, RowFileKind kind, boolean keysOnly, long limit) {
        this.lines = lines;
        this.kind = kind;
        this.keysOnly = keysOnly;
        entriesLeft = limit;
    }

    long problems() {
        return problems;
    }

    @Override
    public boolean wantsEntries() {
        return entriesLeft > 0;
    }

    @Override
    public void beginTable(String name) {
        if (!name.isEmpty()) {
            lines.print(0, "table", Map.of("name", name));
        }
    }

    @Override
    public void footer(String name, long value) {
        lines.print(1, "footer", pair(name, number(value)));
    }

    @Override
    public void section(String name, long offset, long bytes) {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("name", name.replace(' ', '_'));
        values.put("offset", offset);
        values.put("bytes", bytes);
        lines.print(1, "section", values);
    }

    @Override
    public void property(String name, long value) {
        lines.print(1, "property", pair(name, number(value)));
    }

    @Override
    public void property(String name, byte[] value) {
        lines.print(1, "property", pair(name, HEX.formatHex(value)));
    }

    @Override
    public void beginBlock(BlockInfo block) {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("kind", block.kind());
        values.put("index", block.index());
        values.put("offset", block.offset());
        values.put("bytes", block.bytes());
        values.put("body_bytes", block.bodyBytes());
        values.put("entries", block.entries());
        if (block.firstKey().length > 0) {
            values.put("first_key", HEX.formatHex(block.firstKey()));
        }
        lines.print(1, "block", values);
    }

    @Override
    public void entry(EntryInfo entry) {
        if (entriesLeft <= 0) {
            return;
        }
        entriesLeft--;
        Map<String, Object> values = new LinkedHashMap<>();
        if (entry.key().length > 0) {
            values.put("key", HEX.formatHex(entry.key()));
            KeyText.describe(entry.key(), values);
        }
        switch (kind) {
            case SST, L0 -> describeVersion(entry, values);
            case TXN_CHUNK ->
                values.put("op", entry.bits() < TXN_OPS.size() ? TXN_OPS.get(entry.bits()) : entry.bits());
            case BLOB -> {
                // a record has no more than its value
            }
        }
        if (!keysOnly) {
            describeValue(entry, values);
        }
        lines.print(2, "entry", values);
    }

    private static void describeVersion(EntryInfo entry, Map<String, Object> values) {
        values.put("version", number(entry.version()));
        values.put("meta", entry.bits());
        if ((entry.bits() & ValueMeta.HAS_OLD_VERSION) != 0) {
            values.put("old_version", number(entry.oldVersion()));
        }
        MemorySegment userMeta = entry.userMeta();
        if (userMeta.byteSize() == USER_META_BYTES && userMeta.get(ValueLayout.JAVA_BYTE, 0) == 1) {
            values.put("start_ts", number(userMeta.get(LE_LONG, 1)));
            values.put("commit_ts", number(userMeta.get(LE_LONG, 1 + Long.BYTES)));
        } else if (userMeta.byteSize() > 0) {
            values.put("user_meta", hex(userMeta));
        }
    }

    private static void describeValue(EntryInfo entry, Map<String, Object> values) {
        if (entry.blob() == null) {
            values.put("value", hex(entry.value()));
            return;
        }
        values.put("blob_file", number(entry.blob().fileId()));
        values.put("blob_offset", Integer.toUnsignedLong(entry.blob().offset()));
        values.put("blob_bytes", Integer.toUnsignedLong(entry.blob().storedBytes()));
        values.put("value_bytes", Integer.toUnsignedLong(entry.blob().valueBytes()));
    }

    @Override
    public void endBlock() {
        // a block is over when another line follows
    }

    @Override
    public void endTable() {
        // as a block
    }

    @Override
    public void problem(ErrorCode code, long offset, String what) {
        problems++;
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("offset", offset);
        values.put("code", code);
        values.put("what", what);
        lines.print(0, "problem", values);
    }

    private static Map<String, Object> pair(String name, Object value) {
        return Map.of(name, value);
    }

    /** Above the signed range as text, so that nothing in between rounds it. */
    private static Object number(long value) {
        return value >= 0 ? (Object) value : Long.toUnsignedString(value);
    }

    private static String hex(MemorySegment bytes) {
        long length = bytes.byteSize();
        if (length <= LONGEST_HEX_BYTES) {
            return HEX.formatHex(bytes.toArray(ValueLayout.JAVA_BYTE));
        }
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(bytes.asByteBuffer());
            return "#" + length + ":" + HEX.formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new CoplaneException(ErrorCode.INVARIANT_BROKEN, "every Java has SHA-256", e);
        }
    }
}
