package io.coplane.types.decimal;

import io.coplane.types.column.DecimalColumn;

/**
 * Kernels over {@link DecimalColumn}. Rows whose digits fit into a long take the flat path; its results have the same value and header as those of
 * {@link Decimal}'s word arithmetic, which all others take. Hot: all of it runs per row.
 */
public final class DecimalColumns {
    /** Digits of a flat value. */
    static final int FLAT_DIGITS = 18;

    static final long FLAT_LIMIT = 1_000_000_000_000_000_000L;

    /** 10^i; Long.MAX_VALUE where that is beyond the flat limit, so that no flat value reaches it. */
    private static final long[] POW10 = new long[2 * FLAT_DIGITS + 1];

    /** What a magnitude must be below, so that it can be multiplied by 10^i and stay flat. */
    private static final long[] SCALE_LIMIT = new long[FLAT_DIGITS + 1];

    /** Words of n digits. */
    private static final byte[] WORDS_OF = new byte[256];

    private static final int MAX_LIMITED_WORDS = 3;

    /**
     * By integer words and fraction digits: a sum below this surely makes no carry into another word by the rule of expressions.md 5.4.4 (first
     * words add up to 999 999 998 at most), and is flat.
     */
    private static final long[] ADD_LIMIT = new long[(MAX_LIMITED_WORDS + 1) * (FLAT_DIGITS + 1)];

    private static final int FACTOR_BIAS = Decimal.WORDS;
    private static final long[] PLACE_FACTORS = new long[2 * Decimal.WORDS + 1];

    static {
        for (int i = 0; i < POW10.length; i++) {
            POW10[i] = i == 0 ? 1 : i <= FLAT_DIGITS ? 10 * POW10[i - 1] : Long.MAX_VALUE;
        }
        for (int i = 0; i <= FLAT_DIGITS; i++) {
            SCALE_LIMIT[i] = FLAT_LIMIT / POW10[i];
        }
        for (int i = 0; i < WORDS_OF.length; i++) {
            WORDS_OF[i] = (byte) Decimal.wordsOf(i);
        }
        for (int frac = 0; frac <= FLAT_DIGITS; frac++) {
            ADD_LIMIT[frac] = frac < Decimal.WORD_DIGITS
                    ? (Decimal.BASE - 2L) * POW10[frac] / Decimal.BASE + 1
                    : (Decimal.BASE - 2L) * POW10[frac - Decimal.WORD_DIGITS] + 1;
            ADD_LIMIT[FLAT_DIGITS + 1 + frac] = addLimit(frac);
            ADD_LIMIT[2 * (FLAT_DIGITS + 1) + frac] = addLimit(frac + Decimal.WORD_DIGITS);
            ADD_LIMIT[MAX_LIMITED_WORDS * (FLAT_DIGITS + 1) + frac] = FLAT_LIMIT;
        }
        long factor = 0x9e37_79b9_7f4a_7c15L; // odd, so it has an inverse
        long inverse = factor;
        for (int i = 0; i < 6; i++) {
            inverse *= 2 - factor * inverse;
        }
        PLACE_FACTORS[FACTOR_BIAS] = 1;
        for (int i = 1; i <= Decimal.WORDS; i++) {
            PLACE_FACTORS[FACTOR_BIAS + i] = PLACE_FACTORS[FACTOR_BIAS + i - 1] * factor;
            PLACE_FACTORS[FACTOR_BIAS - i] = PLACE_FACTORS[FACTOR_BIAS - i + 1] * inverse;
        }
    }

    private DecimalColumns() {}

    private static long addLimit(int zeros) {
        return zeros > Decimal.WORD_DIGITS ? FLAT_LIMIT : Math.min(FLAT_LIMIT, (Decimal.BASE - 1L) * POW10[zeros]);
    }

    /** Factor of the word at a place in a hash: zeros in front and behind don't count. */
    static long placeFactor(int place) {
        return PLACE_FACTORS[FACTOR_BIAS + place];
    }

    /** Two values for rows that are not flat; belongs to the caller, one thread. */
    public static final class Scratch {
        final Decimal left = new Decimal();
        final Decimal right = new Decimal();
        final Decimal result = new Decimal();
    }

