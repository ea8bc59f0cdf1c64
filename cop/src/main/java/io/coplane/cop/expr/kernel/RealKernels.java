package io.coplane.cop.expr.kernel;

import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalException;
import io.coplane.types.EvalType;
import io.coplane.types.column.Column;
import io.coplane.types.column.DoubleColumn;
import io.coplane.types.column.LongColumn;
import io.coplane.types.number.RealText;
import io.coplane.types.number.Reals;

/** Mathematics on reals (expressions.md 8.6). A result is never NaN: such a row is NULL, or an error where the reference aborts. */
final class RealKernels {
    private static final int OUT_OF_RANGE = 1690;
    private static final long SEED_MODULUS = 0x3fffffff;

    /** One value to one value. */
    @FunctionalInterface
    private interface Function {
        double apply(double x);
    }

    /** A transcendental function. */
    @FunctionalInterface
    private interface PreciseFunction {
        double apply(PreciseMath math, double x);
    }

    private RealKernels() {}

    static void declare(SignatureTable table) {
        nullable(table, ScalarFuncSig.AbsReal, Math::abs);
        nullable(table, ScalarFuncSig.CeilReal, Math::ceil);
        nullable(table, ScalarFuncSig.FloorReal, Math::floor);
        nullable(table, ScalarFuncSig.RoundReal, Math::rint);
        nullable(table, ScalarFuncSig.Sqrt, Math::sqrt);
        precise(table, ScalarFuncSig.Sin, PreciseMath::sin);
        precise(table, ScalarFuncSig.Cos, PreciseMath::cos);
        precise(table, ScalarFuncSig.Tan, PreciseMath::tan);
        precise(table, ScalarFuncSig.Asin, PreciseMath::asin);
        precise(table, ScalarFuncSig.Acos, PreciseMath::acos);
        precise(table, ScalarFuncSig.Atan1Arg, PreciseMath::atan);
        nullable(table, ScalarFuncSig.Radians, x -> x * (Math.PI / 180));
        precise(table, ScalarFuncSig.Log1Arg, (math, x) -> finiteOrNan(math.log(x)));
        precise(table, ScalarFuncSig.Log2, (math, x) -> finiteOrNan(math.log2(x)));
        precise(table, ScalarFuncSig.Log10, (math, x) -> finiteOrNan(math.log10(x)));
        bounded(table, ScalarFuncSig.Exp, "exp", PreciseMath::exp);
        bounded(table, ScalarFuncSig.Cot, "cot", (math, x) -> 1 / math.tan(x));
        bounded(table, ScalarFuncSig.Degrees, "degrees", (math, x) -> x * (180 / Math.PI));
        binary(table, ScalarFuncSig.Log2Args, RealKernels::logOfBase);
        binary(table, ScalarFuncSig.Atan2Args, RealKernels::atan2);
        binary(table, ScalarFuncSig.Pow, RealKernels::pow);
        table.add(ScalarFuncSig.Sign).takes(EvalType.REAL).returns(EvalType.INT).runs(RealKernels::sign);
        table.add(ScalarFuncSig.PI).takes().returns(EvalType.REAL).runs(RealKernels::pi);
        table.add(ScalarFuncSig.Rand).takes().returns(EvalType.REAL).runs(RealKernels::rand);
        table.add(ScalarFuncSig.RandWithSeedFirstGen)
                .takes(EvalType.INT)
                .returns(EvalType.REAL)
                .seesNulls()
                .runs(RealKernels::randWithSeed);
        table.add(ScalarFuncSig.RoundWithFracReal)
                .takes(EvalType.REAL, EvalType.INT)
                .returns(EvalType.REAL)
                .runs(RealKernels::roundWithFrac);
        table.add(ScalarFuncSig.TruncateReal)
                .takes(EvalType.REAL, EvalType.INT)
                .returns(EvalType.REAL)
                .runs(RealKernels::truncate);
    }

