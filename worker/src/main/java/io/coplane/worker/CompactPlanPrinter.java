package io.coplane.worker;

import io.coplane.compaction.CompactionPlan;
import io.coplane.compaction.CompactionPlan.Input;
import io.coplane.compaction.CompactionRequest;
import java.io.PrintWriter;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.stream.Stream;

/** What {@code coplane compact --plan} prints: for people, a fact a line. */
final class CompactPlanPrinter {
    private static final String[] FAMILIES = {"write", "lock", "extra"};
    private static final int MOST_KEY_BYTES = 24;

    private CompactPlanPrinter() {}

    static void print(CompactionPlan plan, CompactionRequest request, long admittedBytes, PrintWriter out) {
        out.println("request: variant=" + request.type().variant() + " shard="
                + Long.toUnsignedString(request.shardId()) + ":" + Long.toUnsignedString(request.shardVersion())
                + " inputBytesSaid=" + Long.toUnsignedString(request.inputBytes()) + " inputBytes="
                + plan.fileBytes() + " ofBlobTables=" + plan.blobFileBytes());
        var levels = new TreeMap<String, List<Input>>();
        for (Input input : plan.inputs()) {
            levels.merge(
                    "L" + input.level() + " " + FAMILIES[input.cf()],
                    List.of(input),
                    (a, b) -> Stream.concat(a.stream(), b.stream()).toList());
        }
        levels.forEach((level, inputs) -> {
            long overlapping = inputs.stream().filter(i -> i.touchedFiles() > 0).count();
            out.println(level + ": files=" + inputs.size() + " bytes="
                    + inputs.stream().mapToLong(Input::byteSize).sum() + " entries="
                    + inputs.stream().mapToLong(Input::entries).sum() + " filesOverlappingOthers=" + overlapping);
            for (Input input : inputs) {
                out.println("  file=" + Long.toUnsignedString(input.fileId()) + " bytes=" + input.byteSize()
                        + " entries=" + input.entries() + " smallest=" + key(input.smallest()) + " biggest="
                        + key(input.biggest()) + " overlaps=" + input.touchedFiles() + " overlappedBytes="
                        + input.touchedBytes());
            }
        });
        out.println("copied without decoding: at most "
                + (plan.blockBytes() == 0 ? "0" : percent(plan.loneBytes(), plan.blockBytes()))
                + " % of " + plan.blockBytes() + " bytes of blocks, by the indexes alone");
        out.println("memory: admitted=" + admittedBytes + " mergedAtOnce=" + plan.sources());
        out.println("ids: given=" + plan.idsGiven() + " neededAtMostAbout=" + plan.idsNeeded());
        out.flush();
    }

    private static String percent(long part, long whole) {
        return String.format(Locale.ROOT, "%.1f", 100.0 * part / whole);
    }

    private static String key(byte[] key) {
        return key.length <= MOST_KEY_BYTES
                ? HexFormat.of().formatHex(key)
                : HexFormat.of().formatHex(key, 0, MOST_KEY_BYTES) + ".." + key.length;
    }
}
