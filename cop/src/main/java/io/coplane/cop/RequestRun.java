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
import io.coplane.cop.plan.WorkCounters;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.kvrpcpb.APIVersion;
import io.coplane.proto.kvrpcpb.Context;
import io.coplane.proto.kvrpcpb.ExecDetailsV2;
import io.coplane.proto.kvrpcpb.IsolationLevel;
import io.coplane.proto.kvrpcpb.RUV2;
import io.coplane.proto.kvrpcpb.ScanDetailV2;
import io.coplane.proto.kvrpcpb.TimeDetail;
import io.coplane.proto.tipb.AnalyzeReq;
import io.coplane.proto.tipb.ChecksumRequest;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.snapshot.DeadlineCheck;
import io.coplane.snapshot.ReadStatistics;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** One request, or one task of a batch, from its bytes to its answer (coprocessor.md 2.1, worker.md 6.4). Used once, by one thread. */
final class RequestRun {
    private static final int DAG = 103;
    private static final int ANALYZE = 104;
    private static final int CHECKSUM = 105;
    private static final int PROTOBUF_NESTING = 1000;
    private static final int REMOTE_DISCOUNT = 2; // remote reads are charged at half their size

    private final Request request;
    private final Coprocessor.Sources sources;
    private final MemoryGuard guard;
    private final long maxResponseBytes;
    private final Clock clock;
    private final DeadlineCheck deadline;
    private RUV2.Builder work;
    private List<ExecutorWork> executors = List.of();

    RequestRun(
            Request request,
            Coprocessor.Sources sources,
            MemoryGuard guard,
            long maxResponseBytes,
            Clock clock,
            DeadlineCheck deadline) {
        this.request = request;
        this.sources = sources;
        this.guard = guard;
        this.maxResponseBytes = maxResponseBytes;
        this.clock = clock;
        this.deadline = deadline;
    }

    /** @throws CoplaneException DEADLINE, MEMORY_LIMIT, or what reading files raises; everything else is in the answer */
    Response.Builder run() {
        long start = clock.nanoTime();
        Response.Builder response;
        try {
            response = answerOrThrow();
        } catch (CoplaneException e) {
            if (!Failures.isText(e)) {
                throw e;
            }
            response = Response.newBuilder().setOtherError(Failures.otherError(e));
        }
        return detailed(response, response.getData().size(), clock.nanoTime() - start);
    }

    /** Adds what the work cost. */
    Response.Builder detailed(Response.Builder response, long dataBytes, long nanos) {
        return response.setExecDetailsV2(details(dataBytes, TimeUnit.NANOSECONDS.toMillis(nanos)));
    }

    /** The request's plan, unless it is none that runs: of another type, or answered by the client's cache. */
    Optional<DAGRequest> planToRun() {
        checkVersion();
        if (request.getTp() != DAG) {
            return Optional.empty();
        }
        DAGRequest dag = parse(DAGRequest.parser());
        return isCacheHit() ? Optional.empty() : Optional.of(dag);
    }

    /** What each executor of the plan did, in the order of the request; empty unless a plan was built. */
    List<ExecutorWork> executors() {
        return executors;
    }

    private void checkVersion() {
        if (request.getContext().getApiVersion() == APIVersion.V3) {
            throw new CoplaneException(ErrorCode.UNSUPPORTED, "API V3 is not supported by this TiKV build");
        }
    }

    /** As {@link #run}, without details, and failures that are texts are thrown. */
    Response.Builder answerOrThrow() {
        checkVersion();
        long tp = request.getTp();
        if (tp == DAG) {
            DAGRequest dag = parse(DAGRequest.parser());
            return isCacheHit() ? cacheHit() : dag(dag, readTs(dag.getStartTsFallback()));
        }
        if (tp == ANALYZE) {
            AnalyzeReq analyze = parse(AnalyzeReq.parser());
            return isCacheHit() ? cacheHit() : analyze(analyze);
        }
        if (tp == CHECKSUM) {
            ChecksumRequest checksum = parse(ChecksumRequest.parser());
            return isCacheHit() ? cacheHit() : checksum(checksum);
        }
        throw new CoplaneException(ErrorCode.UNSUPPORTED, "unsupported tp " + tp);
    }

