package io.coplane.worker.replay;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The recorded requests that do not pass yet: a line a data set, its name, a tab, and ordinals, single or as ranges. Lines that start with {@code #} are
 * comments. A listed request that passes is as wrong as an unlisted one that fails.
 */
public final class Ratchet {
    private final Map<String, BitSet> listed = new TreeMap<>();

    private Ratchet() {}

    /** A list of these ordinals. */
    static Ratchet of(Map<String, List<Integer>> ordinals) {
        Ratchet ratchet = new Ratchet();
        ordinals.forEach((name, numbers) -> numbers.forEach(number -> ratchet.add(name, number, number)));
        return ratchet;
    }

    /** Reads a list. */
    public static Ratchet read(Path file) throws IOException {
        Ratchet ratchet = new Ratchet();
        for (String line : Files.readAllLines(file, StandardCharsets.UTF_8)) {
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            String[] fields = line.split("\t", -1);
            if (fields.length < 2) {
                throw new CoplaneException(
                        ErrorCode.BAD_ARGUMENT, "line has no ordinals: file=" + file + " line=" + line);
            }
            for (String range : fields[1].split(",", -1)) {
                String[] ends = range.strip().split("-", -1);
                ratchet.add(fields[0], Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]));
            }
        }
        return ratchet;
    }

    /** True if the request is listed. */
    public boolean contains(String dataSet, int ordinal) {
        return listed.containsKey(dataSet) && listed.get(dataSet).get(ordinal);
    }

    /** Listed requests. */
    public int size() {
        return listed.values().stream().mapToInt(BitSet::cardinality).sum();
    }

    /** Listed ordinals of a data set. */
    public BitSet ordinals(String dataSet) {
        return (BitSet) listed.getOrDefault(dataSet, new BitSet()).clone();
    }

    void write(Path file) throws IOException {
        List<String> lines = new ArrayList<>();
        lines.add(
                "# Recorded requests that do not pass yet, by data set. Written by: bin/coplane replay --write-ratchet FILE");
        listed.forEach((name, ordinals) -> lines.add(name + "\t" + ranges(ordinals)));
        Files.write(file, lines, StandardCharsets.UTF_8);
    }

    private void add(String dataSet, int from, int to) {
        listed.computeIfAbsent(dataSet, name -> new BitSet()).set(from, to + 1);
    }

    private static String ranges(BitSet ordinals) {
        StringBuilder out = new StringBuilder();
        for (int from = ordinals.nextSetBit(0); from >= 0; ) {
            int end = ordinals.nextClearBit(from);
            out.append(out.isEmpty() ? "" : ",").append(from);
            if (end - from > 1) {
                out.append('-').append(end - 1);
            }
            from = ordinals.nextSetBit(end);
        }
        return out.toString();
    }
}
