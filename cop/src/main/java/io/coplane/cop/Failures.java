package io.coplane.cop;

import io.coplane.nativecache.CoplaneException;
import io.coplane.types.EvalException;

/** Which failures are answers (coprocessor.md 2.3, 3.13). */
final class Failures {
    private static final String CODED_PREFIX = "evaluation failed: ";

    private Failures() {}

    /** True for what a running DAG reports inside its SelectResponse: evaluation errors and corrupt data. */
    static boolean isEvaluation(CoplaneException e) {
        return switch (e.code()) {
            case EVALUATION, CORRUPT_KEY, CORRUPT_DATUM, CORRUPT_ROW, CORRUPT_VALUE, UNSUPPORTED, BAD_PLAN -> true;
            default -> false;
        };
    }

    /** True for what is a plain text outside of a running DAG; everything else is the caller's to map. */
    static boolean isText(CoplaneException e) {
        return switch (e.code()) {
            case BAD_KEY_RANGE, BAD_PROTOBUF -> true;
            default -> isEvaluation(e);
        };
    }

    /** Code in {@code SelectResponse.error}. */
    static int mysqlCode(CoplaneException e) {
        return e instanceof EvalException eval ? eval.mysqlCode() : EvalException.UNCODED;
    }

    /** Text in {@code Response.other_error}. */
    static String otherError(CoplaneException e) {
        boolean coded = e instanceof EvalException eval && eval.mysqlCode() != EvalException.UNCODED;
        return coded ? CODED_PREFIX + e.getMessage() : e.getMessage();
    }
}
