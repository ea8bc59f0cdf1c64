package io.coplane.worker;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * The JVM flags that the worker needs; {@code config/jvm.flags} is the one list of them for launcher, tests and benchmarks.
 *
 * <p>Each is probed by what it allows, so it does not matter how it was given. Only the mapped files of compaction journals (Chronicle Bytes) need
 * opened packages and {@code sun.misc.Unsafe}; Netty, protobuf and the codecs do without.
 */
final class JvmFlags {
    /** Native libraries of the codecs. */
    private static final String NATIVE = "--enable-native-access=ALL-UNNAMED";

    /** Chronicle Bytes makes the method that maps a file callable, */
    private static final String REFLECT = "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED";

    /** which is in this package, */
    private static final String FILE_CHANNELS = "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED";

    /** and writes to the mapping; JDK 25 warns of that, later ones refuse it without the flag. */
    private static final String UNSAFE = "--sun-misc-unsafe-memory-access=allow";

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
        List<String> missing = new ArrayList<>(List.of(NATIVE, REFLECT, FILE_CHANNELS, UNSAFE));
        missing.removeIf(isSet);
        return missing;
    }

    private static boolean isOpen(String packageName) {
        return Object.class.getModule().isOpen(packageName, JvmFlags.class.getModule());
    }

    private static boolean isSet(String flag) {
        return switch (flag) {
            case NATIVE -> JvmFlags.class.getModule().isNativeAccessEnabled();
            case REFLECT -> isOpen("java.lang.reflect");
            case FILE_CHANNELS -> isOpen("sun.nio.ch");
            case UNSAFE -> "allow".equals(System.getProperty("sun.misc.unsafe.memory.access"));
            default -> throw new IllegalArgumentException("no flag of the list: " + flag);
        };
    }
}
