package io.coplane.types.decimal;

/** Addition, subtraction, multiplication on words (expressions.md 5.4.4, 5.4.5). */
final class DecimalArithmetic {
    private DecimalArithmetic() {}

    /** {@code left + right}, where {@code rightNegative} stands for the sign of right; {@code out} is neither. */
    static DecimalStatus add(Decimal left, Decimal right, boolean rightNegative, Decimal out) {
        out.resultFracCount = Math.max(left.resultFracCount, right.resultFracCount);
        out.tail = 0;
        if (left.negative == rightNegative) {
            return addMagnitudes(left, right, out);
        }
        int order = Decimal.compareMagnitude(left, right);
        if (order == 0) {
            out.setZero(1, 0, out.resultFracCount);
            return DecimalStatus.OK;
        }
        out.negative = order > 0 ? left.negative : rightNegative;
        return order > 0 ? subtractMagnitudes(left, right, out) : subtractMagnitudes(right, left, out);
    }

    private static DecimalStatus addMagnitudes(Decimal left, Decimal right, Decimal out) {
        int leftInt = left.intWords();
        int rightInt = right.intWords();
        int intWords = Math.max(leftInt, rightInt);
        int fracWords = Math.max(left.fracWords(), right.fracWords());
        int first = (leftInt >= rightInt ? left.firstWord() : 0) + (rightInt >= leftInt ? right.firstWord() : 0);
        if (first > Decimal.BASE - 2) {
            intWords++;
        }
        DecimalStatus status = fit(intWords, fracWords);
        if (status == DecimalStatus.OVERFLOW) {
            int resultFrac = out.resultFracCount;
            out.setMax(left.negative, Decimal.MAX_DIGITS, 0);
            out.resultFracCount = resultFrac;
            return status;
        }
        int fracCount = Math.max(left.fracCount, right.fracCount);
        if (status == DecimalStatus.TRUNCATED) {
            fracWords = Decimal.WORDS - intWords;
            fracCount = Math.min(fracCount, fracWords * Decimal.WORD_DIGITS);
        }
        out.negative = left.negative;
        out.intCount = intWords * Decimal.WORD_DIGITS;
        out.fracCount = fracCount;
        int leftUsed = left.usedWords();
        int rightUsed = right.usedWords();
        int carry = 0;
        for (int place = fracWords - 1; place >= -intWords; place--) {
            int sum = Decimal.word(left.words, leftInt + place, leftUsed)
                    + Decimal.word(right.words, rightInt + place, rightUsed)
                    + carry;
            carry = sum >= Decimal.BASE ? 1 : 0;
            out.words[intWords + place] = sum - carry * Decimal.BASE;
        }
        clearFrom(out, intWords + fracWords);
        return status;
    }

    private static DecimalStatus subtractMagnitudes(Decimal larger, Decimal smaller, Decimal out) {
        int intWords = larger.intWords();
        int skip = 0;
        while (skip < intWords && larger.words[skip] == 0) {
            skip++;
        }
        intWords -= skip;
        int fracWords = Math.max(larger.fracWords(), smaller.fracWords());
        int fracCount = Math.max(larger.fracCount, smaller.fracCount);
        DecimalStatus status = fit(intWords, fracWords);
        if (status == DecimalStatus.TRUNCATED) {
            fracWords = Decimal.WORDS - intWords;
            fracCount = Math.min(fracCount, fracWords * Decimal.WORD_DIGITS);
        }
        out.intCount = intWords * Decimal.WORD_DIGITS;
        out.fracCount = fracCount;
        int largerInt = intWords + skip;
        int largerUsed = larger.usedWords();
        int smallerInt = smaller.intWords();
        int smallerUsed = smaller.usedWords();
        int borrow = 0;
        for (int place = fracWords - 1; place >= -intWords; place--) {
            int difference = Decimal.word(larger.words, largerInt + place, largerUsed)
                    - Decimal.word(smaller.words, smallerInt + place, smallerUsed)
                    - borrow;
            borrow = difference >>> 31;
            out.words[intWords + place] = difference + borrow * Decimal.BASE;
        }
        clearFrom(out, intWords + fracWords);
        return status;
    }

