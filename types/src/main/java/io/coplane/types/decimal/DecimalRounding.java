package io.coplane.types.decimal;

import java.util.Arrays;

/** Rounding and shifting (expressions.md 5.4.8, 5.4.9). */
final class DecimalRounding {
    /** Most places that a shift may move the point without leaving every value behind. */
    private static final int MAX_SHIFT = 2 * Decimal.MAX_DIGITS;

    /** Digits of a value and a carry in front. */
    static final int SCRATCH_BYTES = Decimal.MAX_DIGITS + 1;

    private DecimalRounding() {}

    static DecimalStatus round(Decimal value, int wantedFrac, RoundMode mode) {
        int frac = Math.min(wantedFrac, Decimal.MAX_FRACTION);
        int intWords = value.intWords();
        int fracWords = frac > 0 ? Decimal.wordsOf(frac) : (frac + 1) / Decimal.WORD_DIGITS;
        DecimalStatus status = DecimalStatus.OK;
        if (intWords + fracWords > Decimal.WORDS) {
            fracWords = Decimal.WORDS - intWords;
            frac = fracWords * Decimal.WORD_DIGITS;
            status = DecimalStatus.TRUNCATED;
        } else if (value.intCount + frac < 0) {
            value.setZero();
            return DecimalStatus.OK;
        }
        int used = value.usedWords();
        value.intCount = intWords * Decimal.WORD_DIGITS;
        if (frac >= value.fracCount) {
            if (intWords + fracWords > used) {
                Arrays.fill(value.words, used, intWords + fracWords, 0);
                value.tail = Math.max(0, value.tail - (intWords + fracWords - used));
            }
            value.fracCount = frac;
            value.resultFracCount = frac;
            return status;
        }
        return cut(value, frac, Math.max(0, fracWords), used, mode, status);
    }

    private static DecimalStatus cut(
            Decimal value, int frac, int fracWords, int used, RoundMode mode, DecimalStatus before) {
        DecimalStatus status = before;
        value.tail = 0;
        int[] words = value.words;
        int intWords = value.intCount / Decimal.WORD_DIGITS;
        int kept = value.intCount + frac; // digits kept, counted from the start of the first word
        boolean up = roundsUp(words, kept, used, mode);
        int word = kept / Decimal.WORD_DIGITS;
        int digits = kept % Decimal.WORD_DIGITS;
        if (word < Decimal.WORDS) {
            words[word] = digits == 0 ? 0 : words[word] - words[word] % Decimal.POW10[Decimal.WORD_DIGITS - digits];
            Arrays.fill(words, word + 1, Decimal.WORDS, 0);
        }
        int fracCount = Math.max(0, frac);
        if (up && increment(words, kept)) {
            if (intWords + fracWords >= Decimal.WORDS) {
                fracWords--;
                fracCount = Math.max(0, fracWords) * Decimal.WORD_DIGITS;
                status = DecimalStatus.TRUNCATED;
            }
            System.arraycopy(words, 0, words, 1, Decimal.WORDS - 1);
            words[0] = 1;
            if (value.intCount < Decimal.MAX_DIGITS) {
                value.intCount++;
                Arrays.fill(words, Math.min(Decimal.WORDS, intWords + 1 + fracWords), Decimal.WORDS, 0);
            } else {
                status = DecimalStatus.OVERFLOW;
            }
        }
        value.fracCount = fracCount;
        value.resultFracCount = fracCount;
        if (value.isZero()) {
            value.setZero(1, fracCount, fracCount);
        }
        return status;
    }

    private static boolean roundsUp(int[] words, int kept, int used, RoundMode mode) {
        int word = kept / Decimal.WORD_DIGITS;
        if (mode == RoundMode.TRUNCATE || word >= used) {
            return false;
        }
        int below = Decimal.POW10[Decimal.WORD_DIGITS - kept % Decimal.WORD_DIGITS];
        if (mode == RoundMode.HALF_UP) {
            return words[word] % below / (below / 10) >= 5;
        }
        int any = words[word] % below;
        for (int i = word + 1; i < used; i++) {
            any |= words[i];
        }
        return any != 0;
    }

