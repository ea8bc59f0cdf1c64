package io.coplane.worker.replay;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.CoplaneException;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.coprocessor.StoreBatchTaskResponse;
import io.coplane.proto.tipb.ChecksumResponse;
import io.coplane.proto.tipb.Chunk;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.EncodeType;
import io.coplane.proto.tipb.Error;
import io.coplane.proto.tipb.ExecutorExecutionSummary;
import io.coplane.proto.tipb.SelectResponse;
import io.coplane.worker.replay.Corpus.Recorded;
import java.util.ArrayList;
import java.util.List;

/**
 * Compares an answer with the recorded one by the rules of {@code testdata/corpus/README.md}, "When two answers are equal".
 *
 * <p>What the rules leave open is decided with the help of a {@link Rerun}: rows tied in a TopN, rows cut by a limit, warnings beyond the cap, samples of
 * analyze. Without one, such an answer is equal only if it is the same in every place, and samples are counted only. Thread-safe if the rerun is.
 *
 * <p>Rule 1: texts of {@code other_error} are not compared beyond presence. Some are a library's, and plan errors come with places in the
 * source; {@code SelectResponse.error} is compared with its text.
 */
public final class AnswerComparer {
    private static final int DAG = 103;
    private static final int ANALYZE = 104;
    private static final String ABORTED = "panic:";

    private static final Versions NO_DATA = Versions.parse(new byte[0]);

    private final Versions versions;
    private final byte[] prefix;
    private final Rerun rerun;

    /** A comparer of answers alone: it decides nothing that needs the data. */
    public AnswerComparer() {
        this(NO_DATA, new byte[0], null);
    }

    /**
     * A comparer of answers over a layout of their data.
     *
     * @param prefix of keys in the layout; empty or four bytes
     * @param rerun null: what the rules leave open is not decided
     */
    public AnswerComparer(Versions versions, byte[] prefix, Rerun rerun) {
        this.versions = versions;
        this.prefix = prefix.clone();
        this.rerun = rerun;
    }

    /**
     * Compares an answer with the recorded one.
     *
     * @param ours may be anything
     * @return what differs; empty = equal. Not every difference, but the first ones
     */
    public List<Difference> compare(Recorded recorded, Response ours) {
        Request request = recorded.request();
        try {
            return compare(request, ours, KeyspaceAnswer.of(versions, request, recorded.answer(), prefix));
        } catch (CoplaneException | IndexOutOfBoundsException e) {
            return List.of(Difference.of("can't be compared", e.toString(), "comparable"));
        }
    }

    private List<Difference> compare(Request request, Response ours, Response theirs) {
        if (theirs.getOtherError().startsWith(ABORTED)) {
            return List.of(); // an answer is a typed error or one that the spec recommends
        }
        var differences = new ArrayList<Difference>();
        outcome(
                ours.hasRegionError() ? ours.getRegionError() : "",
                theirs.hasRegionError() ? theirs.getRegionError() : "",
                "region_error",
                differences);
        outcome(
                ours.hasLocked() ? ours.getLocked() : "",
                theirs.hasLocked() ? theirs.getLocked() : "",
                "locked",
                differences);
        outcome(ours.getOtherError(), theirs.getOtherError(), "other_error", differences);
        batches(request, ours.getBatchResponsesList(), theirs.getBatchResponsesList(), differences);
        if (!differences.isEmpty() || !theirs.getOtherError().isEmpty()) {
            return differences;
        }
        if (ours.hasRange() != theirs.hasRange() || !ours.getRange().equals(theirs.getRange())) {
            differences.add(Difference.of("range", RangeText.of(ours), RangeText.of(theirs)));
        }
        if (ours.getCanBeCached() != theirs.getCanBeCached()) {
            differences.add(Difference.of("can_be_cached", ours.getCanBeCached(), theirs.getCanBeCached()));
        }
        data(request, ours.getData(), theirs.getData(), differences);
        return differences;
    }

    private static void outcome(Object ours, Object theirs, String what, List<Difference> differences) {
        if (ours.toString().isEmpty() != theirs.toString().isEmpty()) {
            differences.add(Difference.of(what, quoted(ours), quoted(theirs)));
        }
    }

    private static String quoted(Object text) {
        return text.toString().isEmpty() ? "none" : text.toString();
    }

