package io.coplane.worker;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * The JVM flags that the worker needs; {@code config/jvm.flags} is the one list of them for launcher, tests and benchmarks.
 *
 * <p>Each is probed by what it allows, so it does not matter how it was given. Netty, protobuf and the codecs do without
 * {@code sun.misc.Unsafe} and without opened packages on JDK 25, so neither is asked for.
 */
final class JvmFlags {
    /** Native libraries of the codecs. */
    private static final String NATIVE = "--enable-native-access=ALL-UNNAMED";

    private JvmFlags() {}

    /** @throws CoplaneException BAD_CONFIG naming the flags that are missing */
    static void check() {
        List<String> missing = missing(JvmFlags::isSet);
        if (!missing.isEmpty()) {
            throw new CoplaneException(
                    ErrorCode.BAD_CONFIG,
                    "the JVM was started without " + String.join(" ", missing)
                            + ": start it with bin/coplane, or with the flags of config/jvm.flags");
        }
    }

    /** Flags that are not set, in the order of the list. */
    static List<String> missing(Predicate<String> isSet) {
        List<String> missing = new ArrayList<>(List.of(NATIVE));
        missing.removeIf(isSet);
        return missing;
    }

    private static boolean isSet(String flag) {
        return switch (flag) {
            case NATIVE -> JvmFlags.class.getModule().isNativeAccessEnabled();
            default -> throw new IllegalArgumentException("no flag of the list: " + flag);
        };
    }
}