    /** Adds one to the last of the kept digits. Returns true if a carry leaves the first word. */
    private static boolean increment(int[] words, int kept) {
        if (kept == 0) {
            return true;
        }
        int word = (kept - 1) / Decimal.WORD_DIGITS;
        words[word] += Decimal.POW10[Decimal.WORD_DIGITS - 1 - (kept - 1) % Decimal.WORD_DIGITS];
        while (words[word] >= Decimal.BASE) {
            words[word] -= Decimal.BASE;
            if (word == 0) {
                return true;
            }
            words[--word]++;
        }
        return false;
    }

    static DecimalStatus shift(Decimal value, int count, int limitWords) {
        if (count == 0) {
            return DecimalStatus.OK;
        }
        value.tail = 0;
        byte[] digits = value.digitScratch();
        int intWords = value.intWords();
        int used = value.usedWords();
        spread(value.words, used, digits);
        int begin = 1;
        int end = 1 + used * Decimal.WORD_DIGITS;
        while (begin < end && digits[begin] == 0) {
            begin++;
        }
        if (begin == end) {
            value.setZero(1, 0, value.resultFracCount);
            return DecimalStatus.OK;
        }
        while (digits[end - 1] == 0) {
            end--;
        }
        if (count > MAX_SHIFT) {
            return DecimalStatus.OVERFLOW;
        }
        if (count < -MAX_SHIFT) {
            value.setZero(1, 0, value.resultFracCount);
            return DecimalStatus.TRUNCATED;
        }
        int point = 1 + intWords * Decimal.WORD_DIGITS + count;
        int intDigits = Math.max(0, point - begin);
        int fracDigits = Math.max(0, end - point);
        int newInt = words(intDigits);
        int newFrac = words(fracDigits);
        DecimalStatus status = DecimalStatus.OK;
        int lack = newInt + newFrac - limitWords;
        if (lack > 0) {
            if (newFrac < lack) {
                return DecimalStatus.OVERFLOW;
            }
            status = DecimalStatus.TRUNCATED;
            newFrac -= lack;
            fracDigits = newFrac * Decimal.WORD_DIGITS;
            end = point + fracDigits;
            begin = roundAt(digits, begin, end);
            if (begin >= end) {
                value.setZero(1, 0, value.resultFracCount);
                return status;
            }
            intDigits = Math.max(0, point - begin);
            newInt = words(intDigits);
            if (newInt + newFrac > limitWords) { // a carry took one word more; the fraction is zero then
                if (newFrac == 0) {
                    return DecimalStatus.OVERFLOW;
                }
                newFrac--;
                fracDigits = newFrac * Decimal.WORD_DIGITS;
            }
        }
        pack(value, digits, begin, end, point, newInt, newFrac);
        value.intCount = intDigits;
        value.fracCount = fracDigits;
        return status;
    }

    private static int words(int digits) {
        return (digits + Decimal.WORD_DIGITS - 1) / Decimal.WORD_DIGITS;
    }

    /** Rounds half up the digits before {@code end}. Returns where they start now. */
    private static int roundAt(byte[] digits, int begin, int end) {
        if (end < begin || digits[end] < 5) {
            return Math.min(begin, end);
        }
        int at = end - 1;
        while (at >= begin && digits[at] == 9) {
            digits[at--] = 0;
        }
        if (at < begin) {
            digits[at] = 0;
        }
        digits[at]++;
        return Math.min(at, begin);
    }

    /** Writes the digits of the words from index 1 on; index 0 is for a carry. */
    private static void spread(int[] words, int used, byte[] digits) {
        digits[0] = 0;
        for (int i = 0; i < used; i++) {
            int rest = words[i];
            for (int j = Decimal.WORD_DIGITS; j > 0; j--) {
                digits[i * Decimal.WORD_DIGITS + j] = (byte) (rest % 10);
                rest /= 10;
            }
        }
    }

    private static void pack(Decimal value, byte[] digits, int begin, int end, int point, int intWords, int fracWords) {
        Arrays.fill(value.words, 0);
        int at = point - intWords * Decimal.WORD_DIGITS;
        for (int i = 0; i < intWords + fracWords; i++) {
            int word = 0;
            for (int j = 0; j < Decimal.WORD_DIGITS; j++, at++) {
                word = 10 * word + (at >= begin && at < end ? digits[at] : 0);
            }
            value.words[i] = word;
        }
    }
}
