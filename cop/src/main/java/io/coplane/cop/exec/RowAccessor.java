package io.coplane.cop.exec;

/** Reads of table rows outside of the ranges of a request, for index look-ups (coprocessor.md 3.11). One thread. */
public interface RowAccessor {
    /** True if the row with this outer raw key can be read with the request's timestamp and rules. */
    boolean reaches(byte[] rowKey);

    /** Opens the rows that can be reached; owned by the caller. */
    RowSource open();
}
