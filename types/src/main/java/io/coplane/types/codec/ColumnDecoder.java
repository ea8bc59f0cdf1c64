package io.coplane.types.codec;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.EvalType;
import io.coplane.types.FieldType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.DecimalColumn;
import io.coplane.types.column.DoubleColumn;
import io.coplane.types.column.LongColumn;
import io.coplane.types.decimal.DecimalReader;
import io.coplane.types.time.TimeCore;
import java.util.Arrays;

/**
 * Decodes stored values, a batch of one column at a time (coprocessor.md 4.4, 4.6). What kind of value it is gets decided once per batch; then a
 * static loop runs over the rows.
 */
public final class ColumnDecoder {
    /** Lengths of integers in v2 rows: bits 1, 2, 4 and 8. */
    private static final int INTEGER_LENGTHS = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8;

    /** Length of an INT datum in a raw column. */
    private static final int PLAIN_INT = RawColumn.ofDatum(1 + Long.BYTES);

    private static final int MAX_FSP = 6;
    private static final long MAX_DURATION_NANOS = 3_020_399_000_000_000L;
    private static final int TRUNCATED_WRONG_VALUE = 1292;

    private static final int[] NANOS_OF_FSP = {1_000_000_000, 100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1_000
    };

    private ColumnDecoder() {}

    /** A new column that holds decoded values of an eval type. */
    public static Column newColumn(EvalType type) {
        return switch (type) {
            case INT, DATE_TIME, DURATION, ENUM, SET -> new LongColumn();
            case REAL -> new DoubleColumn();
            case DECIMAL -> new DecimalColumn();
            case BYTES, JSON, VECTOR_FLOAT32 -> new BytesColumn();
        };
    }

    /**
     * Decodes all rows of {@code raw}.
     *
     * @param raw borrowed; where the bytes of strings, JSON and vectors lie there verbatim, {@code out} borrows its buffer
     * @param out reset and filled; of the class that {@link #newColumn} gives
     * @throws CoplaneException CORRUPT_DATUM, UNSUPPORTED for a type without eval type; EVALUATION for times and durations out of range
     */
    public static void decode(RawColumn raw, FieldType type, EvalContext context, Column out) {
        EvalType evalType = type.evalType();
        switch (evalType) {
            case INT -> decodeIntegers(raw, type, DatumReader.INT_FLAGS, evalType, (LongColumn) out);
            case ENUM -> decodeIntegers(raw, type, DatumReader.ENUM_FLAGS, evalType, (LongColumn) out);
            case DATE_TIME -> {
                decodeIntegers(raw, type, DatumReader.TIME_FLAGS, evalType, (LongColumn) out);
                packedToCore((LongColumn) out, type, context);
            }
            case DURATION -> {
                decodeIntegers(raw, type, DatumReader.DURATION_FLAGS, evalType, (LongColumn) out);
                roundDurations((LongColumn) out, fsp(type));
            }
            case REAL -> decodeReals(raw, type.tp() == FieldType.FLOAT, (DoubleColumn) out);
            case DECIMAL -> decodeDecimals(raw, (DecimalColumn) out);
            case BYTES, JSON, VECTOR_FLOAT32 -> decodeBytes(raw, type, evalType, (BytesColumn) out);
            case SET -> throw new CoplaneException(ErrorCode.INVARIANT_BROKEN, "no field type evaluates as a set");
        }
    }

    private static int fsp(FieldType type) {
        int fsp = type.decimal() == FieldType.UNSPECIFIED_LENGTH ? 0 : type.decimal();
        if (fsp < 0 || fsp > MAX_FSP) {
            throw Corrupt.datum("Invalid fsp " + fsp);
        }
        return fsp;
    }

    /** Durations as they are stored: not rounded, not checked, for chunks. */
    static void decodeRawDurations(RawColumn raw, FieldType type, LongColumn out) {
        decodeIntegers(raw, type, DatumReader.DURATION_FLAGS, EvalType.DURATION, out);
    }

