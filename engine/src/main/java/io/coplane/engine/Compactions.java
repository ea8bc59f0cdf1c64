package io.coplane.engine;

import io.coplane.compaction.Admission;
import io.coplane.compaction.CompactionJournals;
import io.coplane.compaction.CompactionProgress;
import io.coplane.compaction.CompactionRequest;
import io.coplane.compaction.CompactionResult;
import io.coplane.compaction.CompactionType;
import io.coplane.compaction.Compactor;
import io.coplane.compaction.JobJournal;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.Failures;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
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
 * waits for a thread. A compaction runs to its end though its client is gone (compaction.md 7); a request that is in work already waits for the
 * answer of the one before. Owns its threads until closed. Thread-safe.
 */
final class Compactions {
    private static final Logger LOG = LoggerFactory.getLogger(Compactions.class);

    /** What parsing holds on the heap for each byte of a body, at most: a number of a list is a node. */
    private static final long PARSED_BYTES_A_BYTE = 24;

    /** Bodies up to here are parsed whatever others hold, as few at a time as there are threads: a store must learn of a bad or too new request. */
    private static final long FREE_BODY_BYTES = 64 << 10;

    private final CompactionSettings settings;
    private final MemoryLimiter memory;
    private final MemoryLimiter parsed;
    private final Clock clock;
    private final Compactor compactor;
    private final CompactionMetrics metrics;
    private final ExecutorService threads;
    private final AsyncSemaphore vectorIndexes;

    /** Answers to come, by the identity of the request. */
    private final ConcurrentHashMap<String, Shared> inWork = new ConcurrentHashMap<>();

    private volatile boolean stopping;

    /**
     * @param memory charged for what compactions hold
     * @param parsed charged for large requests while they are parsed, on the heap
     */
    Compactions(
            CompactionSettings settings,
            byte[] masterKey,
            ObjectStore store,
            MemoryLimiter memory,
            MemoryLimiter parsed,
            Clock clock,
            PrometheusRegistry registry,
            ThreadFactory factory) {
        this.settings = settings;
        this.memory = memory;
        this.parsed = parsed;
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
     * @param isCancelled asked at every key: once true, and so of all who joined it, the compaction ends with CANCELLED
     * @param running     told what the work is charged to
     * @param progress    tells of the work while it runs; of that of the request before, if the same one is in work already
     * @return the answer; never fails
     */
    @SuppressWarnings("FutureReturnValueIgnored") // the future in the future is unfolded at once
    CompletableFuture<CompactAnswer> compact(
            MemorySegment body,
            Runnable bodyRead,
            long startNanos,
            Executor parser,
            BooleanSupplier isCancelled,
            Running.Entry running,
            CompactionProgress progress) {
        metrics.started();
        CompletableFuture<CompactAnswer> answer;
        try {
            answer = CompletableFuture.supplyAsync(
                            () -> begin(body, bodyRead, parser, isCancelled, running, progress), parser)
                    .thenCompose(begun -> begun);
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
            if (Failures.unwrap(failure) instanceof MemoryLimitException) {
                metrics.exceeded();
            }
            if (ErrorTable.isBug(failure)) {
                LOG.error("compaction failed by a bug", failure);
            }
            CompactAnswer failed = ErrorTable.compaction(failure);
            metrics.failed(failed.httpStatus());
            return failed;
        });
    }

    /** A request that may run, with the memory it was admitted with, and a vector index permit where it needs one. @param identity empty: it writes no files */
    private record Admitted(CompactionRequest request, String identity, MemoryGuard guard) {}

    /** A compaction in work, and who asked for it: whether each of them is gone. Once it found that all are it ends, and nobody joins it any more. */
    private static final class Shared {
        private final CompletableFuture<CompactAnswer> answer = new CompletableFuture<>();
        private final List<BooleanSupplier> askers = new ArrayList<>();
        private final CompactionProgress progress;
        private boolean abandoned;

