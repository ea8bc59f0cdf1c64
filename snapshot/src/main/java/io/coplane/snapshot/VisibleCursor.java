package io.coplane.snapshot;

import io.coplane.nativecache.memory.NativeArena;
import io.coplane.sst.TableCursor;
import io.coplane.sst.ValueMeta;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/**
 * Merges all sources of a snapshot and shows of each key in a range the newest version at or below the read timestamp, unless that is a
 * tombstone (snapshot.md 6.4). Hot: {@link #next} runs per row.
 *
 * <p>All keys of a range begin with what its bounds share. The 24 bytes behind that, <em>head</em>, <em>middle</em> and <em>tail</em> of a key, decide
 * nearly every comparison (of the 9 bytes behind {@code _} in a row key, and of the 18 of a number and a handle in an index, the last one decides). They
 * are kept so that they compare as signed numbers, in reverse inverted, so that the least always comes first. As long as the source in front stays
 * below the least of the others, no other source is looked at.
 *
 * <p>Of several sources that hold a key each names its newest visible version and the newest of these counts: a merge by key and version, whatever
 * the order of the sources. Equal versions: the newer source wins.
 *
 * <p>Borrows sources and arena. After an exception the cursor must not be used. One thread.
 */
final class VisibleCursor {
    private static final VarHandle BE_LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
    private static final int CHECK_INTERVAL = 4096;

    private final List<TableSource> sources;
    private final TableCursor[] cursors;
    private final boolean reverse;
    private final long readTs;
    private final DeadlineCheck deadline;
    private int untilCheck = CHECK_INTERVAL;

    // the range: inner keys, upper exclusive
    private byte[] lower = {};
    private byte[] upper = {};
    private boolean started; // some range was set before
    private final boolean[] positioned; // the cursor stands where the ranges so far led it
    private int sharedLength;
    private long limitHead; // of the bound that ends the scan
    private long limitMiddle;
    private long limitTail;

    // sources with a key in the range, newest first; heads and tails by source number
    private final int[] active;
    private int activeCount;
    private final long[] heads;
    private final long[] middles;
    private final long[] tails;

    // sources that stand on the current key, newest first
    private final int[] onKey;
    private int onKeyCount;
    private boolean unique; // no other source than onKey[0] below the others' words
    private long othersHead;
    private long othersMiddle;
    private long othersTail;

    private TableCursor current;
    private boolean metNewer;

    VisibleCursor(List<TableSource> sources, long readTs, boolean reverse, DeadlineCheck deadline, NativeArena arena) {
        this.sources = sources;
        this.readTs = readTs;
        this.reverse = reverse;
        this.deadline = deadline;
        int count = sources.size();
        cursors = new TableCursor[count];
        for (int s = 0; s < count; s++) {
            cursors[s] = sources.get(s).cursor(reverse, arena);
        }
        positioned = new boolean[count];
        active = new int[count];
        heads = new long[count];
        middles = new long[count];
        tails = new long[count];
        onKey = new int[count];
    }

    /** The cursor that stands on the visible version: its key (inner), version, value. Borrowed until the next move. */
    TableCursor current() {
        return current;
    }

    /** Whether some key so far has a version above the read timestamp. */
    boolean metNewer() {
        return metNewer;
    }

    /**
     * Starts a range of inner keys. Positions are kept if it lies behind the last one in the direction of the scan.
     *
     * @param newLower inclusive; borrowed
     * @param newUpper exclusive; borrowed. Not above {@code newLower}: no keys
     */
    void setRange(byte[] newLower, byte[] newUpper) {
        activeCount = 0;
        onKeyCount = 0;
        unique = false;
        if (Arrays.compareUnsigned(newLower, newUpper) >= 0) {
            return;
        }
        boolean onward = started
                && (reverse
                        ? Arrays.compareUnsigned(newUpper, lower) <= 0
                        : Arrays.compareUnsigned(upper, newLower) <= 0);
        if (!onward) {
            Arrays.fill(positioned, false);
        }
        started = true;
        lower = newLower;
        upper = newUpper;
        byte[] bound = reverse ? lower : upper;
        int mismatch = Arrays.mismatch(lower, upper);
        sharedLength = Math.min(mismatch, Math.min(lower.length, upper.length));
        byte[] withSlack = Arrays.copyOf(bound, bound.length + Long.BYTES);
        limitHead = word(withSlack, sharedLength, bound.length);
        limitMiddle = word(withSlack, sharedLength + Long.BYTES, bound.length);
        limitTail = word(withSlack, sharedLength + 2 * Long.BYTES, bound.length);
        for (int s = 0; s < cursors.length; s++) {
            if (sources.get(s).touches(lower, upper)) {
                position(s);
                if (cursors[s].valid() && readHead(s)) {
                    active[activeCount++] = s;
                }
            }
        }
    }