    private void batches(
            Request request,
            List<StoreBatchTaskResponse> ours,
            List<StoreBatchTaskResponse> theirs,
            List<Difference> differences) {
        if (ours.size() != theirs.size()) {
            differences.add(Difference.of("batch responses", ours.size(), theirs.size()));
            return;
        }
        for (int i = 0; i < theirs.size(); i++) {
            StoreBatchTaskResponse mine = ours.get(i);
            StoreBatchTaskResponse other = theirs.get(i);
            if (other.getOtherError().startsWith(ABORTED)) {
                continue;
            }
            var inTask = new ArrayList<Difference>();
            if (mine.getTaskId() != other.getTaskId()) {
                inTask.add(Difference.of("task_id", mine.getTaskId(), other.getTaskId()));
            }
            outcome(
                    mine.hasRegionError() ? mine.getRegionError() : "",
                    other.hasRegionError() ? other.getRegionError() : "",
                    "region_error",
                    inTask);
            outcome(
                    mine.hasLocked() ? mine.getLocked() : "",
                    other.hasLocked() ? other.getLocked() : "",
                    "locked",
                    inTask);
            outcome(mine.getOtherError(), other.getOtherError(), "other_error", inTask);
            if (inTask.isEmpty() && other.getOtherError().isEmpty()) {
                Request task = request.toBuilder()
                        .clearTasks()
                        .clearRanges()
                        .addAllRanges(request.getTasks(i).getRangesList())
                        .build();
                data(task, mine.getData(), other.getData(), inTask);
            }
            String part = "batch " + i;
            inTask.forEach(difference -> differences.add(difference.in(part)));
        }
    }

    private void data(Request request, ByteString ours, ByteString theirs, List<Difference> differences) {
        if (ours.equals(theirs)) {
            return;
        }
        if (ours.isEmpty() || theirs.isEmpty()) {
            differences.add(Difference.of("data", ours.size() + " bytes", theirs.size() + " bytes"));
            return;
        }
        try {
            if (request.getTp() == DAG) {
                select(
                        request,
                        Messages.parse(SelectResponse.parser(), ours),
                        Messages.parse(SelectResponse.parser(), theirs),
                        differences);
            } else if (request.getTp() == ANALYZE) {
                new AnalyzeComparer(rerun, request).compare(ours, theirs, differences);
            } else {
                checksum(
                        Messages.parse(ChecksumResponse.parser(), ours),
                        Messages.parse(ChecksumResponse.parser(), theirs),
                        differences);
            }
        } catch (CoplaneException e) {
            differences.add(Difference.of("undecodable", e.getMessage(), "decodes"));
        }
    }

    private static void checksum(ChecksumResponse ours, ChecksumResponse theirs, List<Difference> differences) {
        same(Long.toHexString(ours.getChecksum()), Long.toHexString(theirs.getChecksum()), "checksum", differences);
        same(ours.getTotalKvs(), theirs.getTotalKvs(), "total_kvs", differences);
        same(ours.getTotalBytes(), theirs.getTotalBytes(), "total_bytes", differences);
    }

    static void same(Object ours, Object theirs, String what, List<Difference> differences) {
        if (!ours.equals(theirs)) {
            differences.add(Difference.of(what, ours, theirs));
        }
    }

    private void select(Request request, SelectResponse ours, SelectResponse theirs, List<Difference> differences) {
        if (ours.hasError() || theirs.hasError()) {
            same(error(ours), error(theirs), "error", differences);
            return;
        }
        same(ours.getOutputCountsList(), theirs.getOutputCountsList(), "output_counts", differences);
        same(ours.getNdvsList(), theirs.getNdvsList(), "ndvs", differences);
        same(summaries(ours), summaries(theirs), "execution_summaries", differences);
        DAGRequest dag = Messages.parse(DAGRequest.parser(), request.getData());
        same(ours.getEncodeType(), theirs.getEncodeType(), "encode_type", differences);
        PlanShape shape = PlanShape.of(dag, request.getPagingSize());
        warnings(request, dag, shape, ours, theirs, differences);
        channels(dag, shape, ours, theirs, differences);
        if (ours.getEncodeType() == theirs.getEncodeType()) {
            rows(request, dag, shape, ours, theirs, differences);
        }
    }

    private static String error(SelectResponse response) {
        return response.hasError()
                ? response.getError().getCode() + " "
                        + Texts.comparable(response.getError().getMsg())
                : "none";
    }

    private static List<Long> summaries(SelectResponse response) {
        return response.getExecutionSummariesList().stream()
                .map(ExecutorExecutionSummary::getNumProducedRows)
                .toList();
    }

