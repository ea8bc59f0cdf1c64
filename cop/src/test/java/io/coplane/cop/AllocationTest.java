package io.coplane.cop;

import static io.coplane.cop.Plans.columnRef;
import static io.coplane.cop.Plans.constant;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.coplane.cop.exec.RowSource;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.tipb.ExecType;
import io.coplane.proto.tipb.Executor;
import io.coplane.proto.tipb.Expr;
import io.coplane.proto.tipb.ExprType;
import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.snapshot.DeadlineCheck;
import io.coplane.snapshot.RowBuffer;
import io.coplane.testing.ManualClock;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Rows of fixed width cost no allocation: twice as many rows allocate no more bytes, but for what a batch needs. */
class AllocationTest {
    private static final int ROWS = 200_000;
    private static final int MOST_ROUNDS = 50;
    /** Batches have 1,024 rows, so less than one object a batch. */
    private static final double MOST_BYTES_PER_ROW = 0.25;

    static Stream<Arguments> plans() {
        Expr none = Plans.call(ScalarFuncSig.LTInt, columnRef(1), constant(-1));
        Expr some = Plans.call(ScalarFuncSig.GTInt, columnRef(1), constant(3));
        Expr count = Plans.aggregate(ExprType.Count, Plans.LONG_LONG, constant(1));
        Expr max = Plans.aggregate(ExprType.Max, Plans.LONG_LONG, columnRef(1));
        return Stream.of(
                Arguments.of("scan and selection", new Executor[] {Plans.selection(none)}),
                Arguments.of(
                        "simple aggregation",
                        new Executor[] {Plans.aggregation(ExecType.TypeAggregation, List.of(count, max))}),
                Arguments.of("selection and simple aggregation", new Executor[] {
                    Plans.selection(some), Plans.aggregation(ExecType.TypeAggregation, List.of(count, max))
                }),
                Arguments.of("fast hash aggregation", new Executor[] {
                    Plans.aggregation(ExecType.TypeAggregation, List.of(count, max), columnRef(1))
                }),
                Arguments.of("slow hash aggregation", new Executor[] {
                    Plans.aggregation(ExecType.TypeAggregation, List.of(count, max), columnRef(1), columnRef(2))
                }),
                Arguments.of("top n", new Executor[] {Plans.topN(10, columnRef(1), columnRef(0))}));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("plans")
    void rowsOfFixedWidthAllocateNothing(String name, Executor[] executors) {
        Executor[] all = new Executor[executors.length + 1];
        all[0] = Plans.tableScan(3);
        System.arraycopy(executors, 0, all, 1, executors.length);
        Request request = Plans.request(Plans.dag(all).addOutputOffsets(0), Plans.allRows())
                .build();

        // how soon the compiler is done with it depends on what else the machine does
        long leastTwice = Long.MAX_VALUE;
        long leastOnce = Long.MAX_VALUE;
        double bytesPerRow = Double.MAX_VALUE;
        for (int i = 0; i < MOST_ROUNDS && bytesPerRow >= MOST_BYTES_PER_ROW; i++) {
            // in this order, or what the compiler saved in between would hide what a row costs
            leastTwice = Math.min(leastTwice, allocated(request, 2 * ROWS));
            leastOnce = Math.min(leastOnce, allocated(request, ROWS));
            bytesPerRow = (double) (leastTwice - leastOnce) / ROWS;
        }

        assertThat(bytesPerRow).as(name).isLessThan(MOST_BYTES_PER_ROW);
    }

    private static long allocated(Request request, int rows) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (MemoryGuard guard = MemoryGuard.unlimited()) {
            long before = threads.getCurrentThreadAllocatedBytes();
            var response = Coprocessor.execute(
                    request,
                    readTs -> new Rows(rows),
                    guard,
                    Long.MAX_VALUE,
                    ManualClock.recorded(),
                    DeadlineCheck.NONE);
            long after = threads.getCurrentThreadAllocatedBytes();
            assertThat(response.getOtherError()).isEmpty();
            return after - before;
        }
    }

    /** Rows 1 .. count, made up as they are read: column 2 is handle mod 10, column 3 is handle mod 3, in row format 2. */
    private static final class Rows implements RowSource {
        private final int count;
        private final byte[] key = MapSources.hex(Plans.rowKey(0));
        private final byte[] value = MapSources.hex("8000 0200 0000 0203 0100 0200 00 00");
        private int next = 1;

        Rows(int count) {
            this.count = count;
        }

        @Override
        public void setRange(boolean reverse, byte[] lower, byte[] upper) {
            next = 1;
        }

        @Override
        public int fill(RowBuffer rows, int maxRows) {
            int filled = 0;
            for (; filled < maxRows && next <= count; filled++, next++) {
                for (int i = 0; i < Integer.BYTES; i++) {
                    key[key.length - 1 - i] = (byte) (next >>> 8 * i);
                }
                value[value.length - 2] = (byte) (next % 10);
                value[value.length - 1] = (byte) (next % 3);
                rows.append(key, value, 1);
            }
            return filled;
        }

        @Override
        public boolean get(byte[] wanted, RowBuffer rows) {
            return false;
        }

        @Override
        public void close() {}
    }
}