    /** Puts a source on its first key of the range or behind it. */
    private void position(int s) {
        TableCursor cursor = cursors[s];
        if (!positioned[s]) {
            positioned[s] = true;
            seek(cursor);
        } else if (cursor.valid()
                && (reverse
                        ? cursor.compareKey(upper, 0, upper.length) >= 0
                        : cursor.compareKey(lower, 0, lower.length) < 0)) {
            seek(cursor);
        }
    }

    private void seek(TableCursor cursor) {
        if (!reverse) {
            cursor.seek(lower, 0, lower.length);
        } else if (cursor.seek(upper, 0, upper.length) && cursor.compareKey(upper, 0, upper.length) == 0) {
            cursor.next();
        }
    }

    /** Moves to the next visible version of the range. @return whether there is one */
    boolean next() {
        while (stepToKey()) {
            if (--untilCheck == 0) {
                untilCheck = CHECK_INTERVAL;
                deadline.check();
            }
            if (toVisibleVersion()) {
                return true;
            }
        }
        current = null;
        return false;
    }

    /** Moves every source off the last key and finds the next one. */
    private boolean stepToKey() {
        if (unique) {
            int s = onKey[0];
            if (cursors[s].next() && readHead(s)) {
                if (activeCount == 1
                        || order(heads[s], middles[s], tails[s], othersHead, othersMiddle, othersTail) < 0) {
                    return true;
                }
            } else {
                deactivate(s);
            }
        } else {
            for (int i = 0; i < onKeyCount; i++) {
                int s = onKey[i];
                if (!cursors[s].next() || !readHead(s)) {
                    deactivate(s);
                }
            }
        }
        return select();
    }

    private void deactivate(int s) {
        int at = 0;
        while (active[at] != s) {
            at++;
        }
        activeCount--;
        System.arraycopy(active, at + 1, active, at, activeCount - at);
    }

    /** Finds the sources that stand on the first key of all. */
    private boolean select() {
        if (activeCount == 0) {
            onKeyCount = 0;
            unique = false;
            return false;
        }
        int best = active[0];
        long bestHead = heads[best];
        long bestMiddle = middles[best];
        long bestTail = tails[best];
        long nextHead = Long.MAX_VALUE; // least of those behind the best
        long nextMiddle = Long.MAX_VALUE;
        long nextTail = Long.MAX_VALUE;
        onKey[0] = best;
        int count = 1;
        for (int i = 1; i < activeCount; i++) {
            int s = active[i];
            long head = heads[s];
            long middle = middles[s];
            long tail = tails[s];
            int order = order(head, middle, tail, bestHead, bestMiddle, bestTail);
            if (order == 0) {
                order = compareRest(s, best);
            }
            if (order < 0) {
                nextHead = bestHead;
                nextMiddle = bestMiddle;
                nextTail = bestTail;
                best = s;
                bestHead = head;
                bestMiddle = middle;
                bestTail = tail;
                onKey[0] = s;
                count = 1;
            } else if (order == 0) {
                onKey[count++] = s;
            } else if (order(head, middle, tail, nextHead, nextMiddle, nextTail) < 0) {
                nextHead = head;
                nextMiddle = middle;
                nextTail = tail;
            }
        }
        onKeyCount = count;
        unique = count == 1;
        othersHead = nextHead;
        othersMiddle = nextMiddle;
        othersTail = nextTail;
        return true;
    }

