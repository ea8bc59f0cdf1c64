package io.coplane.cop.exec;

import io.coplane.cop.kernel.ColumnRows;
import io.coplane.cop.kernel.KeyKind;
import io.coplane.cop.kernel.SortPrefix;
import io.coplane.types.FieldType;
import io.coplane.types.column.Column;
import java.util.Arrays;
import java.util.List;

/**
 * The n least rows seen (coprocessor.md 3.9): a binary heap of row numbers, greatest on top, over rows kept column by column. Rows that were
 * replaced stay as garbage until there is as much of it as there are rows; then the stores are copied. One thread.
 */
final class TopNHeap {
    private static final int SLACK_ROWS = 2048;

    private final KeyExpressions keys;
    private final boolean[] descending;
    private final KeyKind[] kinds;
    private final long limit;

    private RowStore store;
    private RowStore spareStore;
    private Column[] storedKeys;
    private Column[] spareKeys;
    private long[] prefixes = new long[0];
    private int[] heap = new int[16];
    private int heapCount;
    private long[] batchPrefixes = new long[0];
    private int[] candidates = new int[0];

    /** @param limit rows to keep; at least 1 */
    TopNHeap(List<FieldType> schema, KeyExpressions keys, boolean[] descending, long limit) {
        this.keys = keys;
        this.descending = descending;
        this.kinds = keys.kinds();
        this.limit = limit;
        store = new RowStore(schema);
        spareStore = new RowStore(schema);
        storedKeys = keyColumns();
        spareKeys = keyColumns();
    }

    private Column[] keyColumns() {
        Column[] columns = new Column[keys.count()];
        for (int i = 0; i < columns.length; i++) {
            columns[i] = ColumnRows.create(keys.expression(i).fieldType().evalType());
        }
        return columns;
    }

    int count() {
        return heapCount;
    }

    /** Prepares for {@link #add}: the keys have been evaluated on this batch. */
    void begin(int rows) {
        if (rows > batchPrefixes.length) {
            batchPrefixes = new long[Math.max(rows, 2 * batchPrefixes.length)];
            candidates = new int[batchPrefixes.length];
        }
        if (keys.count() > 0) {
            SortPrefix.fill(keys.comparable()[0], kinds[0], descending[0], rows, batchPrefixes);
        } else {
            Arrays.fill(batchPrefixes, 0, rows, 0);
        }
    }

    /** Adds rows {@code from .. to - 1} of the batch. */
    void add(Batch batch, int from, int to) {
        int count = 0;
        if (heapCount < limit) {
            for (int row = from; row < to; row++) {
                candidates[count++] = row;
            }
        } else {
            long top = prefixes[heap[0]];
            long least = kinds.length > 0 ? top : top - 1; // without keys all rows are equal: none is less
            for (int row = from; row < to; row++) {
                candidates[count] = row;
                count += batchPrefixes[row] <= least ? 1 : 0;
            }
        }
        if (count == 0) {
            return;
        }
        int base = store.rows();
        store.append(batch, candidates, count);
        for (int i = 0; i < storedKeys.length; i++) {
            ColumnRows.append(keys.comparable()[i], candidates, count, storedKeys[i]);
        }
        if (store.rows() > prefixes.length) {
            prefixes = Arrays.copyOf(prefixes, Math.max(store.rows(), 2 * prefixes.length));
        }
        for (int i = 0; i < count; i++) {
            prefixes[base + i] = batchPrefixes[candidates[i]];
            offer(base + i);
        }
        if (store.rows() > 2L * heapCount + SLACK_ROWS) {
            compact();
        }
    }

    private void offer(int id) {
        if (heapCount < limit) {
            if (heapCount == heap.length) {
                heap = Arrays.copyOf(heap, 2 * heapCount);
            }
            heap[heapCount] = id;
            siftUp(heapCount++);
        } else if (compare(id, heap[0]) < 0) {
            heap[0] = id;
            siftDown(0, heapCount);
        }
    }

    private void siftUp(int at) {
        int id = heap[at];
        int child = at;
        while (child > 0) {
            int parent = child - 1 >>> 1;
            if (compare(id, heap[parent]) <= 0) {
                break;
            }
            heap[child] = heap[parent];
            child = parent;
        }
        heap[child] = id;
    }

    private void siftDown(int at, int count) {
        int id = heap[at];
        int parent = at;
        while (true) {
            int child = 2 * parent + 1;
            if (child >= count) {
                break;
            }
            if (child + 1 < count && compare(heap[child + 1], heap[child]) > 0) {
                child++;
            }
            if (compare(heap[child], id) <= 0) {
                break;
            }
            heap[parent] = heap[child];
            parent = child;
        }
        heap[parent] = id;
    }

    private int compare(int left, int right) {
        long a = prefixes[left];
        long b = prefixes[right];
        if (a != b) {
            return a < b ? -1 : 1;
        }
        for (int i = 0; i < kinds.length; i++) {
            int order = kinds[i].compare(storedKeys[i], left, storedKeys[i], right);
            if (order != 0) {
                return descending[i] ? -order : order;
            }
        }
        return 0;
    }

    /** Sorts what was kept, appends it to {@code out} and starts anew. */
    void flush(RowStore out) {
        for (int end = heapCount - 1; end > 0; end--) {
            int greatest = heap[0];
            heap[0] = heap[end];
            heap[end] = greatest;
            siftDown(0, end);
        }
        out.append(store, heap, heapCount);
        heapCount = 0;
        store.clear();
        for (Column key : storedKeys) {
            ColumnRows.clear(key);
        }
    }

    private void compact() {
        spareStore.clear();
        spareStore.append(store, heap, heapCount);
        for (int i = 0; i < storedKeys.length; i++) {
            ColumnRows.clear(spareKeys[i]);
            ColumnRows.append(storedKeys[i], heap, heapCount, spareKeys[i]);
        }
        long[] moved = new long[heapCount];
        for (int i = 0; i < heapCount; i++) {
            moved[i] = prefixes[heap[i]];
            heap[i] = i;
        }
        System.arraycopy(moved, 0, prefixes, 0, heapCount);
        RowStore old = store;
        store = spareStore;
        spareStore = old;
        Column[] oldKeys = storedKeys;
        storedKeys = spareKeys;
        spareKeys = oldKeys;
    }

    long heapBytes() {
        long bytes = store.heapBytes()
                + spareStore.heapBytes()
                + (long) (prefixes.length + batchPrefixes.length) * Long.BYTES
                + (long) (heap.length + candidates.length) * Integer.BYTES;
        for (int i = 0; i < storedKeys.length; i++) {
            bytes += storedKeys[i].heapBytes() + spareKeys[i].heapBytes();
        }
        return bytes;
    }
}
