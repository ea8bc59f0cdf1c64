package io.coplane.cop.exec;

import io.coplane.cop.agg.Aggregate;
import io.coplane.cop.agg.Aggregates;
import io.coplane.cop.expr.Expression;
import io.coplane.cop.kernel.ColumnRows;
import io.coplane.types.EvalContext;
import io.coplane.types.FieldType;
import io.coplane.types.column.Column;
import java.util.ArrayList;
import java.util.List;

/** The aggregate functions of one executor and their result columns. One thread. */
final class AggregateColumns {
    private final List<Aggregates.Compiled> functions;
    private final List<FieldType> resultTypes = new ArrayList<>();
    private final List<Column[]> results = new ArrayList<>();

    AggregateColumns(List<Aggregates.Compiled> functions) {
        this.functions = List.copyOf(functions);
        for (Aggregates.Compiled function : functions) {
            List<FieldType> types = function.aggregate().resultTypes();
            resultTypes.addAll(types);
            Column[] columns = new Column[types.size()];
            for (int i = 0; i < columns.length; i++) {
                columns[i] = ColumnRows.create(types.get(i).evalType());
            }
            results.add(columns);
        }
    }

    List<FieldType> resultTypes() {
        return resultTypes;
    }

    /** Makes states for the groups and adds the rows of a batch. */
    void update(EvalContext context, Batch batch, int[] groupOf, int groups) {
        for (Aggregates.Compiled function : functions) {
            Column argument = function.argument().evaluate(context, batch, batch.rows());
            function.aggregate().ensureGroups(groups);
            function.aggregate().update(argument, groupOf, batch.rows());
        }
    }

    /** Adds the rows of a batch to the only group. */
    void updateOnly(EvalContext context, Batch batch, int[] zeros) {
        for (Aggregates.Compiled function : functions) {
            Column argument = function.argument().evaluate(context, batch, batch.rows());
            function.aggregate().ensureGroups(1);
            function.aggregate().updateOnly(argument, zeros, batch.rows());
        }
    }

    /** Puts the results of groups {@code 0 .. to - 1} into the first columns of a batch; @return the next column. */
    int emit(int to, Batch batch) {
        int next = 0;
        for (int i = 0; i < functions.size(); i++) {
            Column[] columns = results.get(i);
            for (Column column : columns) {
                ColumnRows.clear(column);
                batch.lazy(next++).setDecoded(column);
            }
            if (to > 0) {
                functions.get(i).aggregate().emit(to, columns);
            }
        }
        return next;
    }

    void keepOnly(int group) {
        for (Aggregates.Compiled function : functions) {
            function.aggregate().keepOnly(group);
        }
    }

    long heapBytes() {
        long bytes = 0;
        for (int i = 0; i < functions.size(); i++) {
            Aggregate aggregate = functions.get(i).aggregate();
            bytes += aggregate.heapBytes() + functions.get(i).argument().heapBytes();
            for (Column column : results.get(i)) {
                bytes += column.heapBytes();
            }
        }
        return bytes;
    }

    void release() {
        functions.stream().map(Aggregates.Compiled::argument).forEach(Expression::release);
    }
}
