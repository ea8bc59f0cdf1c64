package io.coplane.worker.grpc;

import com.google.protobuf.UnsafeByteOperations;
import io.coplane.compaction.CompactionProgress;
import io.coplane.engine.CompactAnswer;
import io.coplane.engine.DataPlane;
import io.coplane.nativecache.Failures;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.proto.v1.CompactProgress;
import io.coplane.proto.v1.CompactRequest;
import io.grpc.ServerCall;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One call of {@code Compact}: tells of progress while the client takes it, and gives up when the call does. */
@SuppressWarnings("FutureReturnValueIgnored") // the answer is sent by the stage itself
final class CompactCall extends OneRequestCall<CompactRequest, CompactProgress> {
    private static final Logger LOG = LoggerFactory.getLogger(CompactCall.class);
    private static final long TICK_MILLIS = 250;

    private final DataPlane plane;
    private final ScheduledExecutorService ticker;
    private final WaitingAnswers.Room room;
    private final CompactionProgress progress = new CompactionProgress();
    private CompactProgress told = CompactProgress.getDefaultInstance(); // on the ticker's thread only
    private volatile boolean over;
    private volatile Runnable whenDelivered = () -> {};

    CompactCall(
            ServerCall<Charged<CompactRequest>, CompactProgress> call,
            DataPlane plane,
            ScheduledExecutorService ticker,
            WaitingAnswers waiting) {
        super(call);
        room = waiting.room();
        this.plane = plane;
        this.ticker = ticker;
    }

    @Override
    void begin(Charged<CompactRequest> request) {
        ScheduledFuture<?> ticks;
        try {
            ticks = ticker.scheduleWithFixedDelay(this::tell, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            request.close();
            fail(DataPlane.serviceError(DataPlane.closed(e)));
            return;
        }
        plane.compact(
                        request.message().getRequestId(),
                        MemorySegment.ofBuffer(request.message().getJson().asReadOnlyByteBuffer()),
                        () -> {},
                        System.nanoTime(),
                        () -> over,
                        progress)
                .handle((answer, bug) -> {
                    ticks.cancel(false);
                    request.close();
                    if (bug == null) {
                        finish(answer);
                    } else {
                        LOG.error("compaction failed by a bug", bug);
                        fail(DataPlane.serviceError(Failures.unwrap(bug)));
                    }
                    return null;
                })
                .exceptionally(bug -> {
                    LOG.error("an answer was lost by a bug", bug);
                    return null;
                });
    }

    private void tell() {
        CompactProgress now = numbers().build();
        if (isReady() && !now.equals(told)) {
            told = now;
            send(now, false);
        }
    }

    private CompactProgress.Builder numbers() {
        return CompactProgress.newBuilder()
                .setInputBytes(progress.inputBytes())
                .setInputBytesRead(progress.inputBytesRead())
                .setOutputs(progress.outputs())
                .setOutputBytes(progress.outputBytes());
    }

    private void finish(CompactAnswer answer) {
        if (answer.error().isPresent()) {
            fail(answer.error().get());
            return;
        }
        try {
            room.take(answer.body().length);
        } catch (MemoryLimitException e) {
            fail(e);
            return;
        }
        whenDelivered = answer.delivered();
        send(
                numbers()
                        .setChangeSet(UnsafeByteOperations.unsafeWrap(answer.body()))
                        .build(),
                true);
    }

    @Override
    void ready() {
        // the next tick tells
    }

    @Override
    void over(boolean isDelivered) {
        over = true;
        room.close();
        if (isDelivered) {
            whenDelivered.run();
        }
    }
}
