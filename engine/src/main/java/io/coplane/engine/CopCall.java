package io.coplane.engine;

import io.coplane.engine.ErrorTable.Stage;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.kvrpcpb.ScanDetailV2;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** What is known of a request in work. Handed from thread to thread by the futures that carry it. */
final class CopCall {
    final long startNanos;
    final BooleanSupplier isAbandoned;
    RequestType type = RequestType.UNKNOWN;
    String tag = "";
    String digest = "";
    Stage stage = Stage.DECODE;
    long snapshotFromNanos;
    long snapshotNanos;
    long executeFromNanos;
    long waitNanos;
    long processNanos;
    int files;
    long memDataBytes;
    ScanDetailV2 scanned = ScanDetailV2.getDefaultInstance();
    WorkerLimiter.Keyspace permits;
    Runnable release = () -> {};
    MemoryGuard parsed;
    Running.Entry listed; // from the time it was parsed
    boolean isHandedOn;
    Optional<String> remoteCacheAddress = Optional.empty();
    boolean counted;

    CopCall(long startNanos, BooleanSupplier isAbandoned) {
        this.startNanos = startNanos;
        this.isAbandoned = isAbandoned;
    }

    /** What is known in the end. */
    RequestWork done() {
        return new RequestWork(
                waitNanos,
                snapshotNanos,
                processNanos,
                files,
                memDataBytes,
                scanned.getProcessedVersions(),
                scanned.getProcessedVersionsSize(),
                digest);
    }

    void begin(Request request, DataPlaneMetrics metrics) {
        type = RequestType.of(request);
        tag = RequestType.tag(request);
        digest = RequestType.digest(request);
        metrics.started(type);
        counted = true;
    }

    void end(DataPlaneMetrics metrics, WorkerLimiter limiter, long now) {
        if (stage == Stage.SNAPSHOT) {
            snapshotNanos = now - snapshotFromNanos;
        } else if (stage == Stage.EXECUTE) {
            processNanos = now - executeFromNanos;
        }
        if (counted) {
            metrics.ended();
        }
        try (MemoryGuard _ = parsed) { // closed after the data, whatever becomes of them
            release.run();
        } finally {
            if (permits != null) {
                limiter.release(permits);
            }
        }
    }
}
