package io.coplane.engine;

import io.coplane.engine.ErrorTable.ChunkStage;
import io.coplane.engine.TxnChunkRequest.Method;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.sst.ShardKey;
import io.coplane.sst.SstFile;
import io.coplane.sst.TxnChunkBody;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes txn chunks (worker.md 14.2): key of the keyspace, permits, id, file, store, in this order. Both permits are held until the store has the file.
 * The reference takes them before it looks for the key; but that may be asked of a key service or a node that stalls, and needs no permit.
 *
 * <p>A file is built in native memory, charged to a guard of its own until the store has it. Borrows everything. Thread-safe.
 */
final class TxnChunks {
    private static final Logger LOG = LoggerFactory.getLogger(TxnChunks.class);

    /** The reference waits for permits without a limit, its client for 3 s (worker.md 14.2). */
    private static final long PERMIT_SECONDS = 60;

    /** What the store may take for a file, with its retries: it would try for many minutes, and both permits are held meanwhile. */
    private static final long STORE_SECONDS = 60;

    private final TxnChunkSettings settings;
    private final WorkerLimiter limiter;
    private final MemoryLimiter memory;
    private final ObjectStore store;
    private final Executor pool;
    private final Clock clock;
    private final Counter answers;

    TxnChunks(
            TxnChunkSettings settings,
            WorkerLimiter limiter,
            MemoryLimiter memory,
            ObjectStore store,
            Executor pool,
            Clock clock,
            PrometheusRegistry registry) {
        this.settings = settings;
        this.limiter = limiter;
        this.memory = memory;
        this.store = store;
        this.pool = pool;
        this.clock = clock;
        answers = Counter.builder()
                .name("coplane_txn_chunk_answers_total")
                .help("Answers of /txn_chunk by status.")
                .labelNames("status")
                .register(registry);
    }

    /** What is known of a request in work; handed from thread to thread by the futures that carry it. */
    private static final class Call {
        private final TxnChunkRequest request;
        private final int keyspaceId;
        private ChunkStage stage = ChunkStage.REQUEST;

        private Call(TxnChunkRequest request, int keyspaceId) {
            this.request = request;
            this.keyspaceId = keyspaceId;
        }
    }

    /** @return the answer; never fails */
    CompletableFuture<TxnChunkAnswer> answer(TxnChunkRequest request) {
        if (request.keyspaceId().isEmpty()) {
            return CompletableFuture.completedFuture(counted(ErrorTable.missingKeyspace()));
        }
        Call call = new Call(request, request.keyspaceId().getAsInt());
        CompletableFuture<TxnChunkAnswer> answer =
                CompletableFuture.completedFuture(call).thenCompose(this::key).thenCompose(key -> permitted(call, key));
        return answer.handle((done, failure) -> {
            if (failure == null) {
                return counted(done);
            }
            TxnChunkAnswer failed = ErrorTable.txnChunk(failure, call.stage);
            if (ErrorTable.isBug(failure)) {
                LOG.error("txn chunk failed by a bug: keyspace={}", Integer.toUnsignedString(call.keyspaceId), failure);
            } else {
                LOG.warn(
                        "txn chunk failed: keyspace={} status={} cause={}",
                        Integer.toUnsignedString(call.keyspaceId),
                        failed.httpStatus(),
                        failed.text());
            }
            return counted(failed);
        });
    }

    private TxnChunkAnswer counted(TxnChunkAnswer answer) {
        answers.labelValues(String.valueOf(answer.httpStatus())).inc();
        return answer;
    }

    private CompletableFuture<Optional<ShardKey>> key(Call call) {
        requireClient(call);
        call.stage = ChunkStage.KEYSPACE;
        return settings.keys().of(call.keyspaceId);
    }

    private CompletableFuture<TxnChunkAnswer> permitted(Call call, Optional<ShardKey> key) {
        call.stage = ChunkStage.REQUEST;
        long deadline = clock.nanoTime() + TimeUnit.SECONDS.toNanos(PERMIT_SECONDS);
        return limiter.acquire(call.keyspaceId, deadline, call.request.isAbandoned())
                .thenCompose(permit -> CompletableFuture.completedFuture(call)
                        .thenCompose(admitted -> withId(admitted, key))
                        .whenComplete((done, failure) -> limiter.release(permit)));
    }

    private CompletableFuture<TxnChunkAnswer> withId(Call call, Optional<ShardKey> key) {
        requireClient(call);
        if (call.request.method() == Method.GET) {
            return CompletableFuture.completedFuture(new TxnChunkAnswer(ErrorTable.OK, "{\"available\":true}"));
        }
        call.stage = ChunkStage.CREATE;
        return settings.ids().get().thenCompose(chunkId -> create(call, key, chunkId));
    }

    private CompletableFuture<TxnChunkAnswer> create(Call call, Optional<ShardKey> key, long chunkId) {
        call.stage = ChunkStage.REQUEST;
        if (call.request.method() != Method.POST) {
            throw new CoplaneException(ErrorCode.BAD_REQUEST_BODY, "invalid method");
        }
        return CompletableFuture.supplyAsync(() -> build(call, key, chunkId), pool)
                .thenCompose(file -> store(call, chunkId, file));
    }

    /** A file and what holds it. */
    private record Built(MemorySegment bytes, NativeArena arena, MemoryGuard guard) implements AutoCloseable {
        @Override
        public void close() {
            try (guard) {
                arena.close();
            }
        }
    }

    private Built build(Call call, Optional<ShardKey> key, long chunkId) {
        requireClient(call);
        MemoryGuard guard = memory.acquire(0);
        NativeArena arena = new NativeArena(guard);
        boolean built = false;
        try {
            SstFile file = TxnChunkBody.build(
                    call.request.body(), chunkId, settings.blockBytes(), key.orElse(null), guard, arena);
            built = true;
            return new Built(file.bytes(), arena, guard);
        } finally {
            if (!built) {
                arena.close();
                guard.close();
            }
        }
    }

    private CompletableFuture<TxnChunkAnswer> store(Call call, long chunkId, Built file) {
        long bytes = file.bytes().byteSize();
        CompletableFuture<Void> stored;
        try {
            requireClient(call);
            call.stage = ChunkStage.CREATE;
            long deadline = clock.nanoTime() + TimeUnit.SECONDS.toNanos(STORE_SECONDS);
            stored = store.within(deadline).put(FileKind.TXN_CHUNK, chunkId, file.bytes());
        } catch (RuntimeException e) {
            stored = CompletableFuture.failedFuture(e);
        }
        return stored.whenComplete((done, failure) -> file.close()).thenApply(done -> {
            String id = Long.toUnsignedString(chunkId);
            LOG.info("txn chunk: keyspace={} id={} bytes={}", Integer.toUnsignedString(call.keyspaceId), id, bytes);
            return new TxnChunkAnswer(ErrorTable.OK, "{\"chunk_id\":" + id + "}");
        });
    }

    private static void requireClient(Call call) {
        if (call.request.isAbandoned().getAsBoolean()) {
            throw new CoplaneException(ErrorCode.CANCELLED, "client is gone");
        }
    }
}
