package io.coplane.cop.analyze;

import io.coplane.cop.exec.HeapAccount;
import io.coplane.cop.exec.RangesReader;
import io.coplane.cop.kernel.Murmur3;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.tipb.AnalyzeIndexReq;
import io.coplane.proto.tipb.AnalyzeIndexResp;
import io.coplane.proto.tipb.CMSketch;
import io.coplane.proto.tipb.SampleCollector;
import io.coplane.snapshot.DeadlineCheck;
import io.coplane.snapshot.RowBuffer;
import io.coplane.types.codec.Datums;
import io.coplane.types.codec.TableKeys;
import java.util.Arrays;
import java.util.HexFormat;

/** Statistics of an index or a common handle, from keys alone (coprocessor.md 6.2). Used once. */
final class IndexAnalyze {
    private static final int BATCH_ROWS = 1024;

    private final boolean commonHandle;
    private final int prefixBytes;
    private final int columns;
    private final boolean second;
    private final EqualDepthHistogram histogram;
    private final CmSketch cm;
    private final FmSketch fm;
    private final TopCounts top;
    private final Murmur3 murmur = new Murmur3();
    private byte[] run = new byte[64];
    private int runLength = -1;
    private long runCount;

    /** @throws CoplaneException UNSUPPORTED for a version other than 1 and 2 */
    IndexAnalyze(AnalyzeIndexReq request, boolean commonHandle, int prefixBytes) {
        this.commonHandle = commonHandle;
        this.prefixBytes = prefixBytes;
        int version = request.hasVersion() ? request.getVersion() : 1;
        if (version != 1 && version != 2) {
            throw new CoplaneException(ErrorCode.UNSUPPORTED, "unsupported analyze version: version=" + version);
        }
        second = version == 2;
        columns = request.getNumColumns();
        histogram = new EqualDepthHistogram(request.getBucketSize(), second);
        cm = CmSketch.of(request.getCmsketchDepth(), request.getCmsketchWidth());
        fm = new FmSketch(request.getSketchSize());
        top = second && cm != null ? new TopCounts(request.getTopNSize()) : null;
    }

    AnalyzeIndexResp run(RangesReader reader, MemoryGuard guard, DeadlineCheck deadline) {
        try (RowBuffer rows = new RowBuffer(guard);
                HeapAccount account = new HeapAccount(guard)) {
            boolean exhausted = false;
            while (!exhausted) {
                deadline.check();
                exhausted = reader.read(rows, BATCH_ROWS);
                for (int row = 0; row < rows.rows(); row++) {
                    key(rows.bytes(), rows.keyStarts()[row] + prefixBytes, rows.keyLengths()[row] - prefixBytes);
                }
                account.holds(histogram.heapBytes() + fm.heapBytes() + (cm == null ? 0 : cm.heapBytes()));
            }
        }
        AnalyzeIndexResp.Builder response = AnalyzeIndexResp.newBuilder().setHist(histogram.message());
        if (cm != null) {
            response.setCms(sketch());
        }
        return response.setCollector(SampleCollector.newBuilder().setFmSketch(fm.message()))
                .build();
    }

    private CMSketch sketch() {
        if (top == null) {
            return cm.message().build();
        }
        endRun();
        top.forEach((data, count) -> {
            murmur.hash(data, 0, data.length);
            cm.subtract(murmur, count);
        });
        return cm.message().addAllTopN(top.messages()).build();
    }

    private void key(byte[] bytes, int start, int length) {
        int from;
        if (commonHandle) {
            TableKeys.checkRecordKey(bytes, start, length);
            from = start + TableKeys.HANDLE_AT;
        } else {
            TableKeys.checkIndexKey(bytes, start, length);
            from = start + TableKeys.INDEX_DATUMS_AT;
        }
        int end = start + length;
        int at = from;
        for (int i = 0; i < columns; i++) {
            if (at >= end) {
                throw new CoplaneException(
                        ErrorCode.CORRUPT_KEY,
                        i + "th column is missing in datum buffer: "
                                + HexFormat.of().withUpperCase().formatHex(bytes, from, end));
            }
            at = Datums.skip(bytes, at, end);
            if (cm != null) {
                murmur.hash(bytes, from, at - from);
                cm.insert(murmur);
            }
        }
        fm.insert(murmur, bytes, from, at - from);
        histogram.append(bytes, from, at - from);
        if (top != null) {
            count(bytes, from, at - from);
        }
    }

    private void count(byte[] bytes, int from, int length) {
        if (runLength == length && Arrays.equals(run, 0, length, bytes, from, from + length)) {
            runCount++;
            return;
        }
        endRun();
        if (length > run.length) {
            run = new byte[Math.max(length, 2 * run.length)];
        }
        System.arraycopy(bytes, from, run, 0, length);
        runLength = length;
        runCount = 1;
    }

    private void endRun() {
        if (runCount > 0) {
            top.offer(run, runLength, runCount);
        }
        runCount = 0;
    }
}
