package io.coplane.cop.plan;

import io.coplane.cop.encode.ChunkWriter;
import io.coplane.cop.exec.ExecutionSummary;
import io.coplane.cop.exec.Executor;
import io.coplane.cop.exec.IndexLookUp;
import io.coplane.cop.exec.RangesReader;
import io.coplane.cop.exec.RowAccessor;
import io.coplane.cop.exec.RowSource;
import io.coplane.cop.exec.ScanRange;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.EncodeType;
import io.coplane.proto.tipb.ExecType;
import io.coplane.proto.tipb.IntermediateOutput;
import io.coplane.proto.tipb.IntermediateOutputChannel;
import io.coplane.proto.tipb.SelectResponse;
import io.coplane.types.EvalContext;
import io.coplane.types.FieldType;
import java.util.ArrayList;
import java.util.List;

/** A DAG ready to run: pipeline, output, channels. Owns the executors. One request, one thread. */
public final class DagPlan implements AutoCloseable {
    private final DAGRequest dag;
    private final EvalContext context;
    private final ExecutionSummary[] summaries;
    private final Executor root;
    private final RangesReader reader;
    private final ChunkWriter output;
    private final List<Channel> channels;

    /**
     * Where index rows go that the client must look up.
     *
     * @param lookUp null only for a plan that failed
     * @param writer owned by the plan
     */
    public record Channel(IndexLookUp lookUp, ChunkWriter writer) {}

    private DagPlan(
            DAGRequest dag,
            EvalContext context,
            ExecutionSummary[] summaries,
            PipelineBuilder builder,
            ChunkWriter output,
            List<Channel> channels) {
        this.dag = dag;
        this.context = context;
        this.summaries = summaries;
        this.root = builder.root();
        this.reader = builder.reader();
        this.output = output;
        this.channels = channels;
    }

    /**
     * Builds a plan.
     *
     * @param source borrowed
     * @param pagingSize rows of a page; 0 = no paging
     * @param accessor for index look-ups; null if only the request's ranges can be read. Borrowed
     * @param guard borrowed
     * @throws CoplaneException with the reference's text; nothing stays allocated then
     */
    public static DagPlan build(
            DAGRequest dag,
            RowSource source,
            List<ScanRange> ranges,
            int prefixBytes,
            long pagingSize,
            RowAccessor accessor,
            Clock clock,
            MemoryGuard guard) {
        EvalContext context = Contexts.of(dag, clock);
        ExecutionSummary[] summaries = new ExecutionSummary[dag.getExecutorsCount()];
        for (int i = 0; i < summaries.length; i++) {
            summaries[i] = new ExecutionSummary(clock);
        }
        PipelineBuilder builder = new PipelineBuilder(dag, pagingSize, context, guard, summaries, accessor);
        builder.build(source, ranges, prefixBytes);
        try {
            List<FieldType> schema = builder.root().schema();
            ChunkWriter output = new ChunkWriter(
                    schema,
                    offsets(dag.getOutputOffsetsList(), schema),
                    dag.getEncodeType(),
                    SelectResponse.CHUNKS_FIELD_NUMBER,
                    context,
                    guard);
            List<Channel> channels = channels(dag, builder, context, guard);
            return new DagPlan(dag, context, summaries, builder, output, channels);
        } catch (RuntimeException e) {
            builder.root().close();
            throw e;
        }
    }

    private static List<Integer> offsets(List<Integer> offsets, List<FieldType> schema) {
        for (int offset : offsets) {
            if (offset < 0 || offset >= schema.size()) {
                throw bad("Invalid output offset (schema has " + schema.size() + " columns, access index "
                        + Integer.toUnsignedString(offset) + ")");
            }
        }
        return offsets;
    }

    private static CoplaneException bad(String text) {
        return new CoplaneException(ErrorCode.BAD_PLAN, text);
    }

    private static List<Channel> channels(
            DAGRequest dag, PipelineBuilder builder, EvalContext context, MemoryGuard guard) {
        List<IntermediateOutputChannel> wanted = dag.getIntermediateOutputChannelsList();
        int count = dag.getExecutorsCount();
        for (IntermediateOutputChannel channel : wanted) {
            if (!channel.hasExecutorIdx() || Integer.compareUnsigned(channel.getExecutorIdx(), count) >= 0) {
                String index = channel.hasExecutorIdx() ? Integer.toUnsignedString(channel.getExecutorIdx()) : "None";
                throw bad("Invalid intermediate output channel idx: " + index + ", executors len: " + count);
            }
        }
        Channel[] found = new Channel[wanted.size()];
        for (PipelineBuilder.LookUp lookUp : builder.lookUps()) {
            List<Integer> own = new ArrayList<>();
            for (int i = 0; i < wanted.size(); i++) {
                if (wanted.get(i).getExecutorIdx() == lookUp.index()) {
                    own.add(i);
                }
            }
            if (own.size() != 1) {
                throw bad("IndexLookup should have exactly one intermediate output channel, but got " + own.size()
                        + ", " + own);
            }
            IntermediateOutputChannel channel = wanted.get(own.get(0));
            List<FieldType> schema = lookUp.executor().intermediateSchema();
            found[own.get(0)] = new Channel(
                    lookUp.executor(),
                    new ChunkWriter(
                            schema,
                            offsets(channel.getOutputOffsetsList(), schema),
                            dag.getEncodeType(),
                            IntermediateOutput.CHUNKS_FIELD_NUMBER,
                            context,
                            guard));
        }
        for (int i = 0; i < found.length; i++) {
            if (found[i] == null) {
                throw bad("Intermediate output channel without an index look-up: executor_idx="
                        + wanted.get(i).getExecutorIdx());
            }
        }
        return List.of(found);
    }

    /** The request's context. */
    public EvalContext context() {
        return context;
    }

    /** Top of the pipeline. */
    public Executor root() {
        return root;
    }

    /** Reader of the leaf scan. */
    public RangesReader reader() {
        return reader;
    }

    /** Rows of the root. */
    public ChunkWriter output() {
        return output;
    }

    /** Intermediate channels in the order of the request. */
    public List<Channel> channels() {
        return channels;
    }

    /** Per executor of the request. */
    public ExecutionSummary[] summaries() {
        return summaries;
    }

    /** The encoding of the root's rows. */
    public EncodeType encodeType() {
        return output.encodeType();
    }

    /** True if the plan is a scan with selections and projections only: every row read is answered or dropped at once. */
    public boolean isRowByRow() {
        return only(ExecType.TypeSelection, ExecType.TypeProjection);
    }

    /** True if the plan has an index look-up, in whatever mode. */
    public boolean looksUp() {
        return !channels.isEmpty();
    }

    private boolean only(ExecType... types) {
        return dag.getExecutorsList().stream()
                .skip(1)
                .allMatch(executor -> List.of(types).contains(executor.getTp()));
    }

    @Override
    public void close() {
        root.close();
        output.close();
        channels.forEach(channel -> channel.writer().close());
    }
}