    /** NaN becomes NULL. */
    private static void nullable(SignatureTable table, ScalarFuncSig sig, Function function) {
        table.add(sig).takes(EvalType.REAL).returns(EvalType.REAL).runs((ctx, args, rows, out) -> {
            double[] arg = ((DoubleColumn) args[0]).values();
            double[] values = ((DoubleColumn) out).values();
            for (int i = 0; i < rows; i++) {
                put(function.apply(arg[i]), i, values, out);
            }
        });
    }

    /** NaN becomes NULL. */
    private static void precise(SignatureTable table, ScalarFuncSig sig, PreciseFunction function) {
        table.add(sig).takes(EvalType.REAL).returns(EvalType.REAL).runs((ctx, args, rows, out) -> {
            double[] arg = ((DoubleColumn) args[0]).values();
            double[] values = ((DoubleColumn) out).values();
            PreciseMath math = math(ctx);
            for (int i = 0; i < rows; i++) {
                put(function.apply(math, arg[i]), i, values, out);
            }
        });
    }

    /** An infinite result is an error. */
    private static void bounded(SignatureTable table, ScalarFuncSig sig, String name, PreciseFunction function) {
        table.add(sig).takes(EvalType.REAL).returns(EvalType.REAL).runs((ctx, args, rows, out) -> {
            double[] arg = ((DoubleColumn) args[0]).values();
            double[] values = ((DoubleColumn) out).values();
            PreciseMath math = math(ctx);
            for (int i = 0; i < rows; i++) {
                double result = function.apply(math, arg[i]);
                if (Double.isInfinite(result) && !out.isNull(i)) {
                    throw EvalException.coded(
                            OUT_OF_RANGE,
                            "DOUBLE value is out of range in '" + name + "(" + RealText.of(arg[i]) + ")'");
                }
                put(result, i, values, out);
            }
        });
    }

    private static void binary(SignatureTable table, ScalarFuncSig sig, Kernel kernel) {
        table.add(sig)
                .takes(EvalType.REAL, EvalType.REAL)
                .returns(EvalType.REAL)
                .runs(kernel);
    }

    private static void put(double result, int row, double[] values, Column out) {
        if (Double.isNaN(result)) {
            out.setNull(row);
            values[row] = 0;
        } else {
            values[row] = result;
        }
    }

    private static double finiteOrNan(double x) {
        return Double.isInfinite(x) ? Double.NaN : x;
    }

    private static PreciseMath math(KernelContext ctx) {
        if (ctx.scratch() == null) {
            ctx.scratch(new PreciseMath());
        }
        return (PreciseMath) ctx.scratch();
    }

    private static void logOfBase(KernelContext ctx, Column[] args, int rows, Column out) {
        double[] base = ((DoubleColumn) args[0]).values();
        double[] x = ((DoubleColumn) args[1]).values();
        double[] values = ((DoubleColumn) out).values();
        PreciseMath math = math(ctx);
        for (int i = 0; i < rows; i++) {
            boolean defined = base[i] > 0 && base[i] != 1 && x[i] > 0;
            put(defined ? finiteOrNan(math.log(x[i]) / math.log(base[i])) : Double.NaN, i, values, out);
        }
    }

    private static void atan2(KernelContext ctx, Column[] args, int rows, Column out) {
        double[] left = ((DoubleColumn) args[0]).values();
        double[] right = ((DoubleColumn) args[1]).values();
        double[] values = ((DoubleColumn) out).values();
        PreciseMath math = math(ctx);
        for (int i = 0; i < rows; i++) {
            put(math.atan2(left[i], right[i]), i, values, out);
        }
    }

    private static void pow(KernelContext ctx, Column[] args, int rows, Column out) {
        double[] left = ((DoubleColumn) args[0]).values();
        double[] right = ((DoubleColumn) args[1]).values();
        double[] values = ((DoubleColumn) out).values();
        PreciseMath math = math(ctx);
        for (int i = 0; i < rows; i++) {
            double result = math.pow(left[i], right[i]);
            if (Double.isInfinite(result) && !out.isNull(i)) {
                throw EvalException.coded(
                        OUT_OF_RANGE,
                        "DOUBLE value is out of range in 'pow(" + RealText.of(left[i]) + ", " + RealText.of(right[i])
                                + ")'");
            }
            put(result, i, values, out);
        }
    }

