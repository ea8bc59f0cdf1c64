package io.coplane.types.decimal;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.types.ByteSink;
import io.coplane.types.column.DecimalColumn;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Decimals in datums and rows, and in chunks (coprocessor.md 4.7).
 *
 * <pre>
 * bytes  binary form
 *     1  prec
 *     1  frac; int = prec - frac
 *     -  int mod 9 digits in 0, 1, 1, 2, 2, 3, 3, 4, 4 bytes; then groups of 9 digits in 4 bytes, big-endian
 *     -  frac / 9 groups in 4 bytes; then frac mod 9 digits in 0, 1, 1, 2, 2, 3, 3, 4, 4 bytes
 *        negative: all digit bytes inverted; then the top bit of the first one flipped
 *
 * at  bytes  chunk form
 *  0      1  integer digits
 *  1      1  fraction digits
 *  2      1  result fraction digits
 *  3      1  1 = negative
 *  4     36  nine words of nine digits, little-endian
 * </pre>
 */
public final class DecimalBinary {
    /** Bytes of the chunk form. */
    public static final int CHUNK_BYTES = 4 + Decimal.WORDS * Integer.BYTES;

    static final VarHandle BE_LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

    private static final VarHandle LE_INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    static final int[] DIGIT_BYTES = {0, 1, 1, 2, 2, 3, 3, 4, 4, 4};
    static final int HEADER_BYTES = 2;
    static final int SIGN = 0x80;

    private DecimalBinary() {}

    /** Bytes of the digits, without the header. @param prec at least {@code frac} */
    public static int digitBytes(int prec, int frac) {
        int intDigits = prec - frac;
        return DIGIT_BYTES[intDigits % Decimal.WORD_DIGITS]
                + Integer.BYTES * (intDigits / Decimal.WORD_DIGITS + frac / Decimal.WORD_DIGITS)
                + DIGIT_BYTES[frac % Decimal.WORD_DIGITS];
    }

    /**
     * Bytes of the binary form at {@code at}, header included; may be more than there are.
     *
     * @return -1 if the header is cut
     * @throws CoplaneException CORRUPT_DATUM if prec is less than frac
     */
    public static int lengthOrMissing(byte[] bytes, int at, int end) {
        if (end - at < HEADER_BYTES) {
            return -1;
        }
        int prec = bytes[at] & 0xff;
        int frac = bytes[at + 1] & 0xff;
        checkPrecision(prec, frac);
        return HEADER_BYTES + digitBytes(prec, frac);
    }

    private static void checkPrecision(int prec, int frac) {
        if (prec < frac) {
            throw corrupt("invalid decimal, precision " + prec + " < frac_cnt " + frac);
        }
    }

    private static CoplaneException corrupt(String text) {
        return new CoplaneException(ErrorCode.CORRUPT_DATUM, "invalid data type: " + text);
    }

    /** Reads the binary form that starts at {@code at}. @throws CoplaneException CORRUPT_DATUM */
    public static void read(byte[] bytes, int at, int end, Decimal out) {
        int length = checkedLength(bytes, at, end);
        int frac = bytes[at + 1] & 0xff;
        readWords(bytes, at + HEADER_BYTES, length - HEADER_BYTES, (bytes[at] & 0xff) - frac, frac, out);
    }

    static int checkedLength(byte[] bytes, int at, int end) {
        if (end - at < HEADER_BYTES + 1) {
            throw corrupt("decimal is too short: bytes=" + (end - at));
        }
        int length = lengthOrMissing(bytes, at, end);
        int frac = bytes[at + 1] & 0xff;
        int words = Decimal.wordsOf((bytes[at] & 0xff) - frac) + Decimal.wordsOf(frac);
        if (words > Decimal.WORDS) {
            throw corrupt("decimal needs too many words: words=" + words);
        }
        if (length > end - at) {
            throw corrupt("decimal is too short: bytes=" + (end - at) + " needed=" + length);
        }
        return length;
    }

