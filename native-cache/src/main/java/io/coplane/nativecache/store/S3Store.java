package io.coplane.nativecache.store;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.Failures;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.ObjectKeys;
import io.coplane.nativecache.ObjectListing;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.Require;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;

/**
 * An object store in a bucket of S3 or of what speaks like it (ia.md 16, 17).
 *
 * <p><b>Which client.</b> The SDK's {@code S3AsyncClient} over the CRT's HTTP client, and not the CRT's own S3 client. The latter cuts a read
 * into ranged parts and a put into multipart uploads as it likes, keeps parts in a pool of its own, repeats requests by its own rule, and takes no
 * time-out for a phase or a request. None of this can be turned to what ia.md 16 asks for. Here one call is one request, the {@code Range} is
 * ours, the SDK's retries are off, and one timer of ours, which also knows the deadline, keeps the time-outs of head, body piece and whole put.
 *
 * <p><b>Memory.</b> A body is copied piece by piece into the reader's arena, which is charged before a byte of it arrives. What the CRT may hold
 * for a request is bounded by its read window ({@link #BYTES_PER_REQUEST}), and the requests on the wire by
 * {@link S3Config#requestsInFlight}; each charges its window to the store's account while it is there.
 *
 * <p>Owns client, timer and account until {@link #close()}. Thread-safe.
 */
public final class S3Store implements ObjectStore {
    /** What the CRT may hold of one response that has not been taken from it. */
    public static final long BYTES_PER_REQUEST = 256 << 10;

    /** The tag that the bucket's rule waits for (ia.md 17.1). */
    static final String REMOVED_TAG = "deleted";

    static final String REMOVED_VALUE = "true";

    private static final Logger LOG = LoggerFactory.getLogger(S3Store.class);
    private static final int MOST_ENTRIES = 1000;

    /** So many removals of a process are looked after (ia.md 17.1). */
    private static final int CHECKED_REMOVALS = 1000;

    private final Core core;
    private final long deadlineNanos;

    /** What a store and its views share. */
    private record Core(S3Config config, S3Wire wire, S3Call.Shared calls, AtomicInteger removals) {}

    private S3Store(Core core, long deadlineNanos) {
        this.core = core;
        this.deadlineNanos = deadlineNanos;
    }

    /**
     * Opens a bucket; nothing is sent yet.
     *
     * @param account charged with what is on the wire; closed with the store
     */
    public static S3Store open(S3Config config, Clock clock, MemoryGuard account, StoreMetrics metrics) {
        S3Wire wire = new S3Wire(config, clock);
        S3Call.Shared calls = new S3Call.Shared(
                config.timing(),
                clock,
                wire.timer(),
                new Permits(config.requestsInFlight()),
                account,
                BYTES_PER_REQUEST,
                metrics);
        return new S3Store(new Core(config, wire, calls, new AtomicInteger()), S3Call.NEVER);
    }

    /** Most native bytes that requests on the wire can hold: the account never exceeds it. */
    public static long mostBytes(S3Config config) {
        return config.requestsInFlight() * BYTES_PER_REQUEST;
    }

    @Override
    public CompletableFuture<MemorySegment> read(FileKind kind, long fileId, long start, long end, NativeArena arena) {
        if (start < 0 || end != TO_END && end <= start) {
            return CompletableFuture.failedFuture(new CoplaneException(
                    ErrorCode.BAD_ARGUMENT,
                    "no such range: start=" + start + " end=" + end + " file=" + ObjectKeys.fileName(kind, fileId)));
        }
        String key = key(kind, fileId);
        String object = object(key) + (start == 0 && end == TO_END ? "" : " start=" + start + " end=" + end);
        BodyMemory memory = new BodyMemory(arena);
        return call(
                StoreMetrics.Call.READ,
                object,
                false,
                () -> core.wire().read(key, start, end, memory),
                MemorySegment::byteSize);
    }

    @Override
    public CompletableFuture<Long> byteSize(FileKind kind, long fileId) {
        String key = key(kind, fileId);
        return call(
                        StoreMetrics.Call.HEAD,
                        object(key),
                        false,
                        () -> core.wire().head(key),
                        head -> 0)
                .thenApply(HeadObjectResponse::contentLength);
    }

    @Override
    public CompletableFuture<Void> put(FileKind kind, long fileId, MemorySegment bytes) {
        String key = key(kind, fileId);
        if (core.config().readOnly()) {
            return readOnly(key);
        }
        S3Wire.Body body = S3Wire.Body.of(bytes, core.config().provider());
        return call(
                        StoreMetrics.Call.WRITE,
                        object(key),
                        false,
                        () -> core.wire().put(key, body),
                        done -> bytes.byteSize())
                .thenApply(done -> null);
    }

    @Override
    public CompletableFuture<Boolean> markRemoved(FileKind kind, long fileId, long byteSize) {
        String key = key(kind, fileId);
        if (core.config().readOnly()) {
            return readOnly(key);
        }
        return call(
                        StoreMetrics.Call.DELETE,
                        object(key),
                        true,
                        () -> core.wire().markRemoved(key, byteSize),
                        done -> 0)
                .thenCompose(done -> core.removals().getAndIncrement() < CHECKED_REMOVALS
                        ? byteSize(kind, fileId)
                        : CompletableFuture.completedFuture(1L))
                .handle((size, failure) -> {
                    if (failure != null) {
                        LOG.error("can't mark as removed: key={}", key, failure);
                        return false;
                    }
                    if (size <= 0) {
                        LOG.error("a file that was marked as removed is empty: key={}", key);
                    }
                    return true;
                });
    }