    static int intCount(int header) {
        return header & 0xff;
    }

    static int fracCount(int header) {
        return header >>> 8 & 0xff;
    }

    static int resultFracCount(int header) {
        return header >>> 16 & 0xff;
    }

    static boolean isNegative(int header) {
        return (header & DecimalColumn.NEGATIVE) != 0;
    }

    static boolean isFlat(int header) {
        return (header & DecimalColumn.FLAT) != 0;
    }

    static int wordsOf(int digits) {
        return WORDS_OF[digits];
    }

    /** Copies a row into a value. */
    public static void load(DecimalColumn column, int row, Decimal out) {
        int header = column.headers()[row];
        out.intCount = intCount(header);
        out.fracCount = fracCount(header);
        out.resultFracCount = resultFracCount(header);
        out.negative = isNegative(header);
        out.tail = (header & DecimalColumn.TAIL) >>> DecimalColumn.TAIL_SHIFT;
        if (isFlat(header)) {
            spread(Math.abs(column.unscaled()[row]), out);
            if (out.tail != 0) {
                spreadTail(out);
            }
        } else {
            System.arraycopy(column.words(), row * Decimal.WORDS, out.words, 0, Decimal.WORDS);
        }
    }

    private static void spread(long magnitude, Decimal out) {
        int[] words = out.words;
        int index = out.intWords() + out.fracWords();
        for (int i = index; i < Decimal.WORDS; i++) {
            words[i] = 0;
        }
        long rest = magnitude;
        int partial = out.fracCount % Decimal.WORD_DIGITS;
        if (partial != 0) {
            long quotient = rest / Decimal.POW10[partial];
            words[--index] =
                    (int) (rest - quotient * Decimal.POW10[partial]) * Decimal.POW10[Decimal.WORD_DIGITS - partial];
            rest = quotient;
        }
        while (index > 0) {
            long quotient = rest / Decimal.BASE;
            words[--index] = (int) (rest - quotient * Decimal.BASE);
            rest = quotient;
        }
    }

    /** As many leading zero words were dropped: what the words were moved from is still there. */
    private static void spreadTail(Decimal out) {
        int used = out.usedWords();
        for (int i = used; i < used + out.tail; i++) {
            out.words[i] = i < out.tail ? 0 : out.words[i - out.tail];
        }
    }

    /** Copies a value into a row, flat if it fits. */
    public static void store(Decimal value, DecimalColumn column, int row) {
        int header = DecimalColumn.header(value.intCount, value.fracCount, value.resultFracCount, value.negative);
        long unscaled = value.tail == 0 ? unscaledOrMin(value) : Long.MIN_VALUE;
        if (unscaled != Long.MIN_VALUE) {
            column.headers()[row] = header | DecimalColumn.FLAT;
            column.unscaled()[row] = unscaled;
        } else {
            column.headers()[row] = header | value.tail << DecimalColumn.TAIL_SHIFT;
            System.arraycopy(value.words, 0, column.words(), row * Decimal.WORDS, Decimal.WORDS);
        }
    }

    /** Copies a row with its header. */
    public static void copy(DecimalColumn from, int fromRow, DecimalColumn to, int toRow) {
        int header = from.headers()[fromRow];
        to.headers()[toRow] = header;
        to.unscaled()[toRow] = from.unscaled()[fromRow];
        if (!isFlat(header)) {
            System.arraycopy(from.words(), fromRow * Decimal.WORDS, to.words(), toRow * Decimal.WORDS, Decimal.WORDS);
        }
    }

    /** Signed digits without the point, or Long.MIN_VALUE if they don't fit into the flat form. */
    static long unscaledOrMin(Decimal value) {
        if (value.fracCount > FLAT_DIGITS) {
            return Long.MIN_VALUE;
        }
        int used = value.usedWords();
        int partial = value.fracCount % Decimal.WORD_DIGITS;
        int full = partial == 0 ? used : used - 1;
        long magnitude = 0;
        for (int i = 0; i < full; i++) {
            if (magnitude >= Decimal.BASE) {
                return Long.MIN_VALUE;
            }
            magnitude = magnitude * Decimal.BASE + value.words[i];
        }
        if (partial != 0) {
            int unit = Decimal.POW10[Decimal.WORD_DIGITS - partial];
            int word = value.words[full];
            if (magnitude >= SCALE_LIMIT[partial] || word % unit != 0) {
                return Long.MIN_VALUE;
            }
            magnitude = magnitude * Decimal.POW10[partial] + word / unit;
        }
        return value.negative ? -magnitude : magnitude;
    }

