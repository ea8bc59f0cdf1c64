package io.coplane.worker.grpc;

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Calls that end only when the client wants it, as those that watch the health do: the server ends them when it stops. Thread-safe. */
final class EndlessCalls implements ServerInterceptor {
    private final Set<Ending<?, ?>> open = ConcurrentHashMap.newKeySet();
    private volatile boolean ended;

    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
        Ending<Q, R> ending = new Ending<>(call);
        open.add(ending);
        if (ended) { // it may have come after the others were looked at
            ending.end();
        }
        return new SimpleForwardingServerCallListener<>(next.startCall(ending, headers)) {
            @Override
            public void onCancel() {
                open.remove(ending);
                super.onCancel();
            }
        };
    }

    /** Ends those that are open, and whatever comes. Idempotent. */
    void end() {
        ended = true;
        open.forEach(Ending::end);
    }

    /** A call that two threads may send to and end. */
    private final class Ending<Q, R> extends SimpleForwardingServerCall<Q, R> {
        private boolean closed;

        private Ending(ServerCall<Q, R> call) {
            super(call);
        }

        private void end() {
            close(Status.UNAVAILABLE.withDescription("worker is shutting down"), new Metadata());
        }

        @Override
        public synchronized void sendHeaders(Metadata headers) {
            if (!closed) {
                super.sendHeaders(headers);
            }
        }

        @Override
        public synchronized void sendMessage(R message) {
            if (!closed) {
                super.sendMessage(message);
            }
        }

        @Override
        public synchronized void close(Status status, Metadata trailers) {
            open.remove(this);
            if (!closed) {
                closed = true;
                super.close(status, trailers);
            }
        }
    }
}