    @Override
    public CompletableFuture<Boolean> isRemoved(FileKind kind, long fileId) {
        String key = key(kind, fileId);
        return call(
                        StoreMetrics.Call.HEAD,
                        object(key),
                        false,
                        () -> new OneAnswer<>(core.wire().tags(key), object(key)),
                        tags -> 0)
                .thenApply(tags -> tags.tagSet().stream()
                        .anyMatch(tag -> REMOVED_TAG.equals(tag.key()) && REMOVED_VALUE.equals(tag.value())));
    }

    @Override
    public CompletableFuture<Boolean> retain(FileKind kind, long fileId) {
        String key = key(kind, fileId);
        if (core.config().readOnly()) {
            return readOnly(key);
        }
        return isRemoved(kind, fileId)
                .thenCompose(removed -> removed
                        ? call(
                                        StoreMetrics.Call.WRITE,
                                        object(key),
                                        false,
                                        () -> core.wire().retain(key),
                                        done -> 0)
                                .thenApply(done -> true)
                        : CompletableFuture.completedFuture(false));
    }

    @Override
    public CompletableFuture<Void> permanentlyRemove(FileKind kind, long fileId) {
        String key = key(kind, fileId);
        if (core.config().readOnly()) {
            return readOnly(key);
        }
        if (core.config().provider() != S3Config.Provider.UNKNOWN) {
            return CompletableFuture.failedFuture(new CoplaneException(
                    ErrorCode.STORE_REFUSED,
                    Long.toUnsignedString(fileId) + " permanently_remove is forbidden on AWS or alibaba cloud: "
                            + object(key)));
        }
        return call(
                        StoreMetrics.Call.DELETE,
                        object(key),
                        false,
                        () -> core.wire().delete(key),
                        done -> 0)
                .thenApply(done -> null);
    }

    /** An attempt whose service's answer counts, also if it is an error that others would repeat (ia.md 17.2). */
    private static final class OneAnswer<T> implements Attempt<T> {
        private final Attempt<T> attempt;
        private final CompletableFuture<T> future;

        private OneAnswer(Attempt<T> attempt, String object) {
            this.attempt = attempt;
            future = attempt.future()
                    .exceptionallyCompose(failure -> CompletableFuture.failedFuture(
                            isAnswer(failure) ? S3Failure.of(failure, object).error() : failure));
        }

        private static boolean isAnswer(Throwable failure) {
            Throwable cause = Failures.unwrap(failure);
            return cause instanceof AwsServiceException;
        }

        @Override
        public CompletableFuture<T> future() {
            return future;
        }

        @Override
        public void abort(Throwable reason) {
            attempt.abort(reason);
        }
    }

    @Override
    public CompletableFuture<ObjectListing> list(String after, int most) {
        Require.range("most", most, 1, MOST_ENTRIES);
        return call(
                StoreMetrics.Call.LIST,
                "bucket=" + core.config().bucket() + " after=" + after,
                false,
                () -> core.wire().list(after, most),
                listing -> 0);
    }

    @Override
    public ObjectStore within(long deadlineNanosOfCall) {
        return new S3Store(core, deadlineNanosOfCall == S3Call.NEVER ? S3Call.NEVER - 1 : deadlineNanosOfCall);
    }

    /** Bytes that requests on the wire are charged with now. */
    public long bytesInFlight() {
        return core.calls().account().chargedBytes();
    }

    /** Requests on the wire now. */
    public int requestsInFlight() {
        return core.config().requestsInFlight() - core.calls().permits().free();
    }

    /** Ends what is under way with errors, then client and threads. Idempotent. A view of {@link #within} is not to be closed. */
    @Override
    public void close() {
        core.wire().close();
        core.calls().account().close();
    }

    private <T> CompletableFuture<T> call(
            StoreMetrics.Call kind,
            String object,
            boolean retriesAll,
            Supplier<Attempt<T>> attempts,
            ToLongFunction<T> movedBytes) {
        Clock clock = core.calls().clock();
        long begin = clock.nanoTime();
        return new S3Call<>(core.calls(), kind, object, deadlineNanos, retriesAll, attempts)
                .start()
                .whenComplete((value, failure) -> {
                    if (failure == null) {
                        core.calls().metrics().ended(kind, movedBytes.applyAsLong(value), clock.nanoTime() - begin);
                    }
                });
    }

    private <T> CompletableFuture<T> readOnly(String key) {
        return CompletableFuture.failedFuture(
                new CoplaneException(ErrorCode.STORE_READ_ONLY, "The DFS is read only: " + object(key)));
    }

    private String object(String key) {
        return "bucket=" + core.config().bucket() + " key=" + key;
    }

    private String key(FileKind kind, long fileId) {
        return ObjectKeys.key(core.config().prefix(), kind, fileId);
    }
}
