package io.coplane.engine;

import io.coplane.cop.Coprocessor;
import io.coplane.cop.PagedRun;
import io.coplane.cop.PagedRun.Page;
import io.coplane.engine.ErrorTable.Stage;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.proto.coprocessor.Request;
import io.coplane.snapshot.DeadlineCheck;
import io.coplane.snapshot.Snapshot;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One coprocessor request whose answer goes out page by page, each executed when its receiver asks for it.
 *
 * <p>Between two pages it holds the snapshot, the plan and the page that went out, all charged, and neither a thread nor a permit; for how long is
 * bounded by the idle time. It ends once: behind the last page, by a failure, or by {@link #cancel}; then everything is freed, after the page in work
 * if there is one. Thread-safe.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a page ends in the stream itself
public final class CopStream {
    private static final Logger LOG = LoggerFactory.getLogger(CopStream.class);

    /** Takes what a stream gives. Calls come one at a time, from any thread, must not block, and may call the stream. */
    public interface Receiver {
        /** A page; the next comes only after {@link CopStream#request()}. Nothing follows the last one. */
        void page(Page page);

        /** The end of a stream that failed. */
        void failed(ServiceError error);
    }

    /** What of the data plane a stream needs. */
    interface Plane {
        /** Waits for permits where the request takes them. Closing the result gives them back. */
        CompletableFuture<AutoCloseable> permit(StreamRequest request, Request parsed, Deadline deadline);

        CompletableFuture<Snapshot> snapshot(StreamRequest request, Deadline deadline);

        /** A page was executed. */
        void executed();

        /** A failure of a stage, for the metrics. */
        void failed(Stage stage);

        /** A stream that gave everything out. */
        void succeeded(RequestType type, long bytes, long snapshotNanos, long processNanos, long startNanos);

        /** The stream has ended and holds nothing. */
        void ended(CopStream stream);
    }

    private final StreamRequest call;
    private final Request request;
    private final long pageBytes;
    private final long pageNanos;
    private final Receiver receiver;
    private final Plane plane;
    private final Running.Entry running;
    private final Executor pool;
    private final ScheduledExecutorService timer;
    private final Clock clock;
    private final RequestType type;
    private final long startNanos;

    // Of the page in work: handed from thread to thread by its futures.
    private Snapshot snapshot;
    private PagedRun run;
    private Stage stage = Stage.ADMIT;
    private long snapshotNanos;
    private long processNanos;
    private long sentBytes;
    private int pages;
    private String outcome = "OK"; // written before the end is

    private volatile long pageDeadlineNanos;
    private volatile boolean ended;

    // Guarded by this.
    private boolean busy;
    private boolean freed;
    private ScheduledFuture<?> idle;

    /** @param request what is executed: the call's, after rewriting */
    CopStream(
            StreamRequest call,
            Request request,
            long pageBytes,
            long pageNanos,
            Receiver receiver,
            Plane plane,
            Running.Entry running,
            Executor pool,
            ScheduledExecutorService timer,
            Clock clock) {
        this.call = call;
        this.request = request;
        this.pageBytes = pageBytes;
        this.pageNanos = pageNanos;
        this.receiver = receiver;
        this.plane = plane;
        this.running = running;
        this.pool = pool;
        this.timer = timer;
        this.clock = clock;
        type = RequestType.of(request);
        startNanos = clock.nanoTime();
        running.onCancel(this::cancelledById);
        watchIdle();
    }

    /** Asks for the next page. Nothing happens while one is in work, or after the end. */
    public void request() {
        synchronized (this) {
            if (busy || ended) {
                return;
            }
            if (running.isCancelled()) { // before this stream could be told
                cancelledById();
                return;
            }
            busy = true;
            stopWatch();
        }
        pageDeadlineNanos = clock.nanoTime() + pageNanos;
        CompletableFuture<Page> page;
        try {
            page = plane.permit(call, request, pageDeadline()).thenCompose(this::permitted);
        } catch (RuntimeException e) {
            page = CompletableFuture.failedFuture(e);
        }
        page.handle((done, failure) -> {
                    finished(done, failure);
                    return null;
                })
                .exceptionally(bug -> {
                    LOG.error("a page was lost by a bug", bug);
                    return null;
                });
    }

    /**
     * Gives the stream up; its receiver is told, unless it has the last page already. To be called in any case when nobody takes pages any more, the last
     * one included: that page is charged until then, at most for the idle time.
     */
    public void cancel(String why) {
        end(new CoplaneException(ErrorCode.CANCELLED, why));
        free();
    }

    /** Gives the stream up because the data plane closes. */
    void stop() {
        end(new CoplaneException(ErrorCode.SHUTTING_DOWN, "worker is shutting down"));
        free();
    }

    private void cancelledById() {
        cancel("request was cancelled by its id");
    }

    private CompletableFuture<Page> permitted(AutoCloseable permit) {
        CompletableFuture<Page> page;
        try {
            check();
            page = (snapshot == null ? open() : CompletableFuture.<Void>completedFuture(null))
                    .thenApplyAsync(opened -> execute(), pool);
        } catch (RuntimeException e) {
            page = CompletableFuture.failedFuture(e);
        }
        return page.whenComplete((done, failure) -> giveBack(permit));
    }

    private static void giveBack(AutoCloseable permit) {
        try {
            permit.close();
        } catch (Exception e) {
            throw new CoplaneException(ErrorCode.INVARIANT_BROKEN, "permit does not close", e);
        }
    }

    private Deadline pageDeadline() {
        return new Deadline(clock, pageDeadlineNanos, () -> ended);
    }

    private CompletableFuture<Void> open() {
        stage = Stage.SNAPSHOT;
        long start = clock.nanoTime();
        return plane.snapshot(call, pageDeadline()).thenAccept(built -> {
            snapshot = built;
            snapshotNanos = clock.nanoTime() - start;
            running.work(built.guard());
        });
    }

    private Page execute() {
        check();
        stage = Stage.EXECUTE;
        long start = clock.nanoTime();
        if (run == null) {
            DeadlineCheck perPage = this::check;
            run = Coprocessor.pages(request, snapshot, clock, perPage);
        }
        Page page = run.next(pageBytes);
        processNanos += clock.nanoTime() - start;
        plane.executed();
        pages++;
        sentBytes += page.data().size();
        return page;
    }

    private void check() {
        if (ended || clock.nanoTime() - pageDeadlineNanos > 0) {
            throw new CoplaneException(ErrorCode.DEADLINE, "deadline is exceeded");
        }
    }

    private void finished(Page page, Throwable failure) {
        if (failure != null) {
            if (ErrorTable.isBug(failure)) {
                LOG.error("stream failed by a bug: stage={}", stage, failure);
            }
            synchronized (this) {
                busy = false;
            }
            end(failure);
            free();
            return;
        }
        boolean isWanted;
        synchronized (this) {
            busy = false;
            isWanted = !ended;
            if (isWanted) {
                ended = page.isLast();
                if (ended) {
                    plane.succeeded(type, sentBytes, snapshotNanos, processNanos, startNanos);
                }
                watchIdle();
                receiver.page(page);
            }
        }
        if (!isWanted) {
            free();
        }
    }

    /** Tells the receiver of a failure, once, and frees what no page in work uses. */
    private void end(Throwable failure) {
        synchronized (this) {
            if (ended) {
                return;
            }
            ended = true;
            stopWatch();
            plane.failed(stage);
            ServiceError error = ErrorTable.service(failure);
            outcome = error.code().name();
            receiver.failed(error);
            if (busy) {
                return; // the page in work frees when it notices
            }
        }
        free();
    }

    private void free() {
        synchronized (this) {
            if (freed || busy) {
                return;
            }
            freed = true;
            stopWatch();
        }
        try {
            if (run != null) {
                run.close();
            }
        } finally {
            running.work(null);
            if (snapshot != null) {
                snapshot.close();
            }
            call.charge().close();
            plane.ended(this);
            LOG.info(
                    "stream tag=\"{}\" outcome={} pages={} answerBytes={} snapshotMicros={} executeMicros={} micros={}",
                    RequestType.tag(request),
                    outcome,
                    pages,
                    sentBytes,
                    TimeUnit.NANOSECONDS.toMicros(snapshotNanos),
                    TimeUnit.NANOSECONDS.toMicros(processNanos),
                    TimeUnit.NANOSECONDS.toMicros(clock.nanoTime() - startNanos));
        }
    }

    private void watchIdle() {
        try {
            idle = timer.schedule(this::idleTooLong, call.idleNanos(), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            LOG.debug("data plane is closing: {}", e.getMessage());
        }
    }

    private void stopWatch() {
        if (idle != null) {
            idle.cancel(false);
            idle = null;
        }
    }

    private void idleTooLong() {
        synchronized (this) {
            if (busy) {
                return;
            }
            end(new CoplaneException(
                    ErrorCode.DEADLINE,
                    "client takes no page: millis=" + TimeUnit.NANOSECONDS.toMillis(call.idleNanos())));
            free();
        }
    }

    Running.Entry running() {
        return running;
    }
}
