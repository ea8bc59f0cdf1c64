package io.coplane.cop.exec;

import io.coplane.snapshot.RowBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * Reads the ranges of a request one after the other and keeps the books: rows per range, scanned range, entries and bytes (coprocessor.md 3.3,
 * 3.4). Borrows the source. One thread.
 */
public final class RangesReader {
    private static final byte[] NONE = {};

    private final RowSource source;
    private final List<ScanRange> ranges;
    private final boolean backward;

    private int nextRange;
    private boolean inInterval;
    private long[] rangeRows = new long[4];
    private int rangesBegun;
    private long scannedRows;
    private long scannedBytes;
    private boolean countsBytes;
    private long readBytes;
    private boolean isPageEnded;

    private ScanRange current;
    private byte[] firstBegin = NONE;
    private byte[] pageBegin = NONE;
    private byte[] pageEnd = NONE;

    /**
     * @param ranges in the order of the request
     * @param allowPoints single keys are looked up instead of scanned
     */
    public RangesReader(RowSource source, List<ScanRange> ranges, boolean allowPoints, boolean backward) {
        this.source = source;
        this.ranges = ScanRange.inScanOrder(ranges, allowPoints, backward);
        this.backward = backward;
    }

    /**
     * Reads up to {@code wanted} rows.
     *
     * @param rows cleared first
     * @return true if all ranges are exhausted
     */
    public boolean read(RowBuffer rows, int wanted) {
        rows.clear();
        boolean exhausted = false;
        while (rows.rows() < wanted && !exhausted) {
            int before = rows.rows();
            if (inInterval) {
                int filled = source.fill(rows, wanted - before);
                inInterval = filled == wanted - before;
                rangeRows[rangesBegun - 1] += filled;
            } else if (nextRange < ranges.size()) {
                enter(ranges.get(nextRange++), rows);
            } else {
                exhausted = true;
            }
            count(rows, before);
        }
        readBytes += rows.byteCount();
        if (exhausted) {
            if (current != null) {
                pageEnd = backward ? current.start() : current.scannedEnd();
            }
        } else if (rows.rows() > 0) {
            pageEnd = endBehind(rows, rows.rows() - 1);
        }
        return exhausted;
    }

    private void enter(ScanRange range, RowBuffer rows) {
        if (current == null || nextRange == ranges.size()) {
            current = range;
        }
        if (pageBegin.length == 0) {
            pageBegin = backward ? current.scannedEnd() : current.start();
            firstBegin = pageBegin;
        }
        if (rangesBegun == rangeRows.length) {
            rangeRows = Arrays.copyOf(rangeRows, 2 * rangesBegun);
        }
        rangeRows[rangesBegun++] = 0;
        if (range.isPoint()) {
            if (source.get(range.start(), rows)) {
                rangeRows[rangesBegun - 1] = 1;
            }
        } else {
            source.setRange(backward, range.start(), range.end());
            inInterval = true;
        }
    }

    private void count(RowBuffer rows, int from) {
        scannedRows += rows.rows() - from;
        if (!countsBytes) {
            return;
        }
        int[] keyLengths = rows.keyLengths();
        int[] valueLengths = rows.valueLengths();
        for (int row = from; row < rows.rows(); row++) {
            scannedBytes += (keyLengths[row] / 8 + 1) * 9L + valueLengths[row];
        }
    }

    /** Makes the reader count bytes too, from now on. */
    public void countBytes() {
        countsBytes = true;
    }

    private byte[] endBehind(RowBuffer rows, int row) {
        int start = rows.keyStarts()[row];
        int length = rows.keyLengths()[row];
        byte[] key = Arrays.copyOfRange(rows.bytes(), start, start + length + (backward ? 0 : 1));
        if (!backward) {
            key[length] = 0;
        }
        return key;
    }

    /** Makes the scan read no more: its next batch is empty and ends the page. */
    public void endPage() {
        isPageEnded = true;
    }

    boolean isPageEnded() {
        return isPageEnded;
    }

    /** Raw key and value bytes of the entries read since the start. */
    public long readBytes() {
        return readBytes;
    }

    /** Entries read since the start. */
    public long scannedRows() {
        return scannedRows;
    }

    /** Memcomparable key bytes + value bytes of the entries read since {@link #countBytes()}. */
    public long scannedBytes() {
        return scannedBytes;
    }

    /** Entries of each range begun since the last call, in scan order. A range that goes on afterwards starts again with 0. */
    public long[] takeRangeRows() {
        long[] taken = Arrays.copyOf(rangeRows, rangesBegun);
        rangesBegun = 1;
        rangeRows[0] = 0;
        return taken;
    }

    /** The interval read since the start. */
    public ScanRange scannedRange() {
        byte[] end =
                pageEnd.length == 0 ? pageBegin : pageEnd; // nothing was read since the last call of takeScannedRange
        return backward ? new ScanRange(end, firstBegin, false) : new ScanRange(firstBegin, end, false);
    }

    /** The interval read since the last call. */
    public ScanRange takeScannedRange() {
        ScanRange taken =
                backward ? new ScanRange(pageEnd, pageBegin, false) : new ScanRange(pageBegin, pageEnd, false);
        pageBegin = pageEnd;
        pageEnd = NONE;
        return taken;
    }
}
