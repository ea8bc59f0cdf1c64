package io.coplane.engine;

import com.google.protobuf.InvalidProtocolBufferException;
import io.coplane.compaction.Admission;
import io.coplane.cop.Coprocessor;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.Failures;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.errorpb.Error;
import io.coplane.proto.errorpb.ServerIsBusy;

/** The one table from failures to answers (worker.md 6.2, 6.5; snapshot.md 1.4). */
final class ErrorTable {
    static final int OK = 200;
    private static final int BAD_REQUEST = 400;
    private static final String OUTGROWN = "memory limit exceeded";
    private static final String MEMORY_TEXT = "Coprocessor task canceled due to exceeding memory quota";
    private static final String NO_PERMIT_TEXT = "wait permit timeout";
    private static final String STOPPING_TEXT = "worker is shutting down";

    // numbers of gRPC
    private static final int GRPC_OK = 0;
    private static final int GRPC_CANCELLED = 1;
    private static final int GRPC_INVALID_ARGUMENT = 3;
    private static final int GRPC_DEADLINE_EXCEEDED = 4;
    private static final int GRPC_NOT_FOUND = 5;
    private static final int GRPC_ALREADY_EXISTS = 6;
    private static final int GRPC_PERMISSION_DENIED = 7;
    private static final int GRPC_RESOURCE_EXHAUSTED = 8;
    private static final int GRPC_FAILED_PRECONDITION = 9;
    private static final int GRPC_OUT_OF_RANGE = 11;
    private static final int GRPC_UNIMPLEMENTED = 12;
    private static final int GRPC_INTERNAL = 13;
    private static final int GRPC_UNAVAILABLE = 14;
    private static final int GRPC_DATA_LOSS = 15;

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

    /** Where a request for a txn chunk stood when it failed: what its text begins with (worker.md 14.2). */
    enum ChunkStage {
        REQUEST(""),
        KEYSPACE("failed to acquire keyspace info "),
        CREATE("failed to create txn chunk file ");

        private final String text;

        ChunkStage(String text) {
            this.text = text;
        }
    }

    private ErrorTable() {}

    /**
     * What one failure is to each kind of client.
     *
     * @param coprocessor the answer over HTTP (worker.md 6.2, 6.5)
     * @param compaction HTTP status of a compaction (compaction.md 1.3)
     * @param txnChunk HTTP status of a txn chunk (worker.md 14.2)
     * @param tikv the answer of {@code tikvpb.Tikv} (worker.md 9.2)
     * @param own number of the gRPC status of our own service
     * @param retryable the same request may succeed later, or elsewhere
     */
    private record Row(Form coprocessor, int compaction, int txnChunk, Tikv tikv, int own, boolean retryable) {}

    /** How a failed coprocessor request is answered over HTTP. */
    private enum Form {
        /** 403 and the message. */
        FORBIDDEN,
        /** 503: no permit in time. */
        NO_PERMIT,
        /** 503: going down. */
        STOPPING,
        /** 503 in the reference's words. */
        NO_MEMORY,
        /** 503, or while it executes the response of coprocessor.md 2.3. */
        LATE,
        /** 500 in the debug form of an error of the snapshot. */
        REMOTE_READ,
        /** 500 in the debug form of another error, or while it executes a response with {@code other_error}. */
        OTHER
    }

    /** How a failure is told to a client of {@code tikvpb.Tikv}: INTERNAL as in the reference, but what it can retry so that it retries. */
    private enum Tikv {
        INTERNAL,
        DENIED,
        UNAVAILABLE,
        /** A response with {@code server_is_busy}. */
        BUSY,
        /** INTERNAL, or while it executes the response of coprocessor.md 2.3. */
        LATE
    }

