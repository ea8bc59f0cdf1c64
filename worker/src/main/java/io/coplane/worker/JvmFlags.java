package io.coplane.worker;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * The JVM flags that the worker needs; {@code config/jvm.flags} is the one list of them for launcher, tests and benchmarks.
 *
 * <p>Each is probed by what it allows, so it does not matter how it was given.
 */
final class JvmFlags {
    /** Off-heap structures of Agrona. */
    private static final String INTERNAL_MISC = "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED";

    /** Netty, protobuf and LZ4 fall back to slower ways without it, and the JVM writes warnings. */
    private static final String UNSAFE = "--sun-misc-unsafe-memory-access=allow";

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
        List<String> missing = new ArrayList<>(List.of(INTERNAL_MISC, UNSAFE, NATIVE));
        missing.removeIf(isSet);
        return missing;
    }

    private static boolean isSet(String flag) {
        Module ours = JvmFlags.class.getModule();
        return switch (flag) {
            case INTERNAL_MISC -> Object.class.getModule().isOpen("jdk.internal.misc", ours);
            case UNSAFE -> "allow".equals(System.getProperty("sun.misc.unsafe.memory.access"));
            case NATIVE -> ours.isNativeAccessEnabled();
            default -> throw new IllegalArgumentException("no flag of the list: " + flag);
        };
    }
}