    /** Times for chunks: as {@link #decode}, but what is no time fails with a message of its own. */
    static void decodeRawTimes(RawColumn raw, FieldType type, EvalContext context, LongColumn out) {
        decodeIntegers(raw, type, DatumReader.TIME_FLAGS, EvalType.DATE_TIME, out);
        int fsp = fsp(type);
        long[] values = out.values();
        for (int row = 0; row < out.rows(); row++) {
            if (!out.isNull(row)) {
                values[row] = TimeCore.fromPacked(values[row], type.tp(), fsp, context);
            }
        }
    }

    private static void decodeIntegers(
            RawColumn raw, FieldType type, int acceptedFlags, EvalType evalType, LongColumn out) {
        out.reset(raw.rows());
        int kind = CellKind.of(type);
        boolean signed = kind == CellKind.SIGNED || kind == CellKind.DURATION;
        if (raw.hasDatums() || raw.hasDefaults()) {
            mixedIntegers(raw, signed, acceptedFlags, evalType, out);
        } else if (signed) {
            signedCells(raw, out);
        } else {
            unsignedCells(raw, out);
        }
    }

    private static void signedCells(RawColumn raw, LongColumn out) {
        byte[] data = raw.data();
        int[] starts = raw.starts();
        int[] lengths = raw.lengths();
        long[] values = out.values();
        int rows = raw.rows();
        int lastWord = data.length - Long.BYTES;
        for (int row = 0; row < rows; row++) {
            int length = lengths[row];
            int at = starts[row];
            if (at <= lastWord && (length & ~15) == 0 && (INTEGER_LENGTHS >>> length & 1) != 0) {
                int unused = Long.SIZE - 8 * length;
                values[row] = Endian.longLe(data, at) << unused >> unused; // reads beyond the cell, inside the buffer
            } else if (length == RawColumn.NULL) {
                out.setNull(row);
            } else {
                values[row] = CellKind.signed(data, at, length);
            }
        }
    }

    private static void unsignedCells(RawColumn raw, LongColumn out) {
        byte[] data = raw.data();
        int[] starts = raw.starts();
        int[] lengths = raw.lengths();
        long[] values = out.values();
        int rows = raw.rows();
        int lastWord = data.length - Long.BYTES;
        for (int row = 0; row < rows; row++) {
            int length = lengths[row];
            int at = starts[row];
            if (at <= lastWord && (length & ~15) == 0 && (INTEGER_LENGTHS >>> length & 1) != 0) {
                int unused = Long.SIZE - 8 * length;
                values[row] = Endian.longLe(data, at) << unused >>> unused; // reads beyond the cell, inside the buffer
            } else if (length == RawColumn.NULL) {
                out.setNull(row);
            } else {
                values[row] = CellKind.unsigned(data, at, length);
            }
        }
    }

    private static void mixedIntegers(
            RawColumn raw, boolean signed, int acceptedFlags, EvalType evalType, LongColumn out) {
        int[] starts = raw.starts();
        int[] lengths = raw.lengths();
        long[] values = out.values();
        int rows = raw.rows();
        byte[] buffer = raw.data();
        boolean plainInts = (acceptedFlags >>> Datums.INT & 1) != 0;
        for (int row = 0; row < rows; row++) {
            int length = lengths[row];
            int at = starts[row];
            if (plainInts && length == PLAIN_INT && buffer[at] == Datums.INT) { // what keys are made of
                values[row] = Memcomparable.getLong(buffer, at + 1);
                continue;
            }
            byte[] data = buffer;
            if (length >= 0) {
                values[row] = signed ? CellKind.signed(data, at, length) : CellKind.unsigned(data, at, length);
                continue;
            }
            if (length == RawColumn.DEFAULT) {
                data = raw.defaultDatum();
                at = 0;
            }
            int end = datumEnd(raw, row);
            if (length == RawColumn.NULL || DatumReader.isNull(data, at, end)) {
                out.setNull(row);
            } else {
                values[row] = DatumReader.integer(data, at, end, acceptedFlags, evalType);
            }
        }
    }