    private static int order(long head, long middle, long tail, long otherHead, long otherMiddle, long otherTail) {
        if (head != otherHead) {
            return head < otherHead ? -1 : 1;
        }
        if (middle != otherMiddle) {
            return middle < otherMiddle ? -1 : 1;
        }
        return Long.compare(tail, otherTail);
    }

    /** Compares two keys with the same head, middle and tail. */
    private int compareRest(int s, int t) {
        TableCursor left = cursors[s];
        TableCursor right = cursors[t];
        int decided = sharedLength + 3 * Long.BYTES;
        if (left.keyLength() == right.keyLength() && left.keyLength() <= decided) {
            return 0;
        }
        int order = Arrays.compareUnsigned(
                left.keyBytes(), sharedLength, left.keyLength(), right.keyBytes(), sharedLength, right.keyLength());
        return reverse ? -order : order;
    }

    /** Finds the newest version at or below the read timestamp. @return false if there is none or it is a tombstone */
    private boolean toVisibleVersion() {
        if (unique) {
            TableCursor only = cursors[onKey[0]];
            if (Long.compareUnsigned(only.version(), readTs) > 0) {
                metNewer = true;
                if (!only.seekVersion(readTs)) {
                    return false;
                }
            }
            current = only;
            return (only.meta() & ValueMeta.DELETE) == 0;
        }
        TableCursor newest = null;
        for (int i = 0; i < onKeyCount; i++) {
            TableCursor cursor = cursors[onKey[i]];
            if (Long.compareUnsigned(cursor.version(), readTs) > 0) {
                metNewer = true;
                if (!cursor.seekVersion(readTs)) {
                    continue;
                }
            }
            if (newest == null || Long.compareUnsigned(cursor.version(), newest.version()) > 0) {
                newest = cursor;
            }
        }
        current = newest;
        return newest != null && (newest.meta() & ValueMeta.DELETE) == 0;
    }

    /** Reads the head of a source's key. @return false if the key lies behind the range */
    private boolean readHead(int s) {
        TableCursor cursor = cursors[s];
        byte[] key = cursor.keyBytes();
        int length = cursor.keyLength();
        if (!beginsWithShared(key, length)) {
            return false;
        }
        long head = word(key, sharedLength, length);
        long middle = word(key, sharedLength + Long.BYTES, length);
        long tail = word(key, sharedLength + 2 * Long.BYTES, length);
        heads[s] = head;
        middles[s] = middle;
        tails[s] = tail;
        int order = order(head, middle, tail, limitHead, limitMiddle, limitTail);
        if (order != 0) {
            return order < 0;
        }
        return reverse ? cursor.compareKey(lower, 0, lower.length) >= 0 : cursor.compareKey(upper, 0, upper.length) < 0;
    }

    /** Whether a key has the bytes that the bounds share: no key behind a bound has, but for heads that come after the bound's. */
    private boolean beginsWithShared(byte[] key, int length) {
        int shared = sharedLength;
        byte[] prefix = lower;
        if (length < shared) {
            return false;
        }
        if (shared < Long.BYTES) {
            return Arrays.equals(key, 0, shared, prefix, 0, shared);
        }
        int last = shared - Long.BYTES; // the last word may overlap the one before
        for (int i = 0; i < last; i += Long.BYTES) {
            if ((long) BE_LONG.get(key, i) != (long) BE_LONG.get(prefix, i)) {
                return false;
            }
        }
        return (long) BE_LONG.get(key, last) == (long) BE_LONG.get(prefix, last);
    }

    /**
     * The 8 bytes of a key from {@code at} on, zeros behind the key, as a signed number in the order of the scan. {@code key} has 8 more bytes than
     * the key.
     */
    private long word(byte[] key, int at, int length) {
        int left = length - at;
        long word = 0;
        if (left > 0) {
            word = (long) BE_LONG.get(key, at);
            if (left < Long.BYTES) {
                word &= -1L << Byte.SIZE * (Long.BYTES - left);
            }
        }
        return (reverse ? ~word : word) ^ Long.MIN_VALUE;
    }
}
