package io.coplane.nativecache.store;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import software.amazon.awssdk.http.async.AsyncExecuteRequest;
import software.amazon.awssdk.http.async.SdkAsyncHttpClient;

/**
 * Lets no request through once closing began, and closes the client only when the last one has ended. The CRT's connection manager ends the
 * <em>process</em> when it is asked for a connection after its close, so that must not be left to the callers' discipline. Owns the client. Thread-safe.
 */
public final class GatedHttp implements SdkAsyncHttpClient {
    private static final int CLOSING = 1 << 31; // sign bit; the other bits count requests
    private static final long PATIENCE_SECONDS = 60;

    private final SdkAsyncHttpClient client;
    private final AtomicInteger state = new AtomicInteger();
    private final CompletableFuture<Void> drained = new CompletableFuture<>();

    /** @param client owned */
    public GatedHttp(SdkAsyncHttpClient client) {
        this.client = client;
    }

    @Override
    public CompletableFuture<Void> execute(AsyncExecuteRequest request) {
        if (!enter()) {
            CoplaneException closed = new CoplaneException(ErrorCode.SHUTTING_DOWN, "client is closed");
            request.responseHandler().onError(closed);
            return CompletableFuture.failedFuture(closed);
        }
        CompletableFuture<Void> sent;
        try {
            sent = client.execute(request);
        } catch (RuntimeException e) {
            leave();
            throw e;
        }
        sent.whenComplete((none, failure) -> leave()).exceptionally(thrown -> null);
        return sent;
    }

    @Override
    public String clientName() {
        return client.clientName();
    }

    /** Waits for the requests on the wire, which their time-outs end. Idempotent. */
    @Override
    public void close() {
        int before = state.getAndUpdate(users -> users | CLOSING);
        if (before < 0) {
            return;
        }
        if (before > 0) {
            try {
                drained.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return; // better a client left open than a process that ends
            } catch (ExecutionException | TimeoutException e) {
                return;
            }
        }
        client.close();
    }

    private boolean enter() {
        int users = state.get();
        while (users >= 0) {
            if (state.compareAndSet(users, users + 1)) {
                return true;
            }
            users = state.get();
        }
        return false;
    }

    private void leave() {
        if (state.decrementAndGet() == CLOSING) {
            drained.complete(null);
        }
    }
}
