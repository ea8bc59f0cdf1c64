package io.coplane.cop.exec;

import io.coplane.cop.expr.Expression;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.EvalContext;
import io.coplane.types.column.Column;
import java.util.Arrays;
import java.util.List;

/** Evaluates expressions; a bare column is passed on in the form it has (coprocessor.md 3.7). */
public final class Projection extends Executor {
    private final Executor source;
    private final List<Expression> expressions;
    private final EvalContext context;
    private final Batch batch;
    private final HeapAccount account;
    private final boolean[] taken;
    private final BatchWarnings warnings = new BatchWarnings();
    private int[] allRows = new int[0];

    public Projection(
            Executor source,
            List<Expression> expressions,
            ExecutionSummary summary,
            EvalContext context,
            MemoryGuard guard) {
        super(expressions.stream().map(Expression::fieldType).toList(), summary);
        this.source = source;
        this.expressions = List.copyOf(expressions);
        this.context = context;
        batch = new Batch(context, schema());
        account = new HeapAccount(guard, summary);
        taken = new boolean[source.schema().size()];
    }

    @Override
    Batch pull(int rows) {
        Batch input = source.next(rows);
        batch.resetLike(input);
        if (input.error() != null) {
            return batch.fail(input.error());
        }
        int count = input.rows();
        growAllRows(count);
        long before = context.warningCount();
        try {
            // values first: a column that a later expression decodes must be decoded wherever it is passed on
            evaluate(input, count);
        } catch (CoplaneException e) {
            return batch.fail(e);
        }
        warnings.endBatch(context, before);
        account.holds(heapBytes());
        return batch;
    }

    private void evaluate(Batch input, int count) {
        Arrays.fill(taken, false);
        for (int i = 0; i < expressions.size(); i++) {
            Expression expression = expressions.get(i);
            LazyColumn target = batch.lazy(i);
            if (!expression.isColumnRef()) {
                Column result = count == 0 ? target.emptyColumn() : expression.evaluate(context, input, count);
                if (isShared(result, input, i)) {
                    target.copyDecoded(result, allRows, count);
                } else {
                    target.setDecoded(result);
                }
            }
        }
        for (int i = 0; i < expressions.size(); i++) {
            Expression expression = expressions.get(i);
            if (expression.isColumnRef()) {
                int index = expression.columnIndex();
                if (taken[index]) {
                    batch.lazy(i).copy(input.lazy(index), allRows, count);
                } else {
                    batch.lazy(i).take(input.lazy(index));
                    taken[index] = true;
                }
            }
        }
    }

    /** True if somebody else holds the column as well: rows dropped from one must not be dropped from the other. */
    private boolean isShared(Column result, Batch input, int upTo) {
        for (int i = 0; i < input.columnCount(); i++) {
            if (input.lazy(i).decoded() == result) {
                return true;
            }
        }
        for (int i = 0; i < upTo; i++) {
            if (!expressions.get(i).isColumnRef() && batch.lazy(i).decoded() == result) {
                return true;
            }
        }
        return false;
    }

    private void growAllRows(int count) {
        if (count > allRows.length) {
            allRows = new int[Math.max(count, 2 * allRows.length)];
            Arrays.setAll(allRows, i -> i);
        }
    }

    private long heapBytes() {
        long bytes = batch.heapBytes();
        for (Expression expression : expressions) {
            bytes += expression.heapBytes();
        }
        return bytes;
    }

    @Override
    public void close() {
        source.close();
        expressions.forEach(Expression::release);
        account.close();
    }
}
