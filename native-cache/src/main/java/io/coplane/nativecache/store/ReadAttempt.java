package io.coplane.nativecache.store;

import io.coplane.nativecache.AsciiNumbers;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.store.S3Failure.TransportException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.core.async.SdkPublisher;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/**
 * One GET: checks the head, copies the body into native memory piece by piece, watches the time between pieces (ia.md 16.4).
 *
 * <p>The length is known from the head before memory is asked for, and the body must have exactly that length. {@link #future} completes when no
 * thread writes into the memory any more, also if the attempt is aborted from the timer's thread in the middle of a copy.
 */
final class ReadAttempt
        implements AsyncResponseTransformer<GetObjectResponse, Void>, Subscriber<ByteBuffer>, Attempt<MemorySegment> {
    private static final int PARTIAL = 206;
    private static final String RANGE_UNIT = "bytes ";

    private final long start;
    private final long end;
    private final LongFunction<MemorySegment> memory;
    private final S3Timing timing;
    private final Clock clock;
    private final ScheduledExecutorService timer;
    private final CompletableFuture<Void> accepted = new CompletableFuture<>();
    private final WriteGate gate = new WriteGate(this::endFailed);
    private volatile CompletableFuture<?> request;
    private volatile ScheduledFuture<?> watch;
    private volatile boolean hasHead;
    private volatile long progressNanos;
    private volatile Subscription subscription;
    private MemorySegment target;
    private long received;

    /**
     * @param start first byte
     * @param end exclusive, or {@link ObjectStore#TO_END}
     * @param memory gives the memory for a body of so many bytes
     */
    ReadAttempt(
            long start,
            long end,
            LongFunction<MemorySegment> memory,
            S3Timing timing,
            Clock clock,
            ScheduledExecutorService timer) {
        this.start = start;
        this.end = end;
        this.memory = memory;
        this.timing = timing;
        this.clock = clock;
        this.timer = timer;
        progressNanos = clock.nanoTime();
        watch = timer.schedule(this::look, timing.dispatch().toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Ties this to the request that feeds it. */
    ReadAttempt of(CompletableFuture<Void> sent) {
        request = sent;
        sent.whenComplete((none, failure) -> {
                    if (failure != null) {
                        gate.fail(failure);
                    }
                })
                .exceptionally(thrown -> null);
        if (gate.isEnded()) {
            sent.cancel(true);
        }
        return this;
    }

    @Override
    public CompletableFuture<MemorySegment> future() {
        return gate.future();
    }

    @Override
    public void abort(Throwable why) {
        gate.fail(why);
    }

    /** Runs when the phase's time may be over: it may have been prolonged by a piece since. */
    private void look() {
        long limit = hasHead ? timing.readBody().toNanos() : timing.dispatch().toNanos();
        long left = progressNanos + limit - clock.nanoTime();
        if (left > 0) {
            watch = timer.schedule(this::look, left, TimeUnit.NANOSECONDS);
            if (gate.isEnded()) {
                watch.cancel(false);
            }
            return;
        }
        abort(new TransportException(hasHead ? "time-out of the response's body" : "time-out of the response's head"));
    }

    @Override
    public CompletableFuture<Void> prepare() {
        return accepted;
    }

    @Override
    public void onResponse(GetObjectResponse response) {
        progressNanos = clock.nanoTime();
        hasHead = true;
        watch.cancel(false);
        watch = timer.schedule(this::look, timing.readBody().toNanos(), TimeUnit.NANOSECONDS);
        if (gate.isEnded()) {
            watch.cancel(false);
            return;
        }
        try {
            long bytes = bodyBytes(response);
            gate.write(() -> target = memory.apply(bytes));
        } catch (RuntimeException | OutOfMemoryError e) {
            gate.fail(e);
        }
    }

    /** Bytes that the body must have; an answer to another question than ours is no answer. */
    private long bodyBytes(GetObjectResponse response) {
        Long length = response.contentLength();
        if (length == null || length < 0) {
            throw new TransportException("response without a length");
        }
        int status = response.sdkHttpResponse().statusCode();
        if (start == 0 && end == ObjectStore.TO_END) {
            return length;
        }
        if (status != PARTIAL) {
            if (start == 0 && length == end) {
                return length; // the whole object, which is the range
            }
            throw new TransportException("response ignores the range: status=" + status + " length=" + length);
        }
        checkRange(response.contentRange(), length);
        return length;
    }

    /** {@code bytes 5-9/20}: our start, a length like the body's, and our end unless the object ends before it. */
    private void checkRange(String range, long length) {
        long first;
        long last;
        long whole;
        try {
            String text = range.substring(RANGE_UNIT.length());
            int dash = text.indexOf('-');
            int slash = text.indexOf('/');
            first = AsciiNumbers.parseLong(text.substring(0, dash));
            last = AsciiNumbers.parseLong(text.substring(dash + 1, slash));
            whole = text.endsWith("*") ? Long.MAX_VALUE : AsciiNumbers.parseLong(text.substring(slash + 1));
        } catch (RuntimeException e) {
            throw new TransportException("response with a broken range: range=" + range, e);
        }
        if (end != ObjectStore.TO_END && whole < end) {
            throw new CoplaneException(
                    ErrorCode.FILE_TRUNCATED,
                    "file ends before the range: start=" + start + " end=" + end + " fileBytes=" + whole);
        }
        long wantedLast = end == ObjectStore.TO_END ? whole - 1 : end - 1;
        if (first != start || last != wantedLast || length != last - first + 1) {
            throw new TransportException("response of another range: range=" + range + " length=" + length);
        }
    }

    @Override
    public void onStream(SdkPublisher<ByteBuffer> publisher) {
        publisher.subscribe(this);
    }

    @Override
    public void exceptionOccurred(Throwable error) {
        gate.fail(error);
    }

    @Override
    public void onSubscribe(Subscription given) {
        subscription = given;
        if (gate.isEnded()) {
            given.cancel();
        } else {
            given.request(1);
        }
    }

    @Override
    public void onNext(ByteBuffer piece) {
        progressNanos = clock.nanoTime();
        int count = piece.remaining();
        try {
            boolean written = gate.write(() -> {
                if (count > target.byteSize() - received) {
                    throw new TransportException("body is longer than its head says: length=" + target.byteSize());
                }
                MemorySegment.copy(MemorySegment.ofBuffer(piece), 0, target, received, count);
                received += count;
            });
            if (written) {
                subscription.request(1);
                return;
            }
        } catch (RuntimeException e) {
            gate.fail(e);
        }
        subscription.cancel();
    }

    @Override
    public void onError(Throwable error) {
        gate.fail(error);
    }

    @Override
    public void onComplete() {
        if (target == null || received != target.byteSize()) {
            gate.fail(new TransportException("body is shorter than its head says: received=" + received + " length="
                    + (target == null ? 0 : target.byteSize())));
            return;
        }
        watch.cancel(false);
        accepted.complete(null);
        gate.complete(target);
    }

    /** Gives the connection up; that must come before {@link #accepted}, because a request that counts as answered is not cancelled. */
    private void endFailed(Throwable why) {
        watch.cancel(false);
        CompletableFuture<?> sent = request;
        if (sent != null) {
            sent.cancel(true);
        }
        accepted.completeExceptionally(why);
    }
}
