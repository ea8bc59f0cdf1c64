package io.coplane.cop.exec;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.EvalContext;
import io.coplane.types.codec.Datums;
import io.coplane.types.codec.IndexKeys;
import io.coplane.types.codec.IndexValueView;
import io.coplane.types.codec.Memcomparable;
import io.coplane.types.codec.RawColumn;
import io.coplane.types.codec.RowV2View;
import io.coplane.types.codec.TableKeys;
import io.coplane.types.codec.Varints;
import io.coplane.types.column.LongColumn;
import java.util.List;

/**
 * Scan of index entries (coprocessor.md 3.6). Columns are, in this order: index columns, handle columns, partition id, physical table id; all but
 * the first kind may be absent.
 */
public final class IndexScan extends ScanExecutor {
    private final List<ScanColumn> columns;
    private final IndexLayout layout;
    private final int prefixBytes;
    private final RawColumn[] raw;
    private final LongColumn[] decoded;
    /** True for columns whose bytes may be put together here: then all of its values are copied. */
    private final boolean[] copies;

    private final int[] starts;
    private final int[] lengths;
    private final IndexValueView value = new IndexValueView();
    private final RowV2View restored = new RowV2View();
    private final RowHandles handles = new RowHandles();
    private int indexVersion = -1;
    /** True if no column is copied and no id is asked for. */
    private boolean splitsInBulk;

    /** @param prefixBytes bytes of the keyspace prefix in keys */
    public IndexScan(
            List<ScanColumn> columns,
            List<Long> primaryColumnIds,
            int prefixBytes,
            RangesReader reader,
            ExecutionSummary summary,
            EvalContext context,
            MemoryGuard guard) {
        super(ScanColumn.types(columns), summary, context, guard, reader);
        this.columns = List.copyOf(columns);
        this.prefixBytes = prefixBytes;
        layout = IndexLayout.of(columns, primaryColumnIds);
        int count = columns.size();
        raw = new RawColumn[count];
        decoded = new LongColumn[count];
        copies = new boolean[count];
        starts = new int[count];
        lengths = new int[count];
        splitsInBulk = layout.partitionIdColumn() < 0 && layout.tableIdColumn() < 0;
        for (int i = 0; i < count; i++) {
            if (i < layout.rawColumns()) {
                raw[i] = new RawColumn();
                copies[i] = columns.get(i).needsRestoredData();
                splitsInBulk &= !copies[i];
            } else {
                decoded[i] = new LongColumn();
            }
        }
    }

    @Override
    void beginBatch(int count) {
        handles.reset(count, rows.bytes());
        for (int i = 0; i < raw.length; i++) {
            if (raw[i] == null) {
                decoded[i].reset(count);
            } else if (copies[i]) {
                raw[i].resetOwned(count);
            } else {
                raw[i].resetBorrowed(count, rows.bytes());
            }
        }
    }

    @Override
    int bulk(int count) {
        if (count == 0 || !splitsInBulk) {
            return 0;
        }
        byte[] bytes = rows.bytes();
        int[] keyStarts = rows.keyStarts();
        int[] keyLengths = rows.keyLengths();
        int row = 0;
        try {
            if (indexVersion < 0) {
                indexVersion = IndexValueView.indexVersion(bytes, rows.valueStarts()[0], rows.valueLengths()[0]);
            }
            for (; row < count && IndexValueView.isOld(rows.valueLengths()[row]); row++) {
                int start = keyStarts[row] + prefixBytes;
                int length = keyLengths[row] - prefixBytes;
                TableKeys.checkIndexKey(bytes, start, length);
                if (!split(bytes, start + TableKeys.INDEX_DATUMS_AT, start + length, row)) {
                    break;
                }
            }
        } catch (CoplaneException e) {
            // the row is the next to be read alone and says this again
        }
        for (int i = 0; i < layout.rawColumns(); i++) {
            raw[i].takeDatums(row);
        }
        return row;
    }

    /** Splits the key of an entry of the old form. @return false if its handle is not where it mostly is */
    private boolean split(byte[] bytes, int start, int end, int row) {
        int at = start;
        int indexColumns = layout.indexColumns();
        for (int i = 0; i < layout.rawColumns(); i++) {
            if (i == indexColumns) {
                handles.set(row, at, end - at);
            }
            int next = Datums.skip(bytes, at, end);
            raw[i].putDatum(row, at, next - at);
            at = next;
        }
        if (layout.intHandleColumn() >= 0) {
            if (at >= end || IndexKeys.hasPartitionId(bytes, at, end)) {
                return false;
            }
            decoded[layout.intHandleColumn()].values()[row] = IndexKeys.intHandle(bytes, at, end);
        }
        return true;
    }

