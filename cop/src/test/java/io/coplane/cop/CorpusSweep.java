package io.coplane.cop;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.snapshot.DeadlineCheck;
import io.coplane.testing.ManualClock;
import io.coplane.testing.TestData;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Runs data sets named on the command line (all if none) and prints what differs: for development. */
public final class CorpusSweep {
    private static final int SHOWN = Integer.getInteger("shown", 3);

    private CorpusSweep() {}

    public static void main(String[] args) throws Exception {
        List<String> names = args.length > 0 ? List.of(args) : TestData.corpusNames();
        int passedAll = 0;
        int all = 0;
        Map<String, Integer> reasonsAll = new TreeMap<>();
        for (String name : names) {
            RecordedData data = new RecordedData(name);
            Map<String, Integer> reasons = new TreeMap<>();
            int passed = 0;
            for (int i = 0; i < data.requests().size(); i++) {
                String difference = run(data, i);
                if (difference == null) {
                    passed++;
                    continue;
                }
                String reason = difference.lines().findFirst().orElse("");
                reason = reason.substring(0, Math.min(110, reason.length()));
                boolean unsupported = reason.contains("is not supported in batch mode");
                if (!unsupported && reasons.merge(reason, 1, Integer::sum) == 1 && reasons.size() <= SHOWN) {
                    System.out.println(
                            name + " " + i + " " + shape(data.requests().get(i)) + ": " + difference);
                }
                reasonsAll.merge(generic(reason), 1, Integer::sum);
            }
            passedAll += passed;
            all += data.requests().size();
            System.out.println(
                    "== " + name + " " + passed + "/" + data.requests().size());
        }
        reasonsAll.entrySet().stream()
                .sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
                .limit(Integer.getInteger("reasons", 60))
                .forEach(e -> System.out.println(e.getValue() + "\t" + e.getKey()));
        System.out.println("TOTAL " + passedAll + "/" + all);
    }

    private static String generic(String reason) {
        return reason.startsWith("other_error") || reason.startsWith("java") || reason.startsWith("io.")
                ? reason.replaceAll("theirs=.*", "")
                : reason.replaceAll("[:=].*", "");
    }

    private static String shape(Request request) throws Exception {
        if (request.getTp() != 103) {
            return "tp " + request.getTp();
        }
        StringBuilder shape = new StringBuilder();
        DAGRequest.parseFrom(request.getData())
                .getExecutorsList()
                .forEach(e -> shape.append(e.getTp().name().substring(4)).append(','));
        return shape.toString();
    }

    static String run(RecordedData data, int ordinal) throws Exception {
        Request request = data.requests().get(ordinal);
        MemoryGuard guard = MemoryGuard.unlimited();
        Response ours;
        try {
            ours = Coprocessor.execute(request, data, guard, Long.MAX_VALUE, ManualClock.recorded(), DeadlineCheck.NONE)
                    .build();
        } catch (RuntimeException | StackOverflowError e) {
            StackTraceElement at = e.getStackTrace().length > 0 ? e.getStackTrace()[0] : null;
            if (Boolean.getBoolean("traces")) {
                e.printStackTrace();
            }
            return e + " at " + at;
        }
        if (guard.chargedBytes() != 0) {
            return "leak: chargedBytes=" + guard.chargedBytes();
        }
        return new AnswerComparer(data).difference(request, ours, data.answers().get(ordinal));
    }
}
