package io.coplane.worker.pd;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.Require;
import io.coplane.proto.pdpb.ErrorType;
import io.coplane.proto.pdpb.PDGrpc;
import io.coplane.proto.pdpb.Timestamp;
import io.coplane.proto.pdpb.TsoRequest;
import io.coplane.proto.pdpb.TsoResponse;
import io.coplane.proto.tsopb.RequestHeader;
import io.coplane.proto.tsopb.TSOGrpc;
import io.coplane.worker.grpc.GrpcChannels;
import io.grpc.CallOptions;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Timestamps from one stream: while a message is under way, further requests wait and share the next one (worker.md 18.3). All state but the count of
 * those waiting lives on the loop's thread.
 */
@SuppressWarnings("FutureReturnValueIgnored") // each request's own future tells its end
final class TsoBatcher {
    private static final int LOGICAL_BITS = 18;
    private static final int MOST_IN_A_MESSAGE = 64;
    private static final int MOST_WAITING = 65_536;
    private static final int MOST_COUNT = 65_536;
    private static final int MOST_SENDS = 10;

    private final PdClient pd;
    private final GrpcChannels channels;
    private final ScheduledExecutorService loop;
    private final AtomicInteger waitingCount = new AtomicInteger();
    private final Deque<Waiting> waiting = new ArrayDeque<>();
    private final List<Waiting> sent = new ArrayList<>();
    private Stream stream;
    private ScheduledFuture<?> timeout;
    private long lastTimestamp;
    private boolean reconnecting;
    private boolean closed;

    TsoBatcher(PdClient pd, GrpcChannels channels, ScheduledExecutorService loop) {
        this.pd = pd;
        this.channels = channels;
        this.loop = loop;
    }

    private static final class Waiting {
        private final int count;
        private final CompletableFuture<Long> last = new CompletableFuture<>();
        private int sends;

        private Waiting(int count) {
            this.count = count;
        }
    }

    static long compose(long physicalMillis, long logical) {
        return (physicalMillis << LOGICAL_BITS) + logical;
    }

    /** {@code count} consecutive timestamps; the future has the last. */
    CompletableFuture<Long> take(int count) {
        Require.range("count", count, 1, MOST_COUNT);
        if (waitingCount.incrementAndGet() > MOST_WAITING) {
            waitingCount.decrementAndGet();
            return CompletableFuture.failedFuture(PdException.unavailable(
                    "Tso",
                    Status.RESOURCE_EXHAUSTED
                            .withDescription("too many are waiting for timestamps: most=" + MOST_WAITING)
                            .asRuntimeException()));
        }
        Waiting request = new Waiting(count);
        request.last.whenComplete((timestamp, failure) -> waitingCount.decrementAndGet());
        try {
            loop.execute(() -> {
                if (closed) {
                    request.last.completeExceptionally(PdClient.closed(null));
                    return;
                }
                waiting.add(request);
                flush();
            });
        } catch (RejectedExecutionException e) {
            request.last.completeExceptionally(PdClient.closed(e));
        }
        return request.last;
    }

    private void flush() {
        if (!sent.isEmpty() || waiting.isEmpty() || reconnecting) {
            return;
        }
        if (stream == null) {
            PdLink link = pd.link();
            try {
                stream = new Stream(link);
            } catch (CoplaneException e) { // an address that is none
                notOpened(link, e);
                return;
            }
        }
        long sum = 0;
        while (!waiting.isEmpty() && sent.size() < MOST_IN_A_MESSAGE && sum + waiting.peek().count <= MOST_COUNT) {
            Waiting next = waiting.poll();
            next.sends++;
            sum += next.count;
            sent.add(next);
        }
        Stream on = stream;
        timeout = loop.schedule(
                () -> failed(
                        on,
                        Status.DEADLINE_EXCEEDED
                                .withDescription("no timestamp in time")
                                .asRuntimeException()),
                PdConnector.TIMEOUT.toMillis(),
                TimeUnit.MILLISECONDS);
        on.send((int) sum);
    }

    private void received(Stream from, int count, Timestamp timestamp) {
        if (from != stream) {
            return;
        }
        int sum = sent.stream().mapToInt(request -> request.count).sum();
        long last = compose(timestamp.getPhysical(), timestamp.getLogical());
        if (count != sum || timestamp.getLogical() < count - 1 || last - count < lastTimestamp) {
            failed(
                    from,
                    new PdException(
                            ErrorCode.PD_UNAVAILABLE,
                            ErrorType.UNKNOWN,
                            "timestamps don't fit the request: asked=" + sum + " got=" + count + " last=" + last
                                    + " before=" + lastTimestamp,
                            null));
            return;
        }
        timeout.cancel(false);
        lastTimestamp = last;
        long next = last - count;
        List<Waiting> done = List.copyOf(sent);
        sent.clear();
        for (Waiting request : done) {
            next += request.count;
            request.last.complete(next);
        }
        flush();
    }

