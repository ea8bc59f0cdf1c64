package io.coplane.worker.grpc;

import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** Refuses calls beyond a number, of all connections together. Thread-safe. */
final class CallLimit implements ServerInterceptor {
    private final int most;
    private final AtomicInteger open = new AtomicInteger();

    CallLimit(int most) {
        this.most = most;
    }

    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
        if (open.incrementAndGet() > most) {
            open.decrementAndGet();
            call.close(Status.RESOURCE_EXHAUSTED.withDescription("too many calls: most=" + most), new Metadata());
            return new ServerCall.Listener<>() {};
        }
        ServerCall.Listener<Q> listener;
        try {
            listener = next.startCall(call, headers);
        } catch (RuntimeException e) {
            open.decrementAndGet();
            throw e;
        }
        AtomicBoolean over = new AtomicBoolean();
        return new SimpleForwardingServerCallListener<>(listener) {
            @Override
            public void onComplete() {
                end();
                super.onComplete();
            }

            @Override
            public void onCancel() {
                end();
                super.onCancel();
            }

            private void end() {
                if (over.compareAndSet(false, true)) {
                    open.decrementAndGet();
                }
            }
        };
    }
}
