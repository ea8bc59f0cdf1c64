package io.coplane.types.decimal;

/** Division and remainder on words (expressions.md 5.4.6, 5.4.7). */
final class DecimalDivision {
    /** Words of a quotient after which the reduction for a remainder stops. */
    private static final int MAX_REDUCTION_WORDS = 10;

    /** Most words of a numerator: nine of the value, nine for the divisor's fraction, nine for the result's. */
    private static final int SCRATCH_WORDS = 4 * Decimal.WORDS;

    private DecimalDivision() {}

    /** Arrays of one division, kept by the value that receives the result. */
    static final class Scratch {
        final int[] numerator = new int[SCRATCH_WORDS];
        final int[] denominator = new int[SCRATCH_WORDS];
        final int[] quotient = new int[SCRATCH_WORDS];
    }

    static DecimalStatus divide(Decimal left, Decimal right, int increment, Decimal out) {
        if (right.isZero()) {
            return null;
        }
        out.tail = 0;
        int resultFrac = Math.min(left.resultFracCount + increment, Decimal.MAX_FRACTION);
        if (left.isZero()) {
            out.setZero(0, resultFrac, resultFrac);
            return DecimalStatus.OK;
        }
        int leftFrac = left.fracWords() * Decimal.WORD_DIGITS;
        int rightFrac = right.fracWords() * Decimal.WORD_DIGITS;
        int more = Math.max(0, increment - ((leftFrac - left.fracCount) + (rightFrac - right.fracCount)));
        int intDigits = (left.significantDigits() - leftFrac)
                - (right.significantDigits() - rightFrac)
                + (firstNonZero(left) >= firstNonZero(right) ? 1 : 0);
        int intWords = intDigits >= 0 ? (intDigits + Decimal.WORD_DIGITS - 1) / Decimal.WORD_DIGITS : 0;
        int fracWords = Decimal.wordsOf(leftFrac + rightFrac + more);
        DecimalStatus status = DecimalArithmetic.fit(intWords, fracWords);
        int keptInt = Math.min(intWords, Decimal.WORDS);
        fracWords = Math.min(fracWords, Decimal.WORDS - keptInt);
        Scratch scratch = out.divisionScratch();
        int shift = fracWords - left.fracWords() + right.fracWords();
        int numeratorWords = copy(left, shift, scratch.numerator);
        int denominatorWords = copy(right, 0, scratch.denominator);
        int quotientWords = longDivision(
                scratch.numerator, numeratorWords, scratch.denominator, denominatorWords, scratch.quotient);
        out.negative = left.negative != right.negative;
        out.resultFracCount = resultFrac;
        out.intCount = keptInt * Decimal.WORD_DIGITS;
        out.fracCount = fracWords * Decimal.WORD_DIGITS;
        int words = keptInt + fracWords;
        int first = quotientWords - (intWords + fracWords); // the quotient's digits end with the last fraction word
        int any = 0;
        for (int i = 0; i < words; i++) {
            out.words[i] = first + i < 0 ? 0 : scratch.quotient[first + i];
            any |= out.words[i];
        }
        DecimalArithmetic.clearFrom(out, words);
        out.negative &= any != 0;
        return status;
    }

    static DecimalStatus remainder(Decimal left, Decimal right, Decimal out) {
        if (right.isZero()) {
            return null;
        }
        out.tail = 0;
        int resultFrac = Math.max(left.resultFracCount, right.resultFracCount);
        if (left.isZero()) {
            out.setZero(0, resultFrac, resultFrac);
            return DecimalStatus.OK;
        }
        int fracWords = Math.max(left.fracWords(), right.fracWords());
        int fracCount = Math.max(left.fracCount, right.fracCount);
        int reductionWords = firstPlace(right) - firstPlace(left) + (firstNonZero(left) >= firstNonZero(right) ? 1 : 0);
        int skipped = Math.max(0, reductionWords - MAX_REDUCTION_WORDS);
        Scratch scratch = out.divisionScratch();
        int numeratorWords = copy(left, fracWords - left.fracWords(), scratch.numerator);
        int denominatorWords = copy(right, fracWords - right.fracWords() + skipped, scratch.denominator);
        longDivision(scratch.numerator, numeratorWords, scratch.denominator, denominatorWords, scratch.quotient);
        out.negative = left.negative;
        out.resultFracCount = resultFrac;
        return storeRemainder(scratch.numerator, numeratorWords, fracWords, fracCount, right.intCount, skipped, out);
    }

    private static DecimalStatus storeRemainder(
            int[] remainder, int words, int fracWords, int fracCount, int rightInt, int skipped, Decimal out) {
        int start = 0;
        while (start < words && remainder[start] == 0) {
            start++;
        }
        int intWords = words - fracWords - start;
        if (start == words) {
            out.setZero(fracWords == 0 ? 1 : 0, fracCount, out.resultFracCount);
            return DecimalStatus.OK;
        }
        if (-intWords >= Decimal.WORDS) {
            out.setZero(1, 0, out.resultFracCount);
            return DecimalStatus.TRUNCATED;
        }
        DecimalStatus status = DecimalStatus.OK;
        int keptInt = Math.max(0, intWords);
        int keptFrac = fracWords;
        out.fracCount = fracCount;
        if (keptInt > Decimal.WORDS) {
            keptInt = Decimal.WORDS;
            keptFrac = 0;
            out.fracCount = 0;
            status = DecimalStatus.OVERFLOW;
        } else if (keptInt + keptFrac > Decimal.WORDS) {
            keptFrac = Decimal.WORDS - keptInt;
            out.fracCount = keptFrac * Decimal.WORD_DIGITS;
            status = DecimalStatus.TRUNCATED;
        }
        int intDigits = keptInt * Decimal.WORD_DIGITS;
        out.intCount = skipped > 0 ? intDigits : Math.min(intDigits, rightInt);
        int from = words - fracWords - Math.max(0, intWords);
        System.arraycopy(remainder, from, out.words, 0, keptInt + keptFrac);
        DecimalArithmetic.clearFrom(out, keptInt + keptFrac);
        return status;
    }

