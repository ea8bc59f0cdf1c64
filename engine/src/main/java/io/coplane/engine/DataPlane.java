package io.coplane.engine;

import io.coplane.compaction.CompactionProgress;
import io.coplane.engine.PlaneStatus.Account;
import io.coplane.engine.RunningRequest.Kind;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.cache.BlockCache;
import io.coplane.snapshot.KeyspaceKeys;
import io.coplane.snapshot.PrepareType;
import io.coplane.snapshot.SnapshotBuilder;
import io.coplane.snapshot.TxnChunkManager;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The data plane: answers remote coprocessor requests over the files of an object store.
 *
 * <p>The door: here are what all requests share, made and closed. How one is answered stands in {@code CoprocessorPath}, {@code CopStreams} (page by page),
 * {@code Compactions} and {@code TxnChunks}. Waiting for permits and for the store holds no thread; heavy work runs on a pool of its own. Owns that pool,
 * its timer and the block cache until {@link #close()}; borrows store and clock. Thread-safe.
 */
public final class DataPlane implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(DataPlane.class);

    private static final Duration FOREVER = Duration.ofDays(365);

    /** What was given up may take so long to end. */
    private static final Duration STOP = Duration.ofSeconds(1);

    /** How often idle files are looked for: the shortest time that any of them stays (sst.md 9.1). */
    private static final long CACHE_SWEEP_SECONDS = 15;

    /** Part of the heap that parsed requests may hold together. */
    private static final long PARSED_PART = 4;

    private final DataPlaneConfig config;
    private final MemoryLimiter memory;
    private final MemoryLimiter parsed = new MemoryLimiter(Runtime.getRuntime().maxMemory() / PARSED_PART);
    private final WorkerLimiter limiter;
    private final BlockCache cache; // or null
    private final TxnChunkManager chunks;
    private final ScheduledFuture<?> chunkSweep;
    private final ScheduledFuture<?> cacheSweep; // or null
    private final SnapshotWaits snapshotWaits;
    private final Compactions compactions;
    private final TxnChunks txnChunks;
    private final Running running;
    private final CoprocessorPath coprocessor;
    private final CopStreams streams;
    private final ExecutorService pool;
    private final ScheduledThreadPoolExecutor timer;
    private final InFlight inFlight = new InFlight();
    private final AtomicBoolean sweeping = new AtomicBoolean();

    private DataPlane(
            DataPlaneConfig config,
            CompactionSettings compaction,
            TxnChunkSettings chunkSettings,
            ObjectStore store,
            Clock clock,
            PrometheusRegistry registry,
            BiFunction<ObjectStore, String, ObjectStore> atSender) {
        this.config = config;
        memory = new MemoryLimiter(config.memoryCapBytes());
        running = new Running(clock);
        timer = new ScheduledThreadPoolExecutor(1, named("coplane-timer"));
        timer.setRemoveOnCancelPolicy(true);
        pool = Executors.newFixedThreadPool(config.workerThreads(), named("coplane-worker"));
        limiter = new WorkerLimiter(config.globalPermits(), config.keyspacePermits(), timer, clock);
        cache = config.blockCacheBytes() == 0 ? null : new BlockCache(config.blockCacheBytes(), memory, clock);
        chunks =
                new TxnChunkManager(store, memory, pool, clock, TimeUnit.MILLISECONDS.toNanos(config.chunkTtlMillis()));
        KeyspaceKeys keys = new KeyspaceKeys(store, memory, pool, clock, config.keyspaceMasterKeys());
        snapshotWaits = new SnapshotWaits(timer);
        SnapshotBuilder snapshots =
                new SnapshotBuilder(store, memory, pool, config.masterKey(), PrepareType.SST_ONLY, cache, chunks, keys);
        chunkSweep = timer.scheduleWithFixedDelay(
                chunks::dropIdle, config.chunkSweepMillis(), config.chunkSweepMillis(), TimeUnit.MILLISECONDS);
        cacheSweep = cache == null
                ? null
                : timer.scheduleWithFixedDelay(
                        this::dropIdle, CACHE_SWEEP_SECONDS, CACHE_SWEEP_SECONDS, TimeUnit.SECONDS);
        DataPlaneMetrics metrics = new DataPlaneMetrics(registry, memory, parsed, limiter, cache);
        compactions = new Compactions(
                compaction, config.masterKey(), store, memory, parsed, clock, registry, named("coplane-compact"));
        txnChunks = new TxnChunks(chunkSettings, limiter, memory, store, pool, clock, registry);
        coprocessor = new CoprocessorPath(
                config,
                clock,
                parsed,
                limiter,
                keys,
                store,
                atSender,
                snapshots,
                snapshotWaits,
                metrics,
                running,
                inFlight,
                pool);
        streams = new CopStreams(config, clock, limiter, keys, coprocessor, metrics, running, inFlight, pool, timer);
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
     * @return the answer; never fails: every outcome is one
     */
    public CompletableFuture<CopAnswer> coprocessor(CopRequest call) {
        return coprocessor.coprocessor(call);
    }

    /**
     * Answers a request whose data a storage node has (worker.md 9.2). Its data are charged from their arrival on.
     *
     * @return the answer; never fails: every outcome is one
     */
    public CompletableFuture<DelegatedAnswer> coprocessor(DelegatedRequest call) {
        return coprocessor.coprocessor(call);
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
        return streams.stream(call, receiver);
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

    /** A failure as {@code tikvpb.Tikv} tells it, for what fails outside of it. */
    public static DelegatedAnswer delegatedError(Throwable failure) {
        return ErrorTable.delegated(failure, ErrorTable.Stage.ADMIT, "");
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
        inFlight.entered();
        Running.Entry entry = running.begin("", Kind.TXN_CHUNK, "txn_chunk");
        CompletableFuture<TxnChunkAnswer> answer;
        try {
            inFlight.refuseWhenClosed();
            answer = txnChunks.answer(call);
        } catch (CoplaneException e) {
            answer = CompletableFuture.completedFuture(ErrorTable.txnChunk(e, ErrorTable.ChunkStage.REQUEST));
        }
        return answer.whenComplete((done, failure) -> {
            running.end(entry);
            inFlight.left();
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
        return inFlight.count();
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
        if (!inFlight.close()) {
            return;
        }
        streams.stop();
        long end = System.nanoTime() + within.toNanos();
        boolean isIdle = inFlight.awaitDrained(within);
        if (!isIdle) {
            LOG.warn("requests did not end in time and are given up: count={}", inFlight.count());
            inFlight.giveUp();
            isIdle = inFlight.awaitDrained(STOP);
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
            LOG.error("closed with work that did not end: requests={}", inFlight.count());
            return;
        }
        chunks.close();
        if (cache != null) {
            cache.close();
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

    private static ThreadFactory named(String name) {
        AtomicInteger number = new AtomicInteger();
        return task -> {
            Thread thread = new Thread(task, name + "-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }
}
