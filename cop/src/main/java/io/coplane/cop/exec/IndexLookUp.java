package io.coplane.cop.exec;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.ByteSink;
import io.coplane.types.EvalContext;
import io.coplane.types.FieldType;
import io.coplane.types.codec.KeyRanges;
import io.coplane.types.codec.TableKeys;
import io.coplane.types.column.LongColumn;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Look-up of table rows by index entries (coprocessor.md 3.11). Index rows are gathered, then the table rows of those that can be reached are
 * scanned in the order of their keys; the other index rows go to the intermediate channel, and the client looks them up. Without an accessor all
 * of them do.
 */
public final class IndexLookUp extends Executor {
    private static final int MAX_BATCH_ROWS = 1024;

    private final Executor source;
    private final TableRows table;
    private final RowAccessor accessor;
    private final EvalContext context;
    private final MemoryGuard guard;
    private final HeapAccount account;
    private final Batch none;
    private Batch intermediate;

    private final RowStore gathered;
    private final RowStore unreached;
    private final Batch unreachedBatch;
    private final List<byte[]> keys = new ArrayList<>();
    private final ArrayDeque<Task> tasks = new ArrayDeque<>();
    private int wantedRows;
    private Drained sourceState = Drained.REMAIN;
    private TableScan scan;
    private RowSource rowsOfScan;
    private boolean isScanned;

    /**
     * How to find table rows.
     *
     * @param columns of the table scan
     * @param primaryColumnIds of a common handle; empty for an int handle
     * @param primaryPrefixColumnIds see {@link TableScan}
     * @param rowPrefix outer raw key of a row up to its handle
     * @param prefixBytes bytes of the keyspace prefix in keys
     * @param handleColumn column of an int handle in the index rows; -1 with a common handle
     * @param summary of the table scan
     */
    public record TableRows(
            List<ScanColumn> columns,
            List<Long> primaryColumnIds,
            List<Long> primaryPrefixColumnIds,
            byte[] rowPrefix,
            int prefixBytes,
            int handleColumn,
            ExecutionSummary summary) {}

    /** Rows of one region to look up: keys ascending. */
    private record Task(RowAccessor.Region region, List<byte[]> keys) {}

    /** @param accessor borrowed; null if nothing but the request's ranges can be read */
    public IndexLookUp(
            Executor source,
            TableRows table,
            RowAccessor accessor,
            ExecutionSummary summary,
            EvalContext context,
            MemoryGuard guard) {
        super(ScanColumn.types(table.columns()), summary);
        this.source = source;
        this.table = table;
        this.accessor = accessor;
        this.context = context;
        this.guard = guard;
        account = new HeapAccount(guard, summary);
        none = new Batch(context, schema());
        gathered = new RowStore(source.schema());
        unreached = new RowStore(source.schema());
        unreachedBatch = new Batch(context, source.schema());
    }

    /** Types of the rows that go to the intermediate channel. */
    public List<FieldType> intermediateSchema() {
        return source.schema();
    }

    @Override
    Batch pull(int rows) {
        intermediate = null;
        if (accessor == null) {
            Batch batch = source.next(rows);
            if (batch.error() == null && batch.rows() > 0) {
                intermediate = batch;
            }
            return nothing(batch.drained(), batch.error());
        }
        if (wantedRows == 0) {
            wantedRows = rows;
        }
        try {
            if (isScanned) {
                isScanned = false;
                closeScan();
                if (tasks.isEmpty()) {
                    return nothing(sourceState, null);
                }
            }
            if (scan != null) {
                return scan(rows);
            }
            return tasks.isEmpty() ? gather(rows) : open(rows);
        } catch (CoplaneException e) {
            return nothing(Drained.REMAIN, e);
        }
    }

    private Batch nothing(Drained state, CoplaneException error) {
        none.reset(0, state);
        none.setError(error);
        for (int i = 0; i < none.columnCount(); i++) {
            none.lazy(i).setRaw(null);
        }
        return none;
    }

    private Batch gather(int rows) {
        Batch batch = source.next(rows);
        if (batch.error() != null) {
            return nothing(Drained.REMAIN, batch.error());
        }
        sourceState = batch.drained();
        addKeys(batch);
        int[] all = new int[batch.rows()];
        Arrays.setAll(all, i -> i);
        gathered.append(batch, all, all.length);
        account.holds(gathered.heapBytes() + unreached.heapBytes() + 64L * keys.size());
        if (gathered.rows() >= wantedRows || sourceState.stops()) {
            begin();
        }
        return nothing(tasks.isEmpty() ? sourceState : Drained.REMAIN, null);
    }

