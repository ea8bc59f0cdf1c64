package io.coplane.types;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;

/** An evaluation error with its MySQL code (coprocessor.md 3.13, expressions.md 4.4). */
public final class EvalException extends CoplaneException {
    private static final long serialVersionUID = 1L;

    /** Code of failures that carry no MySQL code, in {@code SelectResponse.error}. */
    public static final int UNCODED = 10000;

    private final int mysqlCode;

    private EvalException(int mysqlCode, String text) {
        super(ErrorCode.EVALUATION, text);
        this.mysqlCode = mysqlCode;
    }

    /** A MySQL-coded error. */
    public static EvalException coded(int mysqlCode, String text) {
        return new EvalException(mysqlCode, text);
    }

    /** Any other failure: code 10000 as an error, 1105 as a warning. */
    public static EvalException uncoded(String text) {
        return new EvalException(UNCODED, text);
    }

    /** Code in {@code SelectResponse.error}. */
    public int mysqlCode() {
        return mysqlCode;
    }

    /** Code when it becomes a warning. */
    public int warningCode() {
        return mysqlCode == UNCODED ? 1105 : mysqlCode;
    }

    /** Text when it becomes a warning. */
    public String warningText() {
        return mysqlCode == UNCODED ? getMessage() : "evaluation failed: " + getMessage();
    }
}
