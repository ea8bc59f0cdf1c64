package io.coplane.sst;

import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;

/**
 * Walks the entries of one table, or of the disjoint tables of a level as if they were one, in either direction (sst.md 9.3, 9.4). The one class
 * for every source, so that a merge over several has one receiver.
 *
 * <p>Borrows its tables and the arena that its scratch memory comes from; nothing to close. Key, value and user meta are valid until the next move.
 * One thread.
 *
 * <p>Moves throw {@link io.coplane.nativecache.CoplaneException} of codes FILE_CHECKSUM, FILE_FORMAT (a broken block) and MEMORY_LIMIT; the cursor
 * is invalid then and may be sought again.
 */
public final class TableCursor {
    private static final int FIRST_KEY_BYTES = 256;
    private static final int LINEAR_VERSIONS = 4;

    /** Stored bytes of the older versions of a block's keys that are worth to be looked at twice. */
    private static final int MOST_OLDER_BYTES = 1 << 20;

    /** On the newest version; on an older one; behind the oldest one. */
    private enum Mode {
        NEWEST,
        OLD,
        EXHAUSTED
    }

    private final BlockTable[] tables;
    private final BlockLoader loader;
    private final BlockView main = new BlockView();
    private final BlockView old = new BlockView();
    private BlockView current = main;
    private boolean reverse;
    private boolean valid;
    private Mode mode = Mode.NEWEST;

    // what is loaded into main and old; -1: nothing
    private int table;
    private int block = -1;
    private int entry;
    private int oldTable;
    private int oldBlock = -1;
    private int oldEntry;

    // the prefix of main's block, then the suffix of its entry, then slack
    private byte[] key = new byte[FIRST_KEY_BYTES];
    private int keyLength;

    TableCursor(BlockTable[] tables, boolean reverse, NativeArena arena) {
        int used = 0;
        BlockTable[] filled = new BlockTable[tables.length];
        for (BlockTable candidate : tables) {
            if (candidate.index.count() > 0) {
                filled[used++] = candidate;
            }
        }
        this.tables = Arrays.copyOf(filled, used);
        this.reverse = reverse;
        this.loader = new BlockLoader(arena);
    }

    /**
     * A cursor over the tables of one level.
     *
     * @param tables  ascending and disjoint; borrowed
     * @param reverse direction of {@link #next}, {@link #rewind} and {@link #seek}
     * @param arena   owns the scratch memory; borrowed
     */
    public static TableCursor overLevel(List<SstReader> tables, boolean reverse, NativeArena arena) {
        return new TableCursor(tables.stream().map(SstReader::blocks).toArray(BlockTable[]::new), reverse, arena);
    }

    /** Turns the cursor round; it stays where it is. Takes effect with the next move. */
    public void setReverse(boolean backwards) {
        reverse = backwards;
    }

    /** Whether moves go to smaller keys. */
    public boolean isReverse() {
        return reverse;
    }

    /** Moves to the first key of the direction. @return whether there is one */
    public boolean rewind() {
        valid = false;
        if (tables.length == 0) {
            return false;
        }
        return reverse ? lastOf(tables.length - 1) : firstOf(0);
    }

    /**
     * Moves to the newest version of the first key no less than this one; in reverse, of the last key no greater.
     *
     * @return whether there is one
     */
    @SuppressWarnings("ReferenceEquality") // whether it is our own scratch, not whether it is equal
    public boolean seek(byte[] sought, int offset, int length) {
        valid = false;
        if (tables.length == 0) {
            return false;
        }
        byte[] k = sought;
        int from = offset;
        if (k == key) {
            k = Arrays.copyOfRange(k, offset, offset + length); // the scratch is about to change
            from = 0;
        }
        return reverse ? seekReverse(k, from, length) : seekForward(k, from, length);
    }

    private boolean seekForward(byte[] k, int offset, int length) {
        int t = firstTable(k, offset, length);
        if (t == tables.length) {
            return false;
        }
        int b = tables[t].index.blockOf(k, offset, length);
        loadMain(t, b);
        int i = main.lowerBound(k, offset, length);
        return i < main.count ? moveTo(i) : nextBlock();
    }

    private boolean seekReverse(byte[] k, int offset, int length) {
        int t = lastTable(k, offset, length);
        if (t < 0) {
            return false;
        }
        int b = tables[t].index.blockOf(k, offset, length);
        loadMain(t, b);
        int i = main.lowerBound(k, offset, length);
        if (i < main.count && main.compareKey(k, offset, length, i) == 0) {
            return moveTo(i);
        }
        return i > 0 ? moveTo(i - 1) : previousBlock();
    }