    private void addKeys(Batch batch) {
        byte[] prefix = table.rowPrefix();
        if (table.handleColumn() >= 0) {
            LongColumn handles = (LongColumn) batch.column(table.handleColumn());
            for (int row = 0; row < batch.rows(); row++) {
                byte[] key = Arrays.copyOf(prefix, prefix.length + Long.BYTES);
                long word = handles.values()[row] ^ Long.MIN_VALUE;
                for (int i = 0; i < Long.BYTES; i++) {
                    key[prefix.length + i] = (byte) (word >>> 8 * (Long.BYTES - 1 - i));
                }
                keys.add(handles.isNull(row) ? null : key);
            }
            return;
        }
        RowHandles handles = batch.handles();
        for (int row = 0; row < batch.rows(); row++) {
            if (handles == null) {
                keys.add(null);
                continue;
            }
            int physical = batch.physicalRow(row);
            byte[] key = Arrays.copyOf(prefix, prefix.length + handles.length(physical));
            System.arraycopy(handles.bytes(), handles.start(physical), key, prefix.length, handles.length(physical));
            keys.add(key);
        }
    }

    /** Sorts the keys into one task per region; what can't be reached goes to the client. */
    private void begin() {
        int[] left = new int[keys.size()];
        int leftCount = 0;
        List<Reached> reached = new ArrayList<>(keys.size());
        for (int row = 0; row < keys.size(); row++) {
            byte[] key = keys.get(row);
            RowAccessor.Region region = key == null ? null : accessor.find(key);
            if (region != null) {
                reached.add(new Reached(key, region));
            } else {
                left[leftCount++] = row;
            }
        }
        if (leftCount > 0) {
            unreached.clear();
            unreached.append(gathered, left, leftCount);
            unreached.show(unreachedBatch, Drained.REMAIN);
            intermediate = unreachedBatch;
        }
        keys.clear();
        gathered.clear();
        reached.sort((a, b) -> Arrays.compareUnsigned(a.key(), b.key()));
        for (Reached row : reached) {
            if (tasks.isEmpty() || !tasks.getLast().region().equals(row.region())) {
                tasks.add(new Task(row.region(), new ArrayList<>()));
            }
            tasks.getLast().keys().add(row.key());
        }
        wantedRows = Math.min(2 * wantedRows, MAX_BATCH_ROWS);
    }

    private record Reached(byte[] key, RowAccessor.Region region) {}

    private Batch open(int rows) {
        Task task = tasks.remove();
        List<byte[]> sorted = task.keys();
        List<ScanRange> ranges = new ArrayList<>();
        boolean ints = table.handleColumn() >= 0;
        int first = 0;
        for (int i = 1; i <= sorted.size(); i++) {
            boolean follows =
                    ints && i < sorted.size() && Arrays.equals(KeyRanges.prefixNext(sorted.get(i - 1)), sorted.get(i));
            if (!follows) {
                ranges.add(new ScanRange(sorted.get(first), KeyRanges.prefixNext(sorted.get(i - 1)), false));
                first = i;
            }
        }
        rowsOfScan = task.region().open();
        RangesReader reader = new RangesReader(rowsOfScan, ranges, ints, false);
        scan = new TableScan(
                table.columns(),
                table.primaryColumnIds(),
                table.primaryPrefixColumnIds(),
                table.prefixBytes(),
                reader,
                table.summary(),
                context,
                guard);
        return scan(rows);
    }

    private Batch scan(int rows) {
        Batch batch = scan.next(rows);
        if (batch.error() != null) {
            return batch.fail(batch.error());
        }
        if (batch.drained().stops()) {
            isScanned = true;
            batch.setDrained(Drained.REMAIN);
        }
        return batch;
    }

    private void closeScan() {
        if (scan != null) {
            scan.close();
            scan = null;
            rowsOfScan.close();
        }
    }

    /** The index rows of the last pull that the client must look up; null if there are none. Borrowed until the next pull. */
    public Batch takeIntermediate() {
        Batch taken = intermediate;
        intermediate = null;
        return taken;
    }

    /** Outer raw key of the rows of a table up to their handles. */
    public static byte[] rowPrefix(byte[] keyspacePrefix, long tableId, MemoryGuard guard) {
        try (ByteSink sink = new ByteSink(guard)) {
            sink.put(keyspacePrefix, 0, keyspacePrefix.length);
            TableKeys.putRowPrefix(sink, tableId);
            return sink.copyBytes();
        }
    }

    @Override
    public void close() {
        source.close();
        closeScan();
        account.close();
    }
}
