package io.coplane.compaction.kernel;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.sst.TableCursor;
import java.util.Arrays;

/**
 * All versions of several sources as one stream: key ascending, of one key version descending; of an entry that several sources have the first
 * source's (compaction.md 3.2). Hot: runs per entry.
 *
 * <p>A tree of losers over codes. The code of a source says how its key differs from the key that came out last: the smaller the offset of the
 * first different byte, the greater the key; at the same offset the byte decides. So no two keys are compared from their beginning twice:
 *
 * <pre>
 * code = (0xFFFF - offset) &lt;&lt; 8 | byte at offset; 0: the same key; END: no more keys
 * </pre>
 *
 * Two keys with one code share everything up to the offset and its byte; what follows is compared, and the greater key's code is then made relative
 * to the smaller one, which comes out before it.
 *
 * <p>Borrows the sources. Key, value and user meta of {@link #entry} are valid until the next move. One thread.
 */
public final class MergeCursor {
    private static final int MOST_KEY_BYTES = 0xFFFF;
    private static final int SAME = 0;
    private static final int END = Integer.MAX_VALUE;

    private final TableCursor[] sources;
    private final int[] codes;
    private final int[] losers; // of the matches 1 .. sources - 1
    private int winner;
    private boolean sameKey;
    private byte[] last = new byte[256];
    private int lastLength;
    private long lastVersion;

    /** @param sources newest first; each borrowed, walking forward */
    public MergeCursor(TableCursor[] sources) {
        this.sources = sources.clone();
        this.codes = new int[sources.length];
        this.losers = new int[sources.length];
    }

    /** Moves to the first entry whose key is no less than this one. @return whether there is one */
    public boolean seek(byte[] key) {
        lastLength = 0;
        for (int i = 0; i < sources.length; i++) {
            codes[i] = sources[i].seek(key, 0, key.length) ? codeOf(sources[i]) : END;
        }
        if (sources.length == 0) {
            return false;
        }
        winner = sources.length == 1 ? 0 : play(1);
        return take();
    }

    /** Moves to the next entry. @return whether there is one */
    public boolean next() {
        int moved;
        do {
            moved = winner;
            TableCursor source = sources[moved];
            if (source.nextVersion()) {
                codes[moved] = SAME;
            } else {
                codes[moved] = source.next() ? codeOf(source) : END;
            }
            replay(moved);
        } while (codes[winner] == SAME && sources[winner].version() == lastVersion); // an older source's copy
        return take();
    }

    /**
     * Whether all keys of the block that {@link #entry} stands in, at its first key, come out next: no other source has a key among them, and the last
     * one is below {@code end}. The entry stays where it is.
     */
    public boolean isBlockNext(byte[] end) {
        TableCursor source = sources[winner];
        source.moveInBlock(source.blockEntries() - 1);
        boolean alone = source.compareKey(end, 0, end.length) < 0;
        for (int i = 0; alone && i < sources.length; i++) {
            if (i != winner && codes[i] != END) {
                alone = source.compareKey(sources[i].keyBytes(), 0, sources[i].keyLength()) < 0;
            }
        }
        source.moveInBlock(0);
        return alone;
    }

    /** Moves behind the block of which {@link #entry} stands on the last key, after {@link #isBlockNext}. @return whether there is an entry */
    public boolean nextBlock() {
        TableCursor source = sources[winner];
        keepLast(source);
        codes[winner] = source.next() ? codeOf(source) : END;
        for (int i = 0; i < sources.length; i++) {
            if (i != winner && codes[i] != END) {
                codes[i] = codeOf(sources[i]); // it was relative to a key before the block
            }
        }
        winner = sources.length == 1 ? 0 : play(1);
        return take();
    }

    private void keepLast(TableCursor source) {
        int length = source.keyLength();
        if (last.length < length) {
            last = new byte[2 * length];
        }
        System.arraycopy(source.keyBytes(), 0, last, 0, length);
        lastLength = length;
    }

    private boolean take() {
        int code = codes[winner];
        if (code == END) {
            return false;
        }
        TableCursor source = sources[winner];
        sameKey = code == SAME;
        lastVersion = source.version();
        if (!sameKey) {
            keepLast(source);
        }
        return true;
    }

    /** Where the entry is. */
    public TableCursor entry() {
        return sources[winner];
    }

    /** Whether the entry is another version of the key before. */
    public boolean isSameKey() {
        return sameKey;
    }

    /** Plays the matches below a node for the first time. @return the source that wins */
    private int play(int node) {
        if (node >= sources.length) {
            return node - sources.length;
        }
        int a = play(2 * node);
        int b = play(2 * node + 1);
        boolean first = isBefore(a, b);
        losers[node] = first ? b : a;
        return first ? a : b;
    }

    private void replay(int moved) {
        int best = moved;
        for (int node = (moved + sources.length) >>> 1; node > 0; node >>>= 1) {
            int other = losers[node];
            if (isBefore(other, best)) {
                losers[node] = best;
                best = other;
            }
        }
        winner = best;
    }

    /** Whether source {@code a} comes before {@code b}; the code of the one that doesn't is relative to the other's key then. */
    private boolean isBefore(int a, int b) {
        int code = codes[a];
        if (code != codes[b]) {
            return code < codes[b];
        }
        if (code == END) {
            return a < b;
        }
        if (code != SAME) {
            byte[] x = sources[a].keyBytes();
            byte[] y = sources[b].keyBytes();
            int xLength = sources[a].keyLength();
            int yLength = sources[b].keyLength();
            int from = MOST_KEY_BYTES - (code >>> Byte.SIZE) + 1;
            int offset = Arrays.mismatch(x, from, xLength, y, from, yLength);
            if (offset >= 0) {
                int at = from + offset;
                boolean before = at == xLength || at != yLength && (x[at] & 0xFF) < (y[at] & 0xFF);
                if (before) {
                    codes[b] = code(at, y[at]);
                } else {
                    codes[a] = code(at, x[at]);
                }
                return before;
            }
        }
        int order = Long.compareUnsigned(sources[a].version(), sources[b].version());
        boolean before = order > 0 || order == 0 && a < b;
        codes[before ? b : a] = SAME;
        return before;
    }

    private static int code(int offset, byte value) {
        return MOST_KEY_BYTES - offset << Byte.SIZE | value & 0xFF;
    }

    /** The code of a source that moved to another key, which must be greater than the last one. */
    private int codeOf(TableCursor source) {
        byte[] key = source.keyBytes();
        int length = source.keyLength();
        int at = Arrays.mismatch(last, 0, lastLength, key, 0, length);
        if (at < 0
                || at == length
                || length > MOST_KEY_BYTES
                || at < lastLength && (key[at] & 0xFF) < (last[at] & 0xFF)) {
            throw new CoplaneException(
                    ErrorCode.FILE_FORMAT,
                    "keys are out of order: keyBytes=" + length + " lastKeyBytes=" + lastLength + " mismatch=" + at);
        }
        return code(at, key[at]);
    }
}
