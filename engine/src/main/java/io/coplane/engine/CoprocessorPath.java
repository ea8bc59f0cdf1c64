package io.coplane.engine;

import com.google.protobuf.CodedInputStream;
import io.coplane.cop.Coprocessor;
import io.coplane.cop.RegionAccessor;
import io.coplane.engine.ErrorTable.Stage;
import io.coplane.engine.RunningRequest.Kind;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.coplane.proto.coprocessor.DelegateResponse;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.snapshot.KeyspaceKeys;
import io.coplane.snapshot.RemoteRequestBody;
import io.coplane.snapshot.Snapshot;
import io.coplane.snapshot.SnapshotBuilder;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way of a coprocessor request (worker.md 6.2): body, parse, black list, permits, snapshot, execution, answer. Those of streams and of delegated
 * requests share its steps. Borrows everything. Thread-safe.
 */
final class CoprocessorPath {
    private static final Logger LOG = LoggerFactory.getLogger(CoprocessorPath.class);
    private static final long DEFAULT_WAIT_MILLIS = 20_000;
    static final long DEFAULT_HANDLE_MILLIS = 60_000;
    private static final int PROTOBUF_NESTING = 1000;

    /** What a parsed request holds on the heap for each of its bytes at most, its plan included: an empty message of two bytes is an object. */
    private static final long HEAP_BYTES_A_REQUEST_BYTE = 48;

    /** The same for a ChangeSet. */
    private static final long HEAP_BYTES_A_CHANGE_SET_BYTE = 24;

    private final DataPlaneConfig config;
    private final Clock clock;
    private final MemoryLimiter parsed;
    private final WorkerLimiter limiter;
    private final KeyspaceKeys keys;
    private final ObjectStore store;
    private final BiFunction<ObjectStore, String, ObjectStore> atSender;
    private final SnapshotBuilder snapshots;
    private final SnapshotWaits snapshotWaits;
    private final DataPlaneMetrics metrics;
    private final Running running;
    private final InFlight inFlight;
    private final Executor pool;

    /**
     * @param parsed    charged for parsed requests
     * @param atSender  the store with a sender's copy of young files before it
     * @param pool      runs executions
     */
    CoprocessorPath(
            DataPlaneConfig config,
            Clock clock,
            MemoryLimiter parsed,
            WorkerLimiter limiter,
            KeyspaceKeys keys,
            ObjectStore store,
            BiFunction<ObjectStore, String, ObjectStore> atSender,
            SnapshotBuilder snapshots,
            SnapshotWaits snapshotWaits,
            DataPlaneMetrics metrics,
            Running running,
            InFlight inFlight,
            Executor pool) {
        this.config = config;
        this.clock = clock;
        this.parsed = parsed;
        this.limiter = limiter;
        this.keys = keys;
        this.store = store;
        this.atSender = atSender;
        this.snapshots = snapshots;
        this.snapshotWaits = snapshotWaits;
        this.metrics = metrics;
        this.running = running;
        this.inFlight = inFlight;
        this.pool = pool;
    }

    /**
     * Answers a request.
     *
     * @param call its body is borrowed until it is told that it was read, or the future completes
     * @return the answer; fails only where the heap has no room for it
     */
    CompletableFuture<CopAnswer> coprocessor(CopRequest call) {
        CopCall work = begin(call.isAbandoned());
        work.remoteCacheAddress = call.remoteCacheAddress();
        CompletableFuture<Response> response;
        try {
            response = admit(call, work);
        } catch (IOException | RuntimeException | Error e) {
            response = CompletableFuture.failedFuture(e);
        }
        return response.handle((done, failure) -> {
            CopAnswer result;
            try {
                result = failure == null
                        ? ErrorTable.response(done, work.tag)
                        : ErrorTable.answer(logged(failure, work), work.stage, work.tag);
            } finally {
                end(work);
            }
            return result.after(work.done());
        });
    }

    /**
     * Answers a request whose data a storage node has (worker.md 9.2). Its data are charged from their arrival on.
     *
     * @return the answer; fails only where the heap has no room for it
     */
    CompletableFuture<DelegatedAnswer> coprocessor(DelegatedRequest call) {
        CopCall work = begin(call.isAbandoned());
        CompletableFuture<Response> response;
        try {
            response = admit(call, work);
        } catch (RuntimeException | Error e) {
            response = CompletableFuture.failedFuture(e);
        }
        return response.handle((done, failure) -> {
            DelegatedAnswer result;
            try {
                result = failure == null
                        ? ErrorTable.delegated(done, work.isHandedOn, work.tag)
                        : ErrorTable.delegated(logged(failure, work), work.stage, work.tag);
            } finally {
                end(work);
            }
            return result.after(work.done());
        });
    }

