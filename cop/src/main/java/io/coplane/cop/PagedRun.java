package io.coplane.cop;

import com.google.protobuf.ByteString;
import io.coplane.cop.exec.RowSource;
import io.coplane.cop.plan.DagPlan;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.coprocessor.KeyRange;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.snapshot.DeadlineCheck;
import java.util.Optional;

/**
 * A request whose answer is given out piece by piece: what stands between two pieces is the plan itself, with all its state, so the pieces are the
 * answer that {@link Coprocessor#execute} would give, cut. Rows of a plan come as they are produced; a request of another type is one piece.
 *
 * <p>Owns the plan until closed; borrows the snapshot. Any thread, one at a time.
 */
public final class PagedRun implements AutoCloseable {
    /** A piece lives as an array and once more in the buffers of whoever sends it. */
    private static final int HELD_PER_BYTE = 2;

    private final Request request;
    private final Coprocessor.Sources sources;
    private final MemoryGuard guard;
    private final RequestRun base;
    private final Clock clock;
    private final DeadlineCheck deadline;
    private DAGRequest dag;
    private RowSource source;
    private DagPlan plan;
    private DagRun run;
    private long workNanos;
    private long dataBytes;
    private long chargedBytes;
    private boolean done;

    PagedRun(Request request, Coprocessor.Sources sources, MemoryGuard guard, Clock clock, DeadlineCheck deadline) {
        this.request = request;
        this.sources = sources;
        this.guard = guard;
        this.clock = clock;
        this.deadline = deadline;
        base = new RequestRun(request, sources, guard, Long.MAX_VALUE, clock, deadline);
    }

    /**
     * A piece of an answer.
     *
     * @param data the next bytes of {@code Response.data}
     * @param range keys read since the piece before, if the plan goes row by row: what a client need not ask for again
     * @param rest of the last piece: all other fields of the response
     */
    public record Page(ByteString data, Optional<KeyRange> range, Optional<Response> rest) {
        /** True if nothing comes behind it. */
        public boolean isLast() {
            return rest.isPresent();
        }
    }

    /**
     * The next piece; the one before is not charged any more then.
     *
     * @param pageBytes so many bytes of rows, and less than a batch more; at least 1
     * @throws CoplaneException whatever fails but evaluation, which is told inside the data of the last piece (coprocessor.md 3.13)
     */
    public Page next(long pageBytes) {
        if (done) {
            throw new CoplaneException(ErrorCode.INVARIANT_BROKEN, "the last page was given out");
        }
        taken();
        long start = clock.nanoTime();
        if (plan == null) {
            Optional<DAGRequest> found = base.planToRun();
            if (found.isEmpty() || request.getTasksCount() > 0) {
                return whole(start);
            }
            open(found.get());
        }
        Response.Builder piece = run.next(pageBytes);
        workNanos += clock.nanoTime() - start;
        dataBytes += piece.getData().size();
        charge(piece.getData());
        if (!run.isEnded()) {
            return new Page(
                    piece.getData(),
                    piece.hasRange() ? Optional.of(piece.getRange()) : Optional.empty(),
                    Optional.empty());
        }
        done = true;
        return last(base.finished(run, dag, plan, piece), workNanos);
    }

    private void open(DAGRequest found) {
        dag = found;
        long readTs = base.readTs(dag);
        source = sources.at(readTs);
        plan = base.plan(dag, source, readTs);
        run = new DagRun(request, dag, plan, Long.MAX_VALUE, deadline);
    }

    private Page whole(long start) {
        if (request.getTasksCount() > 0) {
            throw new CoplaneException(ErrorCode.UNSUPPORTED, "tasks of other regions are not streamed");
        }
        Response.Builder response = base.answerOrThrow();
        done = true;
        charge(response.getData());
        dataBytes = response.getData().size();
        return last(response, clock.nanoTime() - start);
    }

    private Page last(Response.Builder response, long nanos) {
        ByteString data = response.getData();
        Response rest = base.detailed(response, dataBytes, nanos).clearData().build();
        return new Page(data, Optional.empty(), Optional.of(rest));
    }

    private void charge(ByteString data) {
        long bytes = (long) HELD_PER_BYTE * data.size();
        guard.charge(bytes);
        chargedBytes = bytes;
    }

    private void taken() {
        guard.release(chargedBytes);
        chargedBytes = 0;
    }

    /** Frees the plan, and the charge of the last piece. Idempotent. */
    @Override
    public void close() {
        taken();
        done = true;
        if (plan != null) {
            plan.close();
            plan = null;
        }
        if (source != null) {
            source.close();
            source = null;
        }
    }
}