    private static void sign(KernelContext ctx, Column[] args, int rows, Column out) {
        double[] arg = ((DoubleColumn) args[0]).values();
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            values[i] = (arg[i] > 0 ? 1L : 0L) - (arg[i] < 0 ? 1L : 0L);
        }
    }

    private static void pi(KernelContext ctx, Column[] args, int rows, Column out) {
        double[] values = ((DoubleColumn) out).values();
        for (int i = 0; i < rows; i++) {
            values[i] = Math.PI;
        }
    }

    private static void rand(KernelContext ctx, Column[] args, int rows, Column out) {
        if (ctx.scratch() == null) {
            long nanos = Math.floorMod(ctx.eval().clock().wallMicros(), 1_000_000L) * 1_000;
            ctx.scratch(seed(nanos));
        }
        long[] seeds = (long[]) ctx.scratch();
        double[] values = ((DoubleColumn) out).values();
        for (int i = 0; i < rows; i++) {
            values[i] = draw(seeds);
        }
    }

    private static void randWithSeed(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] arg = ((LongColumn) args[0]).values();
        double[] values = ((DoubleColumn) out).values();
        for (int i = 0; i < rows; i++) {
            long seed = args[0].isNull(i) ? 0 : arg[i];
            long first = firstSeed(seed);
            long second = secondSeed(seed);
            values[i] = (double) ((3 * first + second) % SEED_MODULUS) / SEED_MODULUS;
        }
    }

    private static long firstSeed(long seed) {
        return (seed * 0x10001 + 55555555 & 0xffffffffL) % SEED_MODULUS;
    }

    private static long secondSeed(long seed) {
        return (seed * 0x10000001 & 0xffffffffL) % SEED_MODULUS;
    }

    private static long[] seed(long seed) {
        return new long[] {firstSeed(seed), secondSeed(seed)};
    }

    private static double draw(long[] seeds) {
        seeds[0] = (3 * seeds[0] + seeds[1]) % SEED_MODULUS;
        seeds[1] = (seeds[0] + seeds[1] + 33) % SEED_MODULUS;
        return (double) seeds[0] / SEED_MODULUS;
    }

    private static void roundWithFrac(KernelContext ctx, Column[] args, int rows, Column out) {
        double[] arg = ((DoubleColumn) args[0]).values();
        long[] digits = ((LongColumn) args[1]).values();
        double[] values = ((DoubleColumn) out).values();
        for (int i = 0; i < rows; i++) {
            double power = Reals.powerOfTen((int) digits[i]);
            double scaled = arg[i] * power;
            double result = Double.isInfinite(scaled) ? arg[i] : Math.rint(scaled) / power;
            putOrAbort(result, i, values, out);
        }
    }

    private static void truncate(KernelContext ctx, Column[] args, int rows, Column out) {
        double[] arg = ((DoubleColumn) args[0]).values();
        long[] digits = ((LongColumn) args[1]).values();
        double[] values = ((DoubleColumn) out).values();
        boolean unsigned = ctx.isUnsigned(1);
        for (int i = 0; i < rows; i++) {
            long d = digits[i];
            int clamped = unsigned && d < 0
                    ? Integer.MAX_VALUE
                    : (int) Math.max(Integer.MIN_VALUE, Math.min(Integer.MAX_VALUE, d));
            double scale = Reals.powerOfTen(clamped);
            double scaled = arg[i] * scale;
            double result;
            if (scaled == 0) {
                result = 0;
            } else if (Double.isInfinite(scaled)) {
                result = arg[i];
            } else {
                result = (scaled < 0 ? Math.ceil(scaled) : Math.floor(scaled)) / scale;
            }
            putOrAbort(result, i, values, out);
        }
    }

    /** The reference aborts on NaN here (expressions.md 13); we fail. */
    private static void putOrAbort(double result, int row, double[] values, Column out) {
        if (Double.isNaN(result) && !out.isNull(row)) {
            throw EvalException.coded(OUT_OF_RANGE, "DOUBLE value is out of range in ''");
        }
        put(result, row, values, out);
    }
}
