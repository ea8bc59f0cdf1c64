package io.coplane.cop;

import io.coplane.cop.exec.RowAccessor;
import io.coplane.cop.exec.RowSource;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.coprocessor.StoreBatchTask;
import io.coplane.proto.coprocessor.StoreBatchTaskResponse;
import io.coplane.proto.errorpb.Error;
import io.coplane.proto.errorpb.ServerIsBusy;
import io.coplane.snapshot.DeadlineCheck;
import io.coplane.snapshot.ReadStatistics;
import io.coplane.snapshot.ReaderThreads;
import io.coplane.snapshot.Snapshot;
import java.util.List;

/** Executes coprocessor requests on snapshots. Thread-safe. */
public final class Coprocessor {
    private Coprocessor() {}

    /** {@link #execute(Request, Snapshot, RegionAccessor, long, Clock, DeadlineCheck)} with index look-ups disabled. */
    public static Response execute(
            Request request, Snapshot snapshot, long maxResponseBytes, Clock clock, DeadlineCheck deadline) {
        return execute(request, snapshot, RegionAccessor.NONE, maxResponseBytes, clock, deadline);
    }

    /**
     * Executes a request.
     *
     * @param snapshot borrowed; what execution holds is charged to its guard
     * @param regions where index look-ups may read table rows
     * @param maxResponseBytes size at which a response is closed early
     * @return the response; evaluation and plan errors are inside
     * @throws CoplaneException DEADLINE, MEMORY_LIMIT, or what reading files raises
     */
    public static Response execute(
            Request request,
            Snapshot snapshot,
            RegionAccessor regions,
            long maxResponseBytes,
            Clock clock,
            DeadlineCheck deadline) {
        Sources sources = new SnapshotSources(snapshot, regions, deadline, ReaderThreads.CALLER);
        return execute(request, sources, snapshot.guard(), maxResponseBytes, clock, deadline)
                .build();
    }

    /**
     * A request, executed and explained. Store-batched tasks are left out.
     *
     * @param response as of {@link #execute}
     * @param executors what each executor of a DAG did, in the order of the request; empty for other requests and plans that can't be built
     */
    public record Explained(Response response, List<ExecutorWork> executors) {}

    /** Executes a request and tells what its executors did; parameters and errors as of {@link #execute}. */
    public static Explained explain(
            Request request,
            Snapshot snapshot,
            RegionAccessor regions,
            long maxResponseBytes,
            Clock clock,
            DeadlineCheck deadline) {
        Sources sources = new SnapshotSources(snapshot, regions, deadline, ReaderThreads.CALLER);
        RequestRun run = new RequestRun(request, sources, snapshot.guard(), maxResponseBytes, clock, deadline);
        Response response = run.run().build();
        return new Explained(response, run.executors());
    }

    /**
     * A request whose answer is given out piece by piece.
     *
     * @param snapshot borrowed until the result is closed; what execution holds is charged to its guard
     * @param deadline asked at every piece anew
     */
    public static PagedRun pages(Request request, Snapshot snapshot, Clock clock, DeadlineCheck deadline) {
        Sources sources = new SnapshotSources(snapshot, RegionAccessor.NONE, deadline, ReaderThreads.ANY);
        return new PagedRun(request, sources, snapshot.guard(), clock, deadline);
    }

    /** {@code region_error} of a request whose time is over (coprocessor.md 2.3). */
    public static Response deadlineResponse() {
        return Response.newBuilder()
                .setRegionError(Error.newBuilder()
                        .setMessage("Coprocessor task terminated due to exceeding the deadline")
                        .setServerIsBusy(ServerIsBusy.newBuilder().setReason("deadline is exceeded")))
                .build();
    }

    /** Opens what a request reads. One request, one thread. */
    interface Sources {
        /** Rows at a read timestamp; owned by the caller. */
        RowSource at(long readTs);

        /** Rows outside of the request's ranges at a read timestamp; null if there are none. */
        default RowAccessor accessor(long readTs) {
            return null;
        }

        /** What reading cost so far. */
        default ReadStatistics statistics() {
            return new ReadStatistics();
        }

        /** Whether some key that was looked at has a version newer than the read timestamp. */
        default boolean metNewer() {
            return statistics().metNewer();
        }

        /** Version of the data (coprocessor.md 3.14); 0 = unknown. */
        default long dataVersion() {
            return 0;
        }

        /** The same rows for another task of the request, with statistics of its own. */
        default Sources forTask() {
            return this;
        }
    }

    /** {@link #execute(Request, Snapshot, RegionAccessor, long, Clock, DeadlineCheck)} over any source. */
    static Response.Builder execute(
            Request request,
            Sources sources,
            MemoryGuard guard,
            long maxResponseBytes,
            Clock clock,
            DeadlineCheck deadline) {
        Response.Builder response = new RequestRun(request, sources, guard, maxResponseBytes, clock, deadline).run();
        for (StoreBatchTask task : request.getTasksList()) {
            Request single = request.toBuilder()
                    .clearTasks()
                    .setIsCacheEnabled(false)
                    .clearRanges()
                    .addAllRanges(task.getRangesList())
                    .setContext(request.getContext().toBuilder()
                            .setRegionId(task.getRegionId())
                            .setRegionEpoch(task.getRegionEpoch())
                            .setPeer(task.getPeer()))
                    .build();
            RequestRun run = new RequestRun(single, sources.forTask(), guard, maxResponseBytes, clock, deadline);
            response.addBatchResponses(taskResponse(run).setTaskId(task.getTaskId()));
        }
        return response;
    }

    /** One task of a batch; its failure is its own, but for the memory that all of them share. */
    private static StoreBatchTaskResponse.Builder taskResponse(RequestRun run) {
        Response answer;
        try {
            answer = run.run().build();
        } catch (CoplaneException e) {
            if (e.code() == ErrorCode.MEMORY_LIMIT) {
                throw e;
            }
            answer = e.code() == ErrorCode.DEADLINE
                    ? deadlineResponse()
                    : Response.newBuilder().setOtherError(e.getMessage()).build();
        }
        StoreBatchTaskResponse.Builder response =
                StoreBatchTaskResponse.newBuilder().setData(answer.getData()).setOtherError(answer.getOtherError());
        if (answer.hasRegionError()) {
            response.setRegionError(answer.getRegionError());
        }
        if (answer.hasExecDetailsV2()) {
            response.setExecDetailsV2(answer.getExecDetailsV2());
        }
        return response;
    }
}