    /** Makes a row the signed integer; header as that of a converted integer (expressions.md 5.4.2). */
    public static void setLong(DecimalColumn column, int row, long value, Scratch scratch) {
        long magnitude = Math.abs(value);
        if (magnitude >= 0 && magnitude < FLAT_LIMIT) {
            int words = magnitude < Decimal.BASE ? 1 : 2;
            column.headers()[row] =
                    DecimalColumn.header(words * Decimal.WORD_DIGITS, 0, 0, value < 0) | DecimalColumn.FLAT;
            column.unscaled()[row] = value;
        } else {
            scratch.result.setLong(value);
            store(scratch.result, column, row);
        }
    }

    /** Makes a row the unsigned integer. */
    public static void setUlong(DecimalColumn column, int row, long value, Scratch scratch) {
        if (value >= 0) {
            setLong(column, row, value, scratch);
        } else {
            scratch.result.setUlong(value);
            store(scratch.result, column, row);
        }
    }

    /** The nearest double of a row. */
    public static double toDouble(DecimalColumn column, int row, Scratch scratch) {
        int header = column.headers()[row];
        if (isFlat(header)) {
            return DecimalText.toDouble(column.unscaled()[row], fracCount(header), isNegative(header));
        }
        load(column, row, scratch.left);
        return scratch.left.toDouble();
    }

    /** True if all digits of the row are zero. */
    public static boolean isZero(DecimalColumn column, int row, Scratch scratch) {
        if (isFlat(column.headers()[row])) {
            return column.unscaled()[row] == 0;
        }
        load(column, row, scratch.left);
        return scratch.left.isZero();
    }

    /** Numeric order of two rows; a negative zero is less than a positive one. */
    public static int compare(DecimalColumn left, int leftRow, DecimalColumn right, int rightRow, Scratch scratch) {
        int leftHeader = left.headers()[leftRow];
        int rightHeader = right.headers()[rightRow];
        if (((leftHeader ^ rightHeader) & DecimalColumn.NEGATIVE) != 0) {
            return isNegative(leftHeader) ? -1 : 1;
        }
        if ((leftHeader & rightHeader & DecimalColumn.FLAT) != 0) {
            long l = left.unscaled()[leftRow];
            long r = right.unscaled()[rightRow];
            int more = fracCount(rightHeader) - fracCount(leftHeader);
            if (more == 0) {
                return Long.compare(l, r);
            }
            if (more > 0 && Math.abs(l) < SCALE_LIMIT[more]) {
                return Long.compare(l * POW10[more], r);
            }
            if (more < 0 && Math.abs(r) < SCALE_LIMIT[-more]) {
                return Long.compare(l, r * POW10[-more]);
            }
        }
        load(left, leftRow, scratch.left);
        load(right, rightRow, scratch.right);
        return scratch.left.compareTo(scratch.right);
    }

    /** Numeric order of rows 0 .. {@code rows} - 1 of two columns: -1, 0 or 1; undefined where {@code nulls} has a bit. */
    public static void compare(
            DecimalColumn left, DecimalColumn right, int rows, long[] nulls, long[] out, Scratch scratch) {
        for (int row = 0; row < rows; row++) {
            out[row] = (nulls[row >>> 6] >>> row & 1) != 0 ? 0 : compare(left, row, right, row, scratch);
        }
    }

