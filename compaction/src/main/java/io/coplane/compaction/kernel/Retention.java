package io.coplane.compaction.kernel;

import io.coplane.nativecache.memory.Layouts;
import io.coplane.sst.ColumnFamily;
import io.coplane.sst.TableCursor;
import io.coplane.sst.ValueMeta;
import java.lang.foreign.MemorySegment;

/**
 * Which versions a row compaction keeps (compaction.md 3.3): all above the safe point; of those at or below it the newest, unless that is a delete
 * that nothing below needs. Hot: runs per entry. One thread.
 *
 * <pre>
 * user meta of write and extra entries, 17 bytes: format (1), start ts (8), commit ts (8), little-endian
 * </pre>
 */
public final class Retention {
    /** What becomes of the newest version at or below the safe point. */
    private enum Fate {
        STAYS,
        TOMBSTONE,
        GOES
    }

    private static final int USER_META_BYTES = 17;
    private static final int START_TS_AT = 1;
    private static final int COMMIT_TS_AT = START_TS_AT + Long.BYTES;

    private final ColumnFamily family;
    private final long safeTs;
    private final boolean keepTombstone;

    /**
     * @param safeTs        unsigned
     * @param keepTombstone whether a level below may hold versions that a delete hides
     */
    public Retention(ColumnFamily family, long safeTs, boolean keepTombstone) {
        this.family = family;
        this.safeTs = safeTs;
        this.keepTombstone = keepTombstone;
    }

    /**
     * Hands the entries that stay to a sink.
     *
     * @param start inner key, inclusive
     * @param end   inner key, exclusive
     * @return entries looked at
     */
    public long run(MergeCursor merge, byte[] start, byte[] end, EntrySink sink) {
        long seen = 0;
        boolean skip = false;
        boolean more = merge.seek(start);
        while (more) {
            TableCursor entry = merge.entry();
            if (!merge.isSameKey()) {
                if (entry.compareKey(end, 0, end.length) >= 0) {
                    break;
                }
                if (seen > 0) {
                    sink.beforeKey(entry, seen);
                }
                skip = false;
                if (entry.isAtBlockStart() && sink.takesBlock(entry, 0) && staysWhole(merge, end, sink)) {
                    seen += sink.addBlock(entry);
                    more = merge.nextBlock();
                    continue;
                }
            }
            seen++;
            if (!skip) {
                if (isNewer(entry)) {
                    sink.add(entry);
                } else {
                    skip = true;
                    newestBelow(entry, sink);
                }
            }
            more = merge.next();
        }
        return seen;
    }

    private boolean isNewer(TableCursor entry) {
        return family != ColumnFamily.LOCK && Long.compareUnsigned(entry.version(), safeTs) > 0;
    }

    /** Whether all entries of the block that the merge stands at the beginning of stay, with all older versions and nothing between them. */
    private boolean staysWhole(MergeCursor merge, byte[] end, EntrySink sink) {
        if (!merge.isBlockNext(end)) {
            return false;
        }
        TableCursor entry = merge.entry();
        int entries = entry.blockEntries();
        int firstWithOlder = -1;
        int lastWithOlder = -1;
        boolean stays = true;
        for (int i = 0; stays && i < entries; i++) {
            entry.moveInBlock(i);
            boolean hasOlder = (entry.meta() & ValueMeta.HAS_OLD_VERSION) != 0;
            // below the safe point only one version stays
            stays = (isNewer(entry) || !hasOlder && fate(entry) == Fate.STAYS) && sink.keepsAsStored(entry);
            if (hasOlder) {
                firstWithOlder = firstWithOlder < 0 ? i : firstWithOlder;
                lastWithOlder = i;
            }
        }
        if (stays && firstWithOlder >= 0) {
            stays = entry.hasOlderAtHand(firstWithOlder, lastWithOlder)
                    && olderStay(entry, firstWithOlder, lastWithOlder, sink);
        }
        entry.moveInBlock(0);
        return stays;
    }

    /** Whether all older versions of some keys of a block stay, and the block may be added with them. */
    private boolean olderStay(TableCursor entry, int firstKey, int lastKey, EntrySink sink) {
        long bytes = 0;
        for (int i = firstKey; i <= lastKey; i++) {
            entry.moveInBlock(i);
            boolean below = false;
            while (entry.nextVersion()) {
                if (below || !sink.keepsAsStored(entry)) {
                    return false;
                }
                below = !isNewer(entry);
                if (below && fate(entry) != Fate.STAYS) {
                    return false;
                }
                bytes += entry.mostBlockBytes();
            }
        }
        entry.moveInBlock(0);
        return sink.takesBlock(entry, bytes);
    }

    /** The newest version at or below the safe point; of a lock the newest at all. */
    private void newestBelow(TableCursor entry, EntrySink sink) {
        switch (fate(entry)) {
            case STAYS -> sink.add(entry);
            case TOMBSTONE -> sink.addTombstone(entry);
            case GOES -> {
                // nothing below it is seen either
            }
        }
    }

    private Fate fate(TableCursor entry) {
        if ((entry.meta() & ValueMeta.DELETE) != 0) {
            return keepTombstone ? Fate.STAYS : Fate.GOES;
        }
        if (entry.userMetaLength() == USER_META_BYTES) {
            MemorySegment at = entry.valueSegment();
            switch (family) {
                case WRITE -> {
                    // a delete of a transaction: an empty value
                    if (entry.valueLength() == 0
                            && isBelow(at.get(Layouts.LE_LONG, entry.userMetaOffset() + COMMIT_TS_AT))) {
                        return keepTombstone ? Fate.TOMBSTONE : Fate.GOES;
                    }
                }
                case EXTRA -> {
                    if (isBelow(at.get(Layouts.LE_LONG, entry.userMetaOffset() + START_TS_AT))) {
                        return Fate.GOES;
                    }
                }
                case LOCK -> {
                    // no rule: locks have no user meta
                }
            }
        }
        return Fate.STAYS;
    }

    private boolean isBelow(long ts) {
        return Long.compareUnsigned(ts, safeTs) < 0;
    }
}
