package io.coplane.cop.expr.kernel;

import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.FieldType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.decimal.Decimal;
import io.coplane.types.decimal.DecimalStatus;
import io.coplane.types.decimal.RoundMode;
import io.coplane.types.number.StringFit;

/** Makes a value fit the field type of a cast: length, scale, sign (expressions.md 5.4.10, 5.5, 5.6). */
final class FieldFit {
    private static final int OUT_OF_RANGE = 1690;
    private static final int DATA_TRUNCATED = 1265;
    private static final int BAD_SCALE = 1427;

    private FieldFit() {}

    /** A string-like type (expressions.md 1.5). */
    static boolean isStringLike(FieldType type) {
        return switch (type.tp()) {
            case FieldType.UNSPECIFIED,
                    FieldType.STRING,
                    FieldType.VAR_CHAR,
                    FieldType.VAR_STRING,
                    FieldType.TINY_BLOB,
                    FieldType.MEDIUM_BLOB,
                    FieldType.BLOB,
                    FieldType.LONG_BLOB -> true;
            default -> false;
        };
    }

    /** A string-like type whose collation is Binary. */
    static boolean isBinaryString(FieldType type) {
        // an unknown collation counts as non-binary here (expressions.md 1.5)
        int id = type.collate();
        return isStringLike(type) && (id == 63 || id == -63 || id == 47);
    }

    /** Puts text into a row, cut and padded to the type; {@code text} may be a view of the argument. */
    static void putText(KernelContext ctx, BytesColumn out, int row, byte[] text, int start, int length) {
        FieldType type = ctx.returnType();
        int kept = StringFit.keptBytes(text, start, length, type, ctx.eval());
        int padded = kept + StringFit.zeroPadding(kept, type);
        int to = ctx.reserve(out, padded);
        System.arraycopy(text, start, out.data(), to, kept);
        java.util.Arrays.fill(out.data(), to + kept, to + padded, (byte) 0);
        out.setView(row, to, padded);
    }

    /** Fits a decimal (5.4.10) in place. @param scratch not {@code value} */
    static void fit(EvalContext eval, FieldType type, Decimal value, Decimal scratch) {
        int flen = type.flen();
        int decimal = type.decimal();
        if (flen != FieldType.UNSPECIFIED_LENGTH && decimal != FieldType.UNSPECIFIED_LENGTH) {
            if (flen < decimal) {
                throw EvalException.coded(
                        BAD_SCALE, "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column ').");
            }
            boolean zero = value.isZero();
            if (!zero && value.precision() - value.fracCount() > flen - decimal) {
                eval.overflow(outOfRange(flen, decimal));
                value.setMax(value.isNegative(), flen, decimal);
            } else if (value.fracCount() != decimal) {
                round(eval, flen, decimal, value, scratch);
            }
        }
        if (type.isUnsigned() && value.isNegative()) {
            value.setZero();
        }
    }

    private static EvalException outOfRange(int flen, int decimal) {
        return EvalException.coded(OUT_OF_RANGE, "Decimal value is out of range in '(" + flen + ", " + decimal + ")'");
    }

    private static void round(EvalContext eval, int flen, int decimal, Decimal value, Decimal old) {
        old.set(value);
        DecimalStatus status = value.round(decimal, RoundMode.HALF_UP);
        if (status == DecimalStatus.OVERFLOW) {
            eval.overflow(outOfRange(flen, decimal));
        } else if (status == DecimalStatus.TRUNCATED) {
            eval.truncated();
        }
        if (!value.isZero() && old.fracCount() > decimal && value.compareTo(old) != 0) {
            if (eval.hasFlag(EvalContext.IN_INSERT_STMT | EvalContext.IN_UPDATE_OR_DELETE_STMT)) {
                eval.warn(EvalException.coded(DATA_TRUNCATED, "Data Truncated"));
            } else {
                eval.truncated();
            }
        }
    }
}