    /** Hash of a row that numerically equal rows share, whatever their form; equal to {@link Decimal#numericHash()}. */
    public static long numericHash(DecimalColumn column, int row, Scratch scratch) {
        int header = column.headers()[row];
        if (!isFlat(header)) {
            load(column, row, scratch.left);
            return scratch.left.numericHash();
        }
        long rest = Math.abs(column.unscaled()[row]);
        int frac = fracCount(header);
        int partial = frac % Decimal.WORD_DIGITS;
        int place = wordsOf(frac) - 1;
        long hash = 0;
        if (partial != 0) {
            long quotient = rest / Decimal.POW10[partial];
            hash = (rest - quotient * Decimal.POW10[partial])
                    * Decimal.POW10[Decimal.WORD_DIGITS - partial]
                    * placeFactor(place--);
            rest = quotient;
        }
        while (rest != 0) {
            long quotient = rest / Decimal.BASE;
            hash += (rest - quotient * Decimal.BASE) * placeFactor(place--);
            rest = quotient;
        }
        return isNegative(header) ? -hash : hash;
    }

    /**
     * Adds rows 0 .. {@code rows} - 1 of two columns.
     *
     * @param out reset to as many rows; its null rows are left out; not one of the operands
     * @throws io.coplane.types.EvalException on truncation or overflow (PlusDecimal)
     */
    public static void add(DecimalColumn left, DecimalColumn right, int rows, DecimalColumn out, Scratch scratch) {
        for (int row = 0; row < rows; row++) {
            if (!addFlat(left, row, right, row, 0, out, row) && !out.isNull(row)) {
                load(left, row, scratch.left);
                load(right, row, scratch.right);
                scratch.result.setSum(scratch.left, scratch.right).orThrow();
                store(scratch.result, out, row);
            }
        }
    }

    /** Subtracts, as {@link #add} adds (MinusDecimal). */
    public static void subtract(DecimalColumn left, DecimalColumn right, int rows, DecimalColumn out, Scratch scratch) {
        for (int row = 0; row < rows; row++) {
            if (!addFlat(left, row, right, row, DecimalColumn.NEGATIVE, out, row) && !out.isNull(row)) {
                load(left, row, scratch.left);
                load(right, row, scratch.right);
                scratch.result.setDifference(scratch.left, scratch.right).orThrow();
                store(scratch.result, out, row);
            }
        }
    }

    /** Multiplies, as {@link #add} adds; a truncated product is taken silently (MultiplyDecimal). */
    public static void multiply(DecimalColumn left, DecimalColumn right, int rows, DecimalColumn out, Scratch scratch) {
        for (int row = 0; row < rows; row++) {
            if (!multiplyFlat(left, right, row, out) && !out.isNull(row)) {
                load(left, row, scratch.left);
                load(right, row, scratch.right);
                scratch.result.setProduct(scratch.left, scratch.right).orThrowOverflow();
                store(scratch.result, out, row);
            }
        }
    }

    /**
     * Adds a row to a running sum that lies in another column.
     *
     * @param sums holds a value at {@code sum}, at first zero ({@link #setZero})
     * @throws io.coplane.types.EvalException on truncation or overflow
     */
    public static void accumulate(DecimalColumn sums, int sum, DecimalColumn values, int row, Scratch scratch) {
        if (!addFlat(sums, sum, values, row, 0, sums, sum)) {
            load(sums, sum, scratch.left);
            load(values, row, scratch.right);
            scratch.result.setSum(scratch.left, scratch.right).orThrow();
            store(scratch.result, sums, sum);
        }
    }

    /** Makes a row zero. */
    public static void setZero(DecimalColumn column, int row) {
        column.headers()[row] = DecimalColumn.header(1, 0, 0, false) | DecimalColumn.FLAT;
        column.unscaled()[row] = 0;
    }

