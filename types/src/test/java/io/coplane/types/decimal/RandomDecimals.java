package io.coplane.types.decimal;

import java.util.SplittableRandom;

/** Decimals for property tests: every width, many nines and zeros, values around the bounds of words and of the flat form. */
final class RandomDecimals {
    private static final String[] EDGES = {
        "0",
        "-1",
        "1",
        "0.0",
        "999999998",
        "999999999",
        "1000000000",
        "-999999999",
        "0.999999998",
        "0.999999999",
        "0.9",
        "999999998.999999999",
        "999999999999999999",
        "-999999999999999999",
        "1000000000000000000",
        "0.000000001",
        "0.000000000000000001",
        "99999999999999999.9",
        "999999998999999999",
        "499999999",
        "499999999.5",
        "123.45",
        "9.99"
    };

    private RandomDecimals() {}

    static void next(SplittableRandom random, Decimal out) {
        if (random.nextInt(4) == 0) {
            out.parse(EDGES[random.nextInt(EDGES.length)]);
            return;
        }
        boolean small = random.nextInt(3) != 0;
        int intDigits = random.nextInt(small ? 12 : 46);
        int fracDigits = random.nextInt(small ? 8 : 31);
        if (intDigits + fracDigits == 0) {
            intDigits = 1;
        }
        var text = new StringBuilder(random.nextBoolean() ? "-" : "");
        digits(random, intDigits, text);
        if (fracDigits > 0) {
            digits(random, fracDigits, text.append('.'));
        }
        out.parse(text.toString());
        if (random.nextInt(3) == 0) {
            out.setResultFracCount(random.nextInt(31));
        }
        if (random.nextInt(3) == 0 && out.intWords() * Decimal.WORD_DIGITS > out.intCount) {
            out.intCount = out.intWords() * Decimal.WORD_DIGITS; // what additions leave
        }
    }

    private static void digits(SplittableRandom random, int count, StringBuilder text) {
        int kind = random.nextInt(5);
        for (int i = 0; i < count; i++) {
            text.append((char)
                    ('0' + (kind == 0 ? 9 : kind == 1 ? 0 : kind == 2 && i % 9 != 8 ? 9 : random.nextInt(10))));
        }
    }

    /** All that can be seen of a value. */
    static String describe(Decimal value) {
        return value.plainText() + " int=" + value.intCount + " frac=" + value.fracCount + " resultFrac="
                + value.resultFracCount + " negative=" + value.negative;
    }
}
