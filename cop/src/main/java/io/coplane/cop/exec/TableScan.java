package io.coplane.cop.exec;

import io.coplane.cop.kernel.RowV2Layout;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.EvalContext;
import io.coplane.types.codec.Datums;
import io.coplane.types.codec.RawColumn;
import io.coplane.types.codec.RowV1Reader;
import io.coplane.types.codec.RowV2View;
import io.coplane.types.codec.TableKeys;
import io.coplane.types.column.LongColumn;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Scan of table rows (coprocessor.md 3.5). */
public final class TableScan extends ScanExecutor {
    private static final long EXTRA_PHYSICAL_TABLE_ID = -3;
    private static final long EXTRA_COMMIT_TS = -5;
    /** Bit n is set if an integer cell may have n bytes. */
    private static final int INTEGER_LENGTHS = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8;

    private final List<ScanColumn> columns;
    private final int prefixBytes;
    private final boolean keyOnly;
    /** Columns read from the value. */
    private final int[] wanted;

    private final long[] wantedIds;
    private final boolean[] wantedInteger;
    private final int[] handleColumns;
    private final int[] tableIdColumns;
    private final int[] commitTsColumns;
    private final boolean hasCommonHandle;
    /** For each datum of the common handle, up to the last that is wanted, its column, or -1. */
    private final int[] commonHandleColumns;

    private final int[] handleStarts;
    private final int[] handleLengths;

    private final RawColumn[] raw;
    private final LongColumn[] decoded;
    /** Number of the row, from 1, in which a column was filled last. */
    private final int[] filled;

    private int[] formOf = new int[0];
    /** Columns that the rows in bulk take from their keys. */
    private final boolean[] fromKey;

    private final RowV2Layout layout;
    private final int rawColumns;
    private final RowV1Reader v1 = new RowV1Reader();
    private final Map<Long, Integer> columnById = new HashMap<>();

    /**
     * @param columns what to return
     * @param primaryColumnIds columns of a common handle, in key order
     * @param primaryPrefixColumnIds those of them of which the key holds a prefix only
     * @param prefixBytes bytes of the keyspace prefix in keys
     */
    public TableScan(
            List<ScanColumn> columns,
            List<Long> primaryColumnIds,
            List<Long> primaryPrefixColumnIds,
            int prefixBytes,
            RangesReader reader,
            ExecutionSummary summary,
            EvalContext context,
            MemoryGuard guard) {
        super(ScanColumn.types(columns), summary, context, guard, reader);
        this.columns = List.copyOf(columns);
        this.prefixBytes = prefixBytes;
        int count = columns.size();
        raw = new RawColumn[count];
        decoded = new LongColumn[count];
        filled = new int[count];
        List<Integer> handles = new ArrayList<>();
        List<Integer> tableIds = new ArrayList<>();
        List<Integer> commits = new ArrayList<>();
        boolean needsValue = false;
        for (int i = 0; i < count; i++) {
            ScanColumn column = columns.get(i);
            if (column.pkHandle()) {
                handles.add(i);
            } else if (column.id() == EXTRA_PHYSICAL_TABLE_ID) {
                tableIds.add(i);
            } else if (column.id() == EXTRA_COMMIT_TS) {
                commits.add(i);
            } else {
                columnById.put(column.id(), i);
                needsValue |= !primaryColumnIds.contains(column.id())
                        || primaryPrefixColumnIds.contains(column.id())
                        || column.needsRestoredData();
                raw[i] = new RawColumn();
                raw[i].setDefaultDatum(column.defaultDatum());
                continue;
            }
            decoded[i] = new LongColumn();
        }
        keyOnly = !needsValue;
        handleColumns = ints(handles);
        tableIdColumns = ints(tableIds);
        commitTsColumns = ints(commits);
        wanted = keyOnly
                ? new int[0]
                : columnById.values().stream().mapToInt(i -> i).sorted().toArray();
        wantedIds = new long[wanted.length];
        wantedInteger = new boolean[wanted.length];
        for (int i = 0; i < wanted.length; i++) {
            wantedIds[i] = columns.get(wanted[i]).id();
            wantedInteger[i] = columns.get(wanted[i]).storedAsInteger();
        }
        layout = new RowV2Layout(wantedIds);
        rawColumns = count - handles.size() - tableIds.size() - commits.size();
        hasCommonHandle = !primaryColumnIds.isEmpty();
        commonHandleColumns = new int[lastWantedHandleColumn(primaryColumnIds, primaryPrefixColumnIds) + 1];
        for (int i = 0; i < commonHandleColumns.length; i++) {
            long id = primaryColumnIds.get(i);
            Integer column = columnById.get(id);
            commonHandleColumns[i] = column == null || primaryPrefixColumnIds.contains(id) ? -1 : column;
        }
        fromKey = new boolean[count];
        handleStarts = new int[commonHandleColumns.length];
        handleLengths = new int[commonHandleColumns.length];
    }

