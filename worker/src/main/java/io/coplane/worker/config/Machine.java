package io.coplane.worker.config;

import io.coplane.nativecache.AsciiNumbers;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import java.util.StringTokenizer;

/**
 * What this process may use of the machine (worker.md 4.1).
 *
 * @param memoryBytes least of physical memory and the control groups' limits
 * @param cpuQuota cores: least of the processors that the process may run on, the control groups' quotas and {@code TIKV_CPU_CORES_QUOTA};
 *     more than 0
 */
public record Machine(long memoryBytes, double cpuQuota) {
    private static final String CORES_VARIABLE = "TIKV_CPU_CORES_QUOTA";
    private static final long BYTES_PER_KIB = 1024;

    /** Reads this machine. */
    public static Machine read(Map<String, String> environment) {
        return read(Path.of("/"), Runtime.getRuntime().availableProcessors(), environment);
    }

    /** @param root where {@code proc} and {@code sys} are found */
    static Machine read(Path root, int processors, Map<String, String> environment) {
        long memory = physicalBytes(root);
        double cores = processors;
        for (Path group : controlGroups(root, "memory")) {
            memory = least(memory, limit(group.resolve("memory.max")));
            memory = least(memory, limit(group.resolve("memory.limit_in_bytes")));
        }
        for (Path group : controlGroups(root, "cpu")) {
            cores = least(cores, quota(words(group.resolve("cpu.max"))));
            cores = least(
                    cores, quota(words(group.resolve("cpu.cfs_quota_us")), words(group.resolve("cpu.cfs_period_us"))));
        }
        String variable = environment.get(CORES_VARIABLE);
        if (variable != null) {
            cores = least(cores, positive(variable));
        }
        return new Machine(memory, cores);
    }

    /** Physical memory, or what the JVM thinks it may use where the machine has no such file. */
    private static long physicalBytes(Path root) {
        for (String line : text(root.resolve("proc/meminfo")).split("\n", -1)) {
            StringTokenizer words = new StringTokenizer(line);
            if (words.countTokens() >= 2 && words.nextToken().equals("MemTotal:")) {
                return Long.parseLong(words.nextToken()) * BYTES_PER_KIB;
            }
        }
        return Runtime.getRuntime().maxMemory();
    }

    /** Folders of this process's control groups of both versions, from its own up to the root's; those that don't exist included. */
    private static Iterable<Path> controlGroups(Path root, String controller) {
        Path mount = root.resolve("sys/fs/cgroup");
        Set<Path> groups = new LinkedHashSet<>();
        for (String line : text(root.resolve("proc/self/cgroup")).split("\n", -1)) {
            String[] parts = line.split(":", 3);
            if (parts.length < 3) {
                continue;
            }
            boolean unified = parts[1].isEmpty();
            boolean controls = List.of(parts[1].split(",", -1)).contains(controller);
            if (!unified && !controls) {
                continue;
            }
            Path base = unified ? mount : mount.resolve(parts[1]);
            Path group = base.resolve("." + parts[2]).normalize();
            while (group.startsWith(base)) {
                groups.add(group);
                group = group.getParent();
            }
        }
        groups.add(mount);
        groups.add(mount.resolve(controller));
        return groups;
    }

    private static OptionalLong limit(Path file) {
        String text = text(file).strip();
        try {
            long bytes = Long.parseLong(text);
            return bytes > 0 ? OptionalLong.of(bytes) : OptionalLong.empty();
        } catch (NumberFormatException e) {
            return OptionalLong.empty(); // "max", or no such file: no limit here
        }
    }

    private static OptionalDouble quota(StringTokenizer words) {
        return words.countTokens() < 2 ? OptionalDouble.empty() : ratio(words.nextToken(), words.nextToken());
    }

    private static OptionalDouble quota(StringTokenizer quota, StringTokenizer period) {
        return quota.hasMoreTokens() && period.hasMoreTokens()
                ? ratio(quota.nextToken(), period.nextToken())
                : OptionalDouble.empty();
    }

    private static OptionalDouble ratio(String quota, String period) {
        try {
            double cores = Double.parseDouble(quota) / Double.parseDouble(period);
            return cores > 0 && Double.isFinite(cores) ? OptionalDouble.of(cores) : OptionalDouble.empty();
        } catch (NumberFormatException e) {
            return OptionalDouble.empty(); // "max": no quota here
        }
    }

    private static OptionalDouble positive(String text) {
        try {
            double cores = AsciiNumbers.parseDouble(text);
            if (cores > 0) {
                return OptionalDouble.of(cores);
            }
        } catch (NumberFormatException e) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, CORES_VARIABLE + " is no number: value=" + text, e);
        }
        throw new CoplaneException(ErrorCode.BAD_CONFIG, CORES_VARIABLE + " is not positive: value=" + text);
    }

    private static StringTokenizer words(Path file) {
        return new StringTokenizer(text(file));
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return ""; // this machine has no such limit
        }
    }

    private static long least(long value, OptionalLong limit) {
        return limit.isPresent() ? Math.min(value, limit.getAsLong()) : value;
    }

    private static double least(double value, OptionalDouble limit) {
        return limit.isPresent() ? Math.min(value, limit.getAsDouble()) : value;
    }
}
