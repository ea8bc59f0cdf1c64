package io.coplane.types.decimal;

import io.coplane.types.column.DecimalColumn;

/**
 * Reads decimals in binary form ({@link DecimalBinary}) into columns. Values of one column share precision and fraction digits, so where the groups
 * of digits lie is worked out once and kept for as long as the two bytes in front stay the same. One thread.
 */
public final class DecimalReader {
    /** Most groups of digits in eight bytes. */
    private static final int GROUPS = 3;

    private final Decimal scratch = new Decimal();

    private int plannedHeader = -1;
    private boolean planned;
    private int bytes;
    private int intDigits;
    private int frac;
    private final int[] shifts = new int[GROUPS];
    private final long[] masks = new long[GROUPS];
    private final long[] limits = new long[GROUPS];
    private int firstIntDigits;
    private int secondIntDigits;

    /**
     * Reads the value that starts at {@code at} into a row. Hot: runs per row.
     *
     * @param end where the data ends; bytes behind the value are not looked at
     * @throws io.coplane.nativecache.CoplaneException CORRUPT_DATUM
     */
    public void read(byte[] source, int at, int end, DecimalColumn out, int row) {
        if (end - at > DecimalBinary.HEADER_BYTES) {
            int header = (source[at] & 0xff) << 8 | source[at + 1] & 0xff;
            if (header != plannedHeader) {
                plan(header);
            }
            int start = at + DecimalBinary.HEADER_BYTES;
            if (planned
                    && start + bytes <= end
                    && start + Long.BYTES <= source.length
                    && readPlanned(source, start, out, row)) {
                return;
            }
        }
        readAny(source, at, end, out, row);
    }

    private void plan(int header) {
        plannedHeader = header;
        int prec = header >>> 8;
        frac = header & 0xff;
        intDigits = prec - frac;
        planned = false;
        if (prec > DecimalColumns.FLAT_DIGITS || intDigits < 0 || prec == 0) {
            return;
        }
        bytes = DecimalBinary.digitBytes(prec, frac);
        if (bytes > Long.BYTES) {
            return;
        }
        int lead = intDigits % Decimal.WORD_DIGITS;
        int group = 0;
        int left = bytes;
        firstIntDigits = 0;
        secondIntDigits = 0;
        for (int rest = intDigits; rest > 0; ) {
            int count = rest == intDigits && lead > 0 ? lead : Decimal.WORD_DIGITS;
            left = planGroup(group, count, left);
            if (group == 0) {
                firstIntDigits = count;
            } else {
                secondIntDigits = count;
            }
            group++;
            rest -= count;
        }
        for (int rest = frac; rest > 0; rest -= Decimal.WORD_DIGITS) {
            left = planGroup(group++, Math.min(rest, Decimal.WORD_DIGITS), left);
        }
        for (; group < GROUPS; group++) {
            shifts[group] = 0;
            masks[group] = 0;
            limits[group] = 1;
        }
        planned = true;
    }

    /** Returns the bytes left behind the group. */
    private int planGroup(int group, int digits, int bytesLeft) {
        int count = DecimalBinary.DIGIT_BYTES[digits];
        shifts[group] = 8 * (bytesLeft - count);
        masks[group] = -1L >>> Long.SIZE - 8 * count;
        limits[group] = Decimal.POW10[digits];
        return bytesLeft - count;
    }

    /** Returns false for bytes that {@link #readAny} must judge. */
    private boolean readPlanned(byte[] source, int start, DecimalColumn out, int row) {
        long raw = (long) DecimalBinary.BE_LONG.get(source, start);
        long sign = ~raw >> Long.SIZE - 1; // all ones if negative
        long word = (raw ^ sign ^ Long.MIN_VALUE) >>> Long.SIZE - 8 * bytes;
        long first = word >>> shifts[0] & masks[0];
        long second = word >>> shifts[1] & masks[1];
        long third = word >>> shifts[2] & masks[2];
        if (first >= limits[0] || second >= limits[1] || third >= limits[2]) {
            return false;
        }
        int intCount = intDigits;
        if (firstIntDigits > 0 && first == 0) {
            intCount -= firstIntDigits + (second == 0 ? secondIntDigits : 0);
            if (intCount + frac == 0) {
                intCount = 1;
                sign = 0;
            }
        }
        long magnitude = (first * limits[1] + second) * limits[2] + third;
        out.headers()[row] = DecimalColumn.header(intCount, frac, frac, sign != 0) | DecimalColumn.FLAT;
        out.unscaled()[row] = (magnitude ^ sign) - sign;
        return true;
    }

    private void readAny(byte[] source, int at, int end, DecimalColumn out, int row) {
        int length = DecimalBinary.checkedLength(source, at, end);
        int digitsAt = at + DecimalBinary.HEADER_BYTES;
        int fracDigits = source[at + 1] & 0xff;
        int integerDigits = (source[at] & 0xff) - fracDigits;
        DecimalBinary.readWords(
                source, digitsAt, length - DecimalBinary.HEADER_BYTES, integerDigits, fracDigits, scratch);
        DecimalColumns.store(scratch, out, row);
    }
}
