package io.coplane.cop.expr.kernel;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.util.Arrays;

/** How strings of a collation compare (expressions.md 10). Collations that compare bytes are answered here. Immutable. */
final class Collator {
    private final int id;
    private final boolean pads;
    private final boolean binary;

    private Collator(int id, boolean pads, boolean binary) {
        this.id = id;
        this.pads = pads;
        this.binary = binary;
    }

    /**
     * The collation of a wire id.
     *
     * @throws CoplaneException BAD_PLAN for an unknown negative id
     */
    static Collator of(int id) {
        return switch (id) {
            case -63, 63, 47 -> new Collator(id, false, true);
            case -46, -83, -65, -47 -> new Collator(id, true, true);
            case -309 -> new Collator(id, false, true);
            case -33, -45, -224, -192, -87, -28, -249, -248 -> new Collator(id, true, false);
            case -255 -> new Collator(id, false, false);
            default -> {
                if (id < 0) {
                    throw new CoplaneException(ErrorCode.BAD_PLAN, "invalid schema: Unsupported collation code: " + id);
                }
                yield new Collator(id, false, true);
            }
        };
    }

    /** True for binary: strings need not be UTF-8, and a character is a byte. */
    boolean isBinary() {
        return id == -63 || id == 63 || id == 47;
    }

    /** True for the charsets whose character is a byte. */
    boolean isByteCharset() {
        return isBinary() || id == -47;
    }

    /** True if strings compare as bytes. */
    boolean comparesBytes() {
        return binary;
    }

    private int trimmed(byte[] data, int start, int length) {
        int end = start + length;
        while (pads && end > start && data[end - 1] == ' ') {
            end--;
        }
        return end;
    }

    /** Order of two strings: negative, 0 or positive. */
    int compare(byte[] left, int leftStart, int leftLength, byte[] right, int rightStart, int rightLength) {
        requireBytes();
        return Arrays.compareUnsigned(
                left,
                leftStart,
                trimmed(left, leftStart, leftLength),
                right,
                rightStart,
                trimmed(right, rightStart, rightLength));
    }

    /** Bytes that equal strings share and others don't. */
    byte[] sortKey(byte[] data, int start, int length) {
        requireBytes();
        return Arrays.copyOfRange(data, start, trimmed(data, start, length));
    }

    /** True if two characters alone are equal to LIKE: without padding. */
    boolean sameCharacter(byte[] left, int leftStart, int leftLength, byte[] right, int rightStart, int rightLength) {
        requireBytes();
        return Arrays.equals(left, leftStart, leftStart + leftLength, right, rightStart, rightStart + rightLength);
    }

    private void requireBytes() {
        if (!binary) {
            throw new CoplaneException(ErrorCode.UNSUPPORTED, "collation is not built yet: id=" + id);
        }
    }
}
