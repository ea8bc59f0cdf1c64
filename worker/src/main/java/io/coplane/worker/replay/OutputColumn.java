package io.coplane.worker.replay;

/**
 * What the comparer must know of a column.
 *
 * @param tp MySQL type code
 * @param isUnsigned for display
 * @param decimal fsp, for display
 * @param isLoose Real that comes from a transcendental function or from a sum whose order is open: equal within 4 ulp
 * @param isUuid random: only shape and type can be compared
 */
record OutputColumn(int tp, boolean isUnsigned, int decimal, boolean isLoose, boolean isUuid) {
    OutputColumn as(boolean loose, boolean uuid) {
        return new OutputColumn(tp, isUnsigned, decimal, loose, uuid);
    }
}
