package io.coplane.cop;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import io.coplane.cop.analyze.Analyze;
import io.coplane.cop.exec.RowAccessor;
import io.coplane.cop.exec.RowSource;
import io.coplane.cop.plan.DagPlan;
import io.coplane.cop.plan.Ranges;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.coprocessor.StoreBatchTask;
import io.coplane.proto.coprocessor.StoreBatchTaskResponse;
import io.coplane.proto.kvrpcpb.APIVersion;
import io.coplane.proto.kvrpcpb.Context;
import io.coplane.proto.kvrpcpb.ExecDetailsV2;
import io.coplane.proto.kvrpcpb.IsolationLevel;
import io.coplane.proto.kvrpcpb.ScanDetailV2;
import io.coplane.proto.kvrpcpb.TimeDetail;
import io.coplane.proto.tipb.AnalyzeReq;
import io.coplane.proto.tipb.ChecksumRequest;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.snapshot.DeadlineCheck;
import io.coplane.snapshot.ReadStatistics;
import io.coplane.snapshot.Snapshot;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** Executes coprocessor requests on snapshots. Thread-safe. */
public final class Coprocessor {
    private static final int DAG = 103;
    private static final int ANALYZE = 104;
    private static final int CHECKSUM = 105;
    private static final int PROTOBUF_NESTING = 1000;

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
        ReadStatistics statistics = new ReadStatistics();
        Sources sources = new SnapshotSources(snapshot, regions, statistics, deadline);
        long start = clock.nanoTime();
        Response.Builder response = execute(request, sources, snapshot.guard(), maxResponseBytes, clock, deadline);
        response.setExecDetailsV2(ExecDetailsV2.newBuilder()
                .setTimeDetail(TimeDetail.newBuilder()
                        .setProcessWallTimeMs(TimeUnit.NANOSECONDS.toMillis(clock.nanoTime() - start)))
                .setScanDetailV2(ScanDetailV2.newBuilder()
                        .setProcessedVersions(statistics.processedKeys())
                        .setProcessedVersionsSize(statistics.processedBytes() / 2)));
        return response.build();
    }

    /** Opens what a request reads. */
    interface Sources {
        /** Rows at a read timestamp; owned by the caller. */
        RowSource at(long readTs);

        /** Rows outside of the request's ranges at a read timestamp; null if there are none. */
        RowAccessor accessor(long readTs);
    }

    /** {@link #execute(Request, Snapshot, RegionAccessor, long, Clock, DeadlineCheck)} over any source, without execution details. */
    static Response.Builder execute(
            Request request,
            Sources sources,
            MemoryGuard guard,
            long maxResponseBytes,
            Clock clock,
            DeadlineCheck deadline) {
        Response.Builder response = one(request, sources, guard, maxResponseBytes, clock, deadline);
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
            Response.Builder answer = one(single, sources, guard, maxResponseBytes, clock, deadline);
            response.addBatchResponses(StoreBatchTaskResponse.newBuilder()
                    .setTaskId(task.getTaskId())
                    .setData(answer.getData())
                    .setOtherError(answer.getOtherError()));
        }
        return response;
    }

    private static Response.Builder one(
            Request request,
            Sources sources,
            MemoryGuard guard,
            long maxResponseBytes,
            Clock clock,
            DeadlineCheck deadline) {
        try {
            if (request.getContext().getApiVersion() == APIVersion.UNRECOGNIZED) {
                throw new CoplaneException(ErrorCode.UNSUPPORTED, "API V3 is not supported by this TiKV build");
            }
            long tp = request.getTp();
            if (tp == DAG) {
                return dag(request, sources, guard, maxResponseBytes, clock, deadline);
            }
            if (tp == ANALYZE) {
                AnalyzeReq analyze = parse(AnalyzeReq.parser(), request.getData());
                try (RowSource source = sources.at(readTs(request, analyze.getStartTsFallback()))) {
                    ByteString data = Analyze.run(request, analyze, source, clock, guard, deadline);
                    return Response.newBuilder().setData(data);
                }
            }
            if (tp == CHECKSUM) {
                ChecksumRequest checksum = parse(ChecksumRequest.parser(), request.getData());
                try (RowSource source = sources.at(readTs(request, checksum.getStartTsFallback()))) {
                    ByteString data = ChecksumRun.run(request, checksum, source, guard, deadline);
                    return Response.newBuilder().setData(data);
                }
            }
            throw new CoplaneException(ErrorCode.UNSUPPORTED, "unsupported tp " + tp);
        } catch (CoplaneException e) {
            if (!Failures.isText(e)) {
                throw e;
            }
            return Response.newBuilder().setOtherError(Failures.otherError(e));
        }
    }

    private static long readTs(Request request, long fallback) {
        return request.getStartTs() != 0 ? request.getStartTs() : fallback;
    }

    private static Response.Builder dag(
            Request request,
            Sources sources,
            MemoryGuard guard,
            long maxResponseBytes,
            Clock clock,
            DeadlineCheck deadline) {
        DAGRequest dag = parse(DAGRequest.parser(), request.getData());
        try (RowSource source = sources.at(readTs(request, dag.getStartTsFallback()));
                DagPlan plan = DagPlan.build(
                        dag,
                        source,
                        Ranges.of(request.getRangesList()),
                        Ranges.prefixBytes(request.getContext()),
                        request.getPagingSize(),
                        accessor(request, sources, readTs(request, dag.getStartTsFallback())),
                        clock,
                        guard)) {
            return new DagRun(request, dag, plan, maxResponseBytes, deadline).run();
        }
    }

    /** Look-ups in other places need what coprocessor.md 3.11 lists; without it there is no accessor. */
    private static RowAccessor accessor(Request request, Sources sources, long readTs) {
        Context context = request.getContext();
        if (request.getPagingSize() != 0
                || request.getMaxKeysRead() != 0
                || context.getIsolationLevel() != IsolationLevel.SI
                || context.getStaleRead()
                || context.getReplicaRead()
                || !context.hasPeer()) {
            return null;
        }
        return sources.accessor(readTs);
    }

    private static <T extends Message> T parse(Parser<T> parser, ByteString bytes) {
        try {
            CodedInputStream input = bytes.newCodedInput();
            input.setRecursionLimit(PROTOBUF_NESTING);
            T message = parser.parseFrom(input);
            input.checkLastTagWas(0);
            return message;
        } catch (IOException e) {
            throw new CoplaneException(ErrorCode.BAD_PROTOBUF, "request does not parse: " + e.getMessage(), e);
        }
    }
}
