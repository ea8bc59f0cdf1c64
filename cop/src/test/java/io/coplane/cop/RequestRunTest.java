package io.coplane.cop;

import static io.coplane.cop.Plans.columnRef;
import static io.coplane.cop.Plans.constant;
import static io.coplane.cop.Plans.longs;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.coprocessor.KeyRange;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.coprocessor.StoreBatchTask;
import io.coplane.proto.kvrpcpb.Context;
import io.coplane.proto.kvrpcpb.ExecutorInputs;
import io.coplane.proto.tipb.ByItem;
import io.coplane.proto.tipb.ChecksumRequest;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.ExecType;
import io.coplane.proto.tipb.Executor;
import io.coplane.proto.tipb.ExprType;
import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.proto.tipb.SelectResponse;
import io.coplane.snapshot.DeadlineCheck;
import io.coplane.testing.ManualClock;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a request is besides its plan: coprocessor.md 2.1, 2.3, 3.14, 3.15, worker.md 6.4. */
class RequestRunTest {
    private final MemoryGuard guard = MemoryGuard.unlimited();

    private Response execute(Request request, MapSources sources, long maxResponseBytes) {
        Response response = Coprocessor.execute(
                        request, sources, guard, maxResponseBytes, ManualClock.recorded(), DeadlineCheck.NONE)
                .build();
        assertThat(guard.chargedBytes()).isZero();
        return response;
    }

    private Response execute(Request request, MapSources sources) {
        return execute(request, sources, Long.MAX_VALUE);
    }

    private static DAGRequest.Builder scan() {
        return Plans.dag(Plans.tableScan(2)).addOutputOffsets(0).addOutputOffsets(1);
    }

    /** Rows 1 .. count with {@code handle / divisor} in column 2. */
    private static MapSources rows(long count, long divisor) {
        MapSources sources = new MapSources();
        for (long handle = 1; handle <= count; handle++) {
            sources.put(Plans.rowKey(handle), Plans.rowValue(handle / divisor));
        }
        return sources;
    }

