package io.coplane.worker.replay;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * The recorded requests that do not pass: lines of a data set's name, ordinals, single or as ranges, and the reason, parted by tabs. A reason names
 * the section of the spec that orders the difference, or is {@link #OPEN}. Lines that start with {@code #} are comments. A listed request that passes
 * is as wrong as an unlisted one that fails.
 */
public final class Ratchet {
    /** The reason of what is to be done. */
    static final String OPEN = "open";

    /** Reasons by ordinal, by data set. */
    private final Map<String, NavigableMap<Integer, String>> listed = new TreeMap<>();

    private Ratchet() {}

    /** A list of these ordinals. */
    static Ratchet of(Map<String, List<Integer>> ordinals) {
        Ratchet ratchet = new Ratchet();
        ordinals.forEach((name, numbers) -> numbers.forEach(number -> ratchet.add(name, number, number, OPEN)));
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
                String reason = fields.length > 2 ? fields[2] : OPEN;
                ratchet.add(fields[0], Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]), reason);
            }
        }
        return ratchet;
    }

    /** Takes the reasons of the requests that both list. */
    Ratchet withReasonsOf(Ratchet other) {
        listed.forEach((name, reasons) -> reasons.replaceAll(
                (ordinal, reason) -> other.contains(name, ordinal) ? other.reason(name, ordinal) : reason));
        return this;
    }

    /** True if the request is listed. */
    public boolean contains(String dataSet, int ordinal) {
        return listed.getOrDefault(dataSet, Collections.emptyNavigableMap()).containsKey(ordinal);
    }

    /** Why a listed request does not pass. */
    public String reason(String dataSet, int ordinal) {
        return listed.get(dataSet).get(ordinal);
    }

    /** Listed requests. */
    public int size() {
        return listed.values().stream().mapToInt(Map::size).sum();
    }

    /** Listed ordinals of a data set. */
    public BitSet ordinals(String dataSet) {
        BitSet ordinals = new BitSet();
        listed.getOrDefault(dataSet, Collections.emptyNavigableMap()).keySet().forEach(ordinals::set);
        return ordinals;
    }

    void write(Path file) throws IOException {
        List<String> lines = new ArrayList<>();
        lines.add(
                "# Recorded requests that do not pass: data set, ordinals, why (a section of the spec, or open). Written by:"
                        + " bin/coplane replay --write-ratchet FILE");
        listed.forEach((name, reasons) -> {
            Map<String, BitSet> byReason = new TreeMap<>();
            reasons.forEach((ordinal, reason) ->
                    byReason.computeIfAbsent(reason, key -> new BitSet()).set(ordinal));
            byReason.forEach((reason, ordinals) -> lines.add(name + "\t" + ranges(ordinals) + "\t" + reason));
        });
        Files.write(file, lines, StandardCharsets.UTF_8);
    }

    private void add(String dataSet, int from, int to, String reason) {
        Map<Integer, String> reasons = listed.computeIfAbsent(dataSet, name -> new TreeMap<>());
        for (int ordinal = from; ordinal <= to; ordinal++) {
            reasons.put(ordinal, reason);
        }
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
