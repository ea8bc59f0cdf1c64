package io.coplane.worker.grpc;

import io.coplane.engine.DelegatedRequest;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.proto.coprocessor.DelegateRequest;
import io.coplane.proto.coprocessor.DelegateResponse;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.tikvpb.TikvGrpc;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongFunction;

/**
 * Fetches the data of a request from the storage node that has them (worker.md 9.2). Addresses are looked up once and kept for ever.
 *
 * <p>A message is charged before it is decoded, for its bytes and the objects made of them. Borrows channels and limiter. Thread-safe.
 */
public final class DelegateClient implements DelegatedRequest.Store {
    private static final Duration MOST_WAIT = Duration.ofSeconds(60);

    /** The message and the stream's buffer live side by side while it is decoded. */
    private static final int HELD_PER_BYTE = 2;

    private final GrpcChannels channels;
    private final MemoryLimiter memory;
    private final LongFunction<CompletableFuture<String>> addressOfStore;
    private final ConcurrentHashMap<Long, CompletableFuture<String>> addresses = new ConcurrentHashMap<>();
    private final MethodDescriptor<DelegateRequest, DelegatedRequest.Data> method;

    /**
     * @param memory what messages are charged to
     * @param addressOfStore asks PD for the address of a store
     */
    public DelegateClient(
            GrpcChannels channels, MemoryLimiter memory, LongFunction<CompletableFuture<String>> addressOfStore) {
        this.channels = channels;
        this.memory = memory;
        this.addressOfStore = addressOfStore;
        MethodDescriptor<DelegateRequest, DelegateResponse> plain = TikvGrpc.getDelegateCoprocessorMethod();
        method = plain.toBuilder(plain.getRequestMarshaller(), new ChargedMarshaller())
                .build();
    }

    @Override
    public CompletableFuture<DelegatedRequest.Data> fetch(Request request) {
        DelegateRequest question = DelegateRequest.newBuilder()
                .setContext(request.getContext())
                .setStartTs(request.getStartTs())
                .addAllRanges(request.getRangesList())
                .build();
        return address(request.getContext().getPeer().getStoreId())
                .thenCompose(address -> Calls.unary(channels.to(address), method, question, timeout(request)))
                .handle((data, failure) -> {
                    if (failure != null) {
                        throw typed(failure);
                    }
                    return data;
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
        Throwable failure = thrown;
        for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
            if (cause instanceof MemoryLimitException limit) {
                return limit;
            }
            if (cause instanceof CoplaneException typed) {
                return typed;
            }
            failure = cause instanceof CompletionException ? failure : cause;
        }
        Status status = Status.fromThrowable(thrown);
        ErrorCode code =
                status.getCode() == Status.Code.DEADLINE_EXCEEDED ? ErrorCode.DEADLINE : ErrorCode.STORE_UNAVAILABLE;
        return new CoplaneException(code, "the store does not answer: " + failure.getMessage(), thrown);
    }

    private final class ChargedMarshaller implements MethodDescriptor.Marshaller<DelegatedRequest.Data> {
        @Override
        public InputStream stream(DelegatedRequest.Data value) {
            return value.message().toByteString().newInput();
        }

        @Override
        public DelegatedRequest.Data parse(InputStream stream) {
            MemoryGuard charge = null;
            try {
                charge = memory.acquire((long) HELD_PER_BYTE * stream.available()); // a message's length is known
                return new DelegatedRequest.Data(DelegateResponse.parseFrom(stream), charge);
            } catch (IOException e) {
                charge.close();
                throw new CoplaneException(
                        ErrorCode.BAD_PROTOBUF, "DelegateResponse does not decode: " + e.getMessage(), e);
            } catch (RuntimeException | OutOfMemoryError e) {
                if (charge != null) {
                    charge.close();
                }
                throw e;
            }
        }
    }
}