    CopCall begin(BooleanSupplier isAbandoned) {
        inFlight.entered();
        return new CopCall(clock.nanoTime(), () -> inFlight.isGivenUp() || isAbandoned.getAsBoolean());
    }

    void end(CopCall work) {
        try {
            work.end(metrics, limiter, clock.nanoTime());
        } finally {
            if (work.listed != null) {
                running.end(work.listed);
            }
            inFlight.left();
        }
    }

    /** Notes what was parsed, and lists the request. */
    private void begin(Request request, CopCall work) {
        work.begin(request, metrics);
        work.listed = running.begin("", Kind.COPROCESSOR, work.tag);
    }

    private CompletableFuture<Response> admit(CopRequest call, CopCall work) throws IOException {
        inFlight.refuseWhenClosed();
        RemoteRequestBody parts = RemoteRequestBody.split(call.body());
        work.parsed = parsed(parts.request().byteSize(), parts.snapData().byteSize());
        Request request = Request.parseFrom(input(parts.request()));
        begin(request, work);
        refuseListed(request, work);
        work.stage = Stage.ADMIT;
        Deadline deadline = deadline(work, work.startNanos, millis(request, DEFAULT_WAIT_MILLIS));
        return permits(request, work, deadline)
                .thenCompose(
                        permits -> buildSnapshot(parts.memData(), parts.snapData(), call.bodyRead(), work, deadline))
                .thenApplyAsync(snapshot -> execute(request, call.regions(), snapshot, work, deadline), pool);
    }

    private CompletableFuture<Response> admit(DelegatedRequest call, CopCall work) {
        inFlight.refuseWhenClosed();
        Request request = call.request();
        begin(request, work);
        refuseListed(request, work);
        work.stage = Stage.ADMIT;
        Deadline deadline = deadline(work, work.startNanos, millis(request, DEFAULT_HANDLE_MILLIS));
        CompletableFuture<WorkerLimiter.Keyspace> permitted =
                call.takesPermits() ? permits(request, work, deadline) : CompletableFuture.completedFuture(null);
        return permitted
                .thenCompose(permits -> {
                    beginSnapshot(work);
                    return call.store()
                            .fetch(request, Duration.ofNanos(Math.max(0, deadline.nanos() - clock.nanoTime())));
                })
                .thenCompose(data -> {
                    work.release = data.release();
                    Optional<Response> refusal = handedOn(data.message());
                    work.isHandedOn = refusal.isPresent();
                    return refusal.map(CompletableFuture::completedFuture)
                            .orElseGet(() -> answer(request, data, work, deadline));
                });
    }

    /** Charges what parsing may make. A request that may fill the account is parsed alone; one that may fill it twice never would be. */
    MemoryGuard parsed(long requestBytes, long changeSetBytes) {
        long most = HEAP_BYTES_A_REQUEST_BYTE * requestBytes + HEAP_BYTES_A_CHANGE_SET_BYTE * changeSetBytes;
        if (most > 2 * parsed.capBytes()) {
            throw new CoplaneException(
                    ErrorCode.BAD_ARGUMENT,
                    "request is too large to be parsed in this heap: requestBytes=" + requestBytes + " changeSetBytes="
                            + changeSetBytes + " heapBytes="
                            + Runtime.getRuntime().maxMemory());
        }
        return parsed.acquire(Math.min(most, parsed.capBytes()));
    }

    /** Both permits, given back when the request ends. Whoever has to wait for a key of his keyspace waits without them. */
    private CompletableFuture<WorkerLimiter.Keyspace> permits(Request request, CopCall work, Deadline deadline) {
        int keyspaceId = request.getContext().getKeyspaceId();
        return deadline.bound(keys.ready(keyspaceId)).thenCompose(ready -> permits(keyspaceId, work, deadline));
    }

    private CompletableFuture<WorkerLimiter.Keyspace> permits(int keyspaceId, CopCall work, Deadline deadline) {
        WorkerLimiter.Keyspace free = limiter.tryAcquire(keyspaceId);
        if (free != null) {
            work.permits = free;
            metrics.waited(0);
            return CompletableFuture.completedFuture(free);
        }
        long start = clock.nanoTime();
        return limiter.acquire(keyspaceId, deadline.nanos(), deadline.isAbandoned())
                .whenComplete((taken, failure) -> {
                    work.permits = taken;
                    work.waitNanos = clock.nanoTime() - start;
                    metrics.waited(work.waitNanos);
                });
    }

    /** The store's own refusal; the reference goes on with an empty snapshot instead. */
    private static Optional<Response> handedOn(DelegateResponse data) {
        if (!data.hasRegionError() && !data.hasLocked() && data.getOtherError().isEmpty()) {
            return Optional.empty();
        }
        Response.Builder response = Response.newBuilder().setOtherError(data.getOtherError());
        if (data.hasRegionError()) {
            response.setRegionError(data.getRegionError());
        }
        if (data.hasLocked()) {
            response.setLocked(data.getLocked());
        }
        return Optional.of(response.build());
    }

