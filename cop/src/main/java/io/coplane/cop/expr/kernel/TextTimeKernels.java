package io.coplane.cop.expr.kernel;

import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalException;
import io.coplane.types.EvalType;
import io.coplane.types.FieldType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.text.Utf8;
import io.coplane.types.time.Times;

/** GREATEST and LEAST of strings that are compared as times (expressions.md 8.2). */
final class TextTimeKernels {
    private static final int WRONG_VALUE = 1292;
    private static final long LAST_DATE = 9999L << 50 | 12L << 46 | 31L << 41;
    private static final long LAST_TIME = LAST_DATE | 23L << 36 | 59L << 30 | 59L << 24;
    private static final long DATE_BITS = 0b1110;
    private static final int MAX_FSP = 6;

    private TextTimeKernels() {}

    static void declare(SignatureTable table) {
        add(table, ScalarFuncSig.GreatestCmpStringAsTime, true, FieldType.DATE_TIME);
        add(table, ScalarFuncSig.LeastCmpStringAsTime, false, FieldType.DATE_TIME);
        add(table, ScalarFuncSig.GreatestCmpStringAsDate, true, FieldType.DATE);
        add(table, ScalarFuncSig.LeastCmpStringAsDate, false, FieldType.DATE);
    }

    private static void add(SignatureTable table, ScalarFuncSig sig, boolean greatest, int type) {
        table.add(sig)
                .takesMany(2, EvalType.BYTES)
                .returns(EvalType.BYTES)
                .seesNulls()
                .runs((ctx, args, rows, out) -> extreme(ctx, args, rows, (BytesColumn) out, greatest, type));
    }

    private static void extreme(
            KernelContext ctx, Column[] args, int rows, BytesColumn out, boolean greatest, int type) {
        TimeScratch scratch = TimeScratch.of(ctx);
        for (int i = 0; i < rows; i++) {
            long best = greatest ? Times.NONE : type == FieldType.DATE ? LAST_DATE | DATE_BITS : LAST_TIME;
            boolean failed = false;
            for (int a = 0; a < args.length && !failed; a++) {
                long core = read(ctx, scratch, (BytesColumn) args[a], i, type);
                failed = core == Times.NONE;
                if (!failed
                        && (best == Times.NONE || (greatest ? core >>> 4 >= best >>> 4 : core >>> 4 < best >>> 4))) {
                    best = core;
                }
            }
            if (failed) {
                Texts.putNull(out, i);
            } else {
                out.set(i, scratch.text, 0, Times.putText(best, scratch.text, 0));
            }
        }
    }

    /** {@link Times#NONE} for NULL or after a failure was reported. */
    private static long read(KernelContext ctx, TimeScratch scratch, BytesColumn arg, int row, int type) {
        if (arg.isNull(row)) {
            return Times.NONE;
        }
        byte[] data = arg.data();
        int start = arg.starts()[row];
        int length = arg.lengths()[row];
        if (!Utf8.isValid(data, start, length)) {
            ctx.eval().invalidTime(Texts.notUtf8());
            return Times.NONE;
        }
        int fsp = type == FieldType.DATE ? 0 : fspOf(data, start, length);
        long core = scratch.parser.parse(ctx.eval(), data, start, length, type, fsp, type != FieldType.DATE);
        if (core == Times.NONE) {
            ctx.eval()
                    .invalidTime(EvalException.coded(
                            WRONG_VALUE, "invalid time format: '" + TimeFieldKernels.shown(arg, row) + "'"));
        }
        return core;
    }

    /** Bytes behind the last dot, at most six. */
    private static int fspOf(byte[] data, int start, int length) {
        for (int i = start + length - 1; i >= start; i--) {
            if (data[i] == '.') {
                return Math.min(MAX_FSP, start + length - 1 - i);
            }
        }
        return 0;
    }
}
