package io.coplane.worker.replay;

import io.coplane.proto.tipb.Aggregation;
import io.coplane.proto.tipb.ByItem;
import io.coplane.proto.tipb.ColumnInfo;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.ExecType;
import io.coplane.proto.tipb.Executor;
import io.coplane.proto.tipb.Expr;
import io.coplane.proto.tipb.ExprType;
import io.coplane.types.FieldType;
import io.coplane.types.codec.Memcomparable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a plan says of its answer: types of the output columns, and in which order rows may come.
 *
 * @param columns types of the output columns, in output order
 * @param intermediates the same for each intermediate channel, by executor index
 * @param order how rows are ordered
 * @param topN keys of a TopN, empty otherwise
 * @param limit rows after which a TopN cuts; 0 where there is none
 * @param openReals true where reals may differ by some ulps (corpus README, rule 6)
 */
record PlanShape(
        List<FieldType> columns,
        Map<Integer, List<FieldType>> intermediates,
        Order order,
        List<SortKey> topN,
        long limit,
        boolean openReals) {
    /** How the rows of an answer are ordered. */
    enum Order {
        FIXED,
        FREE,
        TOP_N
    }

    /** @param column output column that holds the key, or -1 where none shows it */
    record SortKey(int column) {}

    private static final List<String> TRANSCENDENTAL =
            List.of("Acos", "Asin", "Atan", "Cos", "Cot", "Exp", "Ln", "Log", "Pow", "Sin", "Tan");

    static PlanShape of(DAGRequest dag) {
        List<FieldType> schema = List.of();
        List<FieldType> child = List.of();
        Map<Integer, List<FieldType>> indexSides = new HashMap<>();
        boolean hashed = false;
        Executor topN = null;
        for (int i = 0; i < dag.getExecutorsCount(); i++) {
            Executor executor = dag.getExecutors(i);
            switch (executor.getTp()) {
                case TypeTableScan -> {
                    List<FieldType> columns = columns(executor.getTblScan().getColumnsList());
                    if (i == 0) {
                        schema = columns;
                    } else {
                        child = columns;
                    }
                }
                case TypeIndexScan -> schema = columns(executor.getIdxScan().getColumnsList());
                case TypeProjection ->
                    schema = projected(executor.getProjection().getExprsList(), schema);
                case TypeAggregation, TypeStreamAgg -> {
                    boolean grouped = executor.getAggregation().getGroupByCount() > 0;
                    hashed |= executor.getTp() == ExecType.TypeAggregation && grouped;
                    schema = aggregated(executor.getAggregation(), schema);
                }
                case TypeIndexLookUp -> {
                    indexSides.put(i, schema);
                    schema = child;
                    hashed = true; // rows come region by region
                }
                case TypeTopN -> topN = executor.getTopN().getPartitionByCount() == 0 ? executor : topN;
                default -> {
                    // leaves the schema as it is
                }
            }
        }
        boolean last = topN != null && topN.equals(dag.getExecutors(dag.getExecutorsCount() - 1));
        List<SortKey> keys = last ? keys(topN.getTopN().getOrderByList(), dag) : List.of();
        return new PlanShape(
                output(schema, dag.getOutputOffsetsList()),
                intermediates(dag, indexSides),
                last ? Order.TOP_N : hashed ? Order.FREE : Order.FIXED,
                keys,
                last ? topN.getTopN().getLimit() : 0,
                hasOpenReals(dag));
    }

    private static Map<Integer, List<FieldType>> intermediates(
            DAGRequest dag, Map<Integer, List<FieldType>> indexSides) {
        Map<Integer, List<FieldType>> channels = new HashMap<>();
        for (int i = 0; i < dag.getIntermediateOutputChannelsCount(); i++) {
            var channel = dag.getIntermediateOutputChannels(i);
            List<FieldType> side = indexSides.get(channel.getExecutorIdx());
            channels.put(i, side == null ? List.of() : output(side, channel.getOutputOffsetsList()));
        }
        return channels;
    }

    private static List<SortKey> keys(List<ByItem> items, DAGRequest dag) {
        List<SortKey> keys = new ArrayList<>();
        for (ByItem item : items) {
            boolean isColumn = item.getExpr().getTp() == ExprType.ColumnRef;
            keys.add(new SortKey(isColumn ? dag.getOutputOffsetsList().indexOf(columnRef(item.getExpr())) : -1));
        }
        return keys;
    }

    private static List<FieldType> output(List<FieldType> schema, List<Integer> offsets) {
        List<FieldType> output = new ArrayList<>();
        for (int offset : offsets) {
            output.add(offset < schema.size() ? schema.get(offset) : FieldType.of(FieldType.UNSPECIFIED));
        }
        return output;
    }

    private static List<FieldType> columns(List<ColumnInfo> infos) {
        List<FieldType> types = new ArrayList<>();
        for (ColumnInfo info : infos) {
            types.add(new FieldType(
                    info.getTp(),
                    info.getFlag(),
                    info.getColumnLen(),
                    info.getDecimal(),
                    info.getCollation(),
                    "",
                    List.of()));
        }
        return types;
    }

    private static List<FieldType> projected(List<Expr> expressions, List<FieldType> schema) {
        List<FieldType> types = new ArrayList<>();
        expressions.forEach(expression -> types.add(type(expression, schema)));
        return types;
    }

    private static FieldType type(Expr expression, List<FieldType> schema) {
        if (expression.getTp() == ExprType.ColumnRef) {
            int column = columnRef(expression);
            return column < schema.size() ? schema.get(column) : FieldType.of(FieldType.UNSPECIFIED);
        }
        var type = expression.getFieldType();
        return new FieldType(
                type.getTp(), type.getFlag(), type.getFlen(), type.getDecimal(), type.getCollate(), "", List.of());
    }

    private static int columnRef(Expr expression) {
        byte[] offset = expression.getVal().toByteArray();
        return offset.length < Long.BYTES ? Integer.MAX_VALUE : (int) Memcomparable.getLong(offset, 0);
    }

    private static List<FieldType> aggregated(Aggregation aggregation, List<FieldType> schema) {
        List<FieldType> types = new ArrayList<>();
        FieldType count = new FieldType(FieldType.LONG_LONG, FieldType.UNSIGNED_FLAG, -1, -1, 0, "", List.of());
        for (Expr function : aggregation.getAggFuncList()) {
            var declared = function.getFieldType();
            FieldType result = new FieldType(
                    declared.getTp(),
                    declared.getFlag(),
                    declared.getFlen(),
                    declared.getDecimal(),
                    declared.getCollate(),
                    "",
                    List.of());
            switch (function.getTp()) {
                case Count -> types.add(count);
                case Avg -> types.addAll(List.of(count, result));
                case VarPop, VarSamp, Variance -> types.addAll(List.of(count, result, result));
                default -> types.add(result);
            }
        }
        aggregation.getGroupByList().forEach(expression -> types.add(type(expression, schema)));
        return types;
    }

    private static boolean hasOpenReals(DAGRequest dag) {
        boolean open = false;
        for (Executor executor : dag.getExecutorsList()) {
            open |= executor.getTp() == ExecType.TypeIndexLookUp;
            open |= anyTranscendental(executor.getSelection().getConditionsList());
            open |= anyTranscendental(executor.getProjection().getExprsList());
            open |= anyTranscendental(executor.getAggregation().getGroupByList());
            open |= anyTranscendental(executor.getAggregation().getAggFuncList());
            for (ByItem item : executor.getTopN().getOrderByList()) {
                open |= isTranscendental(item.getExpr());
            }
        }
        return open;
    }

    private static boolean anyTranscendental(List<Expr> expressions) {
        return expressions.stream().anyMatch(PlanShape::isTranscendental);
    }

    private static boolean isTranscendental(Expr expression) {
        String name = expression.getSig().name();
        return expression.getTp() == ExprType.ScalarFunc
                        && TRANSCENDENTAL.stream().anyMatch(name::startsWith)
                || anyTranscendental(expression.getChildrenList());
    }
}
