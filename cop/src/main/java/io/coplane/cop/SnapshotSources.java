package io.coplane.cop;

import io.coplane.cop.exec.RowAccessor;
import io.coplane.cop.exec.RowSource;
import io.coplane.cop.exec.SnapshotSource;
import io.coplane.snapshot.DeadlineCheck;
import io.coplane.snapshot.ReadStatistics;
import io.coplane.snapshot.ReaderThreads;
import io.coplane.snapshot.Snapshot;
import java.util.IdentityHashMap;
import java.util.Map;

/** What a request over a snapshot reads: the snapshot, and by look-ups the regions that an accessor finds. One request, one thread at a time. */
final class SnapshotSources implements Coprocessor.Sources {
    private final Snapshot own;
    private final RegionAccessor regions;
    private final ReadStatistics statistics = new ReadStatistics();
    private final DeadlineCheck deadline;
    private final ReaderThreads threads;

    SnapshotSources(Snapshot own, RegionAccessor regions, DeadlineCheck deadline, ReaderThreads threads) {
        this.threads = threads;
        this.own = own;
        this.regions = regions;
        this.deadline = deadline;
    }

    @Override
    public RowSource at(long readTs) {
        return new SnapshotSource(own, readTs, statistics, deadline, threads);
    }

    @Override
    public RowAccessor accessor(long readTs) {
        if (regions.equals(RegionAccessor.NONE)) {
            return null;
        }
        Map<Snapshot, RowAccessor.Region> known = new IdentityHashMap<>();
        ReadStatistics uncounted = new ReadStatistics(); // look-ups are not counted (coprocessor.md 3.11)
        return rowKey -> {
            Snapshot found = regions.find(own, rowKey);
            return found == null
                    ? null
                    : known.computeIfAbsent(
                            found, region -> () -> new SnapshotSource(region, readTs, uncounted, deadline, threads));
        };
    }

    @Override
    public ReadStatistics statistics() {
        return statistics;
    }

    @Override
    public long dataVersion() {
        return own.dataVersion();
    }

    @Override
    public Coprocessor.Sources forTask() {
        return new SnapshotSources(own, regions, deadline, threads);
    }
}
