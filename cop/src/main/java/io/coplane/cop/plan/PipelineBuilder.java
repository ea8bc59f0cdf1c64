package io.coplane.cop.plan;

import io.coplane.cop.agg.Aggregates;
import io.coplane.cop.exec.ExecutionSummary;
import io.coplane.cop.exec.Executor;
import io.coplane.cop.exec.FastHashAggregation;
import io.coplane.cop.exec.IndexLookUp;
import io.coplane.cop.exec.IndexScan;
import io.coplane.cop.exec.Limit;
import io.coplane.cop.exec.PartitionTopN;
import io.coplane.cop.exec.Projection;
import io.coplane.cop.exec.RangesReader;
import io.coplane.cop.exec.RankLimit;
import io.coplane.cop.exec.RowAccessor;
import io.coplane.cop.exec.RowSource;
import io.coplane.cop.exec.ScanColumn;
import io.coplane.cop.exec.ScanRange;
import io.coplane.cop.exec.Selection;
import io.coplane.cop.exec.SimpleAggregation;
import io.coplane.cop.exec.SlowHashAggregation;
import io.coplane.cop.exec.StreamAggregation;
import io.coplane.cop.exec.TableScan;
import io.coplane.cop.exec.TopN;
import io.coplane.cop.expr.Expression;
import io.coplane.cop.expr.FieldTypes;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.tipb.Aggregation;
import io.coplane.proto.tipb.ByItem;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.ExecType;
import io.coplane.proto.tipb.Expr;
import io.coplane.proto.tipb.ExprType;
import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalContext;
import io.coplane.types.EvalType;
import io.coplane.types.FieldType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Builds the pipeline of one DAG, leaf first (coprocessor.md 3.2). Used once. */
final class PipelineBuilder {
    private static final int DOUBLE_LENGTH = 23;

    private final DAGRequest dag;
    private final long pagingSize;
    private final EvalContext context;
    private final MemoryGuard guard;
    private final ExecutionSummary[] summaries;
    private final List<LookUp> lookUps = new ArrayList<>();
    private final RowAccessor accessor;
    private byte[] keyspacePrefix = {};
    private RangesReader reader;
    private Executor top;

    /** An index look-up and its place in the list. */
    record LookUp(int index, IndexLookUp executor) {}

    PipelineBuilder(
            DAGRequest dag,
            long pagingSize,
            EvalContext context,
            MemoryGuard guard,
            ExecutionSummary[] summaries,
            RowAccessor accessor) {
        this.dag = dag;
        this.accessor = accessor;
        this.pagingSize = pagingSize;
        this.context = context;
        this.guard = guard;
        this.summaries = summaries;
    }

    /**
     * Builds it; what was built is closed if the rest can't be.
     *
     * @param source borrowed by the scan
     * @throws CoplaneException with the reference's text
     */
    void build(RowSource source, List<ScanRange> ranges, int prefixBytes) {
        if (dag.getExecutorsCount() == 0) {
            throw bad("No executors");
        }
        if (!ranges.isEmpty()) {
            byte[] start = ranges.get(0).start();
            keyspacePrefix = Arrays.copyOf(start, Math.min(start.length, prefixBytes));
        }
        try {
            buildAll(source, ranges, prefixBytes);
        } catch (RuntimeException | StackOverflowError e) {
            if (top != null) {
                top.close();
            }
            throw e;
        }
    }

    private void buildAll(RowSource source, List<ScanRange> ranges, int prefixBytes) {
        int count = dag.getExecutorsCount();
        scan(source, ranges, prefixBytes);
        int next = parent(0);
        List<Integer> children = new ArrayList<>();
        for (int i = 1; i < count; i++) {
            int parent = parent(i);
            if (i != next) {
                children.add(i);
                continue;
            }
            top = executor(i, children);
            if (!children.isEmpty()) {
                throw bad("Children not handled for executor: " + type(i) + ", index: " + i);
            }
            next = parent;
        }
    }

    Executor root() {
        return top;
    }

    RangesReader reader() {
        return reader;
    }

    List<LookUp> lookUps() {
        return lookUps;
    }

    private static CoplaneException bad(String text) {
        return new CoplaneException(ErrorCode.BAD_PLAN, text);
    }

