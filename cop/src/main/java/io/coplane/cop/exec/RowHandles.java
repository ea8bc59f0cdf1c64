package io.coplane.cop.exec;

/**
 * Where the common handle of each physical row of an index scan lies, as the entry has it: look-ups need these bytes, not those of the restored
 * columns (coprocessor.md 3.11).
 */
final class RowHandles {
    private byte[] bytes = new byte[0];
    private int[] starts = new int[0];
    private int[] lengths = new int[0];

    void reset(int rows, byte[] rowBytes) {
        bytes = rowBytes;
        if (rows > starts.length) {
            starts = new int[Math.max(rows, 2 * starts.length)];
            lengths = new int[starts.length];
        }
    }

    void set(int row, int start, int length) {
        starts[row] = start;
        lengths[row] = length;
    }

    byte[] bytes() {
        return bytes;
    }

    int start(int row) {
        return starts[row];
    }

    int length(int row) {
        return lengths[row];
    }

    long heapBytes() {
        return 2L * starts.length * Integer.BYTES;
    }
}
