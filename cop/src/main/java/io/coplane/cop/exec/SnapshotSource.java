package io.coplane.cop.exec;

import io.coplane.snapshot.DeadlineCheck;
import io.coplane.snapshot.PointReader;
import io.coplane.snapshot.ReadStatistics;
import io.coplane.snapshot.ReaderThreads;
import io.coplane.snapshot.RowBuffer;
import io.coplane.snapshot.Snapshot;
import io.coplane.snapshot.SnapshotScanner;

/** Rows of a snapshot. Owns its scanner and reader, borrows the snapshot. */
public final class SnapshotSource implements RowSource {
    private final Snapshot snapshot;
    private final long readTs;
    private final ReadStatistics statistics;
    private final DeadlineCheck deadline;
    private final ReaderThreads threads;
    private SnapshotScanner scanner;
    private boolean scannerReverse;
    private PointReader points;

    /**
     * @param readTs newest commit to see; unsigned
     * @param statistics counts what is read; borrowed
     * @param deadline asked during scans; borrowed
     * @param threads who reads and closes
     */
    public SnapshotSource(
            Snapshot snapshot, long readTs, ReadStatistics statistics, DeadlineCheck deadline, ReaderThreads threads) {
        this.snapshot = snapshot;
        this.readTs = readTs;
        this.statistics = statistics;
        this.deadline = deadline;
        this.threads = threads;
    }

    @Override
    public void setRange(boolean reverse, byte[] lower, byte[] upper) {
        if (scanner != null && scannerReverse != reverse) {
            scanner.close();
            scanner = null;
        }
        if (scanner == null) {
            scanner = snapshot.scanner(readTs, reverse, statistics, deadline, threads);
            scannerReverse = reverse;
        }
        scanner.setRange(lower, upper);
    }

    @Override
    public int fill(RowBuffer rows, int maxRows) {
        return scanner.fill(rows, maxRows);
    }

    @Override
    public boolean get(byte[] key, RowBuffer rows) {
        if (points == null) {
            points = snapshot.pointReader(readTs, statistics, threads);
        }
        return points.get(key, rows);
    }

    @Override
    public void close() {
        if (scanner != null) {
            scanner.close();
            scanner = null;
        }
        if (points != null) {
            points.close();
            points = null;
        }
    }
}