    private void failed(Stream from, Throwable failure) {
        if (from != stream) {
            return;
        }
        stream = null;
        from.cancel();
        if (timeout != null) {
            timeout.cancel(false);
        }
        boolean isFinal = !(failure instanceof PdException) && !PdClient.isRetryable(failure);
        for (int i = sent.size() - 1; i >= 0; i--) {
            Waiting request = sent.get(i);
            if (isFinal || request.sends >= MOST_SENDS) {
                request.last.completeExceptionally(PdException.unavailable("Tso", failure));
            } else {
                waiting.addFirst(request);
            }
        }
        sent.clear();
        if (!closed && !waiting.isEmpty()) {
            reconnect(from.link);
        }
    }

    /** Who waits is told; who comes later finds another address, if PD has one by then. */
    private void notOpened(PdLink link, CoplaneException failure) {
        List<Waiting> lost = List.copyOf(waiting);
        waiting.clear();
        reconnect(link);
        lost.forEach(request -> request.last.completeExceptionally(PdException.unavailable("Tso", failure)));
    }

    private void reconnect(PdLink old) {
        reconnecting = true;
        pd.reconnected(old)
                .whenCompleteAsync(
                        (next, unreachable) -> {
                            reconnecting = false;
                            flush();
                        },
                        loop);
    }

    void close() {
        closed = true;
        Stream open = stream;
        stream = null;
        if (open != null) {
            open.cancel();
        }
        sent.forEach(request -> request.last.completeExceptionally(PdClient.closed(null)));
        sent.clear();
        waiting.forEach(request -> request.last.completeExceptionally(PdClient.closed(null)));
        waiting.clear();
    }

    /** One stream, to the leader or to the separate service. */
    private final class Stream {
        private final PdLink link;
        private final StreamObserver<TsoRequest> legacy;
        private final StreamObserver<io.coplane.proto.tsopb.TsoRequest> separate;

        private Stream(PdLink link) {
            this.link = link;
            if (link.tso().isPresent()) {
                legacy = null;
                separate = ClientCalls.asyncBidiStreamingCall(
                        channels.to(link.tso().get().address()).newCall(TSOGrpc.getTsoMethod(), CallOptions.DEFAULT),
                        new Answers<io.coplane.proto.tsopb.TsoResponse>() {
                            @Override
                            public void onNext(io.coplane.proto.tsopb.TsoResponse answer) {
                                if (answer.getHeader().getError().getType() == 0) {
                                    onLoop(() -> received(Stream.this, answer.getCount(), answer.getTimestamp()));
                                } else {
                                    onError(PdException.refused(
                                            "Tso",
                                            ErrorType.UNKNOWN,
                                            answer.getHeader().getError().getMessage()));
                                }
                            }
                        });
            } else {
                separate = null;
                legacy = ClientCalls.asyncBidiStreamingCall(
                        link.channel().newCall(PDGrpc.getTsoMethod(), CallOptions.DEFAULT), new Answers<TsoResponse>() {
                            @Override
                            public void onNext(TsoResponse answer) {
                                if (answer.getHeader().getError().getType() == ErrorType.OK) {
                                    onLoop(() -> received(Stream.this, answer.getCount(), answer.getTimestamp()));
                                } else {
                                    onError(PdException.refused(
                                            "Tso",
                                            answer.getHeader().getError().getType(),
                                            answer.getHeader().getError().getMessage()));
                                }
                            }
                        });
            }
        }

        private void send(int count) {
            if (separate != null) {
                separate.onNext(io.coplane.proto.tsopb.TsoRequest.newBuilder()
                        .setHeader(RequestHeader.newBuilder()
                                .setClusterId(link.clusterId())
                                .setKeyspaceGroupId(link.tso().orElseThrow().group()))
                        .setCount(count)
                        .build());
            } else {
                legacy.onNext(TsoRequest.newBuilder()
                        .setHeader(link.header())
                        .setCount(count)
                        .build());
            }
        }

        private void cancel() {
            Exception why = Status.CANCELLED.asRuntimeException();
            if (separate != null) {
                separate.onError(why);
            } else {
                legacy.onError(why);
            }
        }

        private abstract class Answers<R> implements StreamObserver<R> {
            @Override
            public void onError(Throwable failure) {
                onLoop(() -> failed(Stream.this, failure));
            }

            @Override
            public void onCompleted() {
                onError(Status.UNAVAILABLE
                        .withDescription("PD ended the stream")
                        .asRuntimeException());
            }
        }
    }

    /** Callbacks that come after the end of the loop have nobody to tell. */
    private void onLoop(Runnable task) {
        try {
            loop.execute(task);
        } catch (RejectedExecutionException e) {
            if (!loop.isShutdown()) {
                throw e;
            }
        }
    }
}
