package io.coplane.engine;

import com.google.protobuf.InvalidProtocolBufferException;
import io.coplane.compaction.Admission;
import io.coplane.cop.Coprocessor;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.errorpb.Error;
import io.coplane.proto.errorpb.ServerIsBusy;
import java.util.concurrent.CompletionException;

/** The one table from failures to answers (worker.md 6.2, 6.5; snapshot.md 1.4). */
final class ErrorTable {
    static final int OK = 200;
    private static final int BAD_REQUEST = 400;
    private static final String OUTGROWN = "memory limit exceeded";
    private static final String MEMORY_TEXT = "Coprocessor task canceled due to exceeding memory quota";

    private static final int GRPC_OK = 0;
    private static final int GRPC_PERMISSION_DENIED = 7;
    private static final int GRPC_INTERNAL = 13;
    private static final int GRPC_UNAVAILABLE = 14;

    private static final int FORBIDDEN = 403;
    private static final int FAILED = 500;
    private static final int INCOMPATIBLE = 501;
    private static final int RETRY = 503;

    /** Where a request stood when it failed. */
    enum Stage {
        DECODE("decode"),
        ADMIT("admit"),
        SNAPSHOT("snapshot"),
        EXECUTE("execute");

        private final String reason;

        Stage(String reason) {
            this.reason = reason;
        }

        /** Label of the failure counter. */
        String reason() {
            return reason;
        }
    }

    private ErrorTable() {}

    /** The answer to a request that failed. */
    static CopAnswer answer(Throwable thrown, Stage stage, String tag) {
        Throwable failure = unwrap(thrown);
        if (failure instanceof InvalidProtocolBufferException e) {
            return text(FAILED, e.getMessage(), tag);
        }
        if (failure instanceof CoplaneException e) {
            return answer(e, stage, tag);
        }
        return text(FAILED, "Other(" + quoted("internal error: " + failure) + ")", tag);
    }

    private static CopAnswer answer(CoplaneException e, Stage stage, String tag) {
        return switch (e.code()) {
            case BLACK_LISTED -> text(FORBIDDEN, e.getMessage(), tag);
            case PERMIT_TIMEOUT -> text(RETRY, "wait permit timeout", tag);
            case SHUTTING_DOWN -> text(RETRY, "worker is shutting down", tag);
            case MEMORY_LIMIT -> text(RETRY, stage == Stage.SNAPSHOT ? memoryText(e) : OUTGROWN, tag);
            case DEADLINE ->
                stage == Stage.EXECUTE
                        ? response(Coprocessor.deadlineResponse(), tag)
                        : text(
                                RETRY,
                                stage == Stage.SNAPSHOT ? "construct snapshot timeout" : "wait permit timeout",
                                tag);
            case NO_SNAPSHOT, BAD_MEM_DATA -> text(FAILED, "RemoteRead(" + quoted(e.getMessage()) + ")", tag);
            case BAD_REQUEST_BODY,
                    BAD_PROTOBUF,
                    BAD_KEY_RANGE,
                    BAD_CHANGE_SET,
                    BAD_PLAN,
                    UNSUPPORTED,
                    EVALUATION,
                    BAD_CONFIG,
                    RESPONSE_TOO_LARGE,
                    BAD_ARGUMENT,
                    BAD_ENCRYPTION_KEY,
                    STORE_UNAVAILABLE,
                    STORE_REFUSED,
                    STORE_READ_ONLY,
                    PD_UNAVAILABLE,
                    PD_REFUSED,
                    COMPACTION_RUNNING,
                    FILE_NOT_FOUND,
                    FILE_TRUNCATED,
                    FILE_CHECKSUM,
                    FILE_FORMAT,
                    FILE_ENCRYPTED,
                    FILE_MISMATCH,
                    CORRUPT_KEY,
                    CORRUPT_DATUM,
                    CORRUPT_ROW,
                    CORRUPT_VALUE,
                    INVARIANT_BROKEN ->
                stage == Stage.EXECUTE
                        ? response(
                                Response.newBuilder()
                                        .setOtherError(e.getMessage())
                                        .build(),
                                tag)
                        : text(FAILED, "Other(" + quoted(e.getMessage()) + ")", tag);
        };
    }

    /** The answer to a compaction that failed (compaction.md 1.3). Texts have no contract but those of 501 and 503. */
    static CompactAnswer compaction(Throwable thrown) {
        Throwable failure = unwrap(thrown);
        if (!(failure instanceof CoplaneException e)) {
            return CompactAnswer.text(FAILED, "internal error: " + failure);
        }
        return switch (e.code()) {
            case BAD_REQUEST_BODY -> CompactAnswer.text(BAD_REQUEST, e.getMessage());
            case UNSUPPORTED -> incompatible();
            case MEMORY_LIMIT -> CompactAnswer.text(RETRY, OUTGROWN);
            case SHUTTING_DOWN -> CompactAnswer.text(RETRY, "worker is shutting down");
            case COMPACTION_RUNNING -> CompactAnswer.text(RETRY, "the same compaction is running");
            case BAD_PROTOBUF,
                    BAD_KEY_RANGE,
                    BAD_MEM_DATA,
                    NO_SNAPSHOT,
                    BAD_CHANGE_SET,
                    BAD_PLAN,
                    EVALUATION,
                    BAD_CONFIG,
                    BLACK_LISTED,
                    RESPONSE_TOO_LARGE,
                    BAD_ARGUMENT,
                    BAD_ENCRYPTION_KEY,
                    STORE_REFUSED,
                    STORE_READ_ONLY,
                    PERMIT_TIMEOUT,
                    DEADLINE,
                    STORE_UNAVAILABLE,
                    PD_UNAVAILABLE,
                    PD_REFUSED,
                    FILE_NOT_FOUND,
                    FILE_TRUNCATED,
                    FILE_CHECKSUM,
                    FILE_FORMAT,
                    FILE_ENCRYPTED,
                    FILE_MISMATCH,
                    CORRUPT_KEY,
                    CORRUPT_DATUM,
                    CORRUPT_ROW,
                    CORRUPT_VALUE,
                    INVARIANT_BROKEN -> CompactAnswer.text(FAILED, e.code() + ": " + e.getMessage());
        };
    }

