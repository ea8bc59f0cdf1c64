package io.coplane.engine;

import io.coplane.compaction.Admission;
import io.coplane.compaction.CompactionProgress;
import io.coplane.compaction.CompactionRequest;
import io.coplane.compaction.CompactionResult;
import io.coplane.compaction.CompactionType;
import io.coplane.compaction.Compactor;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The compactions of a data plane: parse, version and variant, memory, work (compaction.md 1.2). What refuses a request does so at once; only work
 * waits for a thread. A compaction runs to its end though its client is gone (compaction.md 7). Owns its threads until closed. Thread-safe.
 */
final class Compactions implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Compactions.class);

    /** What parsing holds on the heap for each byte of a body, at most: a number of a list is a node. */
    private static final long PARSED_BYTES_A_BYTE = 24;

    private final CompactionSettings settings;
    private final MemoryLimiter memory;
    private final Clock clock;
    private final Compactor compactor;
    private final CompactionMetrics metrics;
    private final ExecutorService threads;
    private final AsyncSemaphore vectorIndexes;
    private volatile boolean stopping;

    Compactions(
            CompactionSettings settings,
            byte[] masterKey,
            ObjectStore store,
            MemoryLimiter memory,
            Clock clock,
            PrometheusRegistry registry,
            ThreadFactory factory) {
        this.settings = settings;
        this.memory = memory;
        this.clock = clock;
        compactor = new Compactor(settings.config(), store, masterKey);
        vectorIndexes = new AsyncSemaphore(settings.vectorIndexPermits());
        metrics = new CompactionMetrics(registry, vectorIndexes);
        threads = Executors.newFixedThreadPool(settings.threads(), factory);
    }

    /**
     * Answers a request.
     *
     * @param body        borrowed until {@code bodyRead} is run or the future completes
     * @param bodyRead    run when the body was parsed
     * @param startNanos  when the request began to arrive
     * @param parser      runs what comes before the work; never I/O threads
     * @param isCancelled asked at every key: once true the compaction ends as one of a worker that stops
     * @param progress    written to while it runs
     * @return the answer; never fails
     */
    CompletableFuture<CompactAnswer> compact(
            MemorySegment body,
            Runnable bodyRead,
            long startNanos,
            Executor parser,
            BooleanSupplier isCancelled,
            CompactionProgress progress) {
        metrics.started();
        CompletableFuture<CompactAnswer> answer;
        try {
            answer = CompletableFuture.supplyAsync(() -> admit(body, bodyRead), parser)
                    .thenCompose(admitted -> run(admitted, isCancelled, progress));
        } catch (RejectedExecutionException e) {
            answer = CompletableFuture.failedFuture(
                    new CoplaneException(ErrorCode.SHUTTING_DOWN, "data plane is closed", e));
        }
        return answer.handle((done, failure) -> {
            metrics.ended();
            if (failure == null) {
                if (done.httpStatus() == ErrorTable.OK) {
                    metrics.succeeded(clock.nanoTime() - startNanos);
                } else {
                    metrics.failed(done.httpStatus());
                }
                return done;
            }
            if (ErrorTable.isBug(failure)) {
                LOG.error("compaction failed by a bug", failure);
            }
            CompactAnswer failed = ErrorTable.compaction(failure);
            metrics.failed(failed.httpStatus());
            return failed;
        });
    }

    /** A request that may run, with the memory it was admitted with, and a vector index permit where it needs one; or, without a guard, what is answered instead. */
    private record Admitted(CompactionRequest request, MemoryGuard guard, CompactAnswer refusal) {}

    private Admitted admit(MemorySegment body, Runnable bodyRead) {
        CompactionRequest request = parse(body);
        bodyRead.run();
        switch (Admission.of(request)) {
            case NEWER_VERSION -> {
                return new Admitted(request, null, ErrorTable.incompatible());
            }
            case NOT_BUILT -> {
                metrics.notBuilt(request.type().variant());
                return new Admitted(request, null, ErrorTable.incompatible());
            }
            case EXECUTE -> {
                // goes on
            }
        }
        if (request.inputBytes() == 0) {
            LOG.warn(
                    "compaction of unknown input size: shard={}:{} variant={}",
                    Long.toUnsignedString(request.shardId()),
                    Long.toUnsignedString(request.shardVersion()),
                    request.type().variant());
        }
        if (isVectorIndex(request) && !vectorIndexes.tryAcquire()) { // never waits (worker.md 12)
            return new Admitted(request, null, ErrorTable.vectorIndexThrottled());
        }
        long bytes = Admission.admissionBytes(request.inputBytes(), settings.windowBytes(), memory.capBytes());
        try {
            return new Admitted(request, memory.acquire(bytes < 0 ? Long.MAX_VALUE : bytes), null);
        } catch (MemoryLimitException e) {
            metrics.exceeded();
            releasePermit(request);
            throw e;
        }
    }

    private static boolean isVectorIndex(CompactionRequest request) {
        return request.type() instanceof CompactionType.VectorIndex;
    }

    private void releasePermit(CompactionRequest request) {
        if (isVectorIndex(request)) {
            vectorIndexes.release();
        }
    }

    private CompactionRequest parse(MemorySegment body) {
        try (MemoryGuard _ = memory.acquire(PARSED_BYTES_A_BYTE * body.byteSize())) {
            return CompactionRequest.parse(body.toArray(ValueLayout.JAVA_BYTE));
        }
    }

    private CompletableFuture<CompactAnswer> run(
            Admitted admitted, BooleanSupplier isCancelled, CompactionProgress progress) {
        if (admitted.guard() == null) {
            return CompletableFuture.completedFuture(admitted.refusal());
        }
        try {
            return CompletableFuture.supplyAsync(() -> work(admitted, isCancelled, progress), threads)
                    .whenComplete((answer, failure) -> releasePermit(admitted.request()));
        } catch (RejectedExecutionException e) {
            admitted.guard().close();
            releasePermit(admitted.request());
            throw new CoplaneException(ErrorCode.SHUTTING_DOWN, "data plane is closed", e);
        }
    }

    private CompactAnswer work(Admitted admitted, BooleanSupplier isCancelled, CompactionProgress progress) {
        CompactionRequest request = admitted.request();
        long start = clock.nanoTime();
        try (MemoryGuard guard = admitted.guard()) {
            CompactionResult result = compactor.compact(
                    request, settings.ids(), guard, () -> stopping || isCancelled.getAsBoolean(), progress);
            metrics.wrote(result.outputBytes(), result.copiedBytes());
            LOG.info(
                    "compaction shard={}:{} variant={} inputBytes={} entries={} kept={} files={} outputBytes={} copiedBytes={} micros={}",
                    Long.toUnsignedString(request.shardId()),
                    Long.toUnsignedString(request.shardVersion()),
                    request.type().variant(),
                    Long.toUnsignedString(request.inputBytes()),
                    result.inputEntries(),
                    result.outputEntries(),
                    result.outputFiles(),
                    result.outputBytes(),
                    result.copiedBytes(),
                    (clock.nanoTime() - start) / 1000);
            return new CompactAnswer(ErrorTable.OK, result.changeSet().toByteArray());
        } catch (CoplaneException e) {
            LOG.warn(
                    "compaction failed: shard={}:{} variant={} code={} cause={}",
                    Long.toUnsignedString(request.shardId()),
                    Long.toUnsignedString(request.shardVersion()),
                    request.type().variant(),
                    e.code(),
                    e.getMessage());
            throw e;
        }
    }

    /** Ends what runs at its next key, then the threads. Idempotent. */
    @Override
    public void close() {
        stopping = true;
        threads.close();
    }
}