    private static int firstNonZero(Decimal value) {
        int i = 0;
        while (value.words[i] == 0) {
            i++;
        }
        return value.words[i];
    }

    private static int firstPlace(Decimal value) {
        int i = 0;
        while (value.words[i] == 0) {
            i++;
        }
        return i - value.intWords();
    }

    /**
     * Copies the words of a value behind one zero word, and {@code shift} zero words behind them; a negative shift leaves low words out.
     *
     * @return words written, at least 1
     */
    private static int copy(Decimal value, int shift, int[] target) {
        int used = Math.max(0, value.usedWords() + Math.min(0, shift));
        int zeros = Math.max(0, shift);
        target[0] = 0;
        System.arraycopy(value.words, 0, target, 1, used);
        for (int i = 0; i < zeros; i++) {
            target[1 + used + i] = 0;
        }
        return 1 + used + zeros;
    }

    /**
     * Schoolbook division, most significant word first. The remainder replaces the numerator.
     *
     * @param numerator its first word is zero
     * @param denominator not zero; changed
     * @param quotient receives as many words as the numerator has
     * @return words of the quotient
     */
    private static int longDivision(
            int[] numerator, int numeratorWords, int[] denominator, int denominatorWords, int[] quotient) {
        int start = 0;
        while (denominator[start] == 0) {
            start++;
        }
        int length = denominatorWords - start;
        for (int i = 0; i < numeratorWords; i++) {
            quotient[i] = 0;
        }
        if (length >= numeratorWords && length > 1) {
            return numeratorWords; // the numerator's first word is zero, so it is smaller
        }
        if (length == 1) {
            divideByWord(numerator, numeratorWords, denominator[start], quotient);
            return numeratorWords;
        }
        int scale = Decimal.BASE / (denominator[start] + 1);
        multiplyByWord(numerator, 0, numeratorWords, scale);
        multiplyByWord(denominator, start, denominatorWords, scale);
        for (int i = 0; i + length < numeratorWords; i++) {
            int digit = estimate(numerator, i, denominator, start);
            if (subtractMultiple(numerator, i, denominator, start, length, digit)) {
                digit--;
                addBack(numerator, i, denominator, start, length);
            }
            quotient[i + length] = digit;
        }
        divideByWord(numerator, numeratorWords, scale, null); // what is left was multiplied, too
        return numeratorWords;
    }

    /** Quotient digit from the two first words of the denominator: right or one too large. */
    private static int estimate(int[] numerator, int i, int[] denominator, int start) {
        long high = (long) numerator[i] * Decimal.BASE + numerator[i + 1];
        long digit = Math.min(high / denominator[start], Decimal.BASE - 1L);
        long rest = high - digit * denominator[start];
        while (rest < Decimal.BASE && digit * denominator[start + 1] > rest * Decimal.BASE + numerator[i + 2]) {
            digit--;
            rest += denominator[start];
        }
        return (int) digit;
    }

    /** Subtracts digit times the denominator from the numerator's words i .. i + length. Returns true if it went below zero. */
    private static boolean subtractMultiple(
            int[] numerator, int i, int[] denominator, int start, int length, int digit) {
        long borrow = 0;
        for (int j = length - 1; j >= 0; j--) {
            long difference = numerator[i + 1 + j] - (long) digit * denominator[start + j] - borrow;
            borrow = difference < 0 ? (-difference + Decimal.BASE - 1) / Decimal.BASE : 0;
            numerator[i + 1 + j] = (int) (difference + borrow * Decimal.BASE);
        }
        long top = numerator[i] - borrow;
        numerator[i] = 0;
        return top < 0;
    }

    private static void addBack(int[] numerator, int i, int[] denominator, int start, int length) {
        int carry = 0;
        for (int j = length - 1; j >= 0; j--) {
            int sum = numerator[i + 1 + j] + denominator[start + j] + carry;
            carry = sum >= Decimal.BASE ? 1 : 0;
            numerator[i + 1 + j] = sum - carry * Decimal.BASE;
        }
    }

    private static void multiplyByWord(int[] words, int from, int to, int factor) {
        long carry = 0;
        for (int i = to - 1; i >= from; i--) {
            long product = (long) words[i] * factor + carry;
            carry = product / Decimal.BASE;
            words[i] = (int) (product - carry * Decimal.BASE);
        }
    }

    /** Divides in place or into {@code quotient}, in which case the remainder replaces the numerator. */
    private static void divideByWord(int[] numerator, int words, int divisor, int[] quotient) {
        long rest = 0;
        for (int i = 0; i < words; i++) {
            long part = rest * Decimal.BASE + numerator[i];
            long digit = part / divisor;
            rest = part - digit * divisor;
            if (quotient == null) {
                numerator[i] = (int) digit;
            } else {
                quotient[i] = (int) digit;
                numerator[i] = 0;
            }
        }
        if (quotient != null) {
            numerator[words - 1] = (int) rest;
        }
    }
}