    @Override
    void row(int row) {
        byte[] bytes = rows.bytes();
        int keyStart = rows.keyStarts()[row] + prefixBytes;
        int keyLength = rows.keyLengths()[row] - prefixBytes;
        int valueStart = rows.valueStarts()[row];
        int valueLength = rows.valueLengths()[row];
        TableKeys.checkIndexKey(bytes, keyStart, keyLength);
        if (indexVersion < 0) {
            indexVersion = IndexValueView.indexVersion(bytes, valueStart, valueLength);
        }
        value.wrap(bytes, valueStart, valueLength, indexVersion);
        int at = keyStart + TableKeys.INDEX_DATUMS_AT;
        int end = keyStart + keyLength;
        long tableId = TableKeys.tableId(bytes, keyStart, keyLength);
        if (value.isOld()) {
            oldForm(bytes, at, end, row, tableId);
        } else {
            generalForm(bytes, at, end, row, tableId);
        }
    }

    private int splitIndexColumns(byte[] bytes, int at, int end) {
        int next = at;
        for (int i = 0; i < layout.indexColumns(); i++) {
            if (next >= end) {
                throw corrupt(i + "th column is missing value");
            }
            starts[i] = next;
            next = Datums.skip(bytes, next, end);
            lengths[i] = next - starts[i];
        }
        return next;
    }

    private static CoplaneException corrupt(String text) {
        return new CoplaneException(ErrorCode.CORRUPT_VALUE, text);
    }

    private void splitHandleColumns(byte[] bytes, int at, int end, int row) {
        handles.set(row, at, end - at);
        int next = at;
        int first = layout.indexColumns();
        for (int i = first; i < layout.rawColumns(); i++) {
            if (next >= end) {
                throw corrupt((i - first) + "th column is missing value");
            }
            starts[i] = next;
            next = Datums.skip(bytes, next, end);
            lengths[i] = next - starts[i];
        }
    }

    private void oldForm(byte[] bytes, int at, int end, int row, long tableId) {
        int next = splitIndexColumns(bytes, at, end);
        long partition = tableId;
        if (layout.intHandleColumn() >= 0) {
            long handle;
            if (next >= end) {
                handle = value.oldHandle();
            } else {
                if (IndexKeys.hasPartitionId(bytes, next, end)) {
                    partition = IndexKeys.partitionId(bytes, next, end);
                }
                handle = IndexKeys.intHandle(bytes, IndexKeys.skipPartitionId(bytes, next, end), end);
            }
            decoded[layout.intHandleColumn()].values()[row] = handle;
        } else if (layout.rawColumns() > layout.indexColumns()) {
            splitHandleColumns(bytes, next, end, row);
        }
        addDatums(bytes, 0, layout.rawColumns());
        setIds(row, partition);
    }

    private void generalForm(byte[] bytes, int at, int end, int row, long tableId) {
        boolean commonHandle = layout.rawColumns() > layout.indexColumns();
        if (value.hasCommonHandle() && !commonHandle) {
            throw corrupt("Unexpected common handle in index value");
        }
        boolean restores = value.hasRestoredData();
        boolean fromRestored = restores && indexVersion != 1;
        if (restores) {
            restored.wrap(bytes, value.restoredStart(), value.restoredLength());
        }
        int next = splitIndexColumns(bytes, at, end);
        long partition = tableId;
        boolean keyPartition = IndexKeys.hasPartitionId(bytes, next, end);
        if (layout.intHandleColumn() >= 0) {
            long handle = value.tailHasHandle()
                    ? value.tailHandle()
                    : IndexKeys.intHandle(bytes, IndexKeys.skipPartitionId(bytes, next, end), end);
            decoded[layout.intHandleColumn()].values()[row] = handle;
        } else if (commonHandle) {
            if (value.hasCommonHandle() && value.commonHandleLength() > 0) {
                int start = value.commonHandleStart();
                splitHandleColumns(bytes, start, start + value.commonHandleLength(), row);
            } else {
                splitHandleColumns(bytes, IndexKeys.skipPartitionId(bytes, next, end), end, row);
            }
        }
        if (value.hasPartitionId()) {
            partition = value.partitionId();
        } else if (keyPartition) {
            partition = IndexKeys.partitionId(bytes, next, end);
        }
        if (fromRestored) {
            for (int i = 0; i < layout.indexColumns(); i++) {
                addRestored(bytes, i);
            }
            addDatums(bytes, layout.indexColumns(), layout.rawColumns());
        } else if (restores) {
            for (int i = 0; i < layout.rawColumns(); i++) {
                restore(bytes, i);
            }
        } else {
            addDatums(bytes, 0, layout.rawColumns());
        }
        setIds(row, partition);
    }

