package io.coplane.worker.replay;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.coplane.proto.coprocessor.KeyRange;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.tipb.Aggregation;
import io.coplane.proto.tipb.AnalyzeReq;
import io.coplane.proto.tipb.ByItem;
import io.coplane.proto.tipb.ChecksumRequest;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.Executor;
import io.coplane.proto.tipb.Expr;
import io.coplane.proto.tipb.ExprType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;

/** What a request asks for, for people: its plan as a tree or a line, its ranges. */
final class PlanText {
    private static final int DAG = 103;
    private static final int ANALYZE = 104;
    private static final int TABLE_KEY_BYTES = 9;
    private static final int MOST_HEX_BYTES = 12;

    /** Texts of the executors, the last to run first; {@link #depths} says how deep each stands. */
    private final List<String> lines = new ArrayList<>();

    private final List<Integer> depths = new ArrayList<>();

    private PlanText() {}

    /** The plan of a request; of one that does not parse, that it does not. */
    static PlanText of(Request request) {
        PlanText text = new PlanText();
        try {
            text.read(request);
        } catch (IOException e) {
            text.add(0, "a plan that does not parse: " + e.getMessage());
        }
        return text;
    }

    /** One executor a line, the scan at the bottom. */
    String tree(String indent) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < lines.size(); i++) {
            int depth = depths.get(i);
            out.append(indent);
            if (depth > 0) {
                out.append("   ".repeat(depth - 1)).append("└─ ");
            }
            out.append(lines.get(i)).append('\n');
        }
        return out.toString();
    }

    /** Where the ranges lie: the first one, and how many more. */
    static String ranges(Request request) {
        if (request.getRangesCount() == 0) {
            return "no ranges";
        }
        KeyRange first = request.getRanges(0);
        String text = key(first.getStart()) + " .. " + key(first.getEnd());
        int more = request.getRangesCount() - 1;
        return more == 0 ? text : text + " and " + more + (more == 1 ? " more range" : " more ranges");
    }

    private void read(Request request) throws IOException {
        byte[] data = request.getData().toByteArray();
        switch ((int) request.getTp()) {
            case DAG -> readPlan(DAGRequest.parseFrom(Corpus.input(data)));
            case ANALYZE ->
                add(0, "Analyze " + AnalyzeReq.parseFrom(Corpus.input(data)).getTp());
            default ->
                add(
                        0,
                        "Checksum "
                                + ChecksumRequest.parseFrom(Corpus.input(data)).getScanOn());
        }
    }

    /** A list runs from its first executor to its last; {@code parent_idx} makes a tree of it. */
    private void readPlan(DAGRequest dag) throws InvalidProtocolBufferException {
        if (dag.hasRootExecutor()) {
            add(0, "tree of executors, root " + name(dag.getRootExecutor()));
            return;
        }
        int count = dag.getExecutorsCount();
        int[] depth = new int[count];
        for (int i = count - 1; i >= 0; i--) {
            Executor executor = dag.getExecutors(i);
            int parent = executor.hasParentIdx() ? executor.getParentIdx() : i + 1;
            depth[i] = parent > i && parent < count ? depth[parent] + 1 : 0;
            add(depth[i], describe(executor));
        }
    }

    private void add(int depth, String line) {
        depths.add(depth);
        lines.add(line);
    }

    private static String describe(Executor executor) {
        String name = name(executor);
        return switch (executor.getTp()) {
            case TypeTableScan ->
                name + " of table " + executor.getTblScan().getTableId() + ", "
                        + columns(executor.getTblScan().getColumnsCount())
                        + (executor.getTblScan().getDesc() ? ", backwards" : "");
            case TypeIndexScan ->
                name + " of table " + executor.getIdxScan().getTableId() + " index "
                        + executor.getIdxScan().getIndexId() + ", "
                        + columns(executor.getIdxScan().getColumnsCount())
                        + (executor.getIdxScan().getDesc() ? ", backwards" : "");
            case TypeSelection -> name + " " + joined(executor.getSelection().getConditionsList(), " and ");
            case TypeProjection -> name + " " + joined(executor.getProjection().getExprsList(), ", ");
            case TypeAggregation, TypeStreamAgg -> name + " " + aggregation(executor.getAggregation());
            case TypeTopN ->
                name + " " + executor.getTopN().getLimit() + " by "
                        + order(executor.getTopN().getOrderByList());
            case TypeLimit -> name + " " + executor.getLimit().getLimit();
            default -> name;
        };
    }

    private static String name(Executor executor) {
        String name = executor.getTp().name();
        return name.startsWith("Type") ? name.substring("Type".length()) : name;
    }

    private static String columns(int count) {
        return count + (count == 1 ? " column" : " columns");
    }

    private static String aggregation(Aggregation aggregation) {
        String functions = joined(aggregation.getAggFuncList(), ", ");
        return aggregation.getGroupByCount() == 0
                ? functions
                : functions + " by " + joined(aggregation.getGroupByList(), ", ");
    }

    private static String order(List<ByItem> items) {
        return items.stream()
                .map(item -> expression(item.getExpr()) + (item.getDesc() ? " desc" : ""))
                .collect(Collectors.joining(", "));
    }

    private static String joined(List<Expr> expressions, String separator) {
        return expressions.stream().map(PlanText::expression).collect(Collectors.joining(separator));
    }

    private static String expression(Expr expression) {
        if (expression.getTp() == ExprType.ColumnRef) {
            return "col" + number(expression.getVal());
        }
        if (expression.getTp() == ExprType.ScalarFunc) {
            return expression.getSig().name() + "(" + joined(expression.getChildrenList(), ", ") + ")";
        }
        if (expression.getChildrenCount() > 0) {
            return expression.getTp().name() + "(" + joined(expression.getChildrenList(), ", ") + ")";
        }
        return switch (expression.getTp()) {
            case Int64 -> Long.toString(number(expression.getVal()));
            case Float64 -> Double.toString(real(expression.getVal()));
            case String -> "'" + expression.getVal().toStringUtf8() + "'";
            case Null -> "NULL";
            default -> expression.getTp().name();
        };
    }

    /** An integer as keys and constants have it: big-endian, the sign bit turned (coprocessor.md 2). */
    private static long number(ByteString bytes) {
        return bytes.size() < Long.BYTES ? 0 : bytes.asReadOnlyByteBuffer().getLong() ^ Long.MIN_VALUE;
    }

    /** A real as keys and constants have it: all bits turned where it is negative, the sign bit only otherwise. */
    private static double real(ByteString bytes) {
        long value = number(bytes);
        return Double.longBitsToDouble(value >= 0 ? value : ~(value ^ Long.MIN_VALUE));
    }

    /** {@code t104_r_7}: table id, record or index, and the rest: a handle, or hex. */
    private static String key(ByteString key) {
        if (key.size() < TABLE_KEY_BYTES || key.byteAt(0) != 't') {
            return hex(key);
        }
        ByteString rest = key.substring(TABLE_KEY_BYTES);
        String kind = rest.startsWith(ByteString.copyFromUtf8("_r")) ? "_r" : "";
        kind = rest.startsWith(ByteString.copyFromUtf8("_i")) ? "_i" : kind;
        ByteString last = rest.substring(kind.length());
        String tail = kind.equals("_r") && last.size() == Long.BYTES ? Long.toString(number(last)) : hex(last);
        return "t" + number(key.substring(1)) + kind + (tail.isEmpty() ? "" : "_" + tail);
    }

    private static String hex(ByteString bytes) {
        String hex = HexFormat.of()
                .formatHex(bytes.substring(0, Math.min(MOST_HEX_BYTES, bytes.size()))
                        .toByteArray());
        return bytes.size() > MOST_HEX_BYTES ? hex + "…" : hex;
    }
}