    /** Where the datum of a row ends, in the data or in the default. */
    private static int datumEnd(RawColumn raw, int row) {
        int length = raw.lengths()[row];
        return length == RawColumn.DEFAULT
                ? raw.defaultDatum().length
                : raw.starts()[row] + RawColumn.datumLength(length);
    }

    private static void packedToCore(LongColumn out, FieldType type, EvalContext context) {
        int fsp = fsp(type);
        long[] values = out.values();
        int rows = out.rows();
        int tp = type.tp();
        boolean nulls = out.mayHaveNulls();
        for (int row = 0; row < rows; row++) {
            if (!nulls || !out.isNull(row)) {
                values[row] = packedToCore(values[row], tp, fsp, context);
            }
        }
    }

    private static long packedToCore(long packed, int tp, int fsp, EvalContext context) {
        try {
            return TimeCore.fromPacked(packed, tp, fsp, context);
        } catch (EvalException e) {
            if (packed == 0) {
                throw e; // the zero time, which the sql_mode forbids
            }
            // what the reference says of stored bytes that are no time
            throw new CoplaneException(
                    ErrorCode.CORRUPT_DATUM, "invalid data type: Failed to decode datum payload as datetime", e);
        }
    }

    private static void roundDurations(LongColumn out, int fsp) {
        long unit = NANOS_OF_FSP[fsp];
        long[] values = out.values();
        int rows = out.rows();
        Arrays.fill(out.fsp(), 0, rows, (byte) fsp);
        for (int row = 0; row < rows; row++) {
            long nanos = values[row];
            if (nanos > MAX_DURATION_NANOS || nanos < -MAX_DURATION_NANOS) {
                if (out.isNull(row)) {
                    continue;
                }
                throw EvalException.coded(TRUNCATED_WRONG_VALUE, "Truncated incorrect NANOS value: '" + nanos + "'");
            }
            long half = nanos < 0 ? -unit / 2 : unit / 2;
            values[row] = (nanos + half) / unit * unit;
        }
    }

    private static void decodeReals(RawColumn raw, boolean toFloat, DoubleColumn out) {
        int rows = raw.rows();
        out.reset(rows);
        double[] values = out.values();
        int[] starts = raw.starts();
        int[] lengths = raw.lengths();
        for (int row = 0; row < rows; row++) {
            int length = lengths[row];
            int at = starts[row];
            byte[] data = raw.data();
            double value;
            if (length >= Double.BYTES) {
                value = Memcomparable.getDouble(data, at);
            } else if (length >= 0) {
                throw Corrupt.payload("f64");
            } else {
                if (length == RawColumn.DEFAULT) {
                    data = raw.defaultDatum();
                    at = 0;
                }
                int end = datumEnd(raw, row);
                value = length == RawColumn.NULL || DatumReader.isNull(data, at, end)
                        ? Double.NaN
                        : DatumReader.real(data, at, end);
            }
            if (Double.isNaN(value)) {
                values[row] = 0;
                out.setNull(row);
            } else {
                values[row] = toFloat ? (float) value : value;
            }
        }
    }

    private static void decodeDecimals(RawColumn raw, DecimalColumn out) {
        int rows = raw.rows();
        out.reset(rows);
        var reader = new DecimalReader();
        int[] starts = raw.starts();
        int[] lengths = raw.lengths();
        for (int row = 0; row < rows; row++) {
            int length = lengths[row];
            int at = starts[row];
            byte[] data = raw.data();
            if (length >= 0) {
                reader.read(data, at, at + length, out, row);
                continue;
            }
            if (length == RawColumn.DEFAULT) {
                data = raw.defaultDatum();
                at = 0;
            }
            int end = datumEnd(raw, row);
            if (length == RawColumn.NULL || DatumReader.isNull(data, at, end)) {
                out.headers()[row] = DecimalColumn.header(1, 0, 0, false) | DecimalColumn.FLAT;
                out.unscaled()[row] = 0;
                out.setNull(row);
            } else {
                reader.read(data, DatumReader.decimal(data, at), end, out, row);
            }
        }
    }