    /** A big-endian number of 1 to 4 bytes, each xored with {@code mask}. */
    static long digits(byte[] bytes, int at, int count, int mask) {
        long value = (bytes[at] ^ mask) & 0xff;
        for (int i = 1; i < count; i++) {
            value = value << 8 | (bytes[at + i] ^ mask) & 0xff;
        }
        return value;
    }

    static void readWords(byte[] bytes, int start, int length, int intDigits, int frac, Decimal out) {
        out.setZero(intDigits, frac, frac);
        boolean negative = length > 0 && bytes[start] >= 0;
        int mask = negative ? -1 : 0;
        int at = start;
        int index = 0;
        int lead = intDigits % Decimal.WORD_DIGITS;
        int groups = (lead > 0 ? 1 : 0) + intDigits / Decimal.WORD_DIGITS;
        int fracGroups = Decimal.wordsOf(frac);
        for (int i = 0; i < groups + fracGroups; i++) {
            int count = groupDigits(i, groups, lead, fracGroups, frac);
            int byteCount = DIGIT_BYTES[count];
            long group = digits(bytes, at, byteCount, mask) ^ (at == start ? (long) SIGN << 8 * (byteCount - 1) : 0);
            at += byteCount;
            boolean isLead = i == 0 && lead > 0;
            if (group >= (isLead ? Decimal.POW10[lead + 1] : Decimal.POW10[count])) {
                throw corrupt("invalid decimal, digits out of range: group=" + group);
            }
            if (i < groups && index == 0 && group == 0) {
                out.intCount -= count;
                continue;
            }
            out.words[index++] = (int) group * (i < groups ? 1 : Decimal.POW10[Decimal.WORD_DIGITS - count]);
        }
        out.negative = negative;
        if (out.intCount + out.fracCount == 0) {
            out.setZero();
        }
    }

    private static int groupDigits(int group, int intGroups, int lead, int fracGroups, int frac) {
        if (group == 0 && lead > 0 && intGroups > 0) {
            return lead;
        }
        if (group == intGroups + fracGroups - 1 && group >= intGroups && frac % Decimal.WORD_DIGITS != 0) {
            return frac % Decimal.WORD_DIGITS;
        }
        return Decimal.WORD_DIGITS;
    }

    /** Appends the binary form with header: the value's own precision and fraction digits. */
    public static void write(Decimal value, ByteSink out) {
        int prec = value.precision();
        out.ensure(HEADER_BYTES + Decimal.WORDS * Integer.BYTES);
        out.putByte(prec);
        out.putByte(value.fracCount);
        write(value, prec, value.fracCount, out);
    }

    /**
     * Appends the digits of the binary form for a given precision, without header.
     *
     * @return OVERFLOW if high digits are dropped, TRUNCATED if low ones are cut
     */
    public static DecimalStatus write(Decimal value, int prec, int frac, ByteSink out) {
        int intDigits = prec - frac;
        int mask = value.negative ? -1 : 0;
        int start = out.length();
        out.ensure(digitBytes(prec, frac));
        int lead = intDigits % Decimal.WORD_DIGITS;
        int intGroups = intDigits / Decimal.WORD_DIGITS;
        if (lead > 0) {
            put(out, value.wordAt(-intGroups - 1) % Decimal.POW10[lead], DIGIT_BYTES[lead], mask);
        }
        int fracGroups = frac / Decimal.WORD_DIGITS;
        for (int place = -intGroups; place < fracGroups; place++) {
            put(out, value.wordAt(place), Integer.BYTES, mask);
        }
        int rest = frac % Decimal.WORD_DIGITS;
        if (rest > 0) {
            put(out, value.wordAt(fracGroups) / Decimal.POW10[Decimal.WORD_DIGITS - rest], DIGIT_BYTES[rest], mask);
        }
        if (out.length() > start) {
            out.bytes()[start] ^= (byte) SIGN;
        }
        if (value.significantIntDigits() > intDigits) {
            return DecimalStatus.OVERFLOW;
        }
        return value.fracCount > frac ? DecimalStatus.TRUNCATED : DecimalStatus.OK;
    }