    /** A value that the reference does not know reads as absent there (coprocessor.md 10, 9). */
    private ExecType type(int index) {
        ExecType type = dag.getExecutors(index).getTp();
        return type == ExecType.TypeExplainForConnection ? ExecType.TypeTableScan : type;
    }

    private int parent(int index) {
        long parent = Integer.toUnsignedLong(dag.getExecutors(index).getParentIdx());
        if (parent == 0) {
            return index + 1;
        }
        if (parent <= index || parent >= dag.getExecutorsCount()) {
            throw bad("Invalid parent index: " + parent + " for executor at index " + index);
        }
        return (int) parent;
    }

    private void scan(RowSource source, List<ScanRange> ranges, int prefixBytes) {
        var executor = dag.getExecutors(0);
        switch (type(0)) {
            case TypeTableScan -> {
                var scan = executor.getTblScan();
                Ranges.checkTables(ranges, prefixBytes);
                boolean points = scan.getPrimaryColumnIdsCount() == 0;
                reader = new RangesReader(source, ranges, points, scan.getDesc());
                top = new TableScan(
                        ScanColumn.of(scan.getColumnsList()),
                        scan.getPrimaryColumnIdsList(),
                        scan.getPrimaryPrefixColumnIdsList(),
                        prefixBytes,
                        reader,
                        summaries[0],
                        context,
                        guard);
            }
            case TypeIndexScan -> {
                var scan = executor.getIdxScan();
                Ranges.checkTables(ranges, prefixBytes);
                reader = new RangesReader(source, ranges, scan.getUnique(), scan.getDesc());
                top = new IndexScan(
                        ScanColumn.of(scan.getColumnsList()),
                        scan.getPrimaryColumnIdsList(),
                        prefixBytes,
                        reader,
                        summaries[0],
                        context,
                        guard);
            }
            default -> throw bad("Unexpected first executor " + type(0));
        }
    }

    private Executor executor(int index, List<Integer> children) {
        var executor = dag.getExecutors(index);
        ExecutionSummary summary = summaries[index];
        return switch (type(index)) {
            case TypeSelection ->
                new Selection(top, conditions(executor.getSelection().getConditionsList()), summary, context);
            case TypeProjection ->
                new Projection(top, compile(executor.getProjection().getExprsList()), summary, context, guard);
            case TypeAggregation -> aggregation(executor.getAggregation(), summary, false);
            case TypeStreamAgg -> aggregation(executor.getAggregation(), summary, true);
            case TypeTopN -> topN(executor.getTopN(), summary);
            case TypeLimit -> limit(executor.getLimit(), summary);
            case TypeIndexLookUp -> lookUp(executor.getIndexLookup(), index, children);
            default -> throw bad("Unexpected non-first executor " + type(index));
        };
    }

    private List<Expression> compile(List<Expr> exprs) {
        List<Expression> compiled = new ArrayList<>(exprs.size());
        for (Expr expr : exprs) {
            compiled.add(Expression.compile(expr, top.schema(), context, guard));
        }
        return compiled;
    }

    private List<Expression> keys(List<ByItem> items) {
        return compile(items.stream().map(ByItem::getExpr).toList());
    }

    private static boolean[] descending(List<ByItem> items) {
        boolean[] flags = new boolean[items.size()];
        for (int i = 0; i < flags.length; i++) {
            flags[i] = items.get(i).getDesc();
        }
        return flags;
    }

    /** Conditions; strings as the numbers they convert to. */
    private List<Expression> conditions(List<Expr> exprs) {
        List<Expression> compiled = new ArrayList<>(exprs.size());
        for (Expr expr : exprs) {
            Expression condition = Expression.compile(expr, top.schema(), context, guard);
            if (condition.fieldType().evalType() == EvalType.BYTES) {
                Expr number = Expr.newBuilder()
                        .setTp(ExprType.ScalarFunc)
                        .setSig(ScalarFuncSig.CastStringAsReal)
                        .setFieldType(io.coplane.proto.tipb.FieldType.newBuilder()
                                .setTp(FieldType.DOUBLE)
                                .setFlen(DOUBLE_LENGTH)
                                .setDecimal(-1))
                        .addChildren(expr)
                        .build();
                condition = Expression.compile(number, top.schema(), context, guard);
            }
            compiled.add(condition);
        }
        return compiled;
    }

