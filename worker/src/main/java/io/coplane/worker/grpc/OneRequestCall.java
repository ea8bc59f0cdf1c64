package io.coplane.worker.grpc;

import com.google.protobuf.Any;
import com.google.protobuf.Message;
import io.coplane.engine.DataPlane;
import io.coplane.engine.ServiceError;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.proto.v1.ErrorDetail;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.protobuf.StatusProto;

/**
 * A call of one charged request and a stream of answers. Owns the request until {@link #begin} took it. What it sends goes out under its monitor, since
 * a call is not made for two threads.
 */
abstract class OneRequestCall<Q extends Message, R> extends ServerCall.Listener<Charged<Q>> {
    /** Trailers are header lines, of which clients take 8 KiB. */
    private static final int MOST_TEXT = 1000;

    private final ServerCall<Charged<Q>, R> call;
    private Charged<Q> waiting; // on the call's thread only, as the next
    private Charged<Q> begun;
    private boolean headersSent;
    private boolean closed;

    OneRequestCall(ServerCall<Charged<Q>, R> call) {
        this.call = call;
    }

    /** To be called where the call starts. Asks for the request; twice, so that the client's end of sending is seen. @return this */
    final ServerCall.Listener<Charged<Q>> started() {
        StreamWatch.ifNoRoom(this::refuse);
        call.request(2);
        return this;
    }

    /** There is no room for what comes: nothing more does. */
    private void refuse(CoplaneException why) {
        freeWaiting();
        fail(why);
    }

    /** Takes the request over, with its charge. */
    abstract void begin(Charged<Q> request);

    /**
     * The client is gone, or has everything: nothing more can be sent.
     *
     * @param isDelivered everything went out, as far as the transport knows
     */
    abstract void over(boolean isDelivered);

    /** The client takes more. */
    abstract void ready();

    @Override
    public final void onMessage(Charged<Q> message) {
        if (waiting != null || begun != null || isClosed()) {
            message.close();
            fail(new CoplaneException(ErrorCode.BAD_ARGUMENT, "more than one request in a call"));
            return;
        }
        waiting = message;
    }

    @Override
    public final void onHalfClose() {
        Charged<Q> request = waiting;
        waiting = null;
        if (request == null) {
            fail(new CoplaneException(ErrorCode.BAD_ARGUMENT, "no request in a call"));
        } else if (request.failure() != null) {
            fail(request.failure());
        } else if (isClosed()) {
            request.close();
        } else {
            begun = request;
            begin(request);
        }
    }

    @Override
    public final void onReady() {
        if (begun != null) {
            ready();
        }
    }

    @Override
    public final void onCancel() {
        end(false);
    }

    @Override
    public final void onComplete() {
        end(true);
    }

    private void end(boolean isDelivered) {
        synchronized (this) {
            closed = true;
        }
        freeWaiting();
        over(isDelivered);
        if (begun != null) {
            begun.onHeap().close();
        }
    }

    private void freeWaiting() {
        if (waiting != null) {
            waiting.close();
            waiting = null;
        }
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    /** True if the client takes a message now. */
    final boolean isReady() {
        return call.isReady();
    }

    /** Sends a message, and ends the call behind the last one. Nothing happens after the end. */
    final synchronized void send(R message, boolean isLast) {
        if (closed) {
            return;
        }
        if (!headersSent) {
            headersSent = true;
            call.sendHeaders(new Metadata());
        }
        call.sendMessage(message);
        if (isLast) {
            closed = true;
            call.close(Status.OK, new Metadata());
        }
    }

    /** Ends the call with what the table of errors says. */
    void fail(CoplaneException failure) {
        fail(DataPlane.serviceError(failure));
    }

    /** Ends the call with an error and its details. Nothing happens after the end. */
    final void fail(ServiceError error) {
        StatusException status = status(error);
        fail(status.getStatus(), status.getTrailers());
    }

    /** Ends the call with a status. Nothing happens after the end. */
    final synchronized void fail(Status status, Metadata trailers) {
        if (!closed) {
            closed = true;
            call.close(status, trailers);
        }
    }

    private static StatusException status(ServiceError error) {
        String text = error.text().length() > MOST_TEXT ? error.text().substring(0, MOST_TEXT) : error.text();
        return StatusProto.toStatusException(com.google.rpc.Status.newBuilder()
                .setCode(error.grpcStatus())
                .setMessage(text)
                .addDetails(Any.pack(ErrorDetail.newBuilder()
                        .setCode(error.code().number())
                        .setName(error.code().name())
                        .setRetryable(error.isRetryable())
                        .setExceededBytes(error.exceededBytes())
                        .build()))
                .build());
    }
}
