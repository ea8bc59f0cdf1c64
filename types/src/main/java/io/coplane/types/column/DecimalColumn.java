package io.coplane.types.column;

import java.util.Arrays;

/**
 * Decimals in the form of expressions.md 5.4.1: per row a header and nine words of nine digits.
 *
 * <p>Small values have a second form for speed: {@link #FLAT} in the header says that {@code unscaled[row]} holds the signed digits times
 * 10^fracCount (|value| below 10^18) and that the words are not filled. {@code io.coplane.types.decimal} converts.
 */
public final class DecimalColumn extends Column {
    /** Words of nine digits of a value. */
    public static final int WORDS = 9;
    /** Header bit: the value stands in {@link #unscaled()}. */
    public static final int FLAT = 1 << 31;
    /** Header bit: negative (in both forms; a flat value's sign is also in its number). */
    public static final int NEGATIVE = 1 << 24;

    /**
     * Header bits: words behind those in use that the chunk encoding shows. They are filled where the value is not flat; in a flat row they follow
     * from the value, see {@code DecimalColumns}.
     */
    public static final int TAIL = 15 << 25;

    /** Position of {@link #TAIL}. */
    public static final int TAIL_SHIFT = 25;

    private int[] headers = new int[0];
    private long[] unscaled = new long[0];
    private int[] words;

    /** Header: bits 0-7 integer digits, 8-15 fraction digits, 16-23 result fraction digits, {@link #NEGATIVE}, {@link #TAIL}, {@link #FLAT}. */
    public int[] headers() {
        return headers;
    }

    /** Values of the rows whose header has {@link #FLAT}. */
    public long[] unscaled() {
        return unscaled;
    }

    /** Nine words per row, for rows without {@link #FLAT}; created on first use, borrowed, replaced when the column grows. */
    public int[] words() {
        if (words == null) {
            words = new int[headers.length * WORDS];
        }
        return words;
    }

    /** Builds a header without {@link #FLAT}. */
    public static int header(int intCount, int fracCount, int resultFracCount, boolean negative) {
        return intCount | fracCount << 8 | resultFracCount << 16 | (negative ? NEGATIVE : 0);
    }

    @Override
    protected void ensureRows(int rows) {
        if (rows > headers.length) {
            int capacity = Math.max(rows, 2 * headers.length);
            headers = Arrays.copyOf(headers, capacity);
            unscaled = Arrays.copyOf(unscaled, capacity);
            if (words != null) {
                words = Arrays.copyOf(words, capacity * WORDS);
            }
        }
    }

    @Override
    protected void moveValue(int from, int to) {
        headers[to] = headers[from];
        unscaled[to] = unscaled[from];
        if (words != null && (headers[from] & FLAT) == 0) {
            System.arraycopy(words, from * WORDS, words, to * WORDS, WORDS);
        }
    }

    @Override
    public long heapBytes() {
        return nullBytes()
                + (long) headers.length * (Integer.BYTES + Long.BYTES)
                + (words == null ? 0 : (long) words.length * Integer.BYTES);
    }
}
