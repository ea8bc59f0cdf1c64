package io.coplane.cop;

import static io.coplane.cop.Plans.columnRef;
import static io.coplane.cop.Plans.constant;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.ExecType;
import io.coplane.proto.tipb.Executor;
import io.coplane.proto.tipb.Expr;
import io.coplane.proto.tipb.ExprType;
import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.snapshot.DeadlineCheck;
import io.coplane.testing.ManualClock;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Plans that want more memory or time than they may have end with the typed error and hold nothing. */
class LimitsTest {
    private static final int ROWS = 60_000;
    private static final long CAP_BYTES = 1 << 20;
    private static final MapSources MANY = manyRows();

    private static MapSources manyRows() {
        MapSources sources = new MapSources();
        for (long handle = 1; handle <= ROWS; handle++) {
            sources.put(Plans.rowKey(handle), Plans.rowValue(handle, handle % 7));
        }
        return sources;
    }

    private static CoplaneException failure(
            Request request, MapSources sources, long capBytes, DeadlineCheck deadline) {
        MemoryLimiter limiter = new MemoryLimiter(capBytes);
        try (MemoryGuard guard = limiter.acquire(0)) {
            CoplaneException e = catchThrowableOfType(
                    CoplaneException.class,
                    () -> Coprocessor.execute(
                            request, sources, guard, Long.MAX_VALUE, ManualClock.recorded(), deadline));
            assertThat(guard.chargedBytes()).isZero();
            return e;
        }
    }

    static Stream<Arguments> hungryExecutors() {
        Expr count = Plans.aggregate(ExprType.Count, Plans.LONG_LONG, constant(1));
        return Stream.of(
                Arguments.of("fast hash", Plans.aggregation(ExecType.TypeAggregation, List.of(count), columnRef(1))),
                Arguments.of(
                        "slow hash",
                        Plans.aggregation(ExecType.TypeAggregation, List.of(count), columnRef(1), columnRef(2))),
                Arguments.of(
                        "paged stream",
                        Plans.aggregation(ExecType.TypeStreamAgg, List.of(count, count, count), columnRef(1))),
                Arguments.of("top n", Plans.topN(ROWS, columnRef(1))),
                Arguments.of("response", Plans.limit(ROWS)));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("hungryExecutors")
    void whatExecutorsHoldIsCharged(String name, Executor executor) {
        DAGRequest.Builder dag =
                Plans.dag(Plans.tableScan(3), executor).addOutputOffsets(0).addOutputOffsets(1);

        CoplaneException e = failure(Plans.request(dag, Plans.allRows()).build(), MANY, CAP_BYTES, DeadlineCheck.NONE);

        assertThat(e).as(name).isNotNull();
        assertThat(e.code()).isEqualTo(ErrorCode.MEMORY_LIMIT);
    }

    @Test
    void stringsThatDoubleAndDoubleAreRefused() {
        Expr text = Expr.newBuilder()
                .setTp(ExprType.String)
                .setVal(ByteString.copyFrom(new byte[100]))
                .setFieldType(Plans.type(Plans.VAR_CHAR))
                .build();
        for (int i = 0; i < 12; i++) {
            text = Plans.call(ScalarFuncSig.Concat, text, text).toBuilder()
                    .setFieldType(Plans.type(Plans.VAR_CHAR))
                    .build();
        }
        DAGRequest.Builder dag = Plans.dag(Plans.tableScan(2), Plans.projection(Plans.call(ScalarFuncSig.Length, text)))
                .addOutputOffsets(0);

        CoplaneException e = failure(Plans.request(dag, Plans.allRows()).build(), MANY, 64 << 20, DeadlineCheck.NONE);

        assertThat(e).isNotNull();
        assertThat(e.code()).isEqualTo(ErrorCode.MEMORY_LIMIT);
    }

    private static Expr string(String text) {
        return Expr.newBuilder()
                .setTp(ExprType.String)
                .setVal(ByteString.copyFromUtf8(text))
                .setFieldType(Plans.type(Plans.VAR_CHAR))
                .build();
    }

    private static void endsAtTheThirdCheck(Expr condition) {
        int[] checks = {0};
        DeadlineCheck deadline = () -> {
            if (++checks[0]
                    == 3) { // the first two belong to the run loop: before the first batch and before the second
                throw new CoplaneException(ErrorCode.DEADLINE, "late");
            }
        };
        DAGRequest.Builder dag =
                Plans.dag(Plans.tableScan(2), Plans.selection(condition)).addOutputOffsets(0);
        MapSources few = new MapSources();
        for (long handle = 1; handle <= 20; handle++) {
            few.put(Plans.rowKey(handle), Plans.rowValue(handle));
        }

        CoplaneException e = failure(Plans.request(dag, Plans.allRows()).build(), few, 64 << 20, deadline);

        assertThat(e).isNotNull();
        assertThat(e.code()).isEqualTo(ErrorCode.DEADLINE);
    }

    @Test
    void aPatternThatGoesBackAndBackMeetsTheDeadlineWithinABatch() {
        endsAtTheThirdCheck(Plans.call(
                ScalarFuncSig.LikeSig,
                string("a".repeat(30_000)),
                string("%" + "a%".repeat(500) + "b"),
                constant('\\')));
    }

    @Test
    void anExpressionWithManyStatesMeetsTheDeadlineWithinABatch() {
        endsAtTheThirdCheck(
                Plans.call(ScalarFuncSig.RegexpUTF8Sig, string("a".repeat(30_000)), string("(a?){100}(a*)*b")));
    }
}
