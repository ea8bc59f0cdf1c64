package io.coplane.worker.config;

import io.coplane.nativecache.AsciiNumbers;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;

/**
 * A size, or a share of something that is known only on the machine (worker.md 4.1).
 *
 * @param bytes the size, 0 or more; 0 where {@code isPercent}
 * @param percent the share, 0 or more; 0 where not {@code isPercent}
 * @param isPercent which of the two it is
 */
public record SizeOrPercent(long bytes, double percent, boolean isPercent) {
    private static final double WHOLE = 100;

    /** An absolute size. */
    public static SizeOrPercent ofBytes(long bytes) {
        return new SizeOrPercent(bytes, 0, false);
    }

    /** A share. */
    public static SizeOrPercent ofPercent(double percent) {
        return new SizeOrPercent(0, percent, true);
    }

    /**
     * @param text a size, or a number and {@code %}
     * @throws CoplaneException BAD_CONFIG if it is neither
     */
    static SizeOrPercent parse(String text) {
        String trimmed = text.strip();
        if (!trimmed.endsWith("%")) {
            return ofBytes(SizeText.parse(trimmed));
        }
        try {
            double percent = AsciiNumbers.parseDouble(
                    trimmed.substring(0, trimmed.length() - 1).strip());
            if (percent >= 0 && percent <= Integer.MAX_VALUE) {
                return ofPercent(percent);
            }
        } catch (NumberFormatException e) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, "invalid percentage: value=\"" + text + "\"", e);
        }
        throw new CoplaneException(ErrorCode.BAD_CONFIG, "percentage is out of bounds: value=\"" + text + "\"");
    }

    /** Bytes, a percentage being one of {@code wholeBytes}; truncated. */
    public long resolve(long wholeBytes) {
        return isPercent ? (long) (wholeBytes * percent / WHOLE) : bytes;
    }
}