    /** The answer that makes a store compact by itself at once. */
    static CompactAnswer incompatible() {
        return CompactAnswer.text(INCOMPATIBLE, Admission.INCOMPATIBLE);
    }

    /** The answer to a compaction of a vector index beyond the permits: another worker may have one. */
    static CompactAnswer vectorIndexThrottled() {
        return CompactAnswer.text(RETRY, "vector index compaction requests throttled");
    }

    /** The answer that carries an executed request's response: 200, or 500 where the response itself is an error (worker.md 6.5). */
    static CopAnswer response(Response response, String tag) {
        String text = errorText(response);
        return new CopAnswer(text.isEmpty() ? OK : FAILED, response.toByteArray(), text, tag);
    }

    /**
     * The gRPC answer of an executed request: the response, or the status for one that is an error itself (worker.md 9.2).
     *
     * @param isHandedOn the response is the storage node's, not ours
     */
    static DelegatedAnswer delegated(Response response, boolean isHandedOn, String tag) {
        if (isHandedOn || response.getOtherError().isEmpty()) {
            return new DelegatedAnswer(GRPC_OK, response.toByteArray(), "", tag);
        }
        return new DelegatedAnswer(GRPC_INTERNAL, null, response.getOtherError(), tag);
    }

    /**
     * The gRPC answer of a request that failed. Beside the reference, which has INTERNAL for all: what the client can retry is told in a way that it
     * retries.
     */
    static DelegatedAnswer delegated(Throwable thrown, Stage stage, String tag) {
        Throwable failure = unwrap(thrown);
        if (!(failure instanceof CoplaneException e)) {
            return new DelegatedAnswer(GRPC_INTERNAL, null, String.valueOf(failure.getMessage()), tag);
        }
        if (e.code() == ErrorCode.MEMORY_LIMIT) {
            return new DelegatedAnswer(GRPC_OK, busy(MEMORY_TEXT).toByteArray(), "", tag);
        }
        if (e.code() == ErrorCode.DEADLINE && stage == Stage.EXECUTE) {
            return new DelegatedAnswer(GRPC_OK, Coprocessor.deadlineResponse().toByteArray(), "", tag);
        }
        int status = e.code() == ErrorCode.BLACK_LISTED
                ? GRPC_PERMISSION_DENIED
                : e.code() == ErrorCode.SHUTTING_DOWN ? GRPC_UNAVAILABLE : GRPC_INTERNAL;
        return new DelegatedAnswer(status, null, e.getMessage(), tag);
    }

    private static Response busy(String text) {
        return Response.newBuilder()
                .setRegionError(Error.newBuilder()
                        .setMessage(text)
                        .setServerIsBusy(ServerIsBusy.newBuilder().setReason(text)))
                .build();
    }

    /** True where a response is an error in itself, not an answer (worker.md 6.5). */
    static boolean isError(Response response) {
        return !errorText(response).isEmpty();
    }

    private static String errorText(Response response) {
        if (response.hasRegionError()) {
            return "Region(" + quoted(response.getRegionError().getMessage()) + ")";
        }
        if (response.hasLocked()) {
            return "Locked";
        }
        return response.getOtherError().isEmpty() ? "" : "Other(" + quoted(response.getOtherError()) + ")";
    }

    private static String memoryText(CoplaneException e) {
        return e instanceof MemoryLimitException limit
                ? "MemoryLimitExceeded(" + limit.exceededBytes() + ")"
                : "Other(" + quoted(e.getMessage()) + ")";
    }

    /** The failure itself, without the wrappers that futures add. */
    static Throwable unwrap(Throwable thrown) {
        Throwable failure = thrown;
        while (failure instanceof CompletionException && failure.getCause() != null) {
            failure = failure.getCause();
        }
        return failure;
    }

    private static CopAnswer text(int status, String text, String tag) {
        return new CopAnswer(status, null, text, tag);
    }

    /** Text in the reference's debug form: quoted, with quotes and control characters escaped. */
    private static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                default -> out.append(c);
            }
        }
        return out.append('"').toString();
    }

    /** True for failures that are bugs of ours, to be logged with their stack. */
    static boolean isBug(Throwable thrown) {
        Throwable failure = unwrap(thrown);
        return !(failure instanceof InvalidProtocolBufferException)
                && !(failure instanceof CoplaneException e && e.code() != ErrorCode.INVARIANT_BROKEN);
    }
}
