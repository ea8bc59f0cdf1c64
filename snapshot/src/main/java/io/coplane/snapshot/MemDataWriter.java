package io.coplane.snapshot;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.types.ByteSink;
import java.lang.foreign.MemorySegment;

/** Writes {@code mem_data} (snapshot.md 2.1, 2.2): for clients, tools and tests. Owns its buffer. One thread. */
public final class MemDataWriter implements AutoCloseable {
    private static final int FORMAT_V1 = 1;
    private static final int FORMAT_V2 = 2;

    private final ByteSink rows;
    private long count;

    /** @param guard borrowed; charged for the rows until {@link #close()} */
    public MemDataWriter(MemoryGuard guard) {
        rows = new ByteSink(guard);
        rows.putLongLe(0);
    }

    /**
     * Adds a row. Senders write keys ascending and the versions of a key oldest first.
     *
     * @param key outer raw key
     * @param value empty = delete
     */
    public void add(byte[] key, long startTs, long commitTs, byte[] value) {
        rows.putLongLe(key.length);
        rows.put(key, 0, key.length);
        rows.putLongLe(startTs);
        rows.putLongLe(commitTs);
        rows.putLongLe(value.length);
        rows.put(value, 0, value.length);
        count++;
    }

    /** Copies out the rows in format 1. */
    public byte[] copyV1() {
        byte[] memData = new byte[Math.addExact(Integer.BYTES, rows.length())];
        MemorySegment out = MemorySegment.ofArray(memData);
        out.set(Layouts.LE_INT, 0, FORMAT_V1);
        copyRows(out, Integer.BYTES);
        return memData;
    }

    /**
     * Copies out the rows in format 2.
     *
     * @param txnFileRefs serialised {@code TxnFileRefs}; empty = none
     */
    public byte[] copyV2(byte[] txnFileRefs) {
        long rowsAt = Integer.BYTES + Long.BYTES;
        long refsAt = rowsAt + rows.length() + Integer.BYTES;
        if (refsAt + txnFileRefs.length > Integer.MAX_VALUE - 8) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "mem data is too large: rowBytes=" + rows.length());
        }
        byte[] memData = new byte[(int) refsAt + txnFileRefs.length];
        MemorySegment out = MemorySegment.ofArray(memData);
        out.set(Layouts.LE_INT, 0, FORMAT_V2);
        out.set(Layouts.LE_LONG, Integer.BYTES, rows.length());
        copyRows(out, rowsAt);
        out.set(Layouts.LE_INT, refsAt - Integer.BYTES, txnFileRefs.length);
        System.arraycopy(txnFileRefs, 0, memData, (int) refsAt, txnFileRefs.length);
        return memData;
    }

    private void copyRows(MemorySegment out, long at) {
        MemorySegment.copy(MemorySegment.ofArray(rows.bytes()), 0, out, at, rows.length());
        out.set(Layouts.LE_LONG, at, count);
    }

    @Override
    public void close() {
        rows.close();
    }
}
