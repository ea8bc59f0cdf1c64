package io.coplane.nativecache.store;

import io.coplane.nativecache.memory.NativeArena;
import io.coplane.nativecache.store.S3Failure.TransportException;
import java.lang.foreign.MemorySegment;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;

/** A body of known length on its way into native memory. */
final class PeerBody implements HttpResponse.BodySubscriber<MemorySegment> {
    private static final int OK = 200;
    private static final int REDIRECT = 300;

    private final WriteGate gate = new WriteGate(why -> cancel());
    private volatile Flow.Subscription subscription;
    private MemorySegment target;
    private long received;

    /**
     * @param wanted bytes asked for, or -1 for the whole file
     */
    PeerBody(HttpResponse.ResponseInfo head, long wanted, NativeArena arena) {
        try {
            long length = head.headers().firstValueAsLong("content-length").orElse(wanted);
            if (head.statusCode() < OK || head.statusCode() >= REDIRECT) {
                throw new TransportException("status=" + head.statusCode());
            }
            if (length < 0 || wanted >= 0 && length != wanted) {
                throw new TransportException("length=" + length + " wanted=" + wanted);
            }
            target = arena.allocate(length);
        } catch (RuntimeException | OutOfMemoryError e) {
            gate.fail(e);
        }
    }

    void fail(Throwable why) {
        gate.fail(why);
    }

    /** Completes when nobody writes any more. */
    CompletableFuture<MemorySegment> done() {
        return gate.future();
    }

    @Override
    public CompletionStage<MemorySegment> getBody() {
        return gate.future();
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        subscription = given;
        if (gate.isEnded()) {
            given.cancel();
        } else {
            given.request(1);
        }
    }

    @Override
    public void onNext(List<ByteBuffer> pieces) {
        try {
            for (ByteBuffer piece : pieces) {
                int count = piece.remaining();
                boolean written = gate.write(() -> {
                    if (count > target.byteSize() - received) {
                        throw new TransportException("body is too long: length=" + target.byteSize());
                    }
                    MemorySegment.copy(MemorySegment.ofBuffer(piece), 0, target, received, count);
                    received += count;
                });
                if (!written) {
                    return;
                }
            }
            subscription.request(1);
        } catch (RuntimeException e) {
            gate.fail(e);
        }
    }

    @Override
    public void onError(Throwable failure) {
        gate.fail(failure);
    }

    @Override
    public void onComplete() {
        if (target == null || received != target.byteSize()) {
            gate.fail(new TransportException("body is too short: received=" + received));
        } else {
            gate.complete(target);
        }
    }

    private void cancel() {
        Flow.Subscription given = subscription;
        if (given != null) {
            given.cancel();
        }
    }
}
