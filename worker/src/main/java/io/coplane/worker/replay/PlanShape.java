package io.coplane.worker.replay;

import io.coplane.proto.tipb.Aggregation;
import io.coplane.proto.tipb.ColumnInfo;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.ExecType;
import io.coplane.proto.tipb.Executor;
import io.coplane.proto.tipb.Expr;
import io.coplane.proto.tipb.ExprType;
import io.coplane.proto.tipb.FieldType;
import io.coplane.proto.tipb.ScalarFuncSig;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Columns and order of a plan's output, worked out from the request alone (coprocessor.md 3.2, 5), so that the comparer doesn't ask the code that it
 * judges.
 */
final class PlanShape {
    /** What fixes the order of rows. */
    enum Order {
        /** Rows come in one order. */
        SEQUENCE,
        /** Rows come in any order. */
        MULTISET,
        /** Any rows of a larger multiset, as many as recorded. */
        CUT_MULTISET,
        /** Sorted by keys that may tie; of those tied at the cut any. */
        TIES
    }

    private static final int DOUBLE = 5;
    private static final int FLOAT = 4;
    private static final int LONG_LONG = 8;
    private static final int UNSIGNED = 32;
    private static final Set<ScalarFuncSig> TRANSCENDENTAL = Set.of(
            ScalarFuncSig.Log1Arg,
            ScalarFuncSig.Log2Args,
            ScalarFuncSig.Log2,
            ScalarFuncSig.Log10,
            ScalarFuncSig.Pow,
            ScalarFuncSig.Acos,
            ScalarFuncSig.Asin,
            ScalarFuncSig.Atan1Arg,
            ScalarFuncSig.Atan2Args,
            ScalarFuncSig.Cos,
            ScalarFuncSig.Cot,
            ScalarFuncSig.Exp,
            ScalarFuncSig.Sin,
            ScalarFuncSig.Tan);

    private final DAGRequest dag;
    private final boolean isPaged;
    private final long pagingSize;
    private final Map<Integer, List<OutputColumn>> channelSchemas = new HashMap<>();
    private List<OutputColumn> columns = List.of();
    private Order order = Order.SEQUENCE;
    private int tiesAt = -1;
    private int lookUpAt = -1;
    private final List<Integer> cuts = new ArrayList<>();
    private boolean isRandom;

    private PlanShape(DAGRequest dag, long pagingSize) {
        this.dag = dag;
        this.pagingSize = pagingSize;
        isPaged = pagingSize != 0;
    }

    /** The shape of a plan that the reference accepted; throws IndexOutOfBoundsException on one that it can't have accepted. */
    static PlanShape of(DAGRequest dag, long pagingSize) {
        PlanShape shape = new PlanShape(dag, pagingSize);
        shape.walk();
        return shape;
    }

    /** Output columns, by output offset. */
    List<OutputColumn> outputs() {
        return dag.getOutputOffsetsList().stream().map(columns::get).toList();
    }

    /** Output columns of an intermediate channel. */
    List<OutputColumn> outputs(int channel) {
        var declared = dag.getIntermediateOutputChannels(channel);
        List<OutputColumn> schema = channelSchemas.get(declared.getExecutorIdx());
        return declared.getOutputOffsetsList().stream().map(schema::get).toList();
    }

    Order order() {
        return order;
    }

    /** Index of the executor that leaves ties open; -1 if none. */
    int tiesAt() {
        return tiesAt;
    }

    /** Indexes of the limits that cut rows in no fixed order. */
    List<Integer> cuts() {
        return cuts;
    }

    /** True where index rows may be looked up, so that no channel has a fixed order. */
    boolean looksUp() {
        return lookUpAt >= 0 && !isPaged;
    }

    /** True where random values may show in texts of warnings. */
    boolean isRandom() {
        return isRandom;
    }

    private void walk() {
        int count = dag.getExecutorsCount();
        scan(dag.getExecutors(0));
        int next = parent(0);
        int child = -1;
        for (int i = 1; i < count; i++) {
            if (i != next) {
                child = i;
                continue;
            }
            Executor executor = dag.getExecutors(i);
            if (executor.getTp() == ExecType.TypeIndexLookUp) {
                channelSchemas.put(i, columns);
                scan(dag.getExecutors(child));
                order = Order.MULTISET;
                lookUpAt = i;
            } else {
                step(executor, i);
            }
            next = parent(i);
        }
    }

    private int parent(int index) {
        Executor executor = dag.getExecutors(index);
        return executor.hasParentIdx() && executor.getParentIdx() != 0 ? executor.getParentIdx() : index + 1;
    }