    private static void decodeBytes(RawColumn raw, FieldType type, EvalType evalType, BytesColumn out) {
        int rows = raw.rows();
        boolean borrowed = !raw.hasDefaults() && !(raw.hasDatums() && hasGroupedBytes(raw));
        if (borrowed) {
            out.resetBorrowed(rows, raw.data());
        } else {
            out.resetOwned(rows);
        }
        int kind = CellKind.of(type);
        int[] starts = raw.starts();
        int[] lengths = raw.lengths();
        for (int row = 0; row < rows; row++) {
            int length = lengths[row];
            int at = starts[row];
            byte[] data = raw.data();
            if (length >= 0) {
                if (kind == CellKind.NULL) {
                    setNull(out, row);
                } else {
                    set(out, row, data, at, cellLength(kind, data, at, at + length), borrowed);
                }
                continue;
            }
            if (length == RawColumn.DEFAULT) {
                data = raw.defaultDatum();
                at = 0;
            }
            int end = datumEnd(raw, row);
            if (length == RawColumn.NULL || DatumReader.isNull(data, at, end)) {
                setNull(out, row);
            } else {
                setDatum(out, row, data, at, end, evalType, borrowed);
            }
        }
    }

    private static void setNull(BytesColumn out, int row) {
        out.setEmpty(row);
        out.setNull(row);
    }

    private static void set(BytesColumn out, int row, byte[] data, int at, int length, boolean borrowed) {
        if (borrowed) {
            out.setView(row, at, length);
        } else {
            out.set(row, data, at, length);
        }
    }

    private static int cellLength(int kind, byte[] data, int at, int end) {
        return switch (kind) {
            case CellKind.JSON -> DatumReader.jsonLength(data, at, end);
            case CellKind.VECTOR -> DatumReader.vectorLength(data, at, end);
            default -> end - at;
        };
    }

    private static void setDatum(
            BytesColumn out, int row, byte[] data, int at, int end, EvalType evalType, boolean borrowed) {
        int flag = data[at] & 0xff;
        int payload = at + 1;
        if (flag == Datums.COMPACT_BYTES && evalType == EvalType.BYTES) {
            int prefix = DatumReader.compactPrefix(data, payload, end);
            int length = (int) Varints.getInt(data, payload, prefix);
            set(out, row, data, payload + prefix, length, borrowed);
        } else if (flag == Datums.BYTES && evalType == EvalType.BYTES) {
            int encoded = Memcomparable.skipBytes(data, payload, end);
            if (encoded < 0) {
                throw Corrupt.payload("bytes");
            }
            int room = encoded / Memcomparable.MARKED_GROUP_BYTES * Memcomparable.GROUP_BYTES;
            int start = out.reserve(room);
            int length = Memcomparable.getBytes(data, payload, encoded, out.data(), start);
            out.unreserve(room - length);
            out.setView(row, start, length);
        } else if (flag == Datums.JSON && evalType == EvalType.JSON) {
            set(out, row, data, payload, DatumReader.jsonLength(data, payload, end), borrowed);
        } else if (flag == Datums.VECTOR_FLOAT32 && evalType == EvalType.VECTOR_FLOAT32) {
            set(out, row, data, payload, DatumReader.vectorLength(data, payload, end), borrowed);
        } else {
            throw DatumReader.unsupportedFlag(flag, evalType);
        }
    }

    /** True if some datum is BYTES, whose groups must be joined. */
    private static boolean hasGroupedBytes(RawColumn raw) {
        int[] starts = raw.starts();
        int[] lengths = raw.lengths();
        byte[] data = raw.data();
        int rows = raw.rows();
        for (int row = 0; row < rows; row++) {
            boolean hasFlag = lengths[row] <= RawColumn.ofDatum(1);
            if (hasFlag && data[starts[row]] == Datums.BYTES) {
                return true;
            }
        }
        return false;
    }
}
