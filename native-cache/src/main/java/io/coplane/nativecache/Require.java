package io.coplane.nativecache;

/** Checks of configuration values; a failed one names the value and its bounds. */
public final class Require {
    private Require() {}

    /** @return {@code value}, which lies in {@code min .. max} */
    public static long range(String name, long value, long min, long max) {
        if (value < min || value > max) {
            throw new CoplaneException(
                    ErrorCode.BAD_CONFIG, name + " is out of bounds: value=" + value + " min=" + min + " max=" + max);
        }
        return value;
    }
}