    /** The table. */
    private static Row row(ErrorCode code) {
        return switch (code) {
            case BLACK_LISTED -> new Row(Form.FORBIDDEN, FAILED, FAILED, Tikv.DENIED, GRPC_PERMISSION_DENIED, false);
            case MEMORY_LIMIT -> new Row(Form.NO_MEMORY, RETRY, RETRY, Tikv.BUSY, GRPC_RESOURCE_EXHAUSTED, true);
            case PERMIT_TIMEOUT -> new Row(Form.NO_PERMIT, FAILED, RETRY, Tikv.BUSY, GRPC_RESOURCE_EXHAUSTED, true);
            case SHUTTING_DOWN -> new Row(Form.STOPPING, RETRY, RETRY, Tikv.UNAVAILABLE, GRPC_UNAVAILABLE, true);
            case DEADLINE -> new Row(Form.LATE, FAILED, RETRY, Tikv.LATE, GRPC_DEADLINE_EXCEEDED, true);
            case COMPACTION_RUNNING -> new Row(Form.OTHER, RETRY, FAILED, Tikv.INTERNAL, GRPC_UNAVAILABLE, true);
            case CANCELLED -> new Row(Form.OTHER, FAILED, FAILED, Tikv.INTERNAL, GRPC_CANCELLED, false);
            case NO_SNAPSHOT, BAD_MEM_DATA ->
                new Row(Form.REMOTE_READ, FAILED, FAILED, Tikv.INTERNAL, GRPC_INVALID_ARGUMENT, false);
            case BAD_REQUEST_BODY ->
                new Row(Form.OTHER, BAD_REQUEST, BAD_REQUEST, Tikv.INTERNAL, GRPC_INVALID_ARGUMENT, false);
            case BAD_PROTOBUF, BAD_KEY_RANGE, BAD_CHANGE_SET, BAD_PLAN, EVALUATION, BAD_ARGUMENT ->
                new Row(Form.OTHER, FAILED, FAILED, Tikv.INTERNAL, GRPC_INVALID_ARGUMENT, false);
            case REQUEST_ID_IN_USE -> new Row(Form.OTHER, FAILED, FAILED, Tikv.INTERNAL, GRPC_ALREADY_EXISTS, false);
            case UNSUPPORTED -> new Row(Form.OTHER, INCOMPATIBLE, FAILED, Tikv.INTERNAL, GRPC_UNIMPLEMENTED, false);
            case RESPONSE_TOO_LARGE -> new Row(Form.OTHER, FAILED, FAILED, Tikv.INTERNAL, GRPC_OUT_OF_RANGE, false);
            case BAD_CONFIG, BAD_ENCRYPTION_KEY, STORE_REFUSED, STORE_READ_ONLY, PD_REFUSED ->
                new Row(Form.OTHER, FAILED, FAILED, Tikv.INTERNAL, GRPC_FAILED_PRECONDITION, false);
            case STORE_UNAVAILABLE, PD_UNAVAILABLE ->
                new Row(Form.OTHER, FAILED, FAILED, Tikv.INTERNAL, GRPC_UNAVAILABLE, true);
            case FILE_NOT_FOUND -> new Row(Form.OTHER, FAILED, FAILED, Tikv.INTERNAL, GRPC_NOT_FOUND, false);
            case FILE_TRUNCATED,
                    FILE_CHECKSUM,
                    FILE_FORMAT,
                    FILE_ENCRYPTED,
                    FILE_MISMATCH,
                    CORRUPT_KEY,
                    CORRUPT_DATUM,
                    CORRUPT_ROW,
                    CORRUPT_VALUE -> new Row(Form.OTHER, FAILED, FAILED, Tikv.INTERNAL, GRPC_DATA_LOSS, false);
            case INVARIANT_BROKEN -> new Row(Form.OTHER, FAILED, FAILED, Tikv.INTERNAL, GRPC_INTERNAL, false);
        };
    }

    /** The answer to a request that failed. */
    static CopAnswer answer(Throwable thrown, Stage stage, String tag) {
        Throwable failure = Failures.unwrap(thrown);
        if (failure instanceof InvalidProtocolBufferException e) {
            return text(FAILED, e.getMessage(), tag);
        }
        if (failure instanceof CoplaneException e) {
            return answer(e, stage, tag);
        }
        return text(FAILED, "Other(" + quoted("internal error: " + failure) + ")", tag);
    }