    private void setIds(int row, long partition) {
        if (layout.partitionIdColumn() >= 0) {
            decoded[layout.partitionIdColumn()].values()[row] = partition;
        }
        if (layout.tableIdColumn() >= 0) {
            decoded[layout.tableIdColumn()].values()[row] = partition;
        }
    }

    private void addDatums(byte[] bytes, int from, int to) {
        for (int i = from; i < to; i++) {
            addDatum(bytes, i);
        }
    }

    private void addDatum(byte[] bytes, int i) {
        if (copies[i]) {
            raw[i].copyDatum(bytes, starts[i], lengths[i]);
        } else {
            raw[i].addDatum(starts[i], lengths[i]);
        }
    }

    /** The column as the restored row has it. */
    private void addRestored(byte[] bytes, int i) {
        int cell = restored.find(columns.get(i).id());
        if (cell == RowV2View.NULL) {
            raw[i].addNull();
        } else if (cell == RowV2View.MISSING) {
            throw missing(i);
        } else if (copies[i]) {
            raw[i].copyCell(bytes, restored.cellStart(), cell);
        } else {
            raw[i].addCell(restored.cellStart(), cell);
        }
    }

    private CoplaneException missing(int i) {
        return corrupt("Unexpected missing column " + columns.get(i).id());
    }

    /** The column as the key has it, put right by the restored row. */
    private void restore(byte[] bytes, int i) {
        if (!copies[i] || bytes[starts[i]] == Datums.NIL) {
            addDatum(bytes, i);
            return;
        }
        int cell = restored.find(columns.get(i).id());
        if (cell < 0) {
            throw missing(i);
        }
        if (columns.get(i).isBinCollation()) {
            addPadded(bytes, i, spaces(bytes, restored.cellStart(), cell));
        } else {
            raw[i].copyCell(bytes, restored.cellStart(), cell);
        }
    }

    private static int spaces(byte[] bytes, int at, int length) {
        long count = 0;
        for (int i = Math.min(length, 8) - 1; i >= 0; i--) {
            count = count << 8 | bytes[at + i] & 0xff;
        }
        if (count < 0 || count > Integer.MAX_VALUE / 2) {
            throw corrupt("padding of an index column is corrupted: spaces=" + count);
        }
        return (int) count;
    }

    /** A v2 cell: the string of the key's datum and spaces. */
    private void addPadded(byte[] bytes, int i, int spaces) {
        RawColumn column = raw[i];
        int flag = bytes[starts[i]];
        int start;
        int length;
        if (flag == Datums.BYTES) {
            int encoded = lengths[i] - 1;
            start = column.reserve(encoded + spaces);
            length = Memcomparable.getBytes(bytes, starts[i] + 1, encoded, column.data(), start);
        } else if (flag == Datums.COMPACT_BYTES) {
            int prefix = Varints.length(bytes, starts[i] + 1, starts[i] + lengths[i]);
            length = lengths[i] - 1 - prefix;
            start = column.reserve(length + spaces);
            System.arraycopy(bytes, starts[i] + 1 + prefix, column.data(), start, length);
        } else {
            throw corrupt("Unsupported datum flag " + flag + " for Bytes vector");
        }
        byte[] data = column.data();
        for (int at = start + length; at < start + length + spaces; at++) {
            data[at] = ' ';
        }
        column.addCell(start, length + spaces);
    }

    @Override
    void endBatch(int count) {
        batch.setHandles(layout.rawColumns() > layout.indexColumns() ? handles : null);
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
        long bytes = handles.heapBytes();
        for (int i = 0; i < raw.length; i++) {
            bytes += raw[i] != null ? raw[i].heapBytes() : decoded[i].heapBytes();
        }
        return bytes;
    }
}
