package io.coplane.cop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.proto.coprocessor.KeyRange;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.coprocessor.StoreBatchTask;
import io.coplane.proto.tipb.EncodeType;
import io.coplane.proto.tipb.SelectResponse;
import io.coplane.snapshot.DeadlineCheck;
import io.coplane.testing.ManualClock;
import io.coplane.testing.NoLeaks;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@link PagedRun} gives out, put together, is what {@link Coprocessor#execute} answers. */
@ExtendWith(NoLeaks.class)
final class PagedRunTest {
    private static final RecordedData DATA = new RecordedData("paging");
    private static final List<Request> SOME = DATA.requests().subList(0, 120);
    private static final ManualClock CLOCK = new ManualClock(Instant.EPOCH);

    private final MemoryLimiter limiter = new MemoryLimiter(1L << 30);

    @ParameterizedTest
    @ValueSource(ints = {1, 400, 1 << 30})
    void piecesOfEveryRecordedAnswerMakeTheWhole(int pageBytes) throws Exception {
        int pieces = 0;
        int answers = 0;
        for (Request recorded : SOME) {
            Request request = recorded.toBuilder().clearTasks().build();
            Response whole = whole(request);
            if (!whole.getOtherError().isEmpty()) {
                continue; // thrown by the other way: below
            }
            List<PagedRun.Page> pages = pages(request, pageBytes);
            pieces += pages.size();
            answers++;

            Response rest = pages.getLast().rest().orElseThrow();
            assertThat(join(pages)).isEqualTo(whole.getData());
            assertThat(rest).isEqualTo(whole.toBuilder().clearData().build());
        }
        assertThat(answers).isGreaterThan(60);
        assertThat(pieces).isGreaterThanOrEqualTo(pageBytes == 1 ? answers + 20 : answers);
        assertThat(limiter.usedBytes()).isZero();
    }

    /** A client whose stream broke after some pieces asks for the rest of the ranges, and gets the rest of the rows. */
    @Test
    void rangesOfPiecesTellWhereToGoOn() throws Exception {
        int resumed = 0;
        for (Request recorded : SOME) {
            Request request =
                    recorded.toBuilder().clearTasks().clearPagingSize().build();
            List<PagedRun.Page> pages;
            try {
                pages = pages(request, 1);
            } catch (CoplaneException e) {
                continue; // no plan
            }
            boolean forward = pages.size() > 2
                    && request.getRangesCount() == 1
                    && pages.getFirst().range().isPresent()
                    && pages.getFirst()
                            .range()
                            .get()
                            .getStart()
                            .equals(request.getRanges(0).getStart());
            if (!forward || !isDefault(whole(request))) {
                continue;
            }
            KeyRange first = pages.getFirst().range().get();
            assertThat(pages.get(1).range().orElseThrow().getStart()).isEqualTo(first.getEnd());
            Request rest = request.toBuilder()
                    .setRanges(0, request.getRanges(0).toBuilder().setStart(first.getEnd()))
                    .build();
            long rows = rows(whole(request)) - rows(pages.getFirst().data());

            assertThat(rows(whole(rest))).isEqualTo(rows);
            resumed++;
        }
        assertThat(resumed).isGreaterThan(3);
    }

    @Test
    void whatIsNoAnswerIsThrownAndNothingStays() {
        Request request = DATA.requests().getFirst();

        fails(request.toBuilder().setTp(77).build(), DeadlineCheck.NONE, ErrorCode.UNSUPPORTED);
        fails(
                request.toBuilder().setData(ByteString.copyFromUtf8("\u007f")).build(),
                DeadlineCheck.NONE,
                ErrorCode.BAD_PROTOBUF);
        fails(
                request.toBuilder()
                        .addTasks(StoreBatchTask.getDefaultInstance())
                        .build(),
                DeadlineCheck.NONE,
                ErrorCode.UNSUPPORTED);
        fails(
                request,
                () -> {
                    throw new CoplaneException(ErrorCode.DEADLINE, "too late");
                },
                ErrorCode.DEADLINE);
    }

    @Test
    void aPlanThatIsGivenUpBetweenPiecesLeavesNothing() {
        Request request = DATA.requests().stream()
                .map(r -> r.toBuilder().clearTasks().clearPagingSize().build())
                .filter(r -> pieces(r) > 2)
                .findFirst()
                .orElseThrow();
        AtomicBoolean late = new AtomicBoolean();
        try (MemoryGuard guard = limiter.acquire(0);
                PagedRun run = new PagedRun(request, DATA, guard, CLOCK, () -> {
                    if (late.get()) {
                        throw new CoplaneException(ErrorCode.DEADLINE, "too late");
                    }
                })) {
            assertThat(run.next(1).isLast()).isFalse();
            assertThat(guard.chargedBytes()).isPositive();
            late.set(true);
            assertThatThrownBy(() -> run.next(1)).hasMessage("too late");
        }
        assertThat(limiter.usedBytes()).isZero();
    }

    private int pieces(Request request) {
        try {
            return pages(request, 1).size();
        } catch (CoplaneException e) {
            return 0;
        }
    }

    private void fails(Request request, DeadlineCheck deadline, ErrorCode code) {
        try (MemoryGuard guard = limiter.acquire(0);
                PagedRun run = new PagedRun(request, DATA, guard, CLOCK, deadline)) {
            assertThatThrownBy(() -> run.next(1))
                    .isInstanceOfSatisfying(
                            CoplaneException.class, e -> assertThat(e.code()).isEqualTo(code));
        }
        assertThat(limiter.usedBytes()).isZero();
    }

    private List<PagedRun.Page> pages(Request request, long pageBytes) {
        List<PagedRun.Page> pages = new ArrayList<>();
        try (MemoryGuard guard = limiter.acquire(0);
                PagedRun run = new PagedRun(request, DATA.forTask(), guard, CLOCK, DeadlineCheck.NONE)) {
            do {
                pages.add(run.next(pageBytes));
            } while (!pages.getLast().isLast());
        }
        return pages;
    }

    private Response whole(Request request) {
        try (MemoryGuard guard = limiter.acquire(0)) {
            return Coprocessor.execute(request, DATA.forTask(), guard, Long.MAX_VALUE, CLOCK, DeadlineCheck.NONE)
                    .build();
        }
    }

    private static ByteString join(List<PagedRun.Page> pages) {
        ByteString joined = ByteString.EMPTY;
        for (PagedRun.Page page : pages) {
            joined = joined.concat(page.data());
        }
        return joined;
    }

    private static boolean isDefault(Response response) throws Exception {
        return SelectResponse.parseFrom(response.getData()).getEncodeType() == EncodeType.TypeDefault;
    }

    private static long rows(Response response) throws Exception {
        return rows(response.getData());
    }

    /** Bytes of rows: in the default encoding they don't depend on where chunks end. */
    private static long rows(ByteString data) throws Exception {
        return SelectResponse.parseFrom(data).getChunksList().stream()
                .mapToLong(chunk -> chunk.getRowsData().size())
                .sum();
    }
}
