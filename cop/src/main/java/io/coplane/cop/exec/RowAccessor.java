package io.coplane.cop.exec;

/** Reads of table rows outside of the ranges of a request, for index look-ups (coprocessor.md 3.11). One thread. */
public interface RowAccessor {
    /** The region that holds the row with this outer raw key, the same object for all its keys; null if it can't be read. */
    Region find(byte[] rowKey);

    /** Rows that one task of a look-up scans. */
    interface Region {
        /** Opens the rows at the request's timestamp; owned by the caller. */
        RowSource open();
    }
}
