package io.coplane.cop;

import io.coplane.cop.exec.RowSource;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.snapshot.DeadlineCheck;
import io.coplane.snapshot.ReadStatistics;
import io.coplane.snapshot.ReaderThreads;
import io.coplane.snapshot.RowBuffer;
import io.coplane.snapshot.Snapshot;
import io.coplane.snapshot.SnapshotScanner;
import java.util.Arrays;

/**
 * A shard's rows at one timestamp as a sorted vector of keys and values in memory, and requests executed on it: what the reference's figures start
 * from. Each row read is copied once. One thread.
 */
public final class DecodedRows {
    private static final int SCAN_ROWS = 1024;

    private final byte[][] keys;
    private final byte[][] values;
    private final long[] commitTs;

    private DecodedRows(byte[][] keys, byte[][] values, long[] commitTs) {
        this.keys = keys;
        this.values = values;
        this.commitTs = commitTs;
    }

    /** Reads the whole shard; the snapshot is borrowed for the time of the call. */
    public static DecodedRows of(Snapshot snapshot, long readTs) {
        byte[][] keys = new byte[SCAN_ROWS][];
        byte[][] values = new byte[SCAN_ROWS][];
        long[] commits = new long[SCAN_ROWS];
        int count = 0;
        try (SnapshotScanner scanner = snapshot.scanner(
                        readTs, false, new ReadStatistics(), DeadlineCheck.NONE, ReaderThreads.CALLER);
                RowBuffer rows = new RowBuffer(snapshot.guard())) {
            scanner.setRange(snapshot.outerStart(), snapshot.outerEnd());
            while (scanner.fill(rows, SCAN_ROWS) > 0) {
                if (count + rows.rows() > keys.length) {
                    int capacity = 2 * keys.length + rows.rows();
                    keys = Arrays.copyOf(keys, capacity);
                    values = Arrays.copyOf(values, capacity);
                    commits = Arrays.copyOf(commits, capacity);
                }
                for (int row = 0; row < rows.rows(); row++) {
                    keys[count] = copy(rows.bytes(), rows.keyStarts()[row], rows.keyLengths()[row]);
                    values[count] = copy(rows.bytes(), rows.valueStarts()[row], rows.valueLengths()[row]);
                    commits[count++] = rows.commitTs()[row];
                }
                rows.clear();
            }
        }
        return new DecodedRows(Arrays.copyOf(keys, count), Arrays.copyOf(values, count), Arrays.copyOf(commits, count));
    }

    /** Rows that are sorted by key; arrays are taken over. */
    static DecodedRows of(byte[][] sortedKeys, byte[][] values) {
        return new DecodedRows(sortedKeys, values, new long[sortedKeys.length]);
    }

    private static byte[] copy(byte[] bytes, int start, int length) {
        return Arrays.copyOfRange(bytes, start, start + length);
    }

    /** Executes a request on these rows. */
    public Response execute(Request request, MemoryGuard guard, long maxResponseBytes) {
        Coprocessor.Sources sources = readTs -> new Source();
        return Coprocessor.execute(request, sources, guard, maxResponseBytes, Clock.system(), DeadlineCheck.NONE)
                .build();
    }

    /** First row whose key is not below the given one. */
    private int lowerBound(byte[] key) {
        int at = Arrays.binarySearch(keys, key, Arrays::compareUnsigned);
        return at >= 0 ? at : -at - 1;
    }

    private final class Source implements RowSource {
        private boolean reverse;
        private int next;
        private int last;

        @Override
        public void setRange(boolean backward, byte[] lower, byte[] upper) {
            reverse = backward;
            next = lowerBound(backward ? upper : lower);
            last = lowerBound(backward ? lower : upper);
        }

        @Override
        public int fill(RowBuffer rows, int maxRows) {
            int count = 0;
            while (count < maxRows && next != last) {
                int row = reverse ? --next : next++;
                rows.append(keys[row], values[row], commitTs[row]);
                count++;
            }
            return count;
        }

        @Override
        public boolean get(byte[] key, RowBuffer rows) {
            int row = Arrays.binarySearch(keys, key, Arrays::compareUnsigned);
            if (row >= 0) {
                rows.append(keys[row], values[row], commitTs[row]);
            }
            return row >= 0;
        }

        @Override
        public void close() {
            // borrows everything
        }
    }
}
