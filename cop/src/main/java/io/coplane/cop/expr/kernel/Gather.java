package io.coplane.cop.expr.kernel;

import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.DecimalColumn;
import io.coplane.types.column.DoubleColumn;
import io.coplane.types.column.LongColumn;
import io.coplane.types.decimal.DecimalColumns;

/** Builds a column whose rows come from one of several arguments. */
final class Gather {
    /** Choice of a row that is NULL. */
    static final int NONE = -1;

    private Gather() {}

    /** The choice of each row, kept from batch to batch. */
    static int[] choices(KernelContext ctx, int rows) {
        if (ctx.scratch() instanceof int[] kept && kept.length >= rows) {
            return kept;
        }
        int[] fresh = new int[Math.max(rows, 32)];
        ctx.scratch(fresh);
        return fresh;
    }

    /**
     * Copies to each row the value, or NULL, of the argument chosen for it.
     *
     * @param choice index of the argument, or {@link #NONE}
     * @param out reset, without nulls
     */
    static void rows(Column[] args, int[] choice, int rows, Column out) {
        switch (out) {
            case LongColumn c -> longs(args, choice, rows, c);
            case DoubleColumn c -> doubles(args, choice, rows, c);
            case BytesColumn c -> bytes(args, choice, rows, c);
            case DecimalColumn c -> decimals(args, choice, rows, c);
        }
    }

    private static boolean isNull(Column[] args, int choice, int row) {
        return choice == NONE || args[choice].isNull(row);
    }

    private static void longs(Column[] args, int[] choice, int rows, LongColumn out) {
        boolean durations = false;
        for (int i = 0; i < rows; i++) {
            if (isNull(args, choice[i], i)) {
                out.setNull(i);
            } else {
                LongColumn from = (LongColumn) args[choice[i]];
                out.values()[i] = from.values()[i];
                durations |= from.hasFsp();
            }
        }
        if (durations) {
            byte[] fsp = out.fsp();
            for (int i = 0; i < rows; i++) {
                if (!out.isNull(i)) {
                    fsp[i] = ((LongColumn) args[choice[i]]).fsp()[i];
                }
            }
        }
    }

    private static void doubles(Column[] args, int[] choice, int rows, DoubleColumn out) {
        double[] values = out.values();
        for (int i = 0; i < rows; i++) {
            if (isNull(args, choice[i], i)) {
                out.setNull(i);
            } else {
                values[i] = ((DoubleColumn) args[choice[i]]).values()[i];
            }
        }
    }

    private static void bytes(Column[] args, int[] choice, int rows, BytesColumn out) {
        for (int i = 0; i < rows; i++) {
            if (isNull(args, choice[i], i)) {
                out.setNull(i);
                out.setEmpty(i);
            } else {
                BytesColumn from = (BytesColumn) args[choice[i]];
                out.set(i, from.data(), from.starts()[i], from.lengths()[i]);
            }
        }
    }

    private static void decimals(Column[] args, int[] choice, int rows, DecimalColumn out) {
        for (int i = 0; i < rows; i++) {
            if (isNull(args, choice[i], i)) {
                out.setNull(i);
                continue;
            }
            DecimalColumn from = (DecimalColumn) args[choice[i]];
            DecimalColumns.copy(from, i, out, i);
        }
    }
}
