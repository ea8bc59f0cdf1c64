package io.coplane.cop;

import static io.coplane.cop.Plans.longs;
import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.kvrpcpb.Context;
import io.coplane.proto.kvrpcpb.IsolationLevel;
import io.coplane.proto.metapb.Peer;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.IntermediateOutputChannel;
import io.coplane.proto.tipb.SelectResponse;
import io.coplane.snapshot.DeadlineCheck;
import io.coplane.testing.ManualClock;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** coprocessor.md 3.11. The table has rows 1 .. 200; the index holds for row n the value 1000 - n. */
class IndexLookUpTest {
    private static final int ROWS = 200;

    private final MemoryGuard guard = MemoryGuard.unlimited();

    private static MapSources table(long first, long last) {
        MapSources sources = new MapSources();
        for (long n = first; n <= last; n++) {
            sources.put(Plans.rowKey(n), Plans.rowValue(1000 - n));
            sources.put(Plans.indexKey(1000 - n, n), "30");
        }
        return sources;
    }

    private static DAGRequest.Builder plan() {
        return Plans.dag(Plans.indexScan(), Plans.tableScan(2).toBuilder().build(), Plans.indexLookUp(1))
                .setExecutors(0, Plans.indexScan().toBuilder().setParentIdx(2))
                .addOutputOffsets(0)
                .addOutputOffsets(1)
                .setCollectExecutionSummaries(true)
                .addIntermediateOutputChannels(IntermediateOutputChannel.newBuilder()
                        .setExecutorIdx(2)
                        .addOutputOffsets(0)
                        .addOutputOffsets(1));
    }

    private static Request request() {
        return Plans.request(plan(), Plans.wholeIndex())
                .setContext(Context.newBuilder().setPeer(Peer.newBuilder().setId(1)))
                .build();
    }

    private SelectResponse execute(Request request, MapSources sources) throws Exception {
        var response = Coprocessor.execute(
                        request, sources, guard, Long.MAX_VALUE, ManualClock.recorded(), DeadlineCheck.NONE)
                .build();
        assertThat(guard.chargedBytes()).isZero();
        return Plans.select(response);
    }

    private static List<List<Long>> tableRows(long first, long last) {
        List<List<Long>> rows = new ArrayList<>();
        for (long n = first; n <= last; n++) {
            rows.add(List.of(n, 1000 - n));
        }
        return rows;
    }

    private static List<List<Long>> indexRows(long first, long last) {
        List<List<Long>> rows = new ArrayList<>();
        for (long n = last; n >= first; n--) {
            rows.add(List.of(1000 - n, n));
        }
        return rows;
    }

    private static List<List<Long>> channel(SelectResponse answer) {
        assertThat(answer.getIntermediateOutputsCount()).isEqualTo(1);
        return longs(answer.getIntermediateOutputs(0).getChunksList(), 2);
    }

    private void isDisabled(Request request, MapSources sources) throws Exception {
        SelectResponse answer = execute(request, sources);

        assertThat(answer.getChunksList()).isEmpty();
        assertThat(channel(answer)).isEqualTo(indexRows(1, ROWS));
        assertThat(sources.reads()).containsExactly(Plans.INDEX + ".." + Plans.INDEX + "ff");
    }

    @Test
    void withoutAnAccessorNoRowOutsideOfTheRangesIsRead() throws Exception {
        isDisabled(request(), table(1, ROWS));
    }

    @ParameterizedTest
    @ValueSource(strings = {"rc", "rc check ts", "stale", "replica", "no peer"})
    void contextsWithoutAnAccessorDisableLookUps(String what) throws Exception {
        UnaryOperator<Context.Builder> change = context -> switch (what) {
            case "rc" -> context.setIsolationLevel(IsolationLevel.RC);
            case "rc check ts" -> context.setIsolationLevel(IsolationLevel.RCCheckTS);
            case "stale" -> context.setStaleRead(true);
            case "replica" -> context.setReplicaRead(true);
            case "no peer" -> context.clearPeer();
            default -> throw new AssertionError(what);
        };
        Request request = request();
        MapSources sources = table(1, ROWS);

        isDisabled(
                request.toBuilder()
                        .setContext(change.apply(request.getContext().toBuilder()))
                        .build(),
                sources.reaching(key -> sources));
    }

    @Test
    void budgetsOfRowsAndKeysDisableLookUps() throws Exception {
        MapSources paged = table(1, ROWS);
        MapSources counted = table(1, ROWS);

        isDisabled(request().toBuilder().setPagingSize(1 << 20).build(), paged.reaching(key -> paged));
        isDisabled(request().toBuilder().setMaxKeysRead(1 << 20).build(), counted.reaching(key -> counted));
    }

    @Test
    void looksUpBatchByBatchInTheOrderOfTheHandles() throws Exception {
        MapSources sources = table(1, ROWS);

        SelectResponse answer = execute(request(), sources.reaching(key -> sources));

        List<List<Long>> expected =
                new ArrayList<>(tableRows(169, 200)); // the first pull asks for 32 rows, the next for the rest
        expected.addAll(tableRows(1, 168));
        assertThat(longs(answer.getChunksList(), 2)).isEqualTo(expected);
        assertThat(channel(answer)).isEmpty();
        assertThat(answer.getExecutionSummaries(1).getNumProducedRows()).isEqualTo(ROWS);
        assertThat(answer.getOutputCountsList()).containsExactly((long) ROWS);
        assertThat(sources.reads())
                .startsWith(Plans.INDEX + ".." + Plans.INDEX + "ff")
                .contains(Plans.rowKey(169) + ".." + Plans.rowKey(201));
    }

    @Test
    void rowsOfOneRegionAreOneTaskAndTheRestGoesToTheChannel() throws Exception {
        MapSources low = table(1, 60);
        MapSources high = table(101, ROWS);
        MapSources sources = table(1, ROWS).reaching(key -> {
            long handle = Long.parseUnsignedLong(key.substring(key.length() - 16), 16) ^ Long.MIN_VALUE;
            return handle <= 60 ? low : handle > 100 ? high : null;
        });

        SelectResponse answer = execute(request(), sources);

        assertThat(longs(answer.getChunksList(), 2)).hasSize(160).containsAll(tableRows(1, 60));
        assertThat(channel(answer)).isEqualTo(indexRows(61, 100));
        assertThat(low.reads()).containsExactly(Plans.rowKey(1) + ".." + Plans.rowKey(61));
        assertThat(high.reads())
                .containsExactly(
                        Plans.rowKey(169) + ".." + Plans.rowKey(201), Plans.rowKey(101) + ".." + Plans.rowKey(169));
    }
}
