package io.coplane.worker.replay;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.tipb.Aggregation;
import io.coplane.proto.tipb.ByItem;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.EncodeType;
import io.coplane.proto.tipb.ExecType;
import io.coplane.proto.tipb.Executor;
import io.coplane.proto.tipb.Expr;
import io.coplane.proto.tipb.ExprType;
import io.coplane.proto.tipb.FieldType;
import io.coplane.proto.tipb.SelectResponse;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Judges rows that a plan leaves open: a limit over rows in no order, or keys that tie in a TopN. Runs the plan without the cut, and accepts an
 * answer if it <em>and the recorded one</em> are rows that the uncut result allows. So a wrong uncut result of ours passes only if the recorded answer
 * is part of it as well.
 */
final class OpenRows {
    private static final int LONG_LONG = 8;

    private final Rerun rerun;
    private final Request request;
    private final DAGRequest dag;
    private final PlanShape shape;
    private final long mostRows;

    /**
     * @param request of one task, without further ones
     * @param mostRows no plan has more rows
     */
    OpenRows(Rerun rerun, Request request, DAGRequest dag, PlanShape shape, long mostRows) {
        this.rerun = rerun;
        this.request = request.toBuilder().clearTasks().build();
        this.dag = dag;
        this.shape = shape;
        this.mostRows = mostRows;
    }

    /** Empty if both answers are allowed. */
    List<Difference> cut(RowTable ours, RowTable theirs) {
        DAGRequest.Builder whole = dag.toBuilder();
        for (int index : shape.cuts()) {
            whole.getExecutorsBuilder(index).getLimitBuilder().setLimit(mostRows);
        }
        List<byte[][]> full = run(whole, request.getPagingSize(), theirs).rows();
        if (!RowComparer.isPart(theirs.rows(), full, theirs)) {
            return List.of(Difference.of(
                    "recorded rows are no part of our uncut result",
                    full.size(),
                    theirs.rows().size()));
        }
        if (!RowComparer.isPart(ours.rows(), full, theirs)) {
            return List.of(Difference.of(
                    "rows are no part of the uncut result", ours.rows().size(), full.size()));
        }
        return List.of();
    }

    /** Empty if both answers are allowed. */
    List<Difference> ties(RowTable ours, RowTable theirs) {
        long limit = Long.MAX_VALUE;
        boolean belowIsPaged = false;
        DAGRequest.Builder whole = dag.toBuilder();
        for (int i = 0; i < dag.getExecutorsCount(); i++) {
            ExecType type = dag.getExecutors(i).getTp();
            boolean isAbove = i > shape.tiesAt();
            belowIsPaged |= !isAbove
                    && request.getPagingSize() != 0
                    && (type == ExecType.TypeAggregation || type == ExecType.TypeStreamAgg);
            if (isAbove && type == ExecType.TypeLimit) {
                limit = Math.min(limit, dag.getExecutors(i).getLimit().getLimit());
                whole.getExecutorsBuilder(i).getLimitBuilder().setLimit(mostRows);
            } else if (isAbove && type != ExecType.TypeProjection) {
                return RowComparer.sequence(ours, theirs);
            }
        }
        if (belowIsPaged) {
            return RowComparer.sequence(ours, theirs);
        }
        Executor tying = dag.getExecutors(shape.tiesAt());
        boolean isTopN = tying.getTp() == ExecType.TypeTopN;
        List<ByItem> partition =
                isTopN ? tying.getTopN().getPartitionByList() : tying.getLimit().getPartitionByList();
        var keys = new ArrayList<>(partition);
        keys.addAll(tying.getTopN().getOrderByList());
        uncut(whole);
        List<byte[][]> full = run(whole, 0, theirs).rows();
        long[] partitions = partition.isEmpty() ? new long[] {full.size()} : groups(partition);
        long[] classes = keys.isEmpty() ? new long[] {full.size()} : groups(keys);
        var classed = new TieClasses(
                full,
                partitions,
                classes,
                isTopN ? tying.getTopN().getLimit() : tying.getLimit().getLimit(),
                limit);
        if (!classed.allows(theirs.rows(), theirs)) {
            return List.of(Difference.of(
                    "recorded rows are no choice of our uncut result",
                    full.size(),
                    theirs.rows().size()));
        }
        return classed.allows(ours.rows(), theirs) ? List.of() : RowComparer.sequence(ours, theirs);
    }

    private void uncut(DAGRequest.Builder whole) {
        Executor.Builder tying = whole.getExecutorsBuilder(shape.tiesAt());
        if (tying.getTp() == ExecType.TypeTopN) {
            tying.getTopNBuilder().setLimit(mostRows);
        } else {
            tying.getLimitBuilder().setLimit(mostRows);
        }
    }

    /** Sizes of the runs of rows with equal keys, in the order of the uncut result. */
    private long[] groups(List<ByItem> keys) {
        DAGRequest.Builder counted = dag.toBuilder();
        uncut(counted);
        int last = shape.tiesAt();
        while (counted.getExecutorsCount() > last + 1) {
            counted.removeExecutors(last + 1);
        }
        counted.getExecutorsBuilder(last).clearParentIdx();
        FieldType bigint = FieldType.newBuilder()
                .setTp(LONG_LONG)
                .setFlag(1)
                .setFlen(21)
                .setCollate(-63)
                .build();
        Expr one = Expr.newBuilder()
                .setTp(ExprType.Int64)
                .setVal(ByteString.copyFrom(ByteBuffer.allocate(Long.BYTES).putLong(0, 1 ^ Long.MIN_VALUE)))
                .setFieldType(bigint)
                .build();
        Aggregation.Builder aggregation = Aggregation.newBuilder()
                .addAggFunc(
                        Expr.newBuilder().setTp(ExprType.Count).addChildren(one).setFieldType(bigint));
        keys.forEach(key -> aggregation.addGroupBy(key.getExpr()));
        counted.addExecutors(Executor.newBuilder().setTp(ExecType.TypeStreamAgg).setAggregation(aggregation));
        counted.clearOutputOffsets()
                .addOutputOffsets(0)
                .setEncodeType(EncodeType.TypeDefault)
                .setCollectExecutionSummaries(false);
        RowTable counts = decode(
                counted.build(),
                0,
                List.of(new OutputColumn(LONG_LONG, true, 0, false, false)),
                EncodeType.TypeDefault);
        return counts.rows().stream()
                .mapToLong(row -> ByteBuffer.wrap(row[0], 1, Long.BYTES).getLong())
                .toArray();
    }

    private RowTable run(DAGRequest.Builder plan, long pagingSize, RowTable like) {
        return decode(
                plan.setCollectExecutionSummaries(false).build(),
                pagingSize,
                like.columns(),
                like.isChunked() ? EncodeType.TypeChunk : EncodeType.TypeDefault);
    }

    private RowTable decode(DAGRequest plan, long pagingSize, List<OutputColumn> columns, EncodeType encoding) {
        Response response = rerun.run(request.toBuilder()
                .setData(plan.toByteString())
                .setPagingSize(pagingSize)
                .setIsCacheEnabled(false)
                .build());
        SelectResponse select = Messages.parse(SelectResponse.parser(), response.getData());
        if (!response.getOtherError().isEmpty() || select.hasError()) {
            throw new CoplaneException(
                    ErrorCode.UNSUPPORTED,
                    "the uncut plan fails: " + response.getOtherError()
                            + select.getError().getMsg());
        }
        return RowTable.decode(select.getChunksList(), columns, encoding != EncodeType.TypeDefault);
    }
}
