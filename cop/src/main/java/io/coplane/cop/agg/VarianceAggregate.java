package io.coplane.cop.agg;

import io.coplane.cop.kernel.ColumnRows;
import io.coplane.types.EvalException;
import io.coplane.types.EvalType;
import io.coplane.types.FieldType;
import io.coplane.types.column.Column;
import io.coplane.types.column.DecimalColumn;
import io.coplane.types.column.DoubleColumn;
import io.coplane.types.decimal.Decimal;
import io.coplane.types.decimal.DecimalColumns;
import io.coplane.types.decimal.DecimalStatus;
import java.util.Arrays;
import java.util.List;

/**
 * VAR_POP and VAR_SAMP, with count and sum so that the client can merge. On the n-th value x, n above 1: t = n x - sum; variance += t t / (n (n - 1));
 * in the end variance / n or / (n - 1). Decimals do all of it in their own arithmetic, division with increment 4.
 */
final class VarianceAggregate extends Aggregate {
    private static final int DIVISION_INCREMENT = 4;

    private final boolean sample;
    private final boolean decimal;
    private final CountAggregate counts = new CountAggregate();
    private final DecimalSums sums = new DecimalSums();
    private final DecimalSums variances = new DecimalSums();
    private double[] realSums = new double[0];
    private double[] realVariances = new double[0];

    private final Decimal value = new Decimal();
    private final Decimal sum = new Decimal();
    private final Decimal number = new Decimal();
    private final Decimal a = new Decimal();
    private final Decimal b = new Decimal();
    private final Decimal c = new Decimal();

    VarianceAggregate(FieldType type, boolean sample) {
        super(List.of(CountAggregate.COUNT_TYPE, type, type));
        this.sample = sample;
        decimal = type.evalType() == EvalType.DECIMAL;
    }

    @Override
    public void ensureGroups(int groups) {
        counts.ensureGroups(groups);
        if (decimal) {
            sums.ensureGroups(groups);
            variances.ensureGroups(groups);
        } else if (groups > realSums.length) {
            realSums = Arrays.copyOf(realSums, grown(realSums.length, groups));
            realVariances = Arrays.copyOf(realVariances, realSums.length);
        }
    }

    @Override
    public void update(Column argument, int[] groups, int rows) {
        for (int row = 0; row < rows; row++) {
            if (argument.isNull(row)) {
                continue;
            }
            int group = groups[row];
            long n = ++counts.counts()[group];
            if (decimal) {
                addDecimal(group, n, (DecimalColumn) argument, row);
            } else {
                addReal(group, n, ((DoubleColumn) argument).values()[row]);
            }
        }
    }

    private void addReal(int group, long n, double x) {
        double total = realSums[group] + x;
        realSums[group] = total;
        if (n > 1) {
            double t = n * x - total;
            realVariances[group] += t * t / ((double) n * (n - 1));
        }
    }

    private void addDecimal(int group, long n, DecimalColumn column, int row) {
        DecimalColumns.load(column, row, value);
        DecimalColumns.load(sums.column(), group, a);
        sum.set(a);
        a.setSum(sum, value).orThrow();
        sum.set(a);
        DecimalColumns.store(sum, sums.column(), group);
        if (n <= 1) {
            return;
        }
        number.setLong(n);
        a.setProduct(number, value).orThrow();
        b.setDifference(a, sum).orThrow(); // t
        c.set(b);
        a.setProduct(b, c).orThrow(); // t t
        b.setLong(n - 1);
        c.setProduct(number, b).orThrow(); // n (n - 1)
        quotient(b, a, c);
        DecimalColumns.load(variances.column(), group, a);
        c.setSum(a, b).orThrow();
        DecimalColumns.store(c, variances.column(), group);
    }

    private static void quotient(Decimal result, Decimal dividend, Decimal divisor) {
        DecimalStatus status = result.setQuotient(dividend, divisor, DIVISION_INCREMENT);
        if (status == null) {
            throw EvalException.uncoded("division by zero in a variance");
        }
        status.orThrow();
    }

    @Override
    public void emit(int to, Column[] results) {
        counts.emit(to, results);
        Column sumResult = results[1];
        Column varianceResult = results[2];
        int base = sumResult.rows();
        sumResult.resize(base + to);
        varianceResult.resize(base + to);
        long[] seen = counts.counts();
        for (int group = 0; group < to; group++) {
            int row = base + group;
            if (seen[group] == 0) {
                sumResult.setNull(row);
                varianceResult.setNull(row);
                continue;
            }
            long divisor = sample ? seen[group] - 1 : seen[group];
            if (decimal) {
                ColumnRows.setRow(sums.column(), group, sumResult, row);
            } else {
                ((DoubleColumn) sumResult).values()[row] = realSums[group];
            }
            if (divisor == 0) {
                varianceResult.setNull(row);
            } else if (decimal) {
                DecimalColumns.load(variances.column(), group, a);
                b.setLong(divisor);
                quotient(c, a, b);
                DecimalColumns.store(c, (DecimalColumn) varianceResult, row);
            } else {
                ((DoubleColumn) varianceResult).values()[row] = realVariances[group] / divisor;
            }
        }
    }

    @Override
    public void keepOnly(int group) {
        counts.keepOnly(group);
        if (decimal) {
            sums.keepOnly(group);
            variances.keepOnly(group);
            return;
        }
        double keptSum = realSums[group];
        double keptVariance = realVariances[group];
        Arrays.fill(realSums, 0);
        Arrays.fill(realVariances, 0);
        realSums[0] = keptSum;
        realVariances[0] = keptVariance;
    }

    @Override
    public long heapBytes() {
        return counts.heapBytes() + sums.heapBytes() + variances.heapBytes() + 2L * realSums.length * Double.BYTES;
    }
}