    /** @param flip {@link DecimalColumn#NEGATIVE} to subtract, 0 to add @return false if the words must do it */
    private static boolean addFlat(
            DecimalColumn left, int leftRow, DecimalColumn right, int rightRow, int flip, DecimalColumn out, int row) {
        int leftHeader = left.headers()[leftRow];
        int rightHeader = right.headers()[rightRow];
        if ((leftHeader & rightHeader & DecimalColumn.FLAT) == 0) {
            return false;
        }
        long l = Math.abs(left.unscaled()[leftRow]);
        long r = Math.abs(right.unscaled()[rightRow]);
        int leftFrac = fracCount(leftHeader);
        int rightFrac = fracCount(rightHeader);
        int frac = Math.max(leftFrac, rightFrac);
        if (leftFrac != rightFrac) {
            if (frac > FLAT_DIGITS || l >= SCALE_LIMIT[frac - leftFrac] || r >= SCALE_LIMIT[frac - rightFrac]) {
                return false;
            }
            l *= POW10[frac - leftFrac];
            r *= POW10[frac - rightFrac];
        }
        int resultFrac = Math.max(resultFracCount(leftHeader), resultFracCount(rightHeader));
        boolean negative = isNegative(leftHeader);
        if (((leftHeader ^ rightHeader ^ flip) & DecimalColumn.NEGATIVE) == 0) {
            int intWords = Math.max(wordsOf(intCount(leftHeader)), wordsOf(intCount(rightHeader)));
            long sum = l + r;
            if (sum >= addLimit(intWords, frac) || intWords + wordsOf(frac) > Decimal.WORDS) {
                return false;
            }
            setFlat(out, row, intWords * Decimal.WORD_DIGITS, frac, resultFrac, negative, sum);
        } else if (l == r) {
            setFlat(out, row, 1, 0, resultFrac, false, 0);
        } else {
            int intWords = intWords(Math.max(l, r), frac);
            setFlat(
                    out,
                    row,
                    intWords * Decimal.WORD_DIGITS,
                    frac,
                    resultFrac,
                    l > r ? negative : !negative,
                    Math.abs(l - r));
        }
        return true;
    }

    /** See {@link #ADD_LIMIT}. */
    static long addLimit(int intWords, int frac) {
        return ADD_LIMIT[Math.min(intWords, MAX_LIMITED_WORDS) * (FLAT_DIGITS + 1) + frac];
    }

    /** Integer words of a flat magnitude without leading zero words. */
    static int intWords(long magnitude, int frac) {
        return magnitude < POW10[frac] ? 0 : magnitude < POW10[frac + Decimal.WORD_DIGITS] ? 1 : 2;
    }

    private static void setFlat(
            DecimalColumn out, int row, int intCount, int frac, int resultFrac, boolean negative, long magnitude) {
        out.headers()[row] = DecimalColumn.header(intCount, frac, resultFrac, negative) | DecimalColumn.FLAT;
        out.unscaled()[row] = negative ? -magnitude : magnitude;
    }

    private static boolean multiplyFlat(DecimalColumn left, DecimalColumn right, int row, DecimalColumn out) {
        int leftHeader = left.headers()[row];
        int rightHeader = right.headers()[row];
        int leftFrac = fracCount(leftHeader);
        int rightFrac = fracCount(rightHeader);
        int frac = leftFrac + rightFrac;
        if ((leftHeader & rightHeader & DecimalColumn.FLAT) == 0 || frac > FLAT_DIGITS) {
            return false;
        }
        long l = Math.abs(left.unscaled()[row]);
        long r = Math.abs(right.unscaled()[row]);
        long product = l * r;
        int intWords = Decimal.wordsOf(intCount(leftHeader) + intCount(rightHeader));
        if (Math.multiplyHigh(l, r) != 0
                || product < 0
                || product >= FLAT_LIMIT
                || intWords + wordsOf(leftFrac) + wordsOf(rightFrac) > Decimal.WORDS) {
            return false;
        }
        int kept = Math.min(intWords, Math.max(1, intWords(product, frac)));
        int dropped = intWords - kept;
        if (wordsOf(leftFrac) + wordsOf(rightFrac) != wordsOf(frac)) {
            if (dropped > 1) {
                return false;
            }
            dropped = 0; // the last word is zero, and it is the only one behind those in use
        }
        int resultFrac = Math.min(resultFracCount(leftHeader) + resultFracCount(rightHeader), Decimal.MAX_FRACTION);
        boolean negative = isNegative(leftHeader) != isNegative(rightHeader);
        if (negative && product == 0) {
            setFlat(out, row, 1, 0, 0, false, 0);
        } else {
            setFlat(out, row, kept * Decimal.WORD_DIGITS, frac, resultFrac, negative, product);
            out.headers()[row] |= dropped << DecimalColumn.TAIL_SHIFT;
        }
        return true;
    }
}