    /** What becomes of a result that needs so many words: OVERFLOW = 9 integer words, TRUNCATED = fraction cut to what is left of 9. */
    static DecimalStatus fit(int intWords, int fracWords) {
        if (intWords + fracWords <= Decimal.WORDS) {
            return DecimalStatus.OK;
        }
        return intWords > Decimal.WORDS ? DecimalStatus.OVERFLOW : DecimalStatus.TRUNCATED;
    }

    static void clearFrom(Decimal out, int from) {
        for (int i = from; i < Decimal.WORDS; i++) {
            out.words[i] = 0;
        }
    }

    static DecimalStatus multiply(Decimal left, Decimal right, Decimal out) {
        int leftFrac = left.fracWords();
        int rightFrac = right.fracWords();
        int intWords = Decimal.wordsOf(left.intCount + right.intCount);
        int fracWords = leftFrac + rightFrac;
        int fracCount = Math.min(left.fracCount + right.fracCount, Decimal.MAX_PRODUCT_FRACTION);
        int resultFrac = Math.min(left.resultFracCount + right.resultFracCount, Decimal.MAX_FRACTION);
        DecimalStatus status = fit(intWords, fracWords);
        if (status == DecimalStatus.OVERFLOW) {
            out.setZero(Decimal.MAX_DIGITS, 0, resultFrac);
            out.negative = left.negative != right.negative;
            return status;
        }
        if (status == DecimalStatus.TRUNCATED) {
            int kept = Decimal.WORDS - intWords;
            fracCount = Math.min(fracCount, kept * Decimal.WORD_DIGITS);
            int excess = fracWords - kept;
            int half = excess / 2;
            boolean leftHasFewer = leftFrac <= rightFrac;
            leftFrac -= leftHasFewer ? half : excess - half;
            rightFrac -= leftHasFewer ? excess - half : half;
            fracWords = kept;
        }
        out.negative = left.negative != right.negative;
        out.intCount = intWords * Decimal.WORD_DIGITS;
        out.fracCount = fracCount;
        out.resultFracCount = resultFrac;
        if (product(left, leftFrac, right, rightFrac, out, intWords, fracWords) != 0) {
            return DecimalStatus.OVERFLOW;
        }
        clearFrom(out, intWords + fracWords);
        if (out.negative && allZero(out.words)) {
            out.setZero();
        } else {
            dropLeadingZeros(out, intWords + fracWords);
        }
        return status;
    }

    /** Moves {@code all} words to the front; the last ones stay where they were, too. */
    private static void dropLeadingZeros(Decimal out, int all) {
        int dropped = 0;
        while (out.words[dropped] == 0 && out.intCount > Decimal.WORD_DIGITS) {
            dropped++;
            out.intCount -= Decimal.WORD_DIGITS;
        }
        System.arraycopy(out.words, dropped, out.words, 0, all - dropped);
        out.tail = all - out.usedWords();
    }

    private static boolean allZero(int[] words) {
        int any = 0;
        for (int word : words) {
            any |= word;
        }
        return any == 0;
    }

    /** Word products summed per place: at most nine of less than 10^18 each, so a long holds them. Returns the carry out of the first word. */
    private static long product(
            Decimal left, int leftFrac, Decimal right, int rightFrac, Decimal out, int intWords, int fracWords) {
        int leftFirst = -left.intWords();
        int rightFirst = -right.intWords();
        long carry = 0;
        for (int place = fracWords - 1; place >= -intWords; place--) {
            long sum = carry;
            int from = Math.max(leftFirst, place - rightFrac);
            int to = Math.min(leftFrac - 1, place - 1 - rightFirst);
            for (int i = from; i <= to; i++) {
                sum += (long) left.words[i - leftFirst] * right.words[place - 1 - i - rightFirst];
            }
            carry = sum / Decimal.BASE;
            out.words[intWords + place] = (int) (sum - carry * Decimal.BASE);
        }
        return carry;
    }
}