    private static CopAnswer answer(CoplaneException e, Stage stage, String tag) {
        return switch (row(e.code()).coprocessor()) {
            case FORBIDDEN -> text(FORBIDDEN, e.getMessage(), tag);
            case NO_PERMIT -> text(RETRY, NO_PERMIT_TEXT, tag);
            case STOPPING -> text(RETRY, STOPPING_TEXT, tag);
            case NO_MEMORY -> text(RETRY, stage == Stage.SNAPSHOT ? memoryText(e) : OUTGROWN, tag);
            case LATE ->
                stage == Stage.EXECUTE
                        ? response(Coprocessor.deadlineResponse(), tag)
                        : text(RETRY, stage == Stage.SNAPSHOT ? "construct snapshot timeout" : NO_PERMIT_TEXT, tag);
            case REMOTE_READ -> text(FAILED, "RemoteRead(" + quoted(e.getMessage()) + ")", tag);
            case OTHER ->
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
        Throwable failure = Failures.unwrap(thrown);
        ServiceError error = service(failure);
        if (!(failure instanceof CoplaneException e)) {
            return CompactAnswer.text(FAILED, "internal error: " + failure, error);
        }
        int status = row(e.code()).compaction();
        String text = switch (status) {
            case BAD_REQUEST -> e.getMessage();
            case INCOMPATIBLE -> Admission.INCOMPATIBLE;
            case RETRY -> retryText(e.code());
            default -> e.code() + ": " + e.getMessage();
        };
        return CompactAnswer.text(status, text, error);
    }

    /** The answer to a request for a txn chunk that failed (worker.md 14.2). */
    static TxnChunkAnswer txnChunk(Throwable thrown, ChunkStage stage) {
        Throwable failure = Failures.unwrap(thrown);
        if (stage != ChunkStage.REQUEST) {
            return new TxnChunkAnswer(FAILED, stage.text + "Other(" + quoted(failure.getMessage()) + ")");
        }
        return failure instanceof CoplaneException e
                ? new TxnChunkAnswer(row(e.code()).txnChunk(), e.getMessage())
                : new TxnChunkAnswer(FAILED, "internal error: " + failure);
    }

    /** The answer to a request that names no keyspace. */
    static TxnChunkAnswer missingKeyspace() {
        return new TxnChunkAnswer(BAD_REQUEST, "missing keyspace id");
    }

    /** The failure as our own gRPC service tells it. */
    static ServiceError service(Throwable thrown) {
        Throwable failure = Failures.unwrap(thrown);
        if (failure instanceof InvalidProtocolBufferException e) {
            return service(
                    new CoplaneException(ErrorCode.BAD_PROTOBUF, "message does not parse: " + e.getMessage(), e));
        }
        if (failure instanceof CoplaneException e) {
            Row row = row(e.code());
            long exceeded = e instanceof MemoryLimitException limit ? limit.exceededBytes() : 0;
            return new ServiceError(row.own(), e.code(), e.getMessage(), row.retryable(), exceeded);
        }
        return new ServiceError(GRPC_INTERNAL, ErrorCode.INVARIANT_BROKEN, "internal error: " + failure, false, 0);
    }

    private static String retryText(ErrorCode code) {
        return switch (code) {
            case MEMORY_LIMIT -> OUTGROWN;
            case COMPACTION_RUNNING -> "the same compaction is running";
            default -> STOPPING_TEXT;
        };
    }

    /** The answer that makes a store compact by itself at once. */
    static CompactAnswer incompatible() {
        return compaction(new CoplaneException(ErrorCode.UNSUPPORTED, Admission.INCOMPATIBLE));
    }

    /** The answer to a compaction of a vector index beyond the permits: another worker may have one. */
    static CompactAnswer vectorIndexThrottled() {
        String text = "vector index compaction requests throttled";
        return CompactAnswer.text(RETRY, text, service(new CoplaneException(ErrorCode.PERMIT_TIMEOUT, text)));
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

    /** The gRPC answer of a request that failed. */
    static DelegatedAnswer delegated(Throwable thrown, Stage stage, String tag) {
        Throwable failure = Failures.unwrap(thrown);
        if (!(failure instanceof CoplaneException e)) {
            return new DelegatedAnswer(GRPC_INTERNAL, null, String.valueOf(failure.getMessage()), tag);
        }
        return switch (row(e.code()).tikv()) {
            case INTERNAL -> new DelegatedAnswer(GRPC_INTERNAL, null, e.getMessage(), tag);
            case DENIED -> new DelegatedAnswer(GRPC_PERMISSION_DENIED, null, e.getMessage(), tag);
            case UNAVAILABLE -> new DelegatedAnswer(GRPC_UNAVAILABLE, null, e.getMessage(), tag);
            case BUSY -> {
                String why = e.code() == ErrorCode.MEMORY_LIMIT ? MEMORY_TEXT : e.getMessage();
                yield new DelegatedAnswer(GRPC_OK, busy(why).toByteArray(), "", tag);
            }
            case LATE ->
                stage == Stage.EXECUTE
                        ? new DelegatedAnswer(
                                GRPC_OK, Coprocessor.deadlineResponse().toByteArray(), "", tag)
                        : new DelegatedAnswer(GRPC_INTERNAL, null, e.getMessage(), tag);
        };
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

    private static CopAnswer text(int status, String text, String tag) {
        return new CopAnswer(status, null, text, tag);
    }

    /** Text in the reference's debug form: quoted, with quotes and control characters escaped. */
    private static String quoted(String nullable) {
        String text = String.valueOf(nullable);
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
        Throwable failure = Failures.unwrap(thrown);
        return !(failure instanceof InvalidProtocolBufferException)
                && !(failure instanceof CoplaneException e && e.code() != ErrorCode.INVARIANT_BROKEN);
    }
}
