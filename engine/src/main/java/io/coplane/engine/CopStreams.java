package io.coplane.engine;

import io.coplane.engine.ErrorTable.Stage;
import io.coplane.engine.RunningRequest.Kind;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.proto.coprocessor.Request;
import io.coplane.snapshot.KeyspaceKeys;
import io.coplane.snapshot.Snapshot;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;

/** Coprocessor requests that are answered page by page. Borrows everything; {@link #stop} ends those that are open. Thread-safe. */
final class CopStreams {
    private static final long DEFAULT_PAGE_BYTES = 1 << 20;

    private final DataPlaneConfig config;
    private final Clock clock;
    private final WorkerLimiter limiter;
    private final KeyspaceKeys keys;
    private final CoprocessorPath path;
    private final DataPlaneMetrics metrics;
    private final Running running;
    private final InFlight inFlight;
    private final Executor pool;
    private final ScheduledExecutorService timer;
    private final Set<CopStream> streams = ConcurrentHashMap.newKeySet();

    /** @param path what these share with requests that are answered at once */
    CopStreams(
            DataPlaneConfig config,
            Clock clock,
            WorkerLimiter limiter,
            KeyspaceKeys keys,
            CoprocessorPath path,
            DataPlaneMetrics metrics,
            Running running,
            InFlight inFlight,
            Executor pool,
            ScheduledExecutorService timer) {
        this.config = config;
        this.clock = clock;
        this.limiter = limiter;
        this.keys = keys;
        this.path = path;
        this.metrics = metrics;
        this.running = running;
        this.inFlight = inFlight;
        this.pool = pool;
        this.timer = timer;
    }

    /**
     * Answers a request page by page. Nothing is executed before the stream's first {@link CopStream#request()}.
     *
     * @param receiver takes pages, or the failure; perhaps before this returns
     * @return the stream, which its caller cancels when it is not read any more; empty if it was refused, which the receiver was told
     */
    Optional<CopStream> stream(StreamRequest call, CopStream.Receiver receiver) {
        CopCall work = path.begin(() -> false);
        try {
            inFlight.refuseWhenClosed();
            Request request = call.request();
            work.parsed =
                    path.parsed(request.getSerializedSize(), call.changeSet().byteSize());
            work.begin(request, metrics);
            path.refuseListed(request, work);
            Running.Entry entry = running.begin(call.requestId(), Kind.COPROCESSOR, work.tag);
            entry.request(call.charge());
            long pageBytes = call.pageBytes() == 0 ? DEFAULT_PAGE_BYTES : call.pageBytes();
            CopStream stream = new CopStream(
                    call,
                    path.paged(request),
                    Math.clamp(pageBytes, 1, config.maxResponseBytes()),
                    path.deadline(work, 0, CoprocessorPath.millis(request, CoprocessorPath.DEFAULT_HANDLE_MILLIS))
                            .nanos(),
                    receiver,
                    new StreamPlane(work),
                    entry,
                    pool,
                    timer,
                    clock);
            streams.add(stream);
            if (inFlight.isClosed()) { // close() may have looked before it was added
                stream.stop();
            }
            return Optional.of(stream);
        } catch (CoplaneException e) {
            metrics.failed(Stage.ADMIT.reason());
            call.charge().close();
            path.end(work);
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
                            .thenCompose(ready -> limiter.acquire(keyspaceId, deadline.nanos(), deadline.isAbandoned()))
                            .thenApply(permits -> () -> limiter.release(permits))
                    : CompletableFuture.completedFuture(() -> {});
        }

        @Override
        public CompletableFuture<Snapshot> snapshot(StreamRequest request, Deadline deadline) {
            work.remoteCacheAddress = request.remoteCacheAddress();
            return path.buildSnapshot(request.memData(), request.changeSet(), () -> {}, work, deadline);
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
            path.end(work);
        }
    }

    /** Ends all that are open. After {@link InFlight#close}, so that none comes behind it. */
    void stop() {
        streams.forEach(CopStream::stop);
    }
}
