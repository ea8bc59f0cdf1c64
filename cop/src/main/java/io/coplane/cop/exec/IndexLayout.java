package io.coplane.cop.exec;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.util.List;

/**
 * Which columns of an index scan are what (coprocessor.md 3.6).
 *
 * @param indexColumns the first columns: those of the index
 * @param rawColumns index columns and the columns of a common handle
 * @param intHandleColumn column of an int handle, -1 = none
 * @param partitionIdColumn column of the partition id, -1 = none
 * @param tableIdColumn column of the physical table id, -1 = none
 */
record IndexLayout(int indexColumns, int rawColumns, int intHandleColumn, int partitionIdColumn, int tableIdColumn) {
    private static final long EXTRA_PARTITION_ID = -2;
    private static final long EXTRA_PHYSICAL_TABLE_ID = -3;

    static IndexLayout of(List<ScanColumn> columns, List<Long> primaryColumnIds) {
        int left = columns.size();
        int tableId = -1;
        int partitionId = -1;
        int intHandle = -1;
        if (left > 0 && columns.get(left - 1).id() == EXTRA_PHYSICAL_TABLE_ID) {
            tableId = --left;
        }
        if (left > 0 && columns.get(left - 1).id() == EXTRA_PARTITION_ID) {
            partitionId = --left;
        }
        boolean isInt = left > 0 && columns.get(left - 1).pkHandle();
        if (isInt && !primaryColumnIds.isEmpty()) {
            throw bad("Both int handle and common handle are push downed");
        }
        if (isInt) {
            intHandle = --left;
        }
        if (primaryColumnIds.size() > left) {
            throw bad("The number of handle columns exceeds the length of `columns_info`");
        }
        return new IndexLayout(left - primaryColumnIds.size(), left, intHandle, partitionId, tableId);
    }

    private static CoplaneException bad(String text) {
        return new CoplaneException(ErrorCode.BAD_PLAN, text);
    }
}
