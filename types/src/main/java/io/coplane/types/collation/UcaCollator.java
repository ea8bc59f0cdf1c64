package io.coplane.types.collation;

import io.coplane.types.ByteSink;
import io.coplane.types.text.Utf8;
import java.util.Arrays;

/**
 * Primary weights of the Unicode Collation Algorithm: each character has a list of 16-bit primaries, often one, sometimes none; strings compare
 * as the concatenation of the lists.
 */
final class UcaCollator extends Collator {
    /** No primaries left. */
    private static final long END = -1;
    /** The string goes on with an ill-formed sequence. */
    private static final long INVALID = -2;

    /** More primaries than this make an entry long. */
    private static final int SHORT_PRIMARIES = 4;

    private static final int REPLACEMENT = 0xfffd;

    private final UcaTable table;
    /** UCA 4.0.0: long entries and all above U+FFFF equal only themselves where characters are compared alone. */
    private final boolean longOnlyEqualThemselves;

    private UcaCollator(boolean pads, UcaTable table, boolean longOnlyEqualThemselves) {
        super(pads);
        this.table = table;
        this.longOnlyEqualThemselves = longOnlyEqualThemselves;
    }

    /** Holder: built on first use. */
    static final class Uca0400 {
        static final UcaCollator INSTANCE = new UcaCollator(true, WeightTables.uca0400(), true);

        private Uca0400() {}
    }

    /** Holder: built on first use. */
    static final class Uca0900 {
        static final UcaCollator INSTANCE = new UcaCollator(false, WeightTables.uca0900(), false);

        private Uca0900() {}
    }

    @Override
    boolean sameCharacter(int a, int b) {
        if (a == b) {
            return true;
        }
        if (longOnlyEqualThemselves && (isLong(a) || isLong(b))) {
            return false;
        }
        int left = table.entry(a);
        int right = table.entry(b);
        if (left >= 0 || right >= 0) {
            return left == right;
        }
        int count = table.primaryCount(a);
        if (count != table.primaryCount(b)) {
            return false;
        }
        for (int i = 0; i < count; i++) {
            if (table.primary(a, i) != table.primary(b, i)) {
                return false;
            }
        }
        return true;
    }

    @Override
    boolean undecodableMatches() {
        return false;
    }

    private boolean isLong(int codePoint) {
        return codePoint >= table.codePoints()
                || table.entry(codePoint) == REPLACEMENT
                || table.primaryCount(codePoint) > SHORT_PRIMARIES;
    }

    // State of a string: bits 0 .. 31 the current byte, 32 .. 62 where the rest of its character's list lies in the
    // table's pool (0: at its
    // start). skip() moves on to a character that has primaries, primary() reads the current one, advance() moves over
    // it.

    @Override
    int compareWhole(byte[] a, int aStart, int aEnd, byte[] b, int bStart, int bEnd) {
        if (Arrays.equals(a, aStart, aEnd, b, bStart, bEnd)) {
            return 0;
        }
        long left = aStart;
        long right = bStart;
        while (true) {
            left = skip(a, left, aEnd);
            if (left == INVALID) {
                return 0;
            }
            right = skip(b, right, bEnd);
            if (right == INVALID) {
                return 0;
            }
            if (left == END || right == END) {
                return left == right ? 0 : left == END ? -1 : 1;
            }
            int x = primary(a, left, aEnd);
            int y = primary(b, right, bEnd);
            if (x != y) {
                return x < y ? -1 : 1;
            }
            left = advance(a, left, aEnd);
            right = advance(b, right, bEnd);
        }
    }

    /** Moves over ignorable characters to the next primary. */
    private long skip(byte[] bytes, long state, int end) {
        if (state >>> 32 != 0) {
            return state;
        }
        int at = (int) state;
        while (at < end) {
            int width = Utf8.sequenceLength(bytes, at, end);
            if (width == 0) {
                return INVALID;
            }
            if (table.entry(Utf8.codePoint(bytes, at, width)) != 0) {
                return at;
            }
            at += width;
        }
        return END;
    }

    private int primary(byte[] bytes, long state, int end) {
        int rest = (int) (state >>> 32);
        if (rest != 0) {
            return table.pooled(rest);
        }
        int at = (int) state;
        int entry = table.entry(Utf8.codePoint(bytes, at, Utf8.sequenceLength(bytes, at, end)));
        return entry > 0 ? entry : table.pooled(-entry);
    }

    private long advance(byte[] bytes, long state, int end) {
        int rest = (int) (state >>> 32);
        int at = (int) state;
        int width = Utf8.sequenceLength(bytes, at, end);
        if (rest == 0) {
            int entry = table.entry(Utf8.codePoint(bytes, at, width));
            if (entry > 0) {
                return (long) at + width;
            }
            rest = -entry;
        }
        return table.endsAt(rest) ? (long) at + width : (long) (rest + 1) << 32 | at;
    }

    @Override
    long hashWhole(byte[] bytes, int start, int end) {
        long hash = 0;
        int first = start;
        for (; first < end && bytes[first] >= 0 && table.entry(bytes[first]) >= 0; first++) {
            int primary = table.entry(bytes[first]);
            if (primary != 0) {
                hash = mix(hash, primary);
            }
        }
        long state = skip(bytes, first, end);
        while (state >= 0) {
            hash = mix(hash, primary(bytes, state, end));
            state = skip(bytes, advance(bytes, state, end), end);
        }
        return hash;
    }

    @Override
    void writeWhole(byte[] bytes, int start, int end, ByteSink out) {
        long state = skip(bytes, start + writeAscii(bytes, start, end, out), end);
        while (state >= 0) {
            int primary = primary(bytes, state, end);
            out.putByte(primary >> 8);
            out.putByte(primary);
            state = skip(bytes, advance(bytes, state, end), end);
        }
    }

    /** Writes the primaries of the ASCII characters that the string starts with. @return how many characters */
    private int writeAscii(byte[] bytes, int start, int end, ByteSink out) {
        out.ensure(Math.multiplyExact(2, end - start));
        byte[] target = out.bytes();
        int from = out.length();
        int to = from;
        int i = start;
        for (; i < end; i++) {
            int character = bytes[i];
            int entry = character < 0 ? -1 : table.entry(character);
            if (entry < 0) {
                break; // not ASCII, or with a list of primaries
            }
            if (entry != 0) {
                target[to++] = (byte) (entry >> 8);
                target[to++] = (byte) entry;
            }
        }
        out.advance(to - from);
        return i - start;
    }
}