    @Test
    void apiV3IsRefusedAndUnknownVersionsReadAsAbsent() throws Exception {
        Request.Builder request = Plans.request(scan(), Plans.allRows());

        assertThat(execute(
                                request.setContext(Context.newBuilder().setApiVersionValue(3))
                                        .build(),
                                rows(1, 1))
                        .getOtherError())
                .isEqualTo("API V3 is not supported by this TiKV build");
        assertThat(Plans.select(execute(
                                request.setContext(Context.newBuilder().setApiVersionValue(9))
                                        .build(),
                                rows(1, 1)))
                        .getChunksCount())
                .isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, 64_800, 64_801, 86_399, -64_801, -86_399})
    void offsetsBelowADayAreTimeZones(long seconds) throws Exception {
        Response response = execute(
                Plans.request(scan().setTimeZoneOffset(seconds), Plans.allRows())
                        .build(),
                rows(1, 1));

        assertThat(Plans.select(response).getChunksCount()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(longs = {86_400, -86_400, Long.MAX_VALUE, Long.MIN_VALUE})
    void offsetsOfADayAreRefused(long seconds) {
        Response response = execute(
                Plans.request(scan().setTimeZoneOffset(seconds), Plans.allRows())
                        .build(),
                rows(1, 1));

        assertThat(response.getOtherError())
                .isEqualTo("evaluation failed: unknown or incorrect time zone: offset " + seconds + "s");
    }

    @Test
    void aMatchingDataVersionIsACacheHitOfAnyType() {
        Request dag = Plans.request(scan(), Plans.allRows())
                .setIsCacheEnabled(true)
                .setCacheIfMatchVersion(7)
                .build();
        Request checksum = dag.toBuilder()
                .setTp(105)
                .setData(ChecksumRequest.newBuilder().build().toByteString())
                .build();
        for (Request request : List.of(dag, checksum)) {
            MapSources sources = rows(3, 1).version(7, false);

            Response hit = execute(request, sources);

            assertThat(hit.getIsCacheHit()).isTrue();
            assertThat(hit.getCacheLastVersion()).isEqualTo(7);
            assertThat(hit.getData()).isEmpty();
            assertThat(hit.hasExecDetailsV2()).isTrue();
            assertThat(sources.reads()).isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource({
        // enabled, asked version, data version, newer, last version, cacheable
        "true, 6, 7, false, 7, true",
        "true, 6, 7, true, 7, false",
        "false, 7, 7, false, 7, false",
        "true, 0, 0, false, 0, true",
        "true, 0, 0, true, 0, false"
    })
    void otherwiseTheVersionIsNamedAndNewerDataForbidsCaching(
            boolean enabled, long asked, long version, boolean newer, long last, boolean cacheable) throws Exception {
        Request request = Plans.request(scan(), Plans.allRows())
                .setIsCacheEnabled(enabled)
                .setCacheIfMatchVersion(asked)
                .build();

        Response response = execute(request, rows(3, 1).version(version, newer));

        assertThat(longs(Plans.select(response).getChunksList(), 2)).hasSize(3);
        assertThat(response.getIsCacheHit()).isFalse();
        assertThat(response.getCacheLastVersion()).isEqualTo(last);
        assertThat(response.getCanBeCached()).isEqualTo(cacheable);
    }

    @Test
    void aFailedPlanNamesNoVersionButMayBeCached() throws Exception {
        Request request =
                Plans.request(scan(), Plans.allRows()).setIsCacheEnabled(true).build();

        Response response =
                execute(request, new MapSources().put(Plans.rowKey(1), "0704").version(7, false));

        assertThat(SelectResponse.parseFrom(response.getData()).getError().getCode())
                .isEqualTo(10000);
        assertThat(response.getCanBeCached()).isTrue();
        assertThat(response.getCacheLastVersion()).isZero();
    }

    @Test
    void tasksAnswerInOrderEachWithItsOwnFailure() throws Exception {
        KeyRange reversed = Plans.range(Plans.rowKey(3), Plans.rowKey(2));
        Request request = Plans.request(scan(), Plans.range(Plans.rowKey(1), Plans.rowKey(2)))
                .addTasks(StoreBatchTask.newBuilder()
                        .setTaskId(11)
                        .addRanges(Plans.range(Plans.rowKey(2), Plans.rowKey(4))))
                .addTasks(StoreBatchTask.newBuilder().setTaskId(12).addRanges(reversed))
                .addTasks(StoreBatchTask.newBuilder()
                        .setTaskId(13)
                        .addRanges(Plans.range(Plans.rowKey(3), Plans.rowKey(4))))
                .build();

        Response response = execute(request, rows(5, 1));

        assertThat(response.getBatchResponsesList()).hasSize(3);
        assertThat(response.getBatchResponses(0).getTaskId()).isEqualTo(11);
        assertThat(longs(
                        SelectResponse.parseFrom(response.getBatchResponses(0).getData())
                                .getChunksList(),
                        2))
                .isEqualTo(List.of(List.of(2L, 2L), List.of(3L, 3L)));
        assertThat(response.getBatchResponses(1).getOtherError())
                .startsWith("invalid range,range.start should be smaller than range.end, but got ");
        assertThat(response.getBatchResponses(2).getTaskId()).isEqualTo(13);
        assertThat(response.getBatchResponses(2).hasExecDetailsV2()).isTrue();
    }

    @Test
    void tasksAreAnsweredThoughTheMainRequestDoesNotParse() {
        Request request = Request.newBuilder()
                .setTp(103)
                .setData(ByteString.copyFrom(new byte[] {0x0a, 0x7f}))
                .addTasks(StoreBatchTask.newBuilder().setTaskId(5))
                .build();

        Response response = execute(request, rows(1, 1));

        assertThat(response.getOtherError()).isNotEmpty();
        assertThat(response.getBatchResponses(0).getTaskId()).isEqualTo(5);
        assertThat(response.getBatchResponses(0).getOtherError()).isNotEmpty();
    }

    @Test
    void aTaskWhoseTimeIsOverHasARegionErrorOfItsOwn() {
        Request request = Plans.request(scan(), Plans.range(Plans.rowKey(1), Plans.rowKey(2)))
                .addTasks(StoreBatchTask.newBuilder().addRanges(Plans.range(Plans.rowKey(2), Plans.rowKey(4))))
                .build();
        int[] checks = {0};
        DeadlineCheck second = () -> {
            if (++checks[0] > 1) {
                throw new CoplaneException(ErrorCode.DEADLINE, "late");
            }
        };

        Response response = Coprocessor.execute(
                        request, rows(5, 1), guard, Long.MAX_VALUE, ManualClock.recorded(), second)
                .build();

        assertThat(response.getData()).isNotEmpty();
        assertThat(response.getBatchResponses(0)
                        .getRegionError()
                        .getServerIsBusy()
                        .getReason())
                .isEqualTo("deadline is exceeded");
        assertThat(response.getBatchResponses(0).getRegionError().getMessage())
                .isEqualTo("Coprocessor task terminated due to exceeding the deadline");
        assertThat(guard.chargedBytes()).isZero();
    }

    @Test
    void theDeadlineIsTheCallersToMap() {
        DeadlineCheck over = () -> {
            throw new CoplaneException(ErrorCode.DEADLINE, "late");
        };

        assertThatThrownBy(() -> Coprocessor.execute(
                        Plans.request(scan(), Plans.allRows()).build(),
                        rows(1, 1),
                        guard,
                        Long.MAX_VALUE,
                        ManualClock.recorded(),
                        over))
                .isInstanceOf(CoplaneException.class)
                .hasMessage("late");
        assertThat(guard.chargedBytes()).isZero();
    }

    @Test
    void countsWorkInRequestUnits() throws Exception {
        // 100 rows; handle > 40 keeps 60; the 5 greatest by two keys; then at most 3
        Executor selection = Plans.selection(Plans.call(ScalarFuncSig.GTInt, columnRef(0), constant(40)));
        DAGRequest.Builder dag = Plans.dag(
                        Plans.tableScan(2), selection, Plans.topN(5, columnRef(0), columnRef(1)), Plans.limit(3))
                .addOutputOffsets(0);

        Response response = execute(Plans.request(dag, Plans.allRows()).build(), rows(100, 1));

        ExecutorInputs inputs = response.getExecDetailsV2().getRuV2().getExecutorInputs();
        assertThat(inputs.getTikvCoprocessorExecutorWorkTotalBatchTableScan()).isEqualTo(100 * (19 + 11));
        assertThat(inputs.getTikvCoprocessorExecutorWorkTotalBatchSelection()).isEqualTo(100 * (3 + 1));
        assertThat(inputs.getTikvCoprocessorExecutorWorkTotalBatchTopN()).isEqualTo(60 * 2 * 2);
        assertThat(inputs.getTikvCoprocessorExecutorWorkTotalBatchLimit()).isEqualTo(5);
        assertThat(response.getExecDetailsV2().getRuV2().getCoprocessorResponseBytes())
                .isEqualTo(response.getData().size());
        assertThat(response.getExecDetailsV2().getRuV2().getCoprocessorExecutorIterations())
                .isPositive();
    }

    /** Pages through a plan whose answers are cut at {@code maxBytes}, and gathers all rows. */
    private List<List<Long>> pages(DAGRequest.Builder dag, MapSources sources, long maxBytes, int columns)
            throws Exception {
        List<List<Long>> rows = new ArrayList<>();
        KeyRange left = Plans.allRows();
        int pages = 0;
        while (true) {
            Response page = execute(Plans.request(dag, left).build(), sources, maxBytes);
            rows.addAll(longs(Plans.select(page).getChunksList(), columns));
            pages++;
            if (!page.hasRange()) {
                break;
            }
            assertThat(page.getRange().getStart()).isEqualTo(left.getStart());
            left = left.toBuilder().setStart(page.getRange().getEnd()).build();
            assertThat(pages).isLessThan(10_000);
        }
        assertThat(pages).isGreaterThan(1);
        return rows;
    }

    @Test
    void answersOfScansAreCutAtTheirSizeAndGoOnBehindIt() throws Exception {
        MapSources sources = rows(3000, 1);

        assertThat(pages(scan(), sources, 500, 2))
                .isEqualTo(longs(
                        Plans.select(execute(
                                        Plans.request(scan(), Plans.allRows()).build(), sources))
                                .getChunksList(),
                        2));
    }

    @Test
    void streamAggregationsCutAtTheirSizeLoseNoGroup() throws Exception {
        DAGRequest.Builder dag = Plans.dag(
                        Plans.tableScan(2),
                        Plans.aggregation(
                                ExecType.TypeStreamAgg,
                                List.of(Plans.aggregate(ExprType.Count, Plans.LONG_LONG, constant(1))),
                                columnRef(1)))
                .addOutputOffsets(0)
                .addOutputOffsets(1);
        MapSources sources = rows(20_000, 7);

        long[] counts = new long[20_000 / 7 + 1];
        for (List<Long> row : pages(dag, sources, 3000, 2)) {
            counts[row.get(1).intValue()] += row.get(0); // a group may go on in the next page
        }

        assertThat(counts[0]).isEqualTo(6);
        for (int group = 1; group < counts.length - 1; group++) {
            assertThat(counts[group]).isEqualTo(7);
        }
        assertThat(counts[counts.length - 1]).isEqualTo(20_000 % 7 + 1);
    }

    @Test
    void partitionTopNCutAtItsSizeLosesNoPartition() throws Exception {
        Executor topN = Plans.topN(1, columnRef(0));
        topN = topN.toBuilder()
                .setTopN(topN.getTopN().toBuilder()
                        .addPartitionBy(ByItem.newBuilder().setExpr(columnRef(1))))
                .build();
        DAGRequest.Builder dag =
                Plans.dag(Plans.tableScan(2), topN).addOutputOffsets(0).addOutputOffsets(1);

        boolean[] seen = new boolean[20_000 / 7 + 1];
        for (List<Long> row : pages(dag, rows(20_000, 7), 3000, 2)) {
            if (row.get(0) == Math.max(1, 7 * row.get(1))) {
                seen[row.get(1).intValue()] = true;
            }
        }

        assertThat(seen).doesNotContain(false);
    }

    @Test
    void aSmallAnswerIsNotCut() throws Exception {
        Response response = execute(Plans.request(scan(), Plans.allRows()).build(), rows(10, 1), 18 * 10 + 100);

        assertThat(longs(Plans.select(response).getChunksList(), 2)).hasSize(10);
        assertThat(response.hasRange()).isFalse();
    }
}
