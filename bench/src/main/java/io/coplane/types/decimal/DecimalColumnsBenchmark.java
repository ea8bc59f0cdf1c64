package io.coplane.types.decimal;

import io.coplane.types.column.DecimalColumn;
import java.math.BigDecimal;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What does a row of decimal arithmetic cost in the flat form (digits 7), and in words (digits 25)? Expected: flat several times less, no allocation. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 10, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
@OperationsPerInvocation(DecimalColumnsBenchmark.ROWS)
public class DecimalColumnsBenchmark {
    static final int ROWS = 1024;

    /** Digits of the values, two of them behind the point. */
    @Param({"7", "25"})
    int digits;

    private final DecimalColumn left = new DecimalColumn();
    private final DecimalColumn right = new DecimalColumn();
    private final DecimalColumn out = new DecimalColumn();
    private final long[] orders = new long[ROWS];
    private final DecimalColumns.Scratch scratch = new DecimalColumns.Scratch();
    private final DecimalSum sum = new DecimalSum();

    /** Fills the columns and checks the sum against exact numbers. */
    @Setup
    public void setUp() {
        var random = new SplittableRandom(1);
        BigDecimal exact = fill(left, random);
        fill(right, random);
        sum();
        var total = new Decimal();
        sum.get(total);
        if (new BigDecimal(total.plainText()).compareTo(exact) != 0) {
            throw new IllegalStateException("wrong sum: " + total + " expected=" + exact);
        }
    }

    private BigDecimal fill(DecimalColumn column, SplittableRandom random) {
        column.reset(ROWS);
        var value = new Decimal();
        BigDecimal total = BigDecimal.ZERO;
        for (int row = 0; row < ROWS; row++) {
            var text = new StringBuilder();
            for (int i = 0; i < digits; i++) {
                text.append(i == digits - 2 ? "." : "").append(random.nextInt(1, 10));
            }
            value.parse(text.toString());
            DecimalColumns.store(value, column, row);
            total = total.add(new BigDecimal(text.toString()));
        }
        return total;
    }

    /** A running sum. */
    @Benchmark
    public int sum() {
        sum.clear();
        return sum.add(left, 0, ROWS);
    }

    /** Two columns. */
    @Benchmark
    public DecimalColumn add() {
        out.reset(ROWS);
        DecimalColumns.add(left, right, ROWS, out, scratch);
        return out;
    }

    /** Two columns. */
    @Benchmark
    public DecimalColumn multiply() {
        out.reset(ROWS);
        DecimalColumns.multiply(left, right, ROWS, out, scratch);
        return out;
    }

    /** Two columns. */
    @Benchmark
    public long[] compare() {
        DecimalColumns.compare(left, right, ROWS, left.nullWords(), orders, scratch);
        return orders;
    }
}