        private Shared(BooleanSupplier first, CompactionProgress progress) {
            askers.add(first);
            this.progress = progress;
        }

        private synchronized boolean tryJoin(BooleanSupplier asker) {
            return !abandoned && askers.add(asker);
        }

        /** Asked by the compaction, which ends if so. */
        private synchronized boolean areAllGone() {
            abandoned = abandoned || askers.stream().allMatch(BooleanSupplier::getAsBoolean);
            return abandoned;
        }
    }

    private CompletableFuture<CompactAnswer> begin(
            MemorySegment body,
            Runnable bodyRead,
            Executor aside,
            BooleanSupplier isCancelled,
            Running.Entry running,
            CompactionProgress progress) {
        CompactionRequest request = parse(body);
        String identity = Compactor.writesFiles(request.type()) ? CompactionJournals.identity(body) : "";
        bodyRead.run();
        switch (Admission.of(request)) {
            case NEWER_VERSION -> {
                return CompletableFuture.completedFuture(ErrorTable.incompatible());
            }
            case NOT_BUILT -> {
                metrics.notBuilt(request.type().variant());
                return CompletableFuture.completedFuture(ErrorTable.incompatible());
            }
            case EXECUTE -> {
                // goes on
            }
        }
        if (isVectorIndex(request) && !vectorIndexes.tryAcquire()) { // never waits (worker.md 12)
            return CompletableFuture.completedFuture(ErrorTable.vectorIndexThrottled());
        }
        if (identity.isEmpty()) {
            return run(new Admitted(request, "", admit(request)), aside, isCancelled, running, progress);
        }
        return joinOrRun(request, identity, aside, isCancelled, running, progress);
    }

    private CompletableFuture<CompactAnswer> joinOrRun(
            CompactionRequest request,
            String identity,
            Executor aside,
            BooleanSupplier isCancelled,
            Running.Entry running,
            CompactionProgress progress) {
        var shared = new Shared(isCancelled, progress);
        CompletableFuture<CompactAnswer> answer = shared.answer;
        Shared other = inWork.putIfAbsent(identity, shared);
        if (other != null && !other.tryJoin(isCancelled)) { // it ends at its next key; its journal is free then
            return other.answer
                    .handle((done, failure) -> request)
                    .thenComposeAsync(
                            again -> joinOrRun(again, identity, aside, isCancelled, running, progress), aside);
        }
        if (other != null) {
            progress.follow(other.progress);
            // a store that lost its connection asks again: one compaction answers both
            metrics.continued("joined");
            LOG.info("compaction is in work already: shard={} request={}", shard(request), identity);
            return other.answer;
        }
        BooleanSupplier areAllGone = () -> isCancelled.getAsBoolean() && shared.areAllGone();
        CompletableFuture<CompactAnswer> work;
        try {
            work = run(new Admitted(request, identity, admit(request)), aside, areAllGone, running, progress);
        } catch (RuntimeException | Error e) {
            work = CompletableFuture.failedFuture(e);
        }
        var _ = work.whenComplete((done, failure) -> {
            inWork.remove(identity, shared);
            if (failure == null) {
                answer.complete(done);
            } else {
                answer.completeExceptionally(failure);
            }
        });
        return answer;
    }

