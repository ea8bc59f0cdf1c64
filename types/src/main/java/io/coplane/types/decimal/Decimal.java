package io.coplane.types.decimal;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A decimal that is changed in place (expressions.md 5.4.1): at most 81 digits in nine words of nine digits.
 *
 * <p>Words 0 .. W(int) - 1 are the integer part, right-aligned to the point; the next W(frac) words are the fraction, left-aligned, the last one
 * padded with zeros. W(n) = ceil(n / 9). Words behind those mean nothing, but that the chunk encoding shows the first few of them after some
 * products ({@link #tail}). One thread.
 */
public final class Decimal {
    /** Words of a value. */
    public static final int WORDS = 9;
    /** Digits of a word. */
    public static final int WORD_DIGITS = 9;
    /** Digits of a value. */
    public static final int MAX_DIGITS = WORDS * WORD_DIGITS;
    /** Most fraction digits by rounding and of results to display. */
    public static final int MAX_FRACTION = 30;

    static final int BASE = 1_000_000_000;
    /** Fraction digits that a product keeps. */
    static final int MAX_PRODUCT_FRACTION = 31;

    /** Powers of ten that fit into an int. */
    static final int[] POW10 = {1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, BASE};

    int intCount = 1;
    int fracCount;
    int resultFracCount;
    boolean negative;
    /**
     * Words behind those in use that the chunk encoding shows: the reference drops leading zero words of a product by moving the others, and what
     * they were moved from stays.
     */
    int tail;

    final int[] words = new int[WORDS];

    private byte[] digits;
    private DecimalDivision.Scratch division;
    private long integer;

    /** Zero. */
    public Decimal() {}

    /** Words that {@code digits} digits take; 10 where they don't fit. */
    static int wordsOf(int digits) {
        return digits <= MAX_DIGITS ? (digits + WORD_DIGITS - 1) / WORD_DIGITS : WORDS + 1;
    }

    /** Digits before the point, leading zeros included. */
    public int intCount() {
        return intCount;
    }

    /** Digits behind the point. */
    public int fracCount() {
        return fracCount;
    }

    /** Digits behind the point to display. */
    public int resultFracCount() {
        return resultFracCount;
    }

    /** Sets the digits behind the point to display. */
    public void setResultFracCount(int digits) {
        resultFracCount = digits;
    }

    /** True if there is a minus sign; also a zero that was read so may have one. */
    public boolean isNegative() {
        return negative;
    }

    int intWords() {
        return wordsOf(intCount);
    }

    int fracWords() {
        return wordsOf(fracCount);
    }

    int usedWords() {
        return Math.min(WORDS, intWords() + fracWords());
    }

    /** The first word, 0 if none is in use. */
    int firstWord() {
        return intCount + fracCount == 0 ? 0 : words[0];
    }

    /** Word at a place relative to the point: -1 = units, 0 = first of the fraction; 0 outside of the value. */
    int wordAt(int place) {
        return word(words, intWords() + place, usedWords());
    }

    /** Word at an index; 0 outside of those in use. */
    static int word(int[] words, int index, int used) {
        return index < 0 || index >= used ? 0 : words[index];
    }

    /** True if all digits are zero. */
    public boolean isZero() {
        int used = usedWords();
        for (int i = 0; i < used; i++) {
            if (words[i] != 0) {
                return false;
            }
        }
        return true;
    }

    /** Becomes zero: one integer digit, no fraction, positive. */
    public void setZero() {
        setZero(1, 0, 0);
    }

    void setZero(int intDigits, int fracDigits, int resultFracDigits) {
        intCount = intDigits;
        fracCount = fracDigits;
        resultFracCount = resultFracDigits;
        negative = false;
        tail = 0;
        Arrays.fill(words, 0);
    }

    /** Becomes a copy. */
    public void set(Decimal other) {
        intCount = other.intCount;
        fracCount = other.fracCount;
        resultFracCount = other.resultFracCount;
        negative = other.negative;
        tail = other.tail;
        System.arraycopy(other.words, 0, words, 0, WORDS);
    }

    /** Becomes a signed integer. */
    public void setLong(long value) {
        setUlong(value < 0 ? -value : value); // the bits of -MIN are 2^63 as unsigned
        negative = value < 0;
    }

    /** Becomes an unsigned integer. */
    public void setUlong(long value) {
        negative = false;
        tail = 0;
        fracCount = 0;
        resultFracCount = 0;
        int count = value >= 0 && value < BASE ? 1 : Long.compareUnsigned(value, (long) BASE * BASE) < 0 ? 2 : 3;
        long rest = value;
        for (int i = count - 1; i >= 0; i--) {
            long quotient = Long.divideUnsigned(rest, BASE);
            words[i] = (int) (rest - quotient * BASE);
            rest = quotient;
        }
        intCount = count * WORD_DIGITS;
    }

    /**
     * Becomes the largest value of DECIMAL(prec, frac): {@code prec - frac} nines, the point, {@code frac} nines.
     *
     * @param prec 1 .. 81
     * @param frac 0 .. prec
     */
    public void setMax(boolean isNegative, int prec, int frac) {
        setZero(prec - frac, frac, frac);
        negative = isNegative;
        int at = 0;
        if (intCount % WORD_DIGITS != 0) {
            words[at++] = POW10[intCount % WORD_DIGITS] - 1;
        }
        for (int i = 0; i < intCount / WORD_DIGITS + frac / WORD_DIGITS; i++) {
            words[at++] = BASE - 1;
        }
        int rest = frac % WORD_DIGITS;
        if (rest != 0) {
            words[at] = (POW10[rest] - 1) * POW10[WORD_DIGITS - rest];
        }
    }

    /** Flips the sign unless zero. */
    public void negate() {
        negative = !negative && !isZero();
    }

    /** Clears the sign. */
    public void abs() {
        negative = false;
    }

    /** Integer digits without leading zeros. */
    public int significantIntDigits() {
        return Math.max(0, significantDigits() - fracWords() * WORD_DIGITS);
    }

    /** Digits from the first that is not zero to the end of the last fraction word. */
    int significantDigits() {
        int used = usedWords();
        for (int i = 0; i < used; i++) {
            if (words[i] != 0) {
                return (used - i - 1) * WORD_DIGITS + digitsOf(words[i]);
            }
        }
        return 0;
    }

    static int digitsOf(int word) {
        int count = 1;
        while (count < WORD_DIGITS && word >= POW10[count]) {
            count++;
        }
        return count;
    }

    /** Precision of the value: significant integer digits and fraction digits, at least 1. */
    public int precision() {
        return Math.max(1, significantIntDigits() + fracCount);
    }

    /** Numeric order; a negative zero is less than a positive one. */
    public int compareTo(Decimal other) {
        if (negative != other.negative) {
            return negative ? -1 : 1;
        }
        int order = compareMagnitude(this, other);
        return negative ? -order : order;
    }

    static int compareMagnitude(Decimal left, Decimal right) {
        int leftInt = left.intWords();
        int rightInt = right.intWords();
        int leftUsed = left.usedWords();
        int rightUsed = right.usedWords();
        int end = Math.max(left.fracWords(), right.fracWords());
        for (int place = -Math.max(leftInt, rightInt); place < end; place++) {
            int order = Integer.compare(
                    word(left.words, leftInt + place, leftUsed), word(right.words, rightInt + place, rightUsed));
            if (order != 0) {
                return order;
            }
        }
        return 0;
    }

    /** Hash that numerically equal values share; 0 and -0 too. */
    public long numericHash() {
        long hash = 0;
        int intWords = intWords();
        int used = usedWords();
        for (int i = 0; i < used; i++) {
            hash += words[i] * DecimalColumns.placeFactor(i - intWords);
        }
        return negative ? -hash : hash;
    }

    /** Left plus right; neither is this. */
    public DecimalStatus setSum(Decimal left, Decimal right) {
        return DecimalArithmetic.add(left, right, right.negative, this);
    }

    /** Left minus right; neither is this. */
    public DecimalStatus setDifference(Decimal left, Decimal right) {
        return DecimalArithmetic.add(left, right, !right.negative, this);
    }

    /** Left times right; neither is this. */
    public DecimalStatus setProduct(Decimal left, Decimal right) {
        return DecimalArithmetic.multiply(left, right, this);
    }

    /**
     * Left divided by right; neither is this.
     *
     * @param increment fraction digits that the division adds
     * @return null if right is zero; then this is undefined
     */
    public DecimalStatus setQuotient(Decimal left, Decimal right, int increment) {
        return DecimalDivision.divide(left, right, increment, this);
    }

    /** Remainder of left divided by right, with the sign of left; neither is this. @return null if right is zero; then this is undefined */
    public DecimalStatus setRemainder(Decimal left, Decimal right) {
        return DecimalDivision.remainder(left, right, this);
    }

    /** Rounds to {@code frac} fraction digits; negative: to tens and so on. */
    public DecimalStatus round(int frac, RoundMode mode) {
        return DecimalRounding.round(this, frac, mode);
    }

    /** Smallest integer not less than this. */
    public DecimalStatus ceil() {
        return round(0, negative ? RoundMode.TRUNCATE : RoundMode.CEILING);
    }

    /** Largest integer not greater than this. */
    public DecimalStatus floor() {
        return round(0, negative ? RoundMode.CEILING : RoundMode.TRUNCATE);
    }

    /** Multiplies by 10^{@code count}. */
    public DecimalStatus shift(int count) {
        return DecimalRounding.shift(this, count, WORDS);
    }

    DecimalDivision.Scratch divisionScratch() {
        if (division == null) {
            division = new DecimalDivision.Scratch();
        }
        return division;
    }

    byte[] digitScratch() {
        if (digits == null) {
            digits = new byte[DecimalRounding.SCRATCH_BYTES];
        }
        return digits;
    }

    /**
     * Parses text (expressions.md 5.4.2, from bytes).
     *
     * @throws io.coplane.types.EvalException if there is no number; this is zero then
     */
    public DecimalStatus parse(byte[] text, int offset, int length) {
        return DecimalText.parse(text, offset, length, WORDS, this);
    }

    /** Parses text, see {@link #parse(byte[], int, int)}. */
    public DecimalStatus parse(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return parse(bytes, 0, bytes.length);
    }

    /**
     * Becomes the decimal with the shortest digits that give {@code value} back.
     *
     * @throws io.coplane.types.EvalException if it is infinite or NaN or needs more than nine words
     */
    public void setDouble(double value) {
        DecimalText.fromDouble(value, this);
    }

    /**
     * Converts the integer part to int64; read it with {@link #integer()}.
     *
     * @return OVERFLOW with the nearest bound; TRUNCATED if there was a fraction
     */
    public DecimalStatus toLong() {
        DecimalStatus status = toMagnitude();
        long magnitude = integer;
        if (status == DecimalStatus.OVERFLOW || magnitude < 0 && !(negative && magnitude == Long.MIN_VALUE)) {
            integer = negative ? Long.MIN_VALUE : Long.MAX_VALUE;
            return DecimalStatus.OVERFLOW;
        }
        integer = negative ? -magnitude : magnitude;
        return status;
    }

    /**
     * Converts the integer part to uint64; read it with {@link #integer()}.
     *
     * @return OVERFLOW with 0 if negative, with 2^64-1 if too large; TRUNCATED if there was a fraction
     */
    public DecimalStatus toUlong() {
        if (negative) {
            integer = 0;
            return DecimalStatus.OVERFLOW;
        }
        DecimalStatus status = toMagnitude();
        if (status == DecimalStatus.OVERFLOW) {
            integer = -1;
        }
        return status;
    }

    private DecimalStatus toMagnitude() {
        long value = 0;
        int intWords = intWords();
        for (int i = 0; i < intWords; i++) {
            long high = Math.unsignedMultiplyHigh(value, BASE);
            long next = value * BASE + words[i];
            if (high != 0 || Long.compareUnsigned(next, value * BASE) < 0) {
                return DecimalStatus.OVERFLOW;
            }
            value = next;
        }
        integer = value;
        int used = usedWords();
        for (int i = intWords; i < used; i++) {
            if (words[i] != 0) {
                return DecimalStatus.TRUNCATED;
            }
        }
        return DecimalStatus.OK;
    }

    /** What {@link #toLong()} or {@link #toUlong()} found. */
    public long integer() {
        return integer;
    }

    /** The nearest double. */
    public double toDouble() {
        return DecimalText.toDouble(this);
    }

    /**
     * Writes the plain text: all fraction digits.
     *
     * @param target room for {@link DecimalText#MAX_BYTES} behind {@code at}
     * @return bytes written
     */
    public int plainText(byte[] target, int at) {
        return DecimalText.plain(this, target, at);
    }

    /** The plain text: all fraction digits. */
    public String plainText() {
        byte[] text = new byte[DecimalText.MAX_BYTES];
        return new String(text, 0, plainText(text, 0), StandardCharsets.ISO_8859_1);
    }

    /** The text to display: rounded to the result fraction digits. Allocates. */
    public String displayText() {
        Decimal rounded = new Decimal();
        rounded.set(this);
        rounded.round(resultFracCount, RoundMode.HALF_UP);
        return rounded.plainText();
    }

    /** The plain text, for messages and tests. */
    @Override
    public String toString() {
        return plainText();
    }
}