    /** First table that may hold this key or a greater one. A lone table is always searched: its bounds are not needed. */
    private int firstTable(byte[] k, int offset, int length) {
        if (tables.length == 1) {
            return 0;
        }
        int low = 0;
        int high = tables.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (Bytes.compare(k, offset, length, tables[middle].biggest) > 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    private int lastTable(byte[] k, int offset, int length) {
        if (tables.length == 1) {
            return 0;
        }
        int low = 0;
        int high = tables.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (Bytes.compare(k, offset, length, tables[middle].smallest) >= 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low - 1;
    }

    /** Moves to the newest version of the next key in the direction. @return whether there is one */
    public boolean next() {
        if (!valid) {
            return false;
        }
        int i = reverse ? entry - 1 : entry + 1;
        if (i >= 0 && i < main.count) {
            return moveTo(i);
        }
        valid = false;
        return reverse ? previousBlock() : nextBlock();
    }

    private boolean nextBlock() {
        if (block + 1 < tables[table].index.count()) {
            loadMain(table, block + 1);
            return moveTo(0);
        }
        return table + 1 < tables.length && firstOf(table + 1);
    }

    private boolean previousBlock() {
        if (block > 0) {
            loadMain(table, block - 1);
            return moveTo(main.count - 1);
        }
        return table > 0 && lastOf(table - 1);
    }

    private boolean firstOf(int t) {
        loadMain(t, 0);
        return moveTo(0);
    }

    private boolean lastOf(int t) {
        loadMain(t, tables[t].index.count() - 1);
        return moveTo(main.count - 1);
    }

    private void loadMain(int t, int b) {
        if (t == table && b == block) {
            return;
        }
        block = -1;
        if (t != table) {
            tables[table].release();
            oldBlock = -1; // its bytes may be gone
        }
        if (tables[t].stream(true) != null && tables[t].stream(true).keepNothing()) {
            oldBlock = -1;
        }
        loader.load(tables[t], false, b, main);
        int prefix = main.prefixLength;
        if (key.length < prefix + BlockView.KEY_SLACK_BYTES) {
            key = new byte[2 * prefix];
        }
        main.copyPrefix(key);
        table = t;
        block = b;
    }

    private boolean moveTo(int i) {
        valid = false;
        main.read(i);
        int prefix = main.prefixLength;
        int length = prefix + main.suffixLength;
        if (key.length < length + BlockView.KEY_SLACK_BYTES) {
            key = Arrays.copyOf(key, 2 * length);
        }
        main.copySuffix(key, prefix);
        keyLength = length;
        entry = i;
        if (mode != Mode.NEWEST) { // a store of a reference costs more than to look, and is seldom needed
            mode = Mode.NEWEST;
            current = main;
        }
        valid = true;
        return true;
    }

    /**
     * Moves to the next older version of the same key.
     *
     * @return false if there is none; then the key is still valid, and so is {@link #next}, but the value is only if it was the newest version
     */
    public boolean nextVersion() {
        if (!valid) {
            return false;
        }
        return switch (mode) {
            case NEWEST -> main.oldVersion != 0 && firstOldVersion();
            case OLD -> {
                int i = oldEntry + 1;
                yield i < old.count && old.compareKey(key, 0, keyLength, i) == 0 ? moveToOld(i) : exhausted();
            }
            case EXHAUSTED -> false;
        };
    }

    private boolean firstOldVersion() {
        BlockTable of = tables[table];
        valid = false;
        if (of.oldIndex.count() == 0) {
            throw FileErrors.format(of.file, of.index.start(block), "entry has an old version, the table has none");
        }
        int b = of.oldIndex.blockOf(key, 0, keyLength);
        int i;
        if (oldTable == table && oldBlock == b) {
            // a scan finds the old versions of the next key close behind those of the last one
            int order = old.compareKey(key, 0, keyLength, oldEntry);
            i = order > 0 ? old.lowerBoundFrom(oldEntry, key, 0, keyLength) : old.lowerBound(key, 0, keyLength);
        } else {
            oldBlock = -1;
            loader.load(of, true, b, old);
            oldTable = table;
            oldBlock = b;
            i = old.lowerBound(key, 0, keyLength);
        }
        if (i == old.count || old.compareKey(key, 0, keyLength, i) != 0) {
            throw FileErrors.format(of.file, of.oldIndex.start(b), "no old version of a key that has one");
        }
        old.read(i);
        if (old.version != main.oldVersion || Long.compareUnsigned(old.version, main.version) >= 0) {
            throw FileErrors.format(
                    of.file,
                    of.oldIndex.start(b),
                    "another old version than its entry says, or a newer one: entry="
                            + Long.toUnsignedString(main.oldVersion) + " found=" + Long.toUnsignedString(old.version)
                            + " newest=" + Long.toUnsignedString(main.version));
        }
        return moveToOld(i);
    }

    private boolean moveToOld(int i) {
        valid = false;
        old.read(i);
        oldEntry = i;
        current = old;
        mode = Mode.OLD;
        valid = true;
        return true;
    }

    private boolean exhausted() {
        mode = Mode.EXHAUSTED;
        return false;
    }

    /**
     * Moves to the newest version of this key that is no newer than {@code readTs} (unsigned), starting from where it stands.
     *
     * @return false if there is none; then only the key is valid
     */
    public boolean seekVersion(long readTs) {
        if (!valid) {
            return false;
        }
        for (int i = 0; i < LINEAR_VERSIONS; i++) {
            if (Long.compareUnsigned(current.version, readTs) <= 0) {
                return mode != Mode.EXHAUSTED;
            }
            if (!nextVersion()) {
                return false;
            }
        }
        // on an old version by now: the rest of the key's versions lie behind it, descending
        int low = oldEntry;
        int high = old.count;
        while (low < high) {
            int middle = (low + high) >>> 1;
            boolean newer = false;
            if (old.compareKey(key, 0, keyLength, middle) == 0) {
                old.read(middle);
                newer = Long.compareUnsigned(old.version, readTs) > 0;
            }
            if (newer) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (low < old.count && old.compareKey(key, 0, keyLength, low) == 0) {
            return moveToOld(low);
        }
        return exhausted();
    }

    /** Moves to the next older version of this key, or to the next key if there is none. */
    public boolean nextAllVersions() {
        return nextVersion() || next();
    }

    /**
     * Point lookup: moves to the newest version of exactly this key that is no newer than {@code readTs} (sst.md 9.2). Asks the filter first.
     *
     * @param keyHash {@link Fingerprint64} of the key
     * @return whether there is one, perhaps a tombstone
     */
    public boolean find(byte[] k, int offset, int length, long keyHash, long readTs) {
        valid = false;
        int t = tables.length == 0 ? 0 : firstTable(k, offset, length);
        if (t == tables.length) {
            return false;
        }
        BlockTable in = tables[t];
        if (in.filter != null && !in.filter.mayContain(keyHash)) {
            return false;
        }
        loadMain(t, in.index.blockOf(k, offset, length));
        int i = main.lowerBound(k, offset, length);
        if (i == main.count || main.compareKey(k, offset, length, i) != 0) {
            return false;
        }
        if (!moveTo(i) || !seekVersion(readTs)) {
            valid = false;
        }
        return valid;
    }

    /**
     * Point lookup of what changed: moves to the newest version of exactly this key if it is newer than {@code version} (unsigned).
     *
     * @param keyHash {@link Fingerprint64} of the key
     */
    public boolean findNewer(byte[] k, int offset, int length, long keyHash, long version) {
        valid = false;
        int t = tables.length == 0 ? 0 : firstTable(k, offset, length);
        if (t == tables.length || Long.compareUnsigned(tables[t].maxTs, version) <= 0) {
            return false;
        }
        if (find(k, offset, length, keyHash, -1L) && Long.compareUnsigned(current.version, version) <= 0) {
            valid = false;
        }
        return valid;
    }

    /** Whether the cursor stands on the newest version of the first key of a block, walking forward. */
    public boolean isAtBlockStart() {
        return valid && entry == 0 && mode == Mode.NEWEST && !reverse;
    }

    /** Keys of the block that the cursor stands in. */
    public int blockEntries() {
        return main.count;
    }

    /** Moves to the newest version of a key of the block that the cursor stands in; 0 .. {@link #blockEntries} - 1. */
    public void moveInBlock(int i) {
        moveTo(i);
    }

    /**
     * Whether the older versions of two keys of the block that the cursor stands in, and all between them, lie in so few blocks that they may be walked
     * more than once: what is read of them is kept then. A function of the table alone. Leaves the cursor on the first key.
     */
    public boolean hasOlderAtHand(int firstKey, int lastKey) {
        BlockTable of = tables[table];
        BlockIndex index = of.oldIndex;
        if (index.count() == 0) {
            return false;
        }
        moveTo(lastKey);
        int last = index.blockOf(key, 0, keyLength);
        moveTo(firstKey);
        int first = index.blockOf(key, 0, keyLength);
        if (last > first && index.end(last) - index.start(first) > MOST_OLDER_BYTES) {
            return false;
        }
        if (of.stream(true) != null && of.stream(true).keepFrom(first)) {
            oldBlock = -1; // its bytes may be gone
        }
        return true;
    }

    /** Bytes that the entry takes in a block at most. */
    public int mostBlockBytes() {
        return Integer.BYTES + BlockView.LEAST_ENTRY_BYTES + keyLength + current.userMetaLength + current.valueLength;
    }

    /** Whether a table of these options could hold the block that the cursor stands in just as it is stored, but for encryption. */
    boolean isStoredAs(SstOptions options) {
        return isStoredAs(options, false);
    }

    private boolean isStoredAs(SstOptions options, boolean isOld) {
        BlockTable of = tables[table];
        BlockView view = isOld ? old : main;
        long body = view.bodyBytes();
        return of.compression == options.compression()
                && of.checksum == options.checksum()
                && body >= options.blockBytes() / 2
                && body <= 2L * options.blockBytes()
                && !view.isTrimmed()
                && loader.hasStored(isOld);
    }

    /**
     * Whether the cursor stands at the beginning of an old block that a table of these options could hold just as it is stored, and in which all entries
     * are older versions of keys of one main block. Stays where it is.
     */
    boolean isAtWholeOldBlock(SstOptions options) {
        if (mode != Mode.OLD || oldEntry != 0 || !isStoredAs(options, true)) {
            return false;
        }
        int from = entry;
        int reached = 0;
        for (int i = from; i < main.count && reached < old.count; i++) {
            moveTo(i);
            if (main.oldVersion != 0) {
                int before = reached;
                while (reached < old.count && old.compareKey(key, 0, keyLength, reached) == 0) {
                    reached++;
                }
                if (reached == before) {
                    break; // an entry that no key leads to
                }
            }
        }
        moveTo(from);
        return nextVersion() && reached == old.count;
    }

    /** Number of the old block that the cursor stands in. */
    int oldBlock() {
        return oldBlock;
    }

    /** Bytes of the block that the cursor stands in, decoded. */
    long blockBodyBytes() {
        return main.bodyBytes();
    }

    /** Appends the block of newest versions that the cursor stands in as it is stored, but decrypted. */
    void copyStoredBlock(NativeBytes to) {
        loader.copyStored(false, to);
    }

    /** Appends the block of older versions that the cursor stands in as it is stored, but decrypted. */
    void copyStoredOldBlock(NativeBytes to) {
        loader.copyStored(true, to);
    }

    /** Whether the cursor stands on a key. */
    public boolean valid() {
        return valid;
    }

    /** The key's bytes from 0 to {@link #keyLength}; scratch that the next move overwrites. What follows is undefined. */
    public byte[] keyBytes() {
        return key;
    }

    /** Bytes of the key. */
    public int keyLength() {
        return keyLength;
    }

    /** Order of the cursor's key and another one, unsigned. */
    public int compareKey(byte[] other, int offset, int length) {
        return Arrays.compareUnsigned(key, 0, keyLength, other, offset, offset + length);
    }

    /** A copy of the key. */
    public byte[] copyKey() {
        return Arrays.copyOf(key, keyLength);
    }

    /** Version of the entry; unsigned. */
    public long version() {
        return current.version;
    }

    /** Bits of {@link ValueMeta}, as stored: with {@link ValueMeta#HAS_OLD_VERSION}. */
    public int meta() {
        return current.meta;
    }

    /** Where value and user meta are. */
    public MemorySegment valueSegment() {
        return current.body;
    }

    /** Offset of the value in its segment. */
    public long valueOffset() {
        return current.valueAt;
    }

    /** Bytes of the value. */
    public int valueLength() {
        return current.valueLength;
    }

    /** A copy of the value. */
    public byte[] copyValue() {
        return current.body.asSlice(current.valueAt, current.valueLength).toArray(Layouts.BYTE);
    }

    /** Offset of the user meta in the segment of the value. */
    public long userMetaOffset() {
        return current.userMetaAt;
    }

    /** Bytes of the user meta; 0 .. 255. */
    public int userMetaLength() {
        return current.userMetaLength;
    }

    /** A copy of the user meta. */
    public byte[] copyUserMeta() {
        return current.body.asSlice(current.userMetaAt, current.userMetaLength).toArray(Layouts.BYTE);
    }
}
