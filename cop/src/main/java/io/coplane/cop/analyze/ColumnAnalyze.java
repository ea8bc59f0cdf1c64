package io.coplane.cop.analyze;

import io.coplane.cop.exec.Batch;
import io.coplane.cop.exec.HeapAccount;
import io.coplane.cop.exec.ScanColumn;
import io.coplane.cop.exec.TableScan;
import io.coplane.cop.kernel.Murmur3;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.tipb.AnalyzeColumnsReq;
import io.coplane.proto.tipb.AnalyzeColumnsResp;
import io.coplane.proto.tipb.AnalyzeIndexResp;
import io.coplane.proto.tipb.SampleCollector;
import io.coplane.snapshot.DeadlineCheck;
import io.coplane.types.ByteSink;
import io.coplane.types.EvalContext;
import io.coplane.types.codec.Datums;
import io.coplane.types.codec.Memcomparable;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Statistics of columns, and of the common handle in the same scan if asked for (coprocessor.md 6.3). Used once. */
final class ColumnAnalyze implements AutoCloseable {
    private static final int BATCH_ROWS = 1024;

    private final AnalyzeColumnsReq request;
    private final List<ColumnValues> values = new ArrayList<>();
    private final List<Samples> samples = new ArrayList<>();
    private final EqualDepthHistogram handleHistogram;
    private final int firstCollected;
    private final int handleColumns;
    private final EqualDepthHistogram commonHistogram;
    private final CmSketch commonCm;
    private final FmSketch commonFm;
    private final Murmur3 murmur = new Murmur3();
    private final ByteSink scratch;
    private final HeapAccount account;

    /** @param mixed true to make statistics of the common handle too */
    ColumnAnalyze(
            AnalyzeColumnsReq request,
            List<ScanColumn> columns,
            boolean mixed,
            long seed,
            EvalContext context,
            MemoryGuard guard) {
        this.request = request;
        SplittableRandom random = new SplittableRandom(seed);
        scratch = new ByteSink(guard);
        account = new HeapAccount(guard);
        for (int i = 0; i < columns.size(); i++) {
            values.add(new ColumnValues(i, columns.get(i).type(), context, guard));
        }
        firstCollected = columns.get(0).pkHandle() ? 1 : 0;
        for (int i = firstCollected; i < columns.size(); i++) {
            samples.add(new Samples(request.getSampleSize(), fm(), cm(), random));
        }
        handleHistogram = new EqualDepthHistogram(request.getBucketSize(), false);
        handleColumns = mixed ? Math.min(request.getPrimaryColumnIdsCount(), columns.size() - firstCollected) : 0;
        commonHistogram = new EqualDepthHistogram(request.getBucketSize(), false);
        commonCm = mixed ? cm() : null;
        commonFm = fm();
    }

    private CmSketch cm() {
        return CmSketch.of(request.getCmsketchDepth(), request.getCmsketchWidth());
    }

    private FmSketch fm() {
        return new FmSketch(request.getSketchSize());
    }

    /** Reads the scan to its end. */
    void run(TableScan scan, boolean mixed, DeadlineCheck deadline) {
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
                if (firstCollected == 1) {
                    ColumnValues handle = values.get(0);
                    handleHistogram.append(handle.bytes(), handle.start(row), handle.length(row));
                }
                if (mixed) {
                    commonHandle(row);
                }
            }
            for (int i = 0; i < samples.size(); i++) {
                collect(values.get(firstCollected + i), samples.get(i), batch.rows());
            }
            account.holds(heapBytes());
        }
    }

    private void commonHandle(int row) {
        scratch.truncate(0);
        for (int i = 0; i < handleColumns; i++) {
            ColumnValues column = values.get(firstCollected + i);
            scratch.put(column.bytes(), column.start(row), column.length(row));
            if (commonCm != null) {
                murmur.hash(scratch.bytes(), 0, scratch.length());
                commonCm.insert(murmur);
            }
        }
        commonFm.insert(murmur, scratch.bytes(), 0, scratch.length());
        commonHistogram.append(scratch.bytes(), 0, scratch.length());
    }

    private void collect(ColumnValues column, Samples into, int rows) {
        for (int row = 0; row < rows; row++) {
            byte[] bytes = column.bytes();
            int start = column.start(row);
            int flag = bytes[start];
            scratch.truncate(0);
            if (flag == Datums.NIL) {
                into.collectNull();
                continue;
            }
            if (column.hasKeys()) {
                var keys = column.keys();
                Datums.putCompactBytes(scratch, keys.data(), keys.starts()[row], keys.lengths()[row]);
            } else if (flag == Datums.INT || flag == Datums.DURATION) {
                Datums.putVarInt(scratch, Memcomparable.getLong(bytes, start + 1));
            } else if (flag == Datums.UINT) {
                Datums.putVarUint(scratch, Memcomparable.getUlong(bytes, start + 1));
            } else {
                into.collect(murmur, bytes, start, column.length(row));
                continue;
            }
            into.collect(murmur, scratch.bytes(), 0, scratch.length());
        }
    }

    private long heapBytes() {
        long bytes = handleHistogram.heapBytes() + commonHistogram.heapBytes() + commonFm.heapBytes();
        for (Samples column : samples) {
            bytes += column.heapBytes();
        }
        return bytes;
    }

    AnalyzeColumnsResp columns() {
        AnalyzeColumnsResp.Builder response = AnalyzeColumnsResp.newBuilder().setPkHist(handleHistogram.message());
        samples.forEach(column -> response.addCollectors(column.message()));
        return response.build();
    }

    AnalyzeIndexResp index() {
        AnalyzeIndexResp.Builder response = AnalyzeIndexResp.newBuilder().setHist(commonHistogram.message());
        if (commonCm != null) {
            response.setCms(commonCm.message());
        }
        return response.setCollector(SampleCollector.newBuilder().setFmSketch(commonFm.message()))
                .build();
    }

    @Override
    public void close() {
        values.forEach(ColumnValues::close);
        scratch.close();
        account.close();
    }
}
