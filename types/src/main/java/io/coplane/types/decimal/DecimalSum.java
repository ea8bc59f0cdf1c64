package io.coplane.types.decimal;

import io.coplane.types.column.DecimalColumn;

/** A running sum of decimals (coprocessor.md 5): starts at zero, keeps all fraction digits. One thread. */
public final class DecimalSum {
    private final DecimalColumn sum = new DecimalColumn();
    private final DecimalColumns.Scratch scratch = new DecimalColumns.Scratch();

    /** Zero. */
    public DecimalSum() {
        sum.reset(1);
        DecimalColumns.setZero(sum, 0);
    }

    /** Starts again at zero. */
    public void clear() {
        DecimalColumns.setZero(sum, 0);
    }

    /**
     * Adds rows {@code from} .. {@code to} - 1 that are not NULL. Hot: runs per row.
     *
     * @return how many were added
     * @throws io.coplane.types.EvalException on truncation or overflow; rows before it have been added
     */
    public int add(DecimalColumn values, int from, int to) {
        int[] headers = values.headers();
        long[] unscaled = values.unscaled();
        boolean nulls = values.mayHaveNulls();
        int added = 0;
        int row = from;
        while (row < to) {
            int start = row;
            row = nulls ? row : addRun(headers, unscaled, row, to);
            added += row - start;
            if (row < to) {
                if (!nulls || !values.isNull(row)) {
                    DecimalColumns.accumulate(sum, 0, values, row, scratch);
                    added++;
                }
                row++;
            }
        }
        return added;
    }

    /**
     * Adds rows as long as the sum's header stays what it is: flat, same sign, same fraction digits, no more integer words, no carry. Returns the
     * first row left.
     */
    private int addRun(int[] headers, long[] unscaled, int from, int to) {
        int header = sum.headers()[0];
        int intWords = DecimalColumns.wordsOf(DecimalColumns.intCount(header));
        int frac = DecimalColumns.fracCount(header);
        int resultFrac = DecimalColumns.resultFracCount(header);
        if (!DecimalColumns.isFlat(header)
                || DecimalColumns.isNegative(header)
                || intWords * Decimal.WORD_DIGITS != DecimalColumns.intCount(header)
                || intWords + DecimalColumns.wordsOf(frac) > Decimal.WORDS) {
            return from;
        }
        long limit = DecimalColumns.addLimit(intWords, frac);
        long total = sum.unscaled()[0];
        int row = from;
        for (; row < to; row++) {
            int other = headers[row];
            long next = total + unscaled[row];
            if ((other & (DecimalColumn.FLAT | DecimalColumn.NEGATIVE)) != DecimalColumn.FLAT
                    || DecimalColumns.fracCount(other) != frac
                    || DecimalColumns.resultFracCount(other) > resultFrac
                    || DecimalColumns.intCount(other) > intWords * Decimal.WORD_DIGITS
                    || next >= limit) {
                break;
            }
            total = next;
        }
        sum.unscaled()[0] = total;
        return row;
    }

    /** Adds one value. @throws io.coplane.types.EvalException on truncation or overflow */
    public void add(Decimal value) {
        DecimalColumns.load(sum, 0, scratch.left);
        scratch.result.setSum(scratch.left, value).orThrow();
        DecimalColumns.store(scratch.result, sum, 0);
    }

    /** Copies the sum. */
    public void get(Decimal out) {
        DecimalColumns.load(sum, 0, out);
    }

    /** Copies the sum into a row. */
    public void get(DecimalColumn out, int row) {
        DecimalColumns.copy(sum, 0, out, row);
    }
}
