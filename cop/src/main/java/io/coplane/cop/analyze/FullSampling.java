package io.coplane.cop.analyze;

import com.google.protobuf.ByteString;
import io.coplane.cop.exec.Batch;
import io.coplane.cop.exec.HeapAccount;
import io.coplane.cop.exec.ScanColumn;
import io.coplane.cop.exec.TableScan;
import io.coplane.cop.kernel.Murmur3;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.tipb.AnalyzeColumnGroup;
import io.coplane.proto.tipb.AnalyzeColumnsReq;
import io.coplane.proto.tipb.AnalyzeColumnsResp;
import io.coplane.proto.tipb.RowSample;
import io.coplane.proto.tipb.RowSampleCollector;
import io.coplane.snapshot.DeadlineCheck;
import io.coplane.types.ByteSink;
import io.coplane.types.EvalContext;
import io.coplane.types.codec.Datums;
import io.coplane.types.column.BytesColumn;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;

/** Sketches of all columns and column groups, and a sample of whole rows (coprocessor.md 6.4). Used once. */
final class FullSampling implements AutoCloseable {
    private static final int BATCH_ROWS = 1024;

    private final AnalyzeColumnsReq request;
    private final List<ColumnValues> values = new ArrayList<>();
    private final List<int[]> groups = new ArrayList<>();
    private final long[] nulls;
    private final long[] totalBytes;
    private final List<FmSketch> sketches = new ArrayList<>();
    private final SplittableRandom random;
    private final Murmur3 murmur = new Murmur3();
    private final ByteSink scratch;
    private final ByteSink key;
    private final HeapAccount account;
    private final PriorityQueue<RowSample> reservoir =
            new PriorityQueue<>(Comparator.comparingLong(RowSample::getWeight));
    private final List<RowSample> picked = new ArrayList<>();
    private long sampleBytes;
    private long count;

    /** @throws CoplaneException BAD_PLAN for a group of columns that do not exist */
    FullSampling(
            AnalyzeColumnsReq request, List<ScanColumn> columns, long seed, EvalContext context, MemoryGuard guard) {
        this.request = request;
        random = new SplittableRandom(seed);
        scratch = new ByteSink(guard);
        key = new ByteSink(guard);
        account = new HeapAccount(guard);
        for (int i = 0; i < columns.size(); i++) {
            values.add(new ColumnValues(i, columns.get(i).type(), context, guard));
        }
        for (AnalyzeColumnGroup group : request.getColumnGroupsList()) {
            groups.add(offsets(group, columns.size()));
        }
        int count = columns.size() + groups.size();
        nulls = new long[count];
        totalBytes = new long[count];
        for (int i = 0; i < count; i++) {
            sketches.add(new FmSketch(request.getSketchSize()));
        }
    }

    private static int[] offsets(AnalyzeColumnGroup group, int columns) {
        int[] offsets = new int[group.getColumnOffsetsCount()];
        for (int i = 0; i < offsets.length; i++) {
            long offset = group.getColumnOffsets(i);
            if (offset < 0 || offset >= columns) {
                throw new CoplaneException(
                        ErrorCode.BAD_PLAN, "column group is out of bounds: offset=" + offset + " columns=" + columns);
            }
            offsets[i] = (int) offset;
        }
        return offsets;
    }

    /** Reads the scan to its end. */
    void run(TableScan scan, DeadlineCheck deadline) {
        boolean drained = false;
        while (!drained) {
            deadline.check();
            Batch batch = scan.next(BATCH_ROWS);
            if (batch.error() != null) {
                throw batch.error();
            }
            drained = batch.drained().stops();
            values.forEach(column -> column.load(batch));
            for (int row = 0; row < batch.rows(); row++) {
                row(row);
            }
            long bytes = sampleBytes;
            for (FmSketch sketch : sketches) {
                bytes += sketch.heapBytes();
            }
            account.holds(bytes);
        }
        for (int i = 0; i < groups.size(); i++) {
            if (groups.get(i).length == 1) {
                int column = groups.get(i)[0];
                int group = values.size() + i;
                nulls[group] = nulls[column];
                totalBytes[group] = totalBytes[column];
                sketches.set(group, sketches.get(column));
            }
        }
    }

    private void row(int row) {
        count++;
        for (int i = 0; i < groups.size(); i++) {
            if (groups.get(i).length != 1) {
                group(row, groups.get(i), values.size() + i);
            }
        }
        for (int i = 0; i < values.size(); i++) {
            ColumnValues column = values.get(i);
            if (column.isNull(row)) {
                nulls[i]++;
                continue;
            }
            totalBytes[i] += column.length(row) - 1;
            if (column.hasKeys()) {
                key.truncate(0);
                putKey(column, row, key);
                sketches.get(i).insert(murmur, key.bytes(), 0, key.length());
            } else {
                sketches.get(i).insert(murmur, column.bytes(), column.start(row), column.length(row));
            }
        }
        sample(row);
    }

    private static void putKey(ColumnValues column, int row, ByteSink out) {
        if (column.isNull(row)) {
            out.putByte(Datums.NIL);
            return;
        }
        BytesColumn keys = column.keys();
        out.put(keys.data(), keys.starts()[row], keys.lengths()[row]);
    }

    private void group(int row, int[] offsets, int group) {
        scratch.truncate(0);
        for (int offset : offsets) {
            ColumnValues column = values.get(offset);
            if (!column.isNull(row)) {
                totalBytes[group] += column.length(row) - 1;
            }
            if (column.hasKeys()) {
                putKey(column, row, scratch);
            } else {
                scratch.put(column.bytes(), column.start(row), column.length(row));
            }
        }
        sketches.get(group).insert(murmur, scratch.bytes(), 0, scratch.length());
    }

    private void sample(int row) {
        long wanted = request.getSampleSize();
        if (wanted > 0) {
            long weight = random.nextLong(Long.MAX_VALUE);
            if (reservoir.size() < wanted) {
                reservoir.add(rowSample(row).setWeight(weight).build());
            } else if (reservoir.peek().getWeight() < weight) {
                reservoir.poll(); // its bytes stay charged: an upper bound
                reservoir.add(rowSample(row).setWeight(weight).build());
            }
        } else if (random.nextDouble() < request.getSampleRate()) {
            picked.add(rowSample(row).build());
        }
    }

    private RowSample.Builder rowSample(int row) {
        RowSample.Builder sample = RowSample.newBuilder();
        for (ColumnValues column : values) {
            sample.addRow(ByteString.copyFrom(column.bytes(), column.start(row), column.length(row)));
            sampleBytes += column.length(row) + 32L;
        }
        return sample;
    }

    AnalyzeColumnsResp response() {
        RowSampleCollector.Builder collector = RowSampleCollector.newBuilder()
                .addAllSamples(reservoir)
                .addAllSamples(picked)
                .setCount(count);
        for (int i = 0; i < nulls.length; i++) {
            collector.addNullCounts(nulls[i]);
            collector.addTotalSize(totalBytes[i]);
            collector.addFmSketch(sketches.get(i).message());
        }
        return AnalyzeColumnsResp.newBuilder().setRowCollector(collector).build();
    }

    @Override
    public void close() {
        values.forEach(ColumnValues::close);
        scratch.close();
        key.close();
        account.close();
    }
}
