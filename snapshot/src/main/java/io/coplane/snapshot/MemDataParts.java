package io.coplane.snapshot;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.memory.Layouts;
import java.lang.foreign.MemorySegment;

/**
 * The two parts of {@code mem_data} (snapshot.md 2.1); borrowed views. Bytes behind them are ignored.
 *
 * <pre>
 * V1   at  bytes  field         unit and bounds
 *       0      4  format        1
 *       4   rest  rows          snapshot.md 2.2
 *
 * V2   at  bytes  field         unit and bounds
 *       0      4  format        2
 *       4      8  rowsBytes     m
 *      12      m  rows          snapshot.md 2.2
 *    12+m      4  refsBytes     r
 *    16+m      r  txnFileRefs   enginepb.TxnFileRefs
 * </pre>
 *
 * @param rows encoded rows; no bytes at all if mem_data is empty
 * @param txnFileRefs serialised {@code TxnFileRefs}, empty in V1
 */
record MemDataParts(MemorySegment rows, MemorySegment txnFileRefs) {
    private static final int FORMAT_V1 = 1;
    private static final int FORMAT_V2 = 2;
    private static final int ROWS_BYTES_AT = Integer.BYTES;
    private static final int ROWS_AT = ROWS_BYTES_AT + Long.BYTES;

    /** @throws CoplaneException BAD_MEM_DATA for an unknown format or a part that is cut */
    static MemDataParts split(MemorySegment memData) {
        long total = memData.byteSize();
        MemorySegment none = memData.asSlice(total, 0);
        if (total == 0) {
            return new MemDataParts(none, none);
        }
        if (total < Integer.BYTES) {
            throw truncated("format", 0, total);
        }
        int format = memData.get(Layouts.LE_INT, 0);
        return switch (format) {
            case FORMAT_V1 -> new MemDataParts(memData.asSlice(Integer.BYTES), none);
            case FORMAT_V2 -> splitV2(memData, total);
            default ->
                throw new CoplaneException(
                        ErrorCode.BAD_MEM_DATA, "unsupported mem data format " + Integer.toUnsignedString(format));
        };
    }

    private static MemDataParts splitV2(MemorySegment memData, long total) {
        if (total < ROWS_AT) {
            throw truncated("rowsBytes", ROWS_BYTES_AT, total);
        }
        long rowsBytes = memData.get(Layouts.LE_LONG, ROWS_BYTES_AT);
        if (Long.compareUnsigned(rowsBytes, total - ROWS_AT) > 0) {
            throw truncated("rows", ROWS_AT, total);
        }
        long refsBytesAt = ROWS_AT + rowsBytes;
        if (total - refsBytesAt < Integer.BYTES) {
            throw truncated("refsBytes", refsBytesAt, total);
        }
        long refsBytes = Integer.toUnsignedLong(memData.get(Layouts.LE_INT, refsBytesAt));
        long refsAt = refsBytesAt + Integer.BYTES;
        if (refsBytes > total - refsAt) {
            throw truncated("txnFileRefs", refsAt, total);
        }
        return new MemDataParts(memData.asSlice(ROWS_AT, rowsBytes), memData.asSlice(refsAt, refsBytes));
    }

    private static CoplaneException truncated(String field, long offset, long total) {
        return new CoplaneException(
                ErrorCode.BAD_MEM_DATA,
                "mem data is truncated: field=" + field + " offset=" + offset + " memDataBytes=" + total);
    }
}