    private Executor aggregation(Aggregation aggregation, ExecutionSummary summary, boolean stream) {
        List<Aggregates.Compiled> functions = new ArrayList<>();
        for (Expr function : aggregation.getAggFuncList()) {
            functions.add(Aggregates.compile(function, top.schema(), context, guard));
        }
        List<Expression> groupBy = compile(aggregation.getGroupByList());
        if (groupBy.isEmpty()) {
            return new SimpleAggregation(top, functions, pagingSize, summary, context, guard);
        }
        if (stream) {
            return new StreamAggregation(top, functions, groupBy, pagingSize, summary, context, guard);
        }
        List<FieldType> types = aggregation.getGroupByList().stream()
                .map(expr -> FieldTypes.of(expr.getFieldType()))
                .toList();
        if (FastHashAggregation.isEligible(types)) {
            return new FastHashAggregation(top, functions, groupBy.get(0), pagingSize, summary, context, guard);
        }
        return new SlowHashAggregation(top, functions, groupBy, pagingSize, summary, context, guard);
    }

    private Executor topN(io.coplane.proto.tipb.TopN topN, ExecutionSummary summary) {
        List<Expression> orderBy = keys(topN.getOrderByList());
        boolean[] descending = descending(topN.getOrderByList());
        if (topN.getPartitionByCount() == 0) {
            return new TopN(top, orderBy, descending, topN.getLimit(), pagingSize, summary, context, guard);
        }
        return new PartitionTopN(
                top,
                keys(topN.getPartitionByList()),
                orderBy,
                descending,
                topN.getLimit(),
                pagingSize,
                summary,
                context,
                guard);
    }

    private Executor limit(io.coplane.proto.tipb.Limit limit, ExecutionSummary summary) {
        boolean overScan = top instanceof TableScan || top instanceof IndexScan;
        if (limit.getPartitionByCount() > 0) {
            return new PartitionTopN(
                    top,
                    keys(limit.getPartitionByList()),
                    List.of(),
                    new boolean[0],
                    limit.getLimit(),
                    pagingSize,
                    summary,
                    context,
                    guard);
        }
        if (limit.getTruncateKeyExprCount() > 0) {
            return new RankLimit(
                    top, compile(limit.getTruncateKeyExprList()), limit.getLimit(), overScan, summary, context, guard);
        }
        return new Limit(top, limit.getLimit(), overScan, summary);
    }

    private Executor lookUp(io.coplane.proto.tipb.IndexLookUp lookUp, int index, List<Integer> children) {
        if (children.size() != 1) {
            throw bad("IndexLookUp should have one child executor, but got " + children.size());
        }
        int child = children.get(0);
        if (type(child) != ExecType.TypeTableScan) {
            throw bad("IndexLookup's child should be TableScan, but got " + type(child));
        }
        if (lookUp.getKeepOrder()) {
            throw bad("IndexLookupExecutor does not support keep order currently");
        }
        children.clear();
        var scan = dag.getExecutors(child).getTblScan();
        boolean intHandle = scan.getPrimaryColumnIdsCount() == 0;
        IndexLookUp.TableRows rows = new IndexLookUp.TableRows(
                ScanColumn.of(scan.getColumnsList()),
                scan.getPrimaryColumnIdsList(),
                scan.getPrimaryPrefixColumnIdsList(),
                IndexLookUp.rowPrefix(keyspacePrefix, scan.getTableId(), guard),
                keyspacePrefix.length,
                intHandle ? handleColumn(lookUp) : -1,
                summaries[child]);
        IndexLookUp executor = new IndexLookUp(top, rows, accessor, summaries[index], context, guard);
        lookUps.add(new LookUp(index, executor));
        return executor;
    }

    private int handleColumn(io.coplane.proto.tipb.IndexLookUp lookUp) {
        if (lookUp.getIndexHandleOffsetsCount() == 0) {
            throw bad("IndexLookUp has no handle column");
        }
        int offset = lookUp.getIndexHandleOffsets(0);
        if (offset < 0
                || offset >= top.schema().size()
                || top.schema().get(offset).evalType() != EvalType.INT) {
            throw bad("IndexLookUp handle column is no integer: offset=" + Integer.toUnsignedString(offset));
        }
        return offset;
    }
}