    private void scan(Executor executor) {
        List<ColumnInfo> infos = executor.getTp() == ExecType.TypeIndexScan
                ? executor.getIdxScan().getColumnsList()
                : executor.getTblScan().getColumnsList();
        columns = infos.stream()
                .map(info -> new OutputColumn(
                        info.getTp() & 0xFF, (info.getFlag() & UNSIGNED) != 0, info.getDecimal(), false, false))
                .toList();
    }

    private void step(Executor executor, int index) {
        isRandom |= executor.getSelection().getConditionsList().stream()
                .anyMatch(condition -> has(condition, ScalarFuncSig.UUID));
        switch (executor.getTp()) {
            case TypeProjection ->
                columns = executor.getProjection().getExprsList().stream()
                        .map(this::column)
                        .toList();
            case TypeAggregation, TypeStreamAgg -> aggregation(executor);
            case TypeTopN -> {
                boolean isPartitioned = executor.getTopN().getPartitionByCount() > 0;
                ties(executor.getTopN().getLimit(), isPartitioned, index);
            }
            case TypeLimit -> {
                if (executor.getLimit().getPartitionByCount() > 0) {
                    ties(executor.getLimit().getLimit(), true, index);
                } else if (order == Order.MULTISET || order == Order.CUT_MULTISET) {
                    order = Order.CUT_MULTISET;
                    cuts.add(index);
                }
            }
            default -> {
                // selections keep columns and order; what else there is the reference refuses
            }
        }
    }

    private void ties(long limit, boolean isPartitioned, int index) {
        boolean isTransparent = isPaged && Long.compareUnsigned(isPartitioned ? 2 * limit : limit, pagingSize) > 0;
        if (!isTransparent) {
            order = Order.TIES;
            tiesAt = index;
        }
    }

    private void aggregation(Executor executor) {
        Aggregation aggregation = executor.getAggregation();
        boolean isStream = executor.getTp() == ExecType.TypeStreamAgg;
        boolean isOpen = !isStream || order != Order.SEQUENCE;
        var results = new ArrayList<OutputColumn>();
        for (Expr expr : aggregation.getAggFuncList()) {
            FieldType type = expr.getFieldType();
            boolean looseInput =
                    expr.getChildrenCount() > 0 && column(expr.getChildren(0)).isLoose();
            boolean isUuid =
                    expr.getChildrenCount() > 0 && column(expr.getChildren(0)).isUuid();
            OutputColumn result = of(type).as(false, isUuid);
            OutputColumn sum = result.as(isReal(result) && (isOpen || looseInput), isUuid);
            OutputColumn counter = new OutputColumn(LONG_LONG, true, 0, false, false);
            switch (expr.getTp()) {
                case Count -> results.add(counter);
                case Sum -> results.add(sum);
                case Avg -> results.addAll(List.of(counter, sum));
                case VarPop, VarSamp, Variance -> results.addAll(List.of(counter, sum, sum));
                default -> results.add(result.as(isReal(result) && looseInput, isUuid));
            }
        }
        aggregation.getGroupByList().forEach(expr -> results.add(column(expr)));
        columns = results;
        if (aggregation.getGroupByCount() == 0) {
            order = Order.SEQUENCE; // one row
        } else if (!isStream) {
            order = Order.MULTISET;
        } else if (order == Order.TIES) {
            order = Order.MULTISET;
        }
    }

    private OutputColumn column(Expr expr) {
        if (expr.getTp() == ExprType.ColumnRef) {
            return columns.get(reference(expr));
        }
        OutputColumn column = of(expr.getFieldType());
        boolean isUuid = has(expr, ScalarFuncSig.UUID);
        isRandom |= isUuid;
        return column.as(isReal(column) && isLoose(expr), isUuid);
    }

    private boolean isLoose(Expr expr) {
        if (expr.getTp() == ExprType.ColumnRef) {
            return columns.get(reference(expr)).isLoose();
        }
        if (expr.getTp() == ExprType.ScalarFunc && TRANSCENDENTAL.contains(expr.getSig())) {
            return true;
        }
        return expr.getChildrenList().stream().anyMatch(this::isLoose);
    }

    private boolean has(Expr expr, ScalarFuncSig sig) {
        return expr.getTp() == ExprType.ScalarFunc && expr.getSig() == sig
                || expr.getTp() == ExprType.ColumnRef
                        && columns.get(reference(expr)).isUuid()
                || expr.getChildrenList().stream().anyMatch(child -> has(child, sig));
    }

    private static int reference(Expr expr) {
        return Math.toIntExact(expr.getVal().asReadOnlyByteBuffer().getLong() ^ Long.MIN_VALUE);
    }

    private static OutputColumn of(FieldType type) {
        return new OutputColumn(type.getTp() & 0xFF, (type.getFlag() & UNSIGNED) != 0, type.getDecimal(), false, false);
    }

    private static boolean isReal(OutputColumn column) {
        return column.tp() == DOUBLE || column.tp() == FLOAT;
    }
}
