package io.coplane.cop;

import com.google.protobuf.InvalidProtocolBufferException;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.tipb.Executor;
import io.coplane.proto.tipb.SelectResponse;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
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

/**
 * What does each executor cost a row scanned, response included? Over {@link SyntheticRows} in memory; take {@code TABLE_SCAN_COUNT} from a figure to see
 * the executor alone. Expected: selections cost the same at any rate but for the rows they return; few and many groups differ by cache misses only.
 * {@code -prof gc} shows bytes a row.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class ExecutorBenchmark {
    private static final int MAX_RESPONSE_BYTES = 1 << 30;
    private static final int SEED = 42;

    /** An executor and how it is used. */
    public enum Plan {
        /** Reads all seven columns. */
        TABLE_SCAN(false, 7),
        /** Reads and returns nothing: a selection that no row passes. */
        TABLE_SCAN_COUNT(false, 7, SyntheticRows.selection(0)),
        INDEX_SCAN(true, 2),
        SELECTION_1(false, 7, SyntheticRows.selection(1)),
        SELECTION_50(false, 7, SyntheticRows.selection(50)),
        SELECTION_99(false, 7, SyntheticRows.selection(99)),
        PROJECTION(false, 2, SyntheticRows.projection()),
        SIMPLE_AGGREGATION(false, 3, SyntheticRows.aggregation(false)),
        HASH_FEW_GROUPS(false, 4, SyntheticRows.aggregation(false, 2)),
        HASH_MANY_GROUPS(false, 4, SyntheticRows.aggregation(false, 3)),
        HASH_TWO_KEYS_FEW_GROUPS(false, 5, SyntheticRows.aggregation(false, 2, 1)),
        HASH_TWO_KEYS_MANY_GROUPS(false, 5, SyntheticRows.aggregation(false, 3, 2)),
        STREAM_FEW_GROUPS(false, 4, SyntheticRows.aggregation(true, 5)),
        STREAM_MANY_GROUPS(false, 4, SyntheticRows.aggregation(true, 6)),
        TOP_10(false, 7, SyntheticRows.topN(10)),
        TOP_10000(false, 7, SyntheticRows.topN(10_000)),
        LIMIT_99_PERCENT(false, 7, SyntheticRows.limit(SyntheticRows.ROWS / 100 * 99));

        private final Request request;

        Plan(boolean index, int outputColumns, Executor... above) {
            request = SyntheticRows.request(index, outputColumns, above);
        }
    }

    @Param
    public Plan plan;

    private DecodedRows rows;

    /** Makes the rows and checks how many come out against a plain loop. */
    @Setup
    public void setup() throws InvalidProtocolBufferException {
        SyntheticRows table = new SyntheticRows(SEED);
        rows = table.rows();
        SelectResponse answer = SelectResponse.parseFrom(run().getData());
        long produced = answer.getExecutionSummaries(answer.getExecutionSummariesCount() - 1)
                .getNumProducedRows();
        if (answer.hasError() || produced != expectedRows(table)) {
            throw new IllegalStateException(String.format(
                    Locale.ROOT,
                    "%s gives %d rows, expected %d; error %s",
                    plan,
                    produced,
                    expectedRows(table),
                    answer.getError().getMsg()));
        }
    }

    private long expectedRows(SyntheticRows table) {
        return switch (plan) {
            case TABLE_SCAN, INDEX_SCAN, PROJECTION -> SyntheticRows.ROWS;
            case TABLE_SCAN_COUNT -> 0;
            case SELECTION_1 -> below(table, 1);
            case SELECTION_50 -> below(table, 50);
            case SELECTION_99 -> below(table, 99);
            case SIMPLE_AGGREGATION -> 1;
            case HASH_FEW_GROUPS, STREAM_FEW_GROUPS, TOP_10 -> 10;
            case HASH_MANY_GROUPS -> distinct(table, 4, 1);
            case HASH_TWO_KEYS_FEW_GROUPS -> distinct(table, 3, 2);
            case HASH_TWO_KEYS_MANY_GROUPS -> distinct(table, 4, 3);
            case STREAM_MANY_GROUPS -> SyntheticRows.ROWS / 2;
            case TOP_10000 -> 10_000;
            case LIMIT_99_PERCENT -> SyntheticRows.ROWS / 100 * 99;
        };
    }

    private static long below(SyntheticRows table, int bound) {
        return IntStream.range(0, SyntheticRows.ROWS)
                .filter(row -> table.value(2, row) < bound)
                .count();
    }

    /** Pairs of values of two columns; column 1 counts as the same everywhere. */
    private static long distinct(SyntheticRows table, int column, int other) {
        long[] pairs = new long[SyntheticRows.ROWS];
        Arrays.setAll(pairs, row -> table.value(column, row) << 20 | (other == 1 ? 0 : table.value(other, row)));
        return Arrays.stream(pairs).distinct().count();
    }

    private Response run() {
        try (MemoryGuard guard = MemoryGuard.unlimited()) {
            return rows.execute(plan.request, guard, MAX_RESPONSE_BYTES);
        }
    }

    /** Runs the plan. */
    @Benchmark
    @OperationsPerInvocation(SyntheticRows.ROWS)
    public Response row() {
        return run();
    }
}
