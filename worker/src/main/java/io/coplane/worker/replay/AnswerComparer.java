package io.coplane.worker.replay;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.CoplaneException;
import io.coplane.proto.coprocessor.KeyRange;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.coprocessor.StoreBatchTaskResponse;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.Error;
import io.coplane.proto.tipb.ExecutorExecutionSummary;
import io.coplane.proto.tipb.SelectResponse;
import io.coplane.worker.replay.Corpus.Recorded;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** The one comparer of answers: the rules of {@code testdata/corpus/README.md}. Thread-safe. */
public final class AnswerComparer {
    private static final long DAG = 103;
    private static final long ANALYZE = 104;
    private static final String ABORTED = "panic:";
    /** Answers that differ from run to run: compared by shape only. */
    private static final String NONDET = "nondet";

    private static final Set<Integer> NONDET_ORDINALS = Set.of(6, 7, 12, 13);

    private final int prefixBytes;

    /** @param prefixBytes bytes that keys in our ranges have before the recorded ones: 0, or 4 under a keyspace */
    public AnswerComparer(int prefixBytes) {
        this.prefixBytes = prefixBytes;
    }

    /** What differs; empty if the answers are equal. */
    public List<Difference> compare(Recorded recorded, Response ours) {
        Response theirs = recorded.answer();
        List<Difference> differences = new ArrayList<>();
        if (theirs.getOtherError().startsWith(ABORTED)) {
            return differences; // the reference aborts: any answer of ours is right that is one
        }
        boolean shapeOnly = recorded.dataSet().equals(NONDET) && NONDET_ORDINALS.contains(recorded.ordinal());
        try {
            compareErrors(ours.getOtherError(), theirs.getOtherError(), differences);
            compareText(
                    "region_error",
                    ours.getRegionError().toString(),
                    theirs.getRegionError().toString(),
                    differences);
            compareText(
                    "locked", ours.getLocked().toString(), theirs.getLocked().toString(), differences);
            if (differences.isEmpty()) {
                compareData("", recorded.request(), ours.getData(), theirs.getData(), shapeOnly, differences);
                compareRange(ours, theirs, differences);
                compareBatch(recorded, ours, shapeOnly, differences);
            }
        } catch (IOException | CoplaneException e) {
            differences.add(new Difference("answer can't be read", String.valueOf(e.getMessage()), "readable"));
        }
        return differences;
    }

    private void compareBatch(Recorded recorded, Response ours, boolean shapeOnly, List<Difference> differences)
            throws IOException {
        Response theirs = recorded.answer();
        if (ours.getBatchResponsesCount() != theirs.getBatchResponsesCount()) {
            differences.add(new Difference(
                    "batch responses",
                    Integer.toString(ours.getBatchResponsesCount()),
                    Integer.toString(theirs.getBatchResponsesCount())));
            return;
        }
        for (int i = 0; i < theirs.getBatchResponsesCount(); i++) {
            StoreBatchTaskResponse left = ours.getBatchResponses(i);
            StoreBatchTaskResponse right = theirs.getBatchResponses(i);
            String what = "batch response " + i + " ";
            if (left.getTaskId() != right.getTaskId()) {
                differences.add(new Difference(
                        what + "task id", Long.toString(left.getTaskId()), Long.toString(right.getTaskId())));
            }
            compareErrors(left.getOtherError(), right.getOtherError(), differences);
            compareText(
                    what + "region_error",
                    left.getRegionError().toString(),
                    right.getRegionError().toString(),
                    differences);
            compareData(what, recorded.request(), left.getData(), right.getData(), shapeOnly, differences);
        }
    }

    private void compareData(
            String what,
            Request request,
            ByteString ours,
            ByteString theirs,
            boolean shapeOnly,
            List<Difference> differences)
            throws IOException {
        if (ours.equals(theirs)) {
            return;
        }
        if (ours.isEmpty() || theirs.isEmpty()) {
            differences.add(new Difference(what + "data", ours.size() + " bytes", theirs.size() + " bytes"));
            return;
        }
        if (request.getTp() == DAG) {
            DAGRequest dag = DAGRequest.parseFrom(Corpus.input(request.getData().toByteArray()));
            compareSelect(what, PlanShape.of(dag), ours, theirs, shapeOnly, differences);
        } else if (request.getTp() == ANALYZE) {
            AnalyzeComparer.compare(request, ours, theirs, differences);
        } else {
            differences.add(new Difference(what + "checksum", text(ours), text(theirs)));
        }
    }

    private static String text(ByteString bytes) throws IOException {
        return io.coplane.proto.tipb.ChecksumResponse.parseFrom(bytes)
                .toString()
                .replace('\n', ' ');
    }