    private CompletableFuture<Response> answer(
            Request request, DelegatedRequest.Data data, CopCall work, Deadline deadline) {
        return buildSnapshot(data.memTableData(), data.snapshot(), data.release(), work, deadline)
                .thenApplyAsync(snapshot -> execute(request, RegionAccessor.NONE, snapshot, work, deadline), pool);
    }

    void refuseListed(Request request, CopCall work) {
        String refusal = config.blackList()
                .refusal(work.type, request.getTp(), request.getContext().getKeyspaceId());
        if (refusal != null) {
            throw new CoplaneException(ErrorCode.BLACK_LISTED, refusal);
        }
    }

    private void beginSnapshot(CopCall work) {
        work.stage = Stage.SNAPSHOT;
        work.snapshotFromNanos = clock.nanoTime();
    }

    CompletableFuture<Snapshot> buildSnapshot(
            MemorySegment memData, MemorySegment snapData, Runnable dataRead, CopCall work, Deadline deadline) {
        if (work.stage != Stage.SNAPSHOT) {
            beginSnapshot(work);
        }
        work.memDataBytes = memData.byteSize();
        ObjectStore near = work.remoteCacheAddress
                .map(address -> atSender.apply(store, address))
                .orElse(store)
                .within(deadline.nanos());
        SnapshotWaits.Wait wait = snapshotWaits.within(deadline);
        inFlight.loading(); // a load may end after its request
        var _ = snapshots
                .build(
                        memData,
                        snapData,
                        () -> {
                            dataRead.run();
                            wait.mayEnd();
                        },
                        deadline,
                        near)
                .whenComplete((snapshot, failure) -> {
                    try {
                        wait.loaded(snapshot, failure);
                    } finally {
                        inFlight.ended();
                    }
                });
        return wait.snapshot();
    }

    private Response execute(
            Request request, RegionAccessor regions, Snapshot snapshot, CopCall work, Deadline deadline) {
        try (snapshot) {
            long now = clock.nanoTime();
            work.snapshotNanos = now - work.snapshotFromNanos;
            work.files = snapshot.fileCount();
            work.listed.work(snapshot.guard());
            deadline.check();
            work.stage = Stage.EXECUTE;
            work.executeFromNanos = now;
            Deadline handling = deadline(work, now, millis(request, DEFAULT_HANDLE_MILLIS));
            Response response =
                    Coprocessor.execute(paged(request), snapshot, regions, config.maxResponseBytes(), clock, handling);
            work.scanned = response.getExecDetailsV2().getScanDetailV2();
            if (ErrorTable.isError(response)) {
                metrics.failed(Stage.EXECUTE.reason());
            } else {
                long end = clock.nanoTime();
                metrics.succeeded(
                        work.type, response.getSerializedSize(), work.snapshotNanos, end - now, end - work.startNanos);
            }
            return response;
        }
    }

    static long millis(Request request, long fallback) {
        long asked = request.getContext().getMaxExecutionDurationMs();
        return asked == 0 ? fallback : asked;
    }

    /** The request with the page of worker.md 8; a plan that does not parse is left to the coprocessor. */
    Request paged(Request request) {
        if (config.topnMaxPushdownRows() == 0
                || request.getPagingSize() != TopNPaging.BY_BYTES_ONLY
                || RequestType.of(request) != RequestType.DAG) {
            return request;
        }
        DAGRequest dag;
        try {
            CodedInputStream input = request.getData().newCodedInput();
            input.setRecursionLimit(PROTOBUF_NESTING);
            dag = DAGRequest.parseFrom(input);
        } catch (IOException e) {
            LOG.debug("plan does not parse: {}", e.getMessage());
            return request;
        }
        Request rewritten = TopNPaging.rewrite(request, dag, config.topnMaxPushdownRows());
        if (!rewritten.equals(request)) {
            metrics.rewroteTopN();
        }
        return rewritten;
    }

    private Throwable logged(Throwable failure, CopCall work) {
        if (ErrorTable.isBug(failure)) {
            LOG.error("request failed by a bug: tag={} stage={}", work.tag, work.stage, failure);
        }
        metrics.failed(work.stage.reason());
        return failure;
    }

    Deadline deadline(CopCall work, long fromNanos, long millis) {
        long most = TimeUnit.DAYS.toMillis(365);
        return new Deadline(
                clock,
                fromNanos + TimeUnit.MILLISECONDS.toNanos(millis < 0 || millis > most ? most : millis),
                work.isAbandoned);
    }

    private static CodedInputStream input(MemorySegment bytes) {
        CodedInputStream input = CodedInputStream.newInstance(bytes.asByteBuffer());
        input.setRecursionLimit(PROTOBUF_NESTING);
        return input;
    }
}
