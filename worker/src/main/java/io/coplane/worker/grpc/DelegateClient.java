package io.coplane.worker.grpc;

import io.coplane.engine.DelegatedRequest;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.Failures;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.proto.coprocessor.DelegateRequest;
import io.coplane.proto.coprocessor.Request;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.Status;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;

/**
 * Fetches the data of a request from the storage node that has them (worker.md 9.2). Addresses are looked up once and kept for ever; a look-up is
 * shared by all who want the store, so it runs outside of any request's {@link Context}, and what follows it runs in the request's own.
 *
 * <p>A message is charged while it arrives and read into native memory: {@link DelegateArrival}. Owns a thread that ends late fetches until closed; borrows
 * channels and limiter. Thread-safe.
 */
public final class DelegateClient implements DelegatedRequest.Store, AutoCloseable {
    private static final Duration MOST_WAIT = Duration.ofSeconds(60);

    /** A cluster has fewer stores; addresses beyond are looked up each time. */
    private static final int ADDRESSES_KEPT = 65_536;

    private final GrpcChannels channels;
    private final MemoryLimiter memory;
    private final LongFunction<CompletableFuture<String>> addressOfStore;
    private final ConcurrentHashMap<Long, CompletableFuture<String>> addresses = new ConcurrentHashMap<>();
    private final ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(
            1, Thread.ofPlatform().name("coplane-delegate").daemon().factory());

    /**
     * @param memory what messages are charged to
     * @param addressOfStore asks PD for the address of a store
     */
    public DelegateClient(
            GrpcChannels channels, MemoryLimiter memory, LongFunction<CompletableFuture<String>> addressOfStore) {
        this.channels = channels;
        this.memory = memory;
        this.addressOfStore = addressOfStore;
        timer.setRemoveOnCancelPolicy(true);
    }

    /** Within the current {@link Context} too: a fetch ends with the request that it is for, and with no other one. */
    @Override
    public CompletableFuture<DelegatedRequest.Data> fetch(Request request, Duration within) {
        DelegateRequest question = DelegateRequest.newBuilder()
                .setContext(request.getContext())
                .setStartTs(request.getStartTs())
                .addAllRanges(request.getRangesList())
                .build();
        Duration timeout = within.compareTo(MOST_WAIT) > 0 ? MOST_WAIT : within;
        Context.CancellableContext own;
        try {
            own = Context.current().withDeadlineAfter(timeout.toNanos(), TimeUnit.NANOSECONDS, timer);
        } catch (RejectedExecutionException e) {
            return CompletableFuture.failedFuture(
                    new CoplaneException(ErrorCode.SHUTTING_DOWN, "worker is shutting down", e));
        }
        CompletableFuture<String> address =
                address(request.getContext().getPeer().getStoreId()).copy();
        own.addListener(
                over -> address.completeExceptionally(
                        Contexts.statusFromCancelled(over).asRuntimeException()),
                Runnable::run);
        return address.thenComposeAsync(found -> fetch(found, question), own.fixedContextExecutor(Runnable::run))
                .whenComplete((data, failure) -> own.cancel(null))
                .exceptionally(failure -> {
                    throw typed(failure);
                });
    }

    private CompletableFuture<DelegatedRequest.Data> fetch(String address, DelegateRequest question) {
        DelegateArrival arrival = new DelegateArrival(memory);
        CompletableFuture<DelegatedRequest.Data> data;
        try {
            ClientCall<DelegateRequest, DelegatedRequest.Data> call = channels.to(address)
                    .newCall(arrival.method(), CallOptions.DEFAULT.withStreamTracerFactory(arrival.tracers()));
            arrival.of(call);
            data = Calls.unary(call, arrival.method().getFullMethodName(), question);
        } catch (RuntimeException e) {
            arrival.close();
            throw e;
        }
        return data.whenComplete((done, failure) -> {
            if (failure != null) { // perhaps after the message has come
                arrival.close();
            }
        });
    }

    private CompletableFuture<String> address(long storeId) {
        CompletableFuture<String> known = addresses.get(storeId);
        if (known != null) {
            return known;
        }
        CompletableFuture<String> asked = new CompletableFuture<>();
        CompletableFuture<String> other = addresses.putIfAbsent(storeId, asked);
        if (other != null) {
            return other;
        }
        Context.ROOT.run(() -> lookUp(storeId, asked));
        return asked;
    }

    private void lookUp(long storeId, CompletableFuture<String> asked) {
        CompletableFuture<String> found;
        try {
            found = addressOfStore.apply(storeId);
        } catch (RuntimeException e) {
            found = CompletableFuture.failedFuture(e);
        }
        var _ = found.whenComplete((address, failure) -> {
            if (failure != null) {
                addresses.remove(storeId, asked); // before anyone is told, so that who asks again is served anew
                asked.completeExceptionally(failure);
                return;
            }
            if (addresses.size() > ADDRESSES_KEPT) {
                addresses.remove(storeId, asked);
            }
            asked.complete(address);
        });
    }

    /** Ends the thread; fetches end by their answers alone then, and no more begin. Idempotent. */
    @Override
    public void close() {
        timer.shutdownNow();
    }

    /** A message that could not be charged arrives as the cause of a cancelled call. */
    private static CoplaneException typed(Throwable thrown) {
        Throwable failure = Failures.unwrap(thrown);
        Status status = Status.fromThrowable(failure);
        while (failure.getCause() != null && !(failure instanceof CoplaneException)) {
            failure = failure.getCause();
        }
        if (failure instanceof CoplaneException typed) {
            return typed;
        }
        ErrorCode code =
                status.getCode() == Status.Code.DEADLINE_EXCEEDED ? ErrorCode.DEADLINE : ErrorCode.STORE_UNAVAILABLE;
        return new CoplaneException(code, "the store does not answer: " + failure.getMessage(), thrown);
    }
}
