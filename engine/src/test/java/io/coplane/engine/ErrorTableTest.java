package io.coplane.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.InvalidProtocolBufferException;
import io.coplane.engine.ErrorTable.Stage;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.MemoryLimiter;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What each failure is to each kind of client: worker.md 6.2, 6.5, 9.2, 14.2; compaction.md 1.3; docs/grpc.md. */
final class ErrorTableTest {
    /** Columns: code, HTTP of /coprocessor, of /compact, of /txn_chunk, tikvpb.Tikv, our own service, retryable. */
    @ParameterizedTest
    @CsvSource({
        "BAD_REQUEST_BODY, 500, 400, 400, 13, 3, false",
        "BAD_PROTOBUF, 500, 500, 500, 13, 3, false",
        "NO_SNAPSHOT, 500, 500, 500, 13, 3, false",
        "UNSUPPORTED, 500, 501, 500, 13, 12, false",
        "BLACK_LISTED, 403, 500, 500, 7, 7, false",
        "REQUEST_ID_IN_USE, 500, 500, 500, 13, 6, false",
        "MEMORY_LIMIT, 503, 503, 503, 0, 8, true",
        "PERMIT_TIMEOUT, 503, 500, 503, 0, 8, true",
        "DEADLINE, 503, 500, 503, 13, 4, true",
        "SHUTTING_DOWN, 503, 503, 503, 14, 14, true",
        "STORE_UNAVAILABLE, 500, 500, 500, 13, 14, true",
        "CANCELLED, 500, 500, 500, 13, 1, false",
        "FILE_NOT_FOUND, 500, 500, 500, 13, 5, false",
        "FILE_CHECKSUM, 500, 500, 500, 13, 15, false",
        "INVARIANT_BROKEN, 500, 500, 500, 13, 13, false"
    })
    void rowsOfTheTable(ErrorCode code, int cop, int compact, int chunk, int tikv, int own, boolean retryable) {
        CoplaneException failure = new CoplaneException(code, "text");

        assertThat(ErrorTable.answer(failure, Stage.SNAPSHOT, "").httpStatus()).isEqualTo(cop);
        assertThat(ErrorTable.compaction(failure).httpStatus()).isEqualTo(compact);
        assertThat(ErrorTable.txnChunk(failure, ErrorTable.ChunkStage.REQUEST).httpStatus())
                .isEqualTo(chunk);
        assertThat(ErrorTable.delegated(failure, Stage.SNAPSHOT, "").grpcStatus())
                .isEqualTo(tikv);
        ServiceError error = ErrorTable.service(failure);
        assertThat(error).isEqualTo(new ServiceError(own, code, "text", retryable, 0));
    }

    /** The thousand tells who acts (style.md 2.6): what is retryable here is of the second, all but a cancellation. */
    @ParameterizedTest
    @EnumSource
    void everyCodeHasARowThatFitsItsThousand(ErrorCode code) {
        ServiceError error = ErrorTable.service(new CompletionException(new CoplaneException(code, "text")));

        assertThat(error.grpcStatus()).isBetween(1, 16);
        assertThat(error.isRetryable()).isEqualTo(code.number() / 1000 == 2 && code != ErrorCode.CANCELLED);
    }

    @Test
    void tellsByHowMuchTheMemoryCapWasMissed() {
        MemoryLimiter limiter = new MemoryLimiter(10);
        MemoryLimitException failure = null;
        try {
            limiter.acquire(17).close();
        } catch (MemoryLimitException e) {
            failure = e;
        }

        assertThat(ErrorTable.service(failure).exceededBytes()).isEqualTo(7);
    }

    @Test
    void whatIsNoFailureOfOursIsABug() {
        assertThat(ErrorTable.service(new IllegalStateException("x")).grpcStatus())
                .isEqualTo(13);
        assertThat(ErrorTable.service(new InvalidProtocolBufferException("x")).code())
                .isEqualTo(ErrorCode.BAD_PROTOBUF);
    }
}