    private MemoryGuard admit(CompactionRequest request) {
        if (request.inputBytes() == 0) {
            LOG.warn(
                    "compaction of unknown input size: shard={} variant={}",
                    shard(request),
                    request.type().variant());
        }
        long bytes = Compactor.writesFiles(request.type())
                ? Admission.admissionBytes(request.inputBytes(), settings.windowBytes(), memory.capBytes())
                : Admission.admissionBytes(request.inputBytes(), settings.windowBytes());
        try {
            return memory.acquire(bytes < 0 ? Long.MAX_VALUE : bytes);
        } catch (MemoryLimitException e) {
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

    private static String shard(CompactionRequest request) {
        return Long.toUnsignedString(request.shardId()) + ":" + Long.toUnsignedString(request.shardVersion());
    }

    private CompactionRequest parse(MemorySegment body) {
        long bytes = body.byteSize() <= FREE_BODY_BYTES ? 0 : PARSED_BYTES_A_BYTE * body.byteSize();
        try (MemoryGuard _ = parsed.acquire(bytes)) {
            return CompactionRequest.parse(body.toArray(ValueLayout.JAVA_BYTE));
        }
    }

    private CompletableFuture<CompactAnswer> run(
            Admitted admitted,
            Executor aside,
            BooleanSupplier isCancelled,
            Running.Entry running,
            CompactionProgress progress) {
        running.work(admitted.guard());
        try {
            return CompletableFuture.supplyAsync(() -> work(admitted, aside, isCancelled, progress), threads)
                    .whenComplete((answer, failure) -> releasePermit(admitted.request()));
        } catch (RejectedExecutionException e) {
            admitted.guard().close();
            releasePermit(admitted.request());
            throw new CoplaneException(ErrorCode.SHUTTING_DOWN, "data plane is closed", e);
        }
    }

    private CompactAnswer work(
            Admitted admitted, Executor aside, BooleanSupplier isCancelled, CompactionProgress progress) {
        CompactionRequest request = admitted.request();
        long start = clock.nanoTime();
        try (MemoryGuard guard = admitted.guard();
                JobJournal journal = journal(admitted)) {
            CompactionResult result = compactor.compact(
                    request, settings.ids(), guard, () -> stopping || isCancelled.getAsBoolean(), progress, journal);
            if (result.resumedFiles() > 0) {
                metrics.continued(result.resumedFiles() == result.outputFiles() ? "answered" : "resumed");
            }
            metrics.succeeded(result);
            LOG.info(
                    "compaction shard={} variant={} inputBytes={} entries={} kept={} files={} outputBytes={} copiedBytes={} resumedFiles={} micros={}",
                    shard(request),
                    request.type().variant(),
                    Long.toUnsignedString(request.inputBytes()),
                    result.inputEntries(),
                    result.outputEntries(),
                    result.outputFiles(),
                    result.outputBytes(),
                    result.copiedBytes(),
                    result.resumedFiles(),
                    (clock.nanoTime() - start) / 1000);
            return CompactAnswer.success(result.changeSet().toByteArray(), () -> delivered(admitted.identity(), aside));
        } catch (CoplaneException e) {
            LOG.warn(
                    "compaction failed: shard={} variant={} code={} cause={}",
                    shard(request),
                    request.type().variant(),
                    e.code(),
                    e.getMessage());
            boolean isCancellation = e.code() == ErrorCode.SHUTTING_DOWN && !stopping && isCancelled.getAsBoolean();
            throw isCancellation ? new CoplaneException(ErrorCode.CANCELLED, "compaction was cancelled", e) : e;
        }
    }

    private JobJournal journal(Admitted admitted) {
        return settings.journals().isEmpty() || admitted.identity().isEmpty()
                ? JobJournal.off()
                : settings.journals().get().begin(admitted.identity());
    }

    /** Who sent an answer is an I/O thread: the file is written elsewhere. */
    private void delivered(String identity, Executor aside) {
        if (settings.journals().isPresent() && !identity.isEmpty()) {
            try {
                aside.execute(() -> settings.journals().get().delivered(identity));
            } catch (RejectedExecutionException e) {
                LOG.debug("closed before an answer was noted as delivered: request={}", identity, e);
            }
        }
    }

    /**
     * Ends what runs at its next key, then the threads. What does not end in time is interrupted, and left behind if that does not help. Idempotent.
     *
     * @return false if threads are at work still
     */
    boolean close(Duration within) {
        stopping = true;
        threads.shutdown();
        if (DataPlane.awaitEnd(threads, within)) {
            return true;
        }
        LOG.warn("compactions do not end and are interrupted");
        threads.shutdownNow();
        return DataPlane.awaitEnd(threads, within);
    }
}