    private static void put(ByteSink out, int group, int count, int mask) {
        int word = group ^ mask;
        for (int shift = 8 * (count - 1); shift >= 0; shift -= 8) {
            out.putByte(word >>> shift);
        }
    }

    /**
     * Appends the binary form of a row with header: the value's own precision and fraction digits. Hot: runs per row.
     *
     * @param scratch for values that are not flat
     */
    public static void write(DecimalColumn column, int row, ByteSink out, Decimal scratch) {
        int header = column.headers()[row];
        if (!DecimalColumns.isFlat(header) || !writeFlat(header, column.unscaled()[row], out)) {
            DecimalColumns.load(column, row, scratch);
            write(scratch, out);
        }
    }

    /** Returns false and writes nothing if there are more than two groups of digits on a side or eight bytes. */
    private static boolean writeFlat(int header, long unscaled, ByteSink out) {
        int frac = DecimalColumns.fracCount(header);
        if (frac > Decimal.WORD_DIGITS) {
            return false;
        }
        long magnitude = Math.abs(unscaled);
        long integer = magnitude / Decimal.POW10[frac];
        long fraction = magnitude - integer * Decimal.POW10[frac];
        int high = (int) (integer / Decimal.BASE);
        int low = (int) (integer - (long) high * Decimal.BASE);
        int intDigits = high != 0
                ? Decimal.WORD_DIGITS + Decimal.digitsOf(high)
                : low != 0 ? Decimal.digitsOf(low) : frac == 0 ? 1 : 0;
        int fracBytes = DIGIT_BYTES[frac];
        int lowBytes = intDigits < Decimal.WORD_DIGITS ? DIGIT_BYTES[intDigits] : Integer.BYTES;
        int highBytes = intDigits > Decimal.WORD_DIGITS ? DIGIT_BYTES[intDigits - Decimal.WORD_DIGITS] : 0;
        int bytes = highBytes + lowBytes + fracBytes;
        if (bytes > Long.BYTES) {
            return false;
        }
        long word = fraction | (long) low << 8 * fracBytes;
        if (highBytes != 0) {
            word |= (long) high << 8 * (fracBytes + lowBytes);
        }
        word = DecimalColumns.isNegative(header) ? ~word : word;
        word = word << Long.SIZE - 8 * bytes ^ Long.MIN_VALUE;
        out.ensure(HEADER_BYTES + Long.BYTES);
        int at = out.length();
        byte[] target = out.bytes();
        target[at] = (byte) (intDigits + frac);
        target[at + 1] = (byte) frac;
        BE_LONG.set(target, at + HEADER_BYTES, word);
        out.advance(HEADER_BYTES + bytes);
        return true;
    }

    /** Appends the chunk form of a row. Hot: runs per row. @param scratch is changed */
    public static void writeChunk(DecimalColumn column, int row, ByteSink out, Decimal scratch) {
        DecimalColumns.load(column, row, scratch);
        writeChunk(scratch, out);
    }

    /** Appends the chunk form. */
    public static void writeChunk(Decimal value, ByteSink out) {
        out.ensure(CHUNK_BYTES);
        byte[] target = out.bytes();
        int at = out.length();
        LE_INT.set(
                target,
                at,
                value.intCount | value.fracCount << 8 | value.resultFracCount << 16 | (value.negative ? 1 << 24 : 0));
        int shown = value.usedWords() + value.tail;
        for (int i = 0; i < Decimal.WORDS; i++) {
            LE_INT.set(target, at + Integer.BYTES * (i + 1), i < shown ? value.words[i] : 0);
        }
        out.advance(CHUNK_BYTES);
    }
}