    private int lastWantedHandleColumn(List<Long> primaryColumnIds, List<Long> primaryPrefixColumnIds) {
        int last = primaryColumnIds.size() - 1;
        while (last >= 0
                && (!columnById.containsKey(primaryColumnIds.get(last))
                        || primaryPrefixColumnIds.contains(primaryColumnIds.get(last)))) {
            last--;
        }
        return last;
    }

    private static int[] ints(List<Integer> list) {
        return list.stream().mapToInt(i -> i).toArray();
    }

    @Override
    void beginBatch(int count) {
        Arrays.fill(filled, 0);
        for (int i = 0; i < raw.length; i++) {
            if (raw[i] != null) {
                raw[i].resetBorrowed(count, rows.bytes());
            } else {
                decoded[i].reset(count);
            }
        }
    }

    @Override
    int bulk(int count) {
        if (count == 0) {
            return 0;
        }
        int done = count;
        boolean oneForm = true;
        boolean lacksColumns = keyOnly;
        if (!keyOnly) {
            done = forms(count);
            if (done == 0) {
                return 0;
            }
            for (int row = 1; row < done; row++) {
                oneForm &= formOf[row] == formOf[0];
            }
            lacksColumns = layout.lacksColumns(formOf[0]);
        }
        if (lacksColumns && !canDoWithout()) {
            return 0;
        }
        done = keys(done, lacksColumns);
        for (int i = 0; i < wanted.length; i++) {
            RawColumn column = raw[wanted[i]];
            if (layout.place(formOf[0], i) != RowV2Layout.MISSING) {
                done = layout.cells(
                        rows.bytes(),
                        rows.valueStarts(),
                        rows.valueLengths(),
                        done,
                        formOf,
                        oneForm,
                        i,
                        wantedInteger[i] ? INTEGER_LENGTHS : 0,
                        column.starts(),
                        column.lengths());
                column.takeCells(done);
            }
        }
        for (int i = 0; i < raw.length; i++) {
            if (raw[i] != null) {
                for (int row = raw[i].rows(); row < done; row++) {
                    missing(i);
                }
                raw[i].truncate(done);
            }
        }
        return done;
    }

    /** Finds the form of each row, until one that must be read alone. If the first lacks columns, all rows are of its form. */
    private int forms(int count) {
        if (count > formOf.length) {
            formOf = new int[Math.max(count, 2 * formOf.length)];
        }
        byte[] bytes = rows.bytes();
        int[] starts = rows.valueStarts();
        int[] lengths = rows.valueLengths();
        int row = 0;
        try {
            for (; row < count; row++) {
                int form = RowV2View.isV2(bytes, starts[row], lengths[row])
                        ? layout.form(bytes, starts[row], lengths[row])
                        : RowV2Layout.NONE;
                if (form == RowV2Layout.NONE
                        || row > 0
                                && form != formOf[0]
                                && (layout.lacksColumns(form) || layout.lacksColumns(formOf[0]))) {
                    return row;
                }
                formOf[row] = form;
            }
        } catch (CoplaneException e) {
            return row; // read alone, it says this again
        }
        return count;
    }

    /** Finds the columns that come from the key. @return false if a column that may not be NULL is nowhere */
    private boolean canDoWithout() {
        Arrays.fill(fromKey, false);
        for (int column : commonHandleColumns) {
            if (column >= 0) {
                fromKey[column] = true;
            }
        }
        for (int i = 0; i < wanted.length; i++) {
            if (layout.place(formOf[0], i) != RowV2Layout.MISSING) {
                fromKey[wanted[i]] = false;
            }
        }
        for (int i = 0; i < raw.length; i++) {
            boolean there = raw[i] == null || fromKey[i];
            for (int w = 0; w < wanted.length && !there; w++) {
                there = wanted[w] == i && layout.place(formOf[0], w) != RowV2Layout.MISSING;
            }
            if (!there && !columns.get(i).hasDefault() && columns.get(i).type().isNotNull()) {
                return false;
            }
        }
        return true;
    }

    /** Reads what keys say. @return rows read: fewer than {@code count} if the next key is broken */
    private int keys(int count, boolean needsHandle) {
        byte[] bytes = rows.bytes();
        int[] starts = rows.keyStarts();
        int[] lengths = rows.keyLengths();
        int row = 0;
        try {
            for (; row < count; row++) {
                int start = starts[row] + prefixBytes;
                int length = lengths[row] - prefixBytes;
                if (handleColumns.length > 0) {
                    long handle = TableKeys.intHandle(bytes, start, length);
                    for (int column : handleColumns) {
                        decoded[column].values()[row] = handle;
                    }
                } else {
                    TableKeys.checkRecordKey(bytes, start, length);
                    if (needsHandle && hasCommonHandle) {
                        bulkHandle(bytes, start, length);
                    }
                }
                for (int column : tableIdColumns) {
                    decoded[column].values()[row] = TableKeys.tableId(bytes, start, length);
                }
                for (int column : commitTsColumns) {
                    decoded[column].values()[row] = rows.commitTs()[row];
                }
            }
        } catch (CoplaneException e) {
            return row; // read alone, it says this again
        }
        return count;
    }