    private long readTs(long fallback) {
        return request.getStartTs() != 0 ? request.getStartTs() : fallback;
    }

    /** coprocessor.md 3.14. A version that is not known, 0, matches nothing. */
    private boolean isCacheHit() {
        long version = sources.dataVersion();
        return request.getIsCacheEnabled() && version != 0 && version == request.getCacheIfMatchVersion();
    }

    private Response.Builder cacheHit() {
        return Response.newBuilder().setIsCacheHit(true).setCacheLastVersion(sources.dataVersion());
    }

    private Response.Builder analyze(AnalyzeReq analyze) {
        try (RowSource source = sources.at(readTs(analyze.getStartTsFallback()))) {
            ByteString data = Analyze.run(request, analyze, source, clock, guard, deadline);
            return Response.newBuilder().setData(data);
        }
    }

    private Response.Builder checksum(ChecksumRequest checksum) {
        try (RowSource source = sources.at(readTs(checksum.getStartTsFallback()))) {
            ByteString data = ChecksumRun.run(request, checksum, source, guard, deadline);
            return Response.newBuilder().setData(data);
        }
    }

    private Response.Builder dag(DAGRequest dag, long readTs) {
        try (RowSource source = sources.at(readTs);
                DagPlan plan = plan(dag, source, readTs)) {
            DagRun run = new DagRun(request, dag, plan, maxResponseBytes, deadline);
            return finished(run, dag, plan, run.run());
        }
    }

    /** The timestamp that a plan reads at. */
    long readTs(DAGRequest dag) {
        return readTs(dag.getStartTsFallback());
    }

    /** @param source borrowed by the plan, which is the caller's */
    DagPlan plan(DAGRequest dag, RowSource source, long readTs) {
        return DagPlan.build(
                dag,
                source,
                Ranges.of(request.getRangesList()),
                Ranges.prefixBytes(request.getContext()),
                request.getPagingSize(),
                accessor(readTs),
                clock,
                guard);
    }

    /** Adds to the answer of a plan that has run what the cache needs. */
    Response.Builder finished(DagRun run, DAGRequest dag, DagPlan plan, Response.Builder response) {
        executors = Arrays.stream(plan.summaries())
                .map(summary -> new ExecutorWork(
                        summary.producedRows(), summary.iterations(), summary.nanos(), summary.peakBytes()))
                .toList();
        work = WorkCounters.of(dag, plan, request.getPagingSize());
        if (!run.isFailed() && sources.dataVersion() != 0) {
            response.setCacheLastVersion(sources.dataVersion());
        }
        return response.setCanBeCached(request.getIsCacheEnabled() && !plan.looksUp() && !sources.metNewer());
    }

    /** Look-ups in other places need what coprocessor.md 3.11 lists; without it there is no accessor. */
    private RowAccessor accessor(long readTs) {
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

    private ExecDetailsV2 details(long responseBytes, long millis) {
        ReadStatistics read = sources.statistics();
        ExecDetailsV2.Builder details = ExecDetailsV2.newBuilder()
                .setTimeDetail(TimeDetail.newBuilder().setProcessWallTimeMs(millis))
                .setScanDetailV2(ScanDetailV2.newBuilder()
                        .setProcessedVersions(read.processedKeys())
                        .setProcessedVersionsSize(read.processedBytes() / REMOTE_DISCOUNT));
        if (work != null) {
            details.setRuV2(work.setCoprocessorResponseBytes(responseBytes));
        }
        return details.build();
    }

    private <T extends Message> T parse(Parser<T> parser) {
        try {
            CodedInputStream input = request.getData().newCodedInput();
            input.setRecursionLimit(PROTOBUF_NESTING);
            T message = parser.parseFrom(input);
            input.checkLastTagWas(0);
            return message;
        } catch (IOException e) {
            throw new CoplaneException(ErrorCode.BAD_PROTOBUF, "request does not parse: " + e.getMessage(), e);
        }
    }
}