    private void warnings(
            Request request,
            DAGRequest dag,
            PlanShape shape,
            SelectResponse ours,
            SelectResponse theirs,
            List<Difference> differences) {
        same(ours.getWarningCount(), theirs.getWarningCount(), "warning_count", differences);
        List<String> mine = warnings(ours);
        List<String> other = warnings(theirs);
        if (mine.equals(other) || shape.isRandom() && mine.size() == other.size()) {
            return;
        }
        boolean isCut = theirs.getWarningCount() > other.size() && mine.size() == other.size();
        if (isCut && rerun != null) {
            Request all = request.toBuilder()
                    .clearTasks()
                    .setData(dag.toBuilder()
                            .setMaxWarningCount(theirs.getWarningCount())
                            .build()
                            .toByteString())
                    .build();
            List<String> full = warnings(
                    Messages.parse(SelectResponse.parser(), rerun.run(all).getData()));
            if (isPart(other, full) && isPart(mine, full)) {
                return;
            }
        }
        int at = 0;
        while (at < Math.min(mine.size(), other.size()) && mine.get(at).equals(other.get(at))) {
            at++;
        }
        differences.add(Difference.of(
                "warnings", at < mine.size() ? mine.get(at) : "none", at < other.size() ? other.get(at) : "none"));
    }

    private static List<String> warnings(SelectResponse response) {
        return response.getWarningsList().stream()
                .map(AnswerComparer::warning)
                .sorted()
                .toList();
    }

    private static String warning(Error warning) {
        return warning.getCode() + " " + Texts.comparable(warning.getMsg());
    }

    /** Both sorted. */
    private static boolean isPart(List<String> part, List<String> full) {
        int at = 0;
        for (String text : part) {
            while (at < full.size() && full.get(at).compareTo(text) < 0) {
                at++;
            }
            if (at == full.size() || !full.get(at++).equals(text)) {
                return false;
            }
        }
        return true;
    }

    private static void channels(
            DAGRequest dag, PlanShape shape, SelectResponse ours, SelectResponse theirs, List<Difference> differences) {
        int channels = theirs.getIntermediateOutputsCount();
        if (ours.getIntermediateOutputsCount() != channels || channels > dag.getIntermediateOutputChannelsCount()) {
            differences.add(Difference.of("intermediate_outputs", ours.getIntermediateOutputsCount(), channels));
            return;
        }
        for (int i = 0; i < channels; i++) {
            var mine = ours.getIntermediateOutputs(i);
            var other = theirs.getIntermediateOutputs(i);
            String part = "channel " + i;
            if (mine.getEncodeType() != other.getEncodeType()) {
                differences.add(Difference.of("encode_type", mine.getEncodeType(), other.getEncodeType())
                        .in(part));
                continue;
            }
            boolean isChunked = other.getEncodeType() != EncodeType.TypeDefault;
            List<OutputColumn> columns = shape.outputs(i);
            RowTable rows = RowTable.decode(mine.getChunksList(), columns, isChunked);
            RowTable wanted = RowTable.decode(other.getChunksList(), columns, isChunked);
            List<Difference> found =
                    shape.looksUp() ? RowComparer.multiset(rows, wanted) : RowComparer.sequence(rows, wanted);
            found.forEach(difference -> differences.add(difference.in(part)));
        }
    }

    private void rows(
            Request request,
            DAGRequest dag,
            PlanShape shape,
            SelectResponse ours,
            SelectResponse theirs,
            List<Difference> differences) {
        boolean isChunked = theirs.getEncodeType() != EncodeType.TypeDefault;
        if (isSameBytes(ours.getChunksList(), theirs.getChunksList(), isChunked)) {
            return;
        }
        List<OutputColumn> columns = shape.outputs();
        RowTable mine = RowTable.decode(ours.getChunksList(), columns, isChunked);
        RowTable other = RowTable.decode(theirs.getChunksList(), columns, isChunked);
        boolean isMultiset = shape.order() == PlanShape.Order.MULTISET || shape.order() == PlanShape.Order.CUT_MULTISET;
        List<Difference> found = isMultiset ? RowComparer.multiset(mine, other) : RowComparer.sequence(mine, other);
        if (!found.isEmpty()
                && rerun != null
                && mine.rows().size() == other.rows().size()) {
            var open = new OpenRows(rerun, request, dag, shape, versions.count() + 1L);
            if (shape.order() == PlanShape.Order.TIES) {
                found = open.ties(mine, other);
            } else if (shape.order() == PlanShape.Order.CUT_MULTISET) {
                found = open.cut(mine, other);
            }
        }
        differences.addAll(found);
    }

    private static boolean isSameBytes(List<Chunk> ours, List<Chunk> theirs, boolean isChunked) {
        if (isChunked) {
            return ours.equals(theirs);
        }
        return joined(ours).equals(joined(theirs));
    }

    private static ByteString joined(List<Chunk> chunks) {
        return ByteString.copyFrom(chunks.stream().map(Chunk::getRowsData).toList());
    }
}
