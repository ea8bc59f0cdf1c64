package io.coplane.cop;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.coplane.cop.encode.ChunkWriter;
import io.coplane.cop.exec.Batch;
import io.coplane.cop.exec.Drained;
import io.coplane.cop.exec.ExecutionSummary;
import io.coplane.cop.exec.ScanRange;
import io.coplane.cop.plan.DagPlan;
import io.coplane.nativecache.CoplaneException;
import io.coplane.proto.coprocessor.KeyRange;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.Error;
import io.coplane.proto.tipb.ExecutorExecutionSummary;
import io.coplane.proto.tipb.SelectResponse;
import io.coplane.snapshot.DeadlineCheck;
import io.coplane.types.ByteSink;
import io.coplane.types.EvalException;

/** The run loop of a DAG and its answer, whole or in pieces (coprocessor.md 3.3, 3.13). Used once. One thread at a time. */
final class DagRun {
    private static final int FIRST_BATCH_ROWS = 32;
    private static final int MAX_BATCH_ROWS = 1024;
    private static final int ENCODE_TYPE_TAG = 1 << 3;
    private static final int INTERMEDIATE_TAG = SelectResponse.INTERMEDIATE_OUTPUTS_FIELD_NUMBER << 3 | 2;

    private final Request request;
    private final DAGRequest dag;
    private final DagPlan plan;
    private final long maxResponseBytes;
    private final DeadlineCheck deadline;
    private final long pagingBytes;
    private int wanted = FIRST_BATCH_ROWS;
    private long rows;
    private boolean ending;
    private boolean drained;
    private boolean ended;
    private boolean failed;

    DagRun(Request request, DAGRequest dag, DagPlan plan, long maxResponseBytes, DeadlineCheck deadline) {
        this.request = request;
        this.dag = dag;
        this.plan = plan;
        this.maxResponseBytes = maxResponseBytes;
        this.deadline = deadline;
        plan.context().setDeadline(deadline::check);
        pagingBytes = plan.isRowByRow() ? request.getPagingSizeBytes() : 0;
        if (pagingBytes != 0) {
            plan.reader().countBytes();
        }
    }

    /**
     * Runs to the end of the data or of the page.
     *
     * @throws CoplaneException what is no evaluation error: DEADLINE, MEMORY_LIMIT, what reading files raises
     */
    Response.Builder run() {
        try {
            loop(Long.MAX_VALUE);
            return answer();
        } catch (CoplaneException e) {
            return error(e);
        }
    }

    /**
     * Runs until the rows given out since the last call reach a size, or to the end of the data or of the page.
     *
     * <p>The data of all pieces, one behind the other, are those of {@link #run}.
     *
     * @param pieceBytes at least so many, and less than a batch more; at least 1
     * @return data and, if the plan goes row by row, the range read since the last call; at the end everything that {@link #run} answers
     * @throws CoplaneException as {@link #run}
     */
    Response.Builder next(long pieceBytes) {
        try {
            if (loop(pieceBytes)) {
                return answer();
            }
        } catch (CoplaneException e) {
            return error(e);
        }
        Response.Builder piece = Response.newBuilder()
                .setData(UnsafeByteOperations.unsafeWrap(plan.output().chunks().copyBytes()));
        plan.output().chunks().truncate(0);
        if (plan.isRowByRow()) {
            piece.setRange(keyRange(plan.reader().takeScannedRange()));
        }
        return piece;
    }

    private Response.Builder error(CoplaneException e) {
        if (!Failures.isEvaluation(e)) {
            throw e;
        }
        failed = true;
        ended = true;
        SelectResponse error = SelectResponse.newBuilder()
                .setError(Error.newBuilder().setCode(Failures.mysqlCode(e)).setMsg(e.getMessage()))
                .build();
        return Response.newBuilder().setData(error.toByteString());
    }

    /** True once everything is answered. */
    boolean isEnded() {
        return ended;
    }

    /** True if {@link #run} answered an evaluation error. */
    boolean isFailed() {
        return failed;
    }