    private void bulkHandle(byte[] bytes, int start, int length) {
        Datums.split(
                bytes,
                start + TableKeys.HANDLE_AT,
                start + length,
                handleStarts,
                handleLengths,
                commonHandleColumns.length);
        for (int i = 0; i < commonHandleColumns.length; i++) {
            int column = commonHandleColumns[i];
            if (column >= 0 && fromKey[column]) {
                raw[column].addDatum(handleStarts[i], handleLengths[i]);
            }
        }
    }

    @Override
    void row(int row) {
        byte[] bytes = rows.bytes();
        int keyStart = rows.keyStarts()[row] + prefixBytes;
        int keyLength = rows.keyLengths()[row] - prefixBytes;
        int mark = row + 1;
        int open = rawColumns;
        if (!keyOnly) {
            open -= value(bytes, rows.valueStarts()[row], rows.valueLengths()[row], mark);
        }
        if (handleColumns.length > 0) {
            long handle = TableKeys.intHandle(bytes, keyStart, keyLength);
            for (int column : handleColumns) {
                decoded[column].values()[row] = handle;
            }
        } else {
            TableKeys.checkRecordKey(bytes, keyStart, keyLength);
            if (hasCommonHandle && open > 0) {
                open -= commonHandle(bytes, keyStart, keyLength, mark);
            }
        }
        for (int column : tableIdColumns) {
            decoded[column].values()[row] = TableKeys.tableId(bytes, keyStart, keyLength);
        }
        for (int column : commitTsColumns) {
            decoded[column].values()[row] = rows.commitTs()[row];
        }
        for (int i = 0; open > 0 && i < raw.length; i++) {
            if (raw[i] != null && filled[i] != mark) {
                missing(i);
                open--;
            }
        }
    }

    /** @return columns filled */
    private int value(byte[] bytes, int start, int length, int mark) {
        if (RowV2View.isV2(bytes, start, length)) {
            return rowV2(bytes, start, length, mark);
        }
        if (length == 0 || length == 1 && bytes[start] == 0) {
            return 0;
        }
        int found = 0;
        v1.wrap(bytes, start, length);
        while (found < wanted.length && v1.next()) {
            Integer column = columnById.get(v1.columnId());
            if (column != null && filled[column] != mark) {
                raw[column].addDatum(v1.datumStart(), v1.datumLength());
                filled[column] = mark;
                found++;
            }
        }
        return found;
    }

    private int rowV2(byte[] bytes, int start, int length, int mark) {
        layout.wrap(bytes, start, length);
        int found = 0;
        for (int i = 0; i < wanted.length; i++) {
            int place = layout.place(i);
            if (place == RowV2Layout.MISSING) {
                continue;
            }
            int column = wanted[i];
            if (place == RowV2Layout.NULL) {
                raw[column].addNull();
            } else {
                int cell = layout.cell(place);
                if (cell < 0) {
                    throw new CoplaneException(
                            ErrorCode.CORRUPT_ROW, "row v2 value lies outside of the row: column=" + wantedIds[i]);
                }
                if (wantedInteger[i] && (cell > 8 || (INTEGER_LENGTHS >>> cell & 1) == 0)) {
                    throw badInteger(column);
                }
                raw[column].addCell(layout.cellStart(), cell);
            }
            filled[column] = mark;
            found++;
        }
        return found;
    }

    private CoplaneException badInteger(int column) {
        String kind = columns.get(column).readsSigned() ? "i64" : "u64";
        return new CoplaneException(ErrorCode.CORRUPT_ROW, "Failed to decode row v2 data as " + kind);
    }

    /** @return columns filled */
    private int commonHandle(byte[] bytes, int keyStart, int keyLength, int mark) {
        Datums.split(
                bytes,
                keyStart + TableKeys.HANDLE_AT,
                keyStart + keyLength,
                handleStarts,
                handleLengths,
                commonHandleColumns.length);
        int found = 0;
        for (int i = 0; i < commonHandleColumns.length; i++) {
            int column = commonHandleColumns[i];
            if (column >= 0 && filled[column] != mark) {
                raw[column].addDatum(handleStarts[i], handleLengths[i]);
                filled[column] = mark;
                found++;
            }
        }
        return found;
    }

    private void missing(int i) {
        ScanColumn column = columns.get(i);
        if (column.hasDefault()) {
            raw[i].addDefault();
        } else if (!column.type().isNotNull()) {
            raw[i].addNull();
        } else {
            throw new CoplaneException(
                    ErrorCode.CORRUPT_ROW, "Data is corrupted, missing data for NOT NULL column (offset = " + i + ")");
        }
    }

    @Override
    void endBatch(int count) {
        for (int i = 0; i < raw.length; i++) {
            if (raw[i] != null) {
                raw[i].truncate(count);
                batch.lazy(i).setRaw(raw[i]);
            } else {
                decoded[i].resize(count);
                batch.lazy(i).setDecoded(decoded[i]);
            }
        }
    }

    @Override
    long columnBytes() {
        long bytes = 0;
        for (int i = 0; i < raw.length; i++) {
            bytes += raw[i] != null ? raw[i].heapBytes() : decoded[i].heapBytes();
        }
        return bytes;
    }
}
