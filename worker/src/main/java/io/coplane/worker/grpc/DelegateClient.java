package io.coplane.worker.grpc;

import io.coplane.engine.DelegatedRequest;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.Failures;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.proto.coprocessor.DelegateRequest;
import io.coplane.proto.coprocessor.Request;
import io.grpc.ClientCall;
import io.grpc.Status;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongFunction;

/**
 * Fetches the data of a request from the storage node that has them (worker.md 9.2). Addresses are looked up once and kept for ever.
 *
 * <p>A message is charged while it arrives and read into native memory: {@link DelegateArrival}. Borrows channels and limiter. Thread-safe.
 */
public final class DelegateClient implements DelegatedRequest.Store {
    private static final Duration MOST_WAIT = Duration.ofSeconds(60);

    private final GrpcChannels channels;
    private final MemoryLimiter memory;
    private final LongFunction<CompletableFuture<String>> addressOfStore;
    private final ConcurrentHashMap<Long, CompletableFuture<String>> addresses = new ConcurrentHashMap<>();

    /**
     * @param memory what messages are charged to
     * @param addressOfStore asks PD for the address of a store
     */
    public DelegateClient(
            GrpcChannels channels, MemoryLimiter memory, LongFunction<CompletableFuture<String>> addressOfStore) {
        this.channels = channels;
        this.memory = memory;
        this.addressOfStore = addressOfStore;
    }

    @Override
    public CompletableFuture<DelegatedRequest.Data> fetch(Request request) {
        DelegateRequest question = DelegateRequest.newBuilder()
                .setContext(request.getContext())
                .setStartTs(request.getStartTs())
                .addAllRanges(request.getRangesList())
                .build();
        return address(request.getContext().getPeer().getStoreId())
                .thenCompose(address -> fetch(address, question, timeout(request)))
                .exceptionally(failure -> {
                    throw typed(failure);
                });
    }

    private CompletableFuture<DelegatedRequest.Data> fetch(String address, DelegateRequest question, Duration timeout) {
        DelegateArrival arrival = new DelegateArrival(memory);
        CompletableFuture<DelegatedRequest.Data> data;
        try {
            ClientCall<DelegateRequest, DelegatedRequest.Data> call = channels.to(address)
                    .newCall(arrival.method(), Calls.within(timeout).withStreamTracerFactory(arrival.tracers()));
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

    private static Duration timeout(Request request) {
        long millis = request.getContext().getMaxExecutionDurationMs();
        return millis <= 0 || millis > MOST_WAIT.toMillis() ? MOST_WAIT : Duration.ofMillis(millis);
    }

    private CompletableFuture<String> address(long storeId) {
        CompletableFuture<String> found = addresses.computeIfAbsent(storeId, addressOfStore::apply);
        if (found.isCompletedExceptionally()) {
            addresses.remove(storeId, found); // asked again by the next request
        }
        return found;
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
