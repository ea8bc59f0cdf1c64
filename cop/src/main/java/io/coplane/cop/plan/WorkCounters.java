package io.coplane.cop.plan;

import io.coplane.cop.exec.ExecutionSummary;
import io.coplane.cop.exec.FastHashAggregation;
import io.coplane.cop.expr.FieldTypes;
import io.coplane.proto.kvrpcpb.ExecutorInputs;
import io.coplane.proto.kvrpcpb.RUV2;
import io.coplane.proto.tipb.Aggregation;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.ExecType;
import io.coplane.proto.tipb.Executor;
import io.coplane.proto.tipb.Expr;
import io.coplane.proto.tipb.ExprType;
import io.coplane.proto.tipb.TopN;

/**
 * The work of a plan in request units (coprocessor.md 3.15), from the rows that its executors produced: what one receives the one below it
 * produced. A TopN that passes rows through counts nothing.
 */
public final class WorkCounters {
    private WorkCounters() {}

    /**
     * Counts a plan that has run.
     *
     * @param pagingSize rows of a page, unsigned; 0 = no paging
     */
    public static RUV2.Builder of(DAGRequest dag, DagPlan plan, long pagingSize) {
        ExecutionSummary[] summaries = plan.summaries();
        ExecutorInputs.Builder inputs = ExecutorInputs.newBuilder();
        long iterations = 0;
        long received = 0;
        for (int i = 0; i < summaries.length; i++) {
            Executor executor = dag.getExecutors(i);
            iterations += summaries[i].iterations();
            if (i == 0) {
                count(executor, plan.reader().readBytes(), pagingSize, inputs);
            } else if (executor.getTp() != ExecType.TypeTableScan) {
                count(executor, received, pagingSize, inputs);
            } else {
                continue; // of an index look-up: counted with it
            }
            received = summaries[i].producedRows();
        }
        return RUV2.newBuilder().setExecutorInputs(inputs).setCoprocessorExecutorIterations(iterations);
    }

    private static void count(Executor executor, long amount, long pagingSize, ExecutorInputs.Builder inputs) {
        switch (executor.getTp()) {
            case TypeTableScan -> inputs.setTikvCoprocessorExecutorWorkTotalBatchTableScan(amount);
            case TypeIndexScan -> inputs.setTikvCoprocessorExecutorWorkTotalBatchIndexScan(amount);
            case TypeSelection -> {
                long nodes = 0;
                for (Expr condition : executor.getSelection().getConditionsList()) {
                    nodes += weight(condition);
                }
                inputs.setTikvCoprocessorExecutorWorkTotalBatchSelection(
                        inputs.getTikvCoprocessorExecutorWorkTotalBatchSelection() + amount * nodes);
            }
            case TypeAggregation, TypeStreamAgg -> aggregation(executor, amount, inputs);
            case TypeTopN -> {
                TopN topN = executor.getTopN();
                boolean passes = pagingSize != 0 && Long.compareUnsigned(topN.getLimit(), pagingSize) > 0;
                if (topN.getPartitionByCount() == 0 && !passes) {
                    inputs.setTikvCoprocessorExecutorWorkTotalBatchTopN(
                            inputs.getTikvCoprocessorExecutorWorkTotalBatchTopN()
                                    + amount * topN.getOrderByCount() * log2(topN.getLimit()));
                }
            }
            case TypeLimit -> {
                if (executor.getLimit().getPartitionByCount() == 0) {
                    inputs.setTikvCoprocessorExecutorWorkTotalBatchLimit(
                            inputs.getTikvCoprocessorExecutorWorkTotalBatchLimit() + amount);
                }
            }
            default -> {} // projections and look-ups have no counter; nothing else runs
        }
    }

    private static void aggregation(Executor executor, long rows, ExecutorInputs.Builder inputs) {
        Aggregation aggregation = executor.getAggregation();
        if (aggregation.getGroupByCount() == 0) {
            inputs.setTikvCoprocessorExecutorWorkTotalBatchSimpleAggr(
                    inputs.getTikvCoprocessorExecutorWorkTotalBatchSimpleAggr() + rows * aggregation.getAggFuncCount());
        } else if (executor.getTp() == ExecType.TypeAggregation
                && FastHashAggregation.isEligible(aggregation.getGroupByList().stream()
                        .map(expr -> FieldTypes.of(expr.getFieldType()))
                        .toList())) {
            inputs.setTikvCoprocessorExecutorWorkTotalBatchFastHashAggr(
                    inputs.getTikvCoprocessorExecutorWorkTotalBatchFastHashAggr() + rows);
        }
    }

    /** Nodes of an expression, column references twice. */
    private static long weight(Expr expr) {
        if (expr.getTp() != ExprType.ScalarFunc) {
            return expr.getTp() == ExprType.ColumnRef ? 2 : 1;
        }
        long weight = 1;
        for (Expr child : expr.getChildrenList()) {
            weight += weight(child);
        }
        return weight;
    }

    /** @param limit unsigned */
    private static int log2(long limit) {
        return Long.SIZE - 1 - Long.numberOfLeadingZeros(Long.compareUnsigned(limit, 2) < 0 ? 2 : limit);
    }
}
