package io.coplane.engine;

import com.google.protobuf.CodedInputStream;
import io.coplane.compaction.CompactionProgress;
import io.coplane.cop.Coprocessor;
import io.coplane.cop.RegionAccessor;
import io.coplane.engine.ErrorTable.Stage;
import io.coplane.engine.PlaneStatus.Account;
import io.coplane.engine.RunningRequest.Kind;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.cache.BlockCache;
import io.coplane.proto.coprocessor.DelegateResponse;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.kvrpcpb.ScanDetailV2;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.snapshot.KeyspaceKeys;
import io.coplane.snapshot.PrepareType;
import io.coplane.snapshot.RemoteRequestBody;
import io.coplane.snapshot.Snapshot;
import io.coplane.snapshot.SnapshotBuilder;
import io.coplane.snapshot.TxnChunkManager;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The data plane: answers remote coprocessor requests over the files of an object store.
 *
 * <p>A request goes through body, parse, black list, keyspace permit, global permit, memory guard, files, execution (worker.md 6.2). Waiting for
 * permits and for the store holds no thread; heavy work runs on a pool of its own. Owns that pool, its timer and the
 * block cache until {@link #close()}; borrows store and clock. Thread-safe.
 */
public final class DataPlane implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DataPlane.class);
    private static final long DEFAULT_WAIT_MILLIS = 20_000;
    private static final long DEFAULT_HANDLE_MILLIS = 60_000;
    private static final int PROTOBUF_NESTING = 1000;
    private static final long DEFAULT_PAGE_BYTES = 1 << 20;

    private static final Duration FOREVER = Duration.ofDays(365);

    /** What was given up may take so long to end. */
    private static final Duration STOP = Duration.ofSeconds(1);

    /** How often idle files are looked for: the shortest time that any of them stays (sst.md 9.1). */
    private static final long CACHE_SWEEP_SECONDS = 15;

    /** What a parsed request holds on the heap for each of its bytes at most, its plan included: an empty message of two bytes is an object. */
    private static final long HEAP_BYTES_A_REQUEST_BYTE = 48;

    /** The same for a ChangeSet. */
    private static final long HEAP_BYTES_A_CHANGE_SET_BYTE = 24;

    /** Part of the heap that parsed requests may hold together. */
    private static final long PARSED_PART = 4;

    private final DataPlaneConfig config;
    private final Clock clock;
    private final MemoryLimiter memory;
    private final MemoryLimiter parsed = new MemoryLimiter(Runtime.getRuntime().maxMemory() / PARSED_PART);
    private final WorkerLimiter limiter;
    private final BlockCache cache; // or null
    private final TxnChunkManager chunks;
    private final KeyspaceKeys keys;
    private final ScheduledFuture<?> chunkSweep;
    private final ScheduledFuture<?> cacheSweep; // or null
    private final ObjectStore store;
    private final BiFunction<ObjectStore, String, ObjectStore> atSender;
    private final SnapshotBuilder snapshots;
    private final SnapshotWaits snapshotWaits;
    private final DataPlaneMetrics metrics;
    private final Compactions compactions;
    private final TxnChunks txnChunks;
    private final Running running;
    private final Set<CopStream> streams = ConcurrentHashMap.newKeySet();
    private final ExecutorService pool;
    private final ScheduledThreadPoolExecutor timer;
    private final AtomicInteger inWork = new AtomicInteger(); // requests
    private final AtomicInteger unended = new AtomicInteger(); // requests and loads
    private final AtomicBoolean sweeping = new AtomicBoolean();
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile boolean givenUp; // work goes on no more
    private final CompletableFuture<Void> drained = new CompletableFuture<>();

    private DataPlane(
            DataPlaneConfig config,
            CompactionSettings compaction,
            TxnChunkSettings chunkSettings,
            ObjectStore store,
            Clock clock,
            PrometheusRegistry registry,
            BiFunction<ObjectStore, String, ObjectStore> atSender) {
        this.store = store;
        this.atSender = atSender;
        this.config = config;
        this.clock = clock;
        memory = new MemoryLimiter(config.memoryCapBytes());
        running = new Running(clock);
        timer = new ScheduledThreadPoolExecutor(1, named("coplane-timer"));
        timer.setRemoveOnCancelPolicy(true);
        pool = Executors.newFixedThreadPool(config.workerThreads(), named("coplane-worker"));
        limiter = new WorkerLimiter(config.globalPermits(), config.keyspacePermits(), timer, clock);
        cache = config.blockCacheBytes() == 0 ? null : new BlockCache(config.blockCacheBytes(), memory, clock);
        chunks =
                new TxnChunkManager(store, memory, pool, clock, TimeUnit.MILLISECONDS.toNanos(config.chunkTtlMillis()));
        keys = new KeyspaceKeys(store, memory, pool, clock, config.keyspaceMasterKeys());
        snapshotWaits = new SnapshotWaits(timer);
        snapshots =
                new SnapshotBuilder(store, memory, pool, config.masterKey(), PrepareType.SST_ONLY, cache, chunks, keys);
        chunkSweep = timer.scheduleWithFixedDelay(
                chunks::dropIdle, config.chunkSweepMillis(), config.chunkSweepMillis(), TimeUnit.MILLISECONDS);
        cacheSweep = cache == null
                ? null
                : timer.scheduleWithFixedDelay(
                        this::dropIdle, CACHE_SWEEP_SECONDS, CACHE_SWEEP_SECONDS, TimeUnit.SECONDS);
        metrics = new DataPlaneMetrics(registry, memory, parsed, limiter, cache);
        compactions = new Compactions(
                compaction, config.masterKey(), store, memory, parsed, clock, registry, named("coplane-compact"));
        txnChunks = new TxnChunks(chunkSettings, limiter, memory, store, pool, clock, registry);
    }

    /**
     * Starts a data plane.
     *
     * @param store borrowed; must stay open until {@link #close()} returned
     * @param registry gets the data plane's metrics; one data plane a registry
     */
    public static DataPlane open(DataPlaneConfig config, ObjectStore store, Clock clock, PrometheusRegistry registry) {
        return open(config, CompactionSettings.defaults(config.workerThreads()), store, clock, registry);
    }

    /** As the other one, with settings for compactions. */
    public static DataPlane open(
            DataPlaneConfig config,
            CompactionSettings compaction,
            ObjectStore store,
            Clock clock,
            PrometheusRegistry registry) {
        return open(config, compaction, TxnChunkSettings.none(), store, clock, registry, (plain, address) -> plain);
    }

    /**
     * As the other ones.
     *
     * @param chunks how txn chunks are written
     * @param atSender the store with a sender's copy of young files before it (snapshot.md 4.8), for a request that names the sender's address
     */
    public static DataPlane open(
            DataPlaneConfig config,
            CompactionSettings compaction,
            TxnChunkSettings chunks,
            ObjectStore store,
            Clock clock,
            PrometheusRegistry registry,
            BiFunction<ObjectStore, String, ObjectStore> atSender) {
        return new DataPlane(config, compaction, chunks, store, clock, registry, atSender);
    }

    /**
     * Answers a request.
     *
     * @param call its body is borrowed until it is told that it was read, or the future completes
     * @return the answer; fails only where the heap has no room for it
     */
    public CompletableFuture<CopAnswer> coprocessor(CopRequest call) {
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
    public CompletableFuture<DelegatedAnswer> coprocessor(DelegatedRequest call) {
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

    /**
     * Compacts files as a store asks for (compaction.md 1). Runs to its end even if nobody waits for it.
     *
     * @param body       JSON; borrowed until {@code bodyRead} is run or the future completes
     * @param bodyRead   run at most once, by any thread, when the body was parsed and may be freed
     * @param startNanos when the request began to arrive, on the data plane's clock
     * @return the answer; never fails: every outcome is one
     */
    public CompletableFuture<CompactAnswer> compact(MemorySegment body, Runnable bodyRead, long startNanos) {
        return compact("", body, bodyRead, startNanos, () -> false, new CompactionProgress());
    }

    /** As the other one, with a body that lives until the answer. */
    public CompletableFuture<CompactAnswer> compact(MemorySegment body, long startNanos) {
        return compact(body, () -> {}, startNanos);
    }

    /**
     * As the other ones, watched and stopped by whoever waits for it.
     *
     * @param isCancelled asked at every key: once true the compaction ends; its files stay, nobody refers to them
     * @param progress    tells of the work while it runs, also if the same request is in work already; may be read from any thread
     */
    public CompletableFuture<CompactAnswer> compact(
            MemorySegment body, long startNanos, BooleanSupplier isCancelled, CompactionProgress progress) {
        return compact("", body, () -> {}, startNanos, isCancelled, progress);
    }

    /**
     * As the other ones, of a client that chose an id.
     *
     * @param requestId what {@link #cancel} calls it; empty = nothing
     */
    public CompletableFuture<CompactAnswer> compact(
            String requestId,
            MemorySegment body,
            Runnable bodyRead,
            long startNanos,
            BooleanSupplier isCancelled,
            CompactionProgress progress) {
        Running.Entry entry;
        try {
            entry = running.begin(requestId, Kind.COMPACTION, "compact");
        } catch (CoplaneException e) {
            return CompletableFuture.completedFuture(ErrorTable.compaction(e));
        }
        BooleanSupplier isOver = () -> isCancelled.getAsBoolean() || entry.isCancelled();
        return compactions
                .compact(body, bodyRead, startNanos, pool, isOver, entry, progress)
                .whenComplete((answer, bug) -> running.end(entry));
    }

    /**
     * Answers a request page by page. Nothing is executed before the stream's first {@link CopStream#request()}.
     *
     * @param receiver takes pages, or the failure; perhaps before this returns
     * @return the stream, which its caller cancels when it is not read any more; empty if it was refused, which the receiver was told
     */
    public Optional<CopStream> stream(StreamRequest call, CopStream.Receiver receiver) {
        CopCall work = begin(() -> false);
        try {
            refuseWhenClosed();
            Request request = call.request();
            work.parsed = parsed(request.getSerializedSize(), call.changeSet().byteSize());
            work.begin(request, metrics);
            refuseListed(request, work);
            Running.Entry entry = running.begin(call.requestId(), Kind.COPROCESSOR, work.tag);
            entry.request(call.charge());
            long pageBytes = call.pageBytes() == 0 ? DEFAULT_PAGE_BYTES : call.pageBytes();
            CopStream stream = new CopStream(
                    call,
                    paged(request),
                    Math.clamp(pageBytes, 1, config.maxResponseBytes()),
                    deadline(work, 0, millis(request, DEFAULT_HANDLE_MILLIS)).nanos(),
                    receiver,
                    new StreamPlane(work),
                    entry,
                    pool,
                    timer,
                    clock);
            streams.add(stream);
            if (closed.get()) { // close() may have looked before it was added
                stream.stop();
            }
            return Optional.of(stream);
        } catch (CoplaneException e) {
            metrics.failed(Stage.ADMIT.reason());
            call.charge().close();
            end(work);
            receiver.failed(ErrorTable.service(e));
            return Optional.empty();
        }
    }

    /** What streams need of a data plane, for one of them. */
    private final class StreamPlane implements CopStream.Plane {
        private final CopCall work;

        private StreamPlane(CopCall work) {
            this.work = work;
        }

        @Override
        public CompletableFuture<AutoCloseable> permit(StreamRequest request, Request parsed, Deadline deadline) {
            int keyspaceId = parsed.getContext().getKeyspaceId();
            return request.takesPermits()
                    ? deadline.bound(keys.ready(keyspaceId))
                            .thenCompose(
                                    ready -> limiter.acquire(keyspaceId, deadline.nanos(), deadline.isAbandoned()))
                            .thenApply(permits -> () -> limiter.release(permits))
                    : CompletableFuture.completedFuture(() -> {});
        }

        @Override
        public CompletableFuture<Snapshot> snapshot(StreamRequest request, Deadline deadline) {
            work.remoteCacheAddress = request.remoteCacheAddress();
            return buildSnapshot(request.memData(), request.changeSet(), () -> {}, work, deadline);
        }

        @Override
        public void executed() {
            metrics.executedPage();
        }

        @Override
        public void failed(Stage stage) {
            metrics.failed(stage.reason());
        }

        @Override
        public void succeeded(RequestType type, long bytes, long snapshotNanos, long processNanos, long startNanos) {
            metrics.succeeded(type, bytes, snapshotNanos, processNanos, clock.nanoTime() - startNanos);
        }

        @Override
        public void ended(CopStream stream) {
            streams.remove(stream);
            running.end(stream.running());
            end(work);
        }
    }

    /**
     * Gives up requests of an id, each soon: at its next check.
     *
     * @return false if there is none in work
     */
    public boolean cancel(String requestId) {
        return running.cancel(requestId);
    }

    /** What is said to whom a data plane that closes can't serve. */
    public static CoplaneException closed(Throwable cause) {
        return new CoplaneException(ErrorCode.SHUTTING_DOWN, "worker is shutting down", cause);
    }

    /** A failure as our own gRPC service tells it, for what fails before it gets here. */
    public static ServiceError serviceError(Throwable failure) {
        return ErrorTable.service(failure);
    }

    /** What this data plane is at. */
    public PlaneStatus status() {
        return new PlaneStatus(
                config.workerThreads(),
                config.maxResponseBytes(),
                config.globalPermits(),
                config.globalPermits() - limiter.freeGlobalPermits(),
                List.of(
                        new Account("requests", memory.usedBytes(), memory.capBytes()),
                        new Account("cache", cachedBytes(), memory.capBytes()),
                        new Account("parsed_heap", parsed.usedBytes(), parsed.capBytes())),
                running.list(),
                running.count());
    }

    /**
     * Writes a txn chunk, or tells whether it could (worker.md 14). The chunk is visible only when it is whole.
     *
     * @param call its body is borrowed until the future completes
     * @return the answer; never fails: every outcome is one
     */
    public CompletableFuture<TxnChunkAnswer> txnChunk(TxnChunkRequest call) {
        entered();
        Running.Entry entry = running.begin("", Kind.TXN_CHUNK, "txn_chunk");
        CompletableFuture<TxnChunkAnswer> answer;
        try {
            refuseWhenClosed();
            answer = txnChunks.answer(call);
        } catch (CoplaneException e) {
            answer = CompletableFuture.completedFuture(ErrorTable.txnChunk(e, ErrorTable.ChunkStage.REQUEST));
        }
        return answer.whenComplete((done, failure) -> {
            running.end(entry);
            left();
        });
    }

    /** The limiter of all requests of this data plane. Servers charge what they hold for a request before it gets here. */
    public MemoryLimiter memory() {
        return memory;
    }

    /** Bytes of {@link #memory} that the block cache and txn chunks hold, none of them for a request that is in work only. */
    public long cachedBytes() {
        return (cache == null ? 0 : cache.usedBytes()) + chunks.ownedBytes();
    }

    /** Requests between their arrival and their answer. */
    public int requestsInWork() {
        return inWork.get();
    }

    /** Permits that requests hold, those of keyspaces and global ones together; without a request none. */
    public long heldPermits() {
        return limiter.heldPermits();
    }

    /**
     * Refuses new requests, waits for those in work, and ends the threads. Idempotent.
     *
     * <p>Requests end by their own deadlines, and compactions are given up at their next key, so the wait is bounded.
     */
    @Override
    public void close() {
        close(FOREVER);
    }

    /**
     * As the other one. What still runs after {@code within} is given up: it ends at its next check. What does not even do that, since the store gives
     * no answer, is left behind a second later, with its threads and the memory it holds.
     */
    public void close(Duration within) {
        if (!closed.compareAndSet(false, true)) {
            return;
        }
        streams.forEach(CopStream::stop);
        long end = System.nanoTime() + within.toNanos();
        boolean isIdle = awaitDrained(within);
        if (!isIdle) {
            LOG.warn("requests did not end in time and are given up: count={}", inWork.get());
            givenUp = true;
            isIdle = awaitDrained(STOP);
        }
        isIdle &= compactions.close(Duration.ofNanos(Math.max(STOP.toNanos(), end - System.nanoTime())));
        pool.shutdown();
        isIdle &= awaitEnd(pool, isIdle ? FOREVER : STOP);
        chunkSweep.cancel(false);
        if (cacheSweep != null) {
            cacheSweep.cancel(false);
        }
        limiter.close();
        snapshotWaits.close();
        timer.shutdownNow();
        if (!isIdle) {
            LOG.error("closed with work that did not end: requests={}", inWork.get());
            return;
        }
        chunks.close();
        if (cache != null) {
            cache.close();
        }
    }

    private boolean awaitDrained(Duration most) {
        if (unended.get() == 0) {
            return true;
        }
        try {
            drained.get(most.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (ExecutionException e) {
            throw new CoplaneException(ErrorCode.INVARIANT_BROKEN, "never completed so", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** @return false if threads are at work still */
    static boolean awaitEnd(ExecutorService threads, Duration most) {
        try {
            return threads.awaitTermination(most.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** On the pool, since it copies files, and never twice at one time. */
    private void dropIdle() {
        if (sweeping.compareAndSet(false, true)) {
            try {
                pool.execute(() -> {
                    try {
                        cache.dropIdle();
                    } finally {
                        sweeping.set(false);
                    }
                });
            } catch (RejectedExecutionException e) {
                LOG.debug("closing: idle files stay", e);
            }
        }
    }

    private CopCall begin(BooleanSupplier isAbandoned) {
        entered();
        return new CopCall(clock.nanoTime(), () -> givenUp || isAbandoned.getAsBoolean());
    }

    private void end(CopCall work) {
        try {
            work.end(metrics, limiter, clock.nanoTime());
        } finally {
            if (work.listed != null) {
                running.end(work.listed);
            }
            left();
        }
    }

    private void entered() {
        inWork.incrementAndGet();
        unended.incrementAndGet();
    }

    private void left() {
        inWork.decrementAndGet();
        ended();
    }

    private void ended() {
        if (unended.decrementAndGet() == 0 && closed.get()) {
            drained.complete(null);
        }
    }

    /** Notes what was parsed, and lists the request. */
    private void begin(Request request, CopCall work) {
        work.begin(request, metrics);
        work.listed = running.begin("", Kind.COPROCESSOR, work.tag);
    }

    private CompletableFuture<Response> admit(CopRequest call, CopCall work) throws IOException {
        refuseWhenClosed();
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
        refuseWhenClosed();
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
    private MemoryGuard parsed(long requestBytes, long changeSetBytes) {
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
        return limiter.acquire(keyspaceId, deadline.nanos(), deadline.isAbandoned()).whenComplete((taken, failure) -> {
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

    private void refuseWhenClosed() {
        if (closed.get()) {
            throw new CoplaneException(ErrorCode.SHUTTING_DOWN, "data plane is closed");
        }
    }

    private void refuseListed(Request request, CopCall work) {
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

    private CompletableFuture<Snapshot> buildSnapshot(
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
        unended.incrementAndGet(); // a load may end after its request
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
                        ended();
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

    private static long millis(Request request, long fallback) {
        long asked = request.getContext().getMaxExecutionDurationMs();
        return asked == 0 ? fallback : asked;
    }

    /** The request with the page of worker.md 8; a plan that does not parse is left to the coprocessor. */
    private Request paged(Request request) {
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

    private Deadline deadline(CopCall work, long fromNanos, long millis) {
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

    private static ThreadFactory named(String name) {
        AtomicInteger number = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, name + "-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    /** What is known of a request in work. Handed from thread to thread by the futures that carry it. */
    private static final class CopCall {
        private final long startNanos;
        private final BooleanSupplier isAbandoned;
        private RequestType type = RequestType.UNKNOWN;
        private String tag = "";
        private String digest = "";
        private Stage stage = Stage.DECODE;
        private long snapshotFromNanos;
        private long snapshotNanos;
        private long executeFromNanos;
        private long waitNanos;
        private long processNanos;
        private int files;
        private long memDataBytes;
        private ScanDetailV2 scanned = ScanDetailV2.getDefaultInstance();
        private WorkerLimiter.Keyspace permits;
        private Runnable release = () -> {};
        private MemoryGuard parsed;
        private Running.Entry listed; // from the time it was parsed
        private boolean isHandedOn;
        private Optional<String> remoteCacheAddress = Optional.empty();
        private boolean counted;

        private CopCall(long startNanos, BooleanSupplier isAbandoned) {
            this.startNanos = startNanos;
            this.isAbandoned = isAbandoned;
        }

        /** What is known in the end. */
        private RequestWork done() {
            return new RequestWork(
                    waitNanos,
                    snapshotNanos,
                    processNanos,
                    files,
                    memDataBytes,
                    scanned.getProcessedVersions(),
                    scanned.getProcessedVersionsSize(),
                    digest);
        }

        private void begin(Request request, DataPlaneMetrics metrics) {
            type = RequestType.of(request);
            tag = RequestType.tag(request);
            digest = RequestType.digest(request);
            metrics.started(type);
            counted = true;
        }

        private void end(DataPlaneMetrics metrics, WorkerLimiter limiter, long now) {
            if (stage == Stage.SNAPSHOT) {
                snapshotNanos = now - snapshotFromNanos;
            } else if (stage == Stage.EXECUTE) {
                processNanos = now - executeFromNanos;
            }
            if (counted) {
                metrics.ended();
            }
            try (MemoryGuard _ = parsed) { // closed after the data, whatever becomes of them
                release.run();
            } finally {
                if (permits != null) {
                    limiter.release(permits);
                }
            }
        }
    }
}
