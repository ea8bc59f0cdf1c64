package io.coplane.cop.expr.kernel;

import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.FieldType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.decimal.Decimal;
import io.coplane.types.decimal.DecimalStatus;
import io.coplane.types.decimal.RoundMode;
import io.coplane.types.text.Utf8;

/** Makes a value fit the field type of a cast: length, scale, sign (expressions.md 5.4.10, 5.5, 5.6). */
final class FieldFit {
    private static final int OUT_OF_RANGE = 1690;
    private static final int DATA_TOO_LONG = 1406;
    private static final int DATA_TRUNCATED = 1265;
    private static final int BAD_SCALE = 1427;
    private static final int MOST_DIGITS = 255;

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
        return isStringLike(type) && isBinaryCollation(type.collate());
    }

    private static boolean isBinaryCollation(int id) {
        return id == 63 || id == -63 || id == 47;
    }

    /** Puts text into a row, cut and padded to the type; {@code text} may be a view of the argument. */
    static void putText(KernelContext ctx, BytesColumn out, int row, byte[] text, int start, int length) {
        FieldType type = ctx.returnType();
        int kept = type.flen() < 0 ? length : fit(ctx.eval(), type, text, start, length);
        int padded = kept;
        if (type.tp() == FieldType.STRING && isBinaryCollation(type.collate())) {
            padded = Math.max(kept, type.flen());
        }
        int to = ctx.reserve(out, padded);
        System.arraycopy(text, start, out.data(), to, kept);
        java.util.Arrays.fill(out.data(), to + kept, to + padded, (byte) 0);
        out.setView(row, to, padded);
    }

    /** @return bytes that stay */
    private static int fit(EvalContext eval, FieldType type, byte[] text, int start, int length) {
        int flen = type.flen();
        boolean characters = switch (type.charset()) {
            case "utf8", "utf8mb4", "gbk", "gb18030" -> true;
            default -> false;
        };
        if (!characters) {
            if (length > flen) {
                tooLong(eval, flen, length);
                return flen;
            }
            return length;
        }
        if (length <= flen) {
            return length; // no text has more characters than bytes
        }
        int end = start + length;
        int count = 0;
        int cut = -1;
        for (int at = start; at < end; count++) {
            if (count == flen) {
                cut = at;
            }
            int width = Utf8.sequenceLength(text, at, end);
            at += width > 0 ? width : Utf8.invalidLength(text, at, end);
        }
        if (count <= flen) {
            return length;
        }
        tooLong(eval, flen, count);
        return cutOf(text, start, end, flen, cut);
    }

    /** The cut counts an invalid sequence as one byte. */
    private static int cutOf(byte[] text, int start, int end, int flen, int wellFormedCut) {
        if (Utf8.isValid(text, start, wellFormedCut - start)) {
            return wellFormedCut - start;
        }
        int at = start;
        for (int i = 0; i < flen && at < end; i++) {
            at += Math.max(1, Utf8.sequenceLength(text, at, end));
        }
        return at - start;
    }

    private static void tooLong(EvalContext eval, int flen, int length) {
        eval.truncated(EvalException.coded(DATA_TOO_LONG, "Data Too Long, field len " + flen + ", data len " + length));
    }

    /** Fits a double (5.5). */
    static double fit(EvalContext eval, FieldType type, double value) {
        double f = value;
        if (type.flen() >= 0 && type.decimal() >= 0 && type.flen() < MOST_DIGITS && type.decimal() < MOST_DIGITS) {
            int decimal = type.decimal();
            double power = RealKernels.powerOfTen(decimal);
            double max = RealKernels.powerOfTen(type.flen() - decimal) - RealKernels.powerOfTen(-decimal);
            double scaled = f * power;
            if (!Double.isInfinite(scaled)) {
                f = roundAway(scaled) / power;
            }
            if (f > max || f < -max) {
                eval.overflow(
                        EvalException.coded(OUT_OF_RANGE, Reals.text(value) + " value is out of range in 'DOUBLE'"));
                f = Math.copySign(max, f);
            }
        }
        if (type.isUnsigned() && f < 0) {
            eval.overflow(EvalException.coded(
                    OUT_OF_RANGE, "constant " + Reals.text(f) + " overflows " + FieldType.name(type.tp())));
            return 0;
        }
        return f;
    }

    /** Half away from zero. */
    static double roundAway(double value) {
        double rounded = Math.copySign(Math.floor(Math.abs(value)), value);
        return Math.abs(value - rounded) >= 0.5 ? rounded + Math.signum(value) : rounded;
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
