package io.coplane.types.collation;

import io.coplane.types.ByteSink;
import io.coplane.types.text.Utf8;
import java.util.Arrays;

/** One weight per character from a table: general_ci and the GBK and GB18030 collations. */
final class WeightCollator extends Collator {
    /** Weight that ends a string at an ill-formed sequence. */
    private static final int STOP = -1;

    /** How a sort key spells a weight. */
    private enum KeyForm {
        TWO_BYTES,
        SHORTEST
    }

    private final int[] basic;
    private final int above;
    private final boolean linearAbove;
    private final int invalid;
    private final KeyForm keyForm;

    /**
     * @param basic weight of each code point up to U+FFFF
     * @param above weight of the others
     * @param linearAbove true if the others weigh their four-byte GB18030 code instead
     * @param invalid weight of a byte that starts no well-formed sequence, or {@link #STOP}
     */
    private WeightCollator(int[] basic, int above, boolean linearAbove, int invalid, KeyForm keyForm) {
        super(true);
        this.basic = basic;
        this.above = above;
        this.linearAbove = linearAbove;
        this.invalid = invalid;
        this.keyForm = keyForm;
    }

    /** Holder: built on first use. */
    static final class GeneralCi {
        static final WeightCollator INSTANCE =
                new WeightCollator(WeightTables.generalCi(), 0xfffd, false, STOP, KeyForm.TWO_BYTES);

        private GeneralCi() {}
    }

    /** Holder: built on first use. */
    static final class GbkBin {
        static final WeightCollator INSTANCE =
                new WeightCollator(WeightTables.gbk(), '?', false, '?', KeyForm.SHORTEST);

        private GbkBin() {}
    }

    /** Holder: built on first use. */
    static final class GbkChineseCi {
        static final WeightCollator INSTANCE =
                new WeightCollator(WeightTables.gbkChineseCi(), '?', false, STOP, KeyForm.SHORTEST);

        private GbkChineseCi() {}
    }

    /** Holder: built on first use. */
    static final class Gb18030Bin {
        static final WeightCollator INSTANCE =
                new WeightCollator(WeightTables.gb18030(), '?', true, '?', KeyForm.SHORTEST);

        private Gb18030Bin() {}
    }

    @Override
    boolean sameCharacter(int a, int b) {
        return weight(a) == weight(b);
    }

    @Override
    boolean undecodableMatches() {
        return invalid == STOP;
    }

    private int weight(int codePoint) {
        if (codePoint < basic.length) {
            return basic[codePoint];
        }
        return linearAbove ? Gb18030.linearCode(codePoint) : above;
    }

    @Override
    int compareWhole(byte[] a, int aStart, int aEnd, byte[] b, int bStart, int bEnd) {
        int common = Arrays.mismatch(a, aStart, aEnd, b, bStart, bEnd);
        if (common < 0) {
            return 0;
        }
        int i = aStart;
        int j = bStart;
        while (i < aEnd && j < bEnd) {
            int left;
            int right;
            if ((a[i] | b[j]) >= 0) {
                left = basic[a[i++]];
                right = basic[b[j++]];
            } else {
                int width = Utf8.sequenceLength(a, i, aEnd);
                left = weight(a, i, width);
                i += Math.max(1, width);
                width = Utf8.sequenceLength(b, j, bEnd);
                right = weight(b, j, width);
                j += Math.max(1, width);
                if (left == STOP || right == STOP) {
                    return 0;
                }
            }
            if (left != right) {
                return Integer.compareUnsigned(left, right);
            }
        }
        return signum((aEnd - i) - (bEnd - j));
    }

    @Override
    long hashWhole(byte[] bytes, int start, int end) {
        long hash = 0;
        int i = start;
        for (; i < end && bytes[i] >= 0; i++) {
            hash = mix(hash, basic[bytes[i]]);
        }
        while (i < end) {
            int width = Utf8.sequenceLength(bytes, i, end);
            int weight = weight(bytes, i, width);
            if (weight == STOP) {
                break;
            }
            hash = mix(hash, weight);
            i += Math.max(1, width);
        }
        return hash;
    }

    @Override
    void writeWhole(byte[] bytes, int start, int end, ByteSink out) {
        int i = start;
        if (keyForm == KeyForm.TWO_BYTES) {
            i += writeAscii(bytes, start, end, out);
        }
        while (i < end) {
            int width = Utf8.sequenceLength(bytes, i, end);
            int weight = weight(bytes, i, width);
            if (weight == STOP) {
                break;
            }
            put(weight, out);
            i += Math.max(1, width);
        }
    }

    /** Writes the weights of the ASCII characters that the string starts with. @return how many */
    private int writeAscii(byte[] bytes, int start, int end, ByteSink out) {
        out.ensure(Math.multiplyExact(2, end - start));
        byte[] target = out.bytes();
        int to = out.length();
        int[] weights = basic;
        int i = start;
        for (; i < end; i++, to += 2) {
            int character = bytes[i];
            if (character < 0) {
                break;
            }
            int weight = weights[character];
            target[to] = (byte) (weight >> 8);
            target[to + 1] = (byte) weight;
        }
        out.advance(2 * (i - start));
        return i - start;
    }

    /** @param width bytes of the sequence at {@code at}, 0 if it is ill-formed */
    private int weight(byte[] bytes, int at, int width) {
        return switch (width) {
            case 0 -> invalid;
            case 4 -> linearAbove ? Gb18030.linearCode(Utf8.codePoint(bytes, at, width)) : above;
            default -> basic[Utf8.codePoint(bytes, at, width)];
        };
    }

    private void put(int weight, ByteSink out) {
        if (keyForm == KeyForm.TWO_BYTES || weight > 0xff && weight <= 0xffff) {
            out.putByte(weight >> 8);
            out.putByte(weight);
        } else if (weight >= 0 && weight <= 0xff) {
            out.putByte(weight);
        } else {
            out.putByte(weight >> 24);
            out.putByte(weight >> 16);
            out.putByte(weight >> 8);
            out.putByte(weight);
        }
    }
}