    private static void compareSelect(
            String what,
            PlanShape shape,
            ByteString ourData,
            ByteString theirData,
            boolean shapeOnly,
            List<Difference> differences)
            throws IOException {
        SelectResponse ours = SelectResponse.parseFrom(ourData);
        SelectResponse theirs = SelectResponse.parseFrom(theirData);
        compareText(what + "error", error(ours), error(theirs), differences);
        if (!differences.isEmpty()) {
            return;
        }
        compareText(
                what + "encode_type",
                ours.getEncodeType().name(),
                theirs.getEncodeType().name(),
                differences);
        if (differences.isEmpty() && !ours.getChunksList().equals(theirs.getChunksList())) {
            RowComparer rows = new RowComparer(
                    what,
                    shape,
                    Rows.decode(ours.getChunksList(), ours.getEncodeType(), shape.columns()),
                    Rows.decode(theirs.getChunksList(), theirs.getEncodeType(), shape.columns()));
            if (shapeOnly) {
                rows.compareShape(differences);
            } else {
                rows.compare(shape.order(), differences);
            }
        }
        compareIntermediates(what, shape, ours, theirs, differences);
        compareText(
                what + "output_counts",
                ours.getOutputCountsList().toString(),
                theirs.getOutputCountsList().toString(),
                differences);
        compareText(
                what + "ndvs",
                ours.getNdvsList().toString(),
                theirs.getNdvsList().toString(),
                differences);
        compareText(what + "warnings", warnings(ours), warnings(theirs), differences);
        compareText(
                what + "warning_count",
                Long.toString(ours.getWarningCount()),
                Long.toString(theirs.getWarningCount()),
                differences);
        compareText(what + "execution summaries' rows", summaries(ours), summaries(theirs), differences);
    }

    private static void compareIntermediates(
            String what, PlanShape shape, SelectResponse ours, SelectResponse theirs, List<Difference> differences) {
        if (ours.getIntermediateOutputsCount() != theirs.getIntermediateOutputsCount()) {
            differences.add(new Difference(
                    what + "intermediate outputs",
                    Integer.toString(ours.getIntermediateOutputsCount()),
                    Integer.toString(theirs.getIntermediateOutputsCount())));
            return;
        }
        for (int i = 0; i < theirs.getIntermediateOutputsCount(); i++) {
            var left = ours.getIntermediateOutputs(i);
            var right = theirs.getIntermediateOutputs(i);
            String channel = what + "intermediate output " + i;
            compareText(
                    channel + " encode_type",
                    left.getEncodeType().name(),
                    right.getEncodeType().name(),
                    differences);
            var columns = shape.intermediates().getOrDefault(i, List.of());
            new RowComparer(
                            channel,
                            shape,
                            Rows.decode(left.getChunksList(), left.getEncodeType(), columns),
                            Rows.decode(right.getChunksList(), right.getEncodeType(), columns))
                    .compare(PlanShape.Order.FREE, differences);
        }
    }

    private void compareRange(Response ours, Response theirs, List<Difference> differences) {
        if (ours.hasRange() != theirs.hasRange()) {
            differences.add(new Difference("range", range(ours, prefixBytes), range(theirs, 0)));
            return;
        }
        compareText("range", range(ours, prefixBytes), range(theirs, 0), differences);
    }

    private static String range(Response response, int prefix) {
        if (!response.hasRange()) {
            return "none";
        }
        KeyRange range = response.getRange();
        return "[" + key(range.getStart(), prefix) + ", " + key(range.getEnd(), prefix) + ")";
    }

    private static String key(ByteString key, int prefix) {
        byte[] bytes = key.substring(Math.min(prefix, key.size())).toByteArray();
        return java.util.HexFormat.of().formatHex(bytes);
    }

    private static void compareErrors(String ours, String theirs, List<Difference> differences) {
        if (ours.isEmpty() != theirs.isEmpty()) {
            differences.add(new Difference("other_error", ours, theirs));
        }
    }

    private static String error(SelectResponse response) {
        return response.hasError()
                ? response.getError().getCode() + " "
                        + plain(response.getError().getMsg())
                : "none";
    }

    private static String warnings(SelectResponse response) {
        return response.getWarningsList().stream()
                .map((Error warning) -> warning.getCode() + " " + plain(warning.getMsg()))
                .sorted()
                .toList()
                .toString();
    }

    private static String summaries(SelectResponse response) {
        return response.getExecutionSummariesList().stream()
                .map(ExecutorExecutionSummary::getNumProducedRows)
                .toList()
                .toString();
    }

    /** A text without the reference's source positions, {@code [file:line]: }. */
    static String plain(String text) {
        String rest = text;
        int from = rest.indexOf('[');
        while (from >= 0) {
            int to = rest.indexOf(']', from);
            if (to > 0 && rest.substring(from, to).contains(".rs:")) {
                int end = rest.startsWith(": ", to + 1) ? to + 3 : to + 1;
                rest = rest.substring(0, from) + rest.substring(end);
                from = rest.indexOf('[', from);
            } else {
                from = rest.indexOf('[', from + 1);
            }
        }
        return rest;
    }

    static void compareText(String what, String ours, String theirs, List<Difference> differences) {
        if (!ours.equals(theirs)) {
            differences.add(new Difference(what, ours, theirs));
        }
    }
}