    /**
     * Pulls until the data or a budget ends. An answer that has grown too large ends the page: the scan reads no more, and the executors above it give
     * out what they hold.
     *
     * @param pieceBytes stops when so much of the root's rows waits to be given out
     * @return false if there is more to come
     */
    private boolean loop(long pieceBytes) {
        while (true) {
            deadline.check();
            Batch batch = plan.root().next(wanted);
            if (batch.error() != null) {
                throw batch.error();
            }
            if (batch.rows() > 0) {
                plan.output().write(batch);
                rows += batch.rows();
            }
            drained = batch.drained().stops();
            long written = plan.output().chunks().length();
            for (DagPlan.Channel channel : plan.channels()) {
                Batch intermediate = channel.lookUp().takeIntermediate();
                if (intermediate != null) {
                    channel.writer().write(intermediate);
                    rows += intermediate.rows();
                }
                written += channel.writer().chunks().length();
            }
            if (drained
                    || reached(rows, request.getPagingSize())
                    || reached(plan.reader().scannedRows(), request.getMaxKeysRead())
                    || reached(plan.reader().scannedBytes(), pagingBytes)) {
                drained = batch.drained() == Drained.DRAIN && !ending;
                ended = true;
                return true;
            }
            if (written >= maxResponseBytes) {
                plan.reader().endPage();
                ending = true;
            }
            wanted = Math.min(2 * wanted, MAX_BATCH_ROWS);
            if (plan.output().chunks().length() >= pieceBytes) {
                return false;
            }
        }
    }

    /** @param budget unsigned; 0 = none */
    private static boolean reached(long count, long budget) {
        return budget != 0 && Long.compareUnsigned(count, budget) >= 0;
    }

    private Response.Builder answer() {
        SelectResponse.Builder rest = SelectResponse.newBuilder().setEncodeType(plan.encodeType());
        for (EvalException warning : plan.context().warnings()) {
            rest.addWarnings(Error.newBuilder().setCode(warning.warningCode()).setMsg(warning.warningText()));
        }
        rest.setWarningCount(plan.context().warningCount());
        for (long count : plan.reader().takeRangeRows()) {
            rest.addOutputCounts(count);
        }
        if (dag.getCollectExecutionSummaries()) {
            for (ExecutionSummary summary : plan.summaries()) {
                rest.addExecutionSummaries(ExecutorExecutionSummary.newBuilder()
                        .setTimeProcessedNs(summary.nanos())
                        .setNumProducedRows(summary.producedRows())
                        .setNumIterations(summary.iterations()));
            }
        }
        Response.Builder response = Response.newBuilder().setData(join(rest.build()));
        boolean budget = request.getPagingSize() != 0
                || request.getMaxKeysRead() != 0
                || plan.isRowByRow() && request.getPagingSizeBytes() != 0;
        if (!drained && (budget || ending)) {
            response.setRange(keyRange(plan.reader().scannedRange()));
        }
        return response;
    }

    private static KeyRange keyRange(ScanRange range) {
        return KeyRange.newBuilder()
                .setStart(UnsafeByteOperations.unsafeWrap(range.start()))
                .setEnd(UnsafeByteOperations.unsafeWrap(range.end()))
                .build();
    }

    /** The chunks as they were encoded, then everything else. */
    private ByteString join(SelectResponse rest) {
        ByteString data = view(plan.output().chunks()).concat(rest.toByteString());
        for (DagPlan.Channel channel : plan.channels()) {
            data = data.concat(intermediate(channel.writer()));
        }
        return data;
    }

    /** Shows a sink's bytes without a copy: the sink is not written to any more, and closing it lets its array go. */
    private static ByteString view(ByteSink sink) {
        return UnsafeByteOperations.unsafeWrap(sink.bytes(), 0, sink.length());
    }

    private static ByteString intermediate(ChunkWriter writer) {
        ByteString chunks = view(writer.chunks());
        ByteString.Output head = ByteString.newOutput();
        int length = 2 + chunks.size();
        head.write(INTERMEDIATE_TAG);
        for (int left = length; ; left >>>= 7) {
            if (left < 0x80) {
                head.write(left);
                break;
            }
            head.write(left & 0x7f | 0x80);
        }
        head.write(ENCODE_TYPE_TAG);
        head.write(writer.encodeType().getNumber());
        return head.toByteString().concat(chunks);
    }
}
