package io.coplane.worker.replay;

import io.coplane.types.codec.Datums;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;

/** Rows against rows: in order, as multisets, as parts of one (corpus README, rules 3 and 6). */
final class RowComparer {
    /** Differences reported of one answer; more help nobody. */
    static final int MOST_DIFFERENCES = 3;

    private static final int MOST_ULPS = 4;
    private static final int UUID_CHARACTERS = 36;

    private RowComparer() {}

    /** In order. */
    static List<Difference> sequence(RowTable ours, RowTable theirs) {
        var differences = new ArrayList<Difference>();
        int rows = Math.min(ours.rows().size(), theirs.rows().size());
        for (int row = 0; row < rows && differences.size() < MOST_DIFFERENCES; row++) {
            cells(row, ours.rows().get(row), theirs.rows().get(row), theirs, differences);
        }
        count(ours, theirs, differences);
        return differences;
    }

    /** As multisets. The row number is the one of the recorded answer. */
    static List<Difference> multiset(RowTable ours, RowTable theirs) {
        var differences = new ArrayList<Difference>();
        List<byte[][]> missing = new ArrayList<>();
        List<byte[][]> extra = minus(ours.rows(), theirs.rows(), theirs, missing);
        for (int i = 0; i < Math.max(extra.size(), missing.size()) && i < MOST_DIFFERENCES; i++) {
            if (i < extra.size() && i < missing.size()) {
                cells(theirs.rows().indexOf(missing.get(i)), extra.get(i), missing.get(i), theirs, differences);
            } else if (i < missing.size()) {
                differences.add(new Difference(
                        "",
                        theirs.rows().indexOf(missing.get(i)),
                        -1,
                        "none",
                        text(missing.get(i), theirs),
                        "row missing"));
            } else {
                differences.add(new Difference(
                        "", ours.rows().indexOf(extra.get(i)), -1, text(extra.get(i), theirs), "none", "row too many"));
            }
        }
        count(ours, theirs, differences);
        return differences;
    }

    /** True if all these rows are among {@code full}, each as often as it is there at most. */
    static boolean isPart(List<byte[][]> part, List<byte[][]> full, RowTable table) {
        return minus(part, full, table, new ArrayList<>()).isEmpty();
    }

    static boolean isEqual(byte[] ours, byte[] theirs, OutputColumn column, boolean isChunked) {
        if (Arrays.equals(ours, theirs)) {
            return true;
        }
        if (ours == null || theirs == null) {
            return false;
        }
        if (column.isUuid()) {
            return isUuidLike(ours, theirs, isChunked);
        }
        return column.isLoose() && isClose(ours, theirs, column, isChunked);
    }

    private static boolean isClose(byte[] ours, byte[] theirs, OutputColumn column, boolean isChunked) {
        if (!isChunked) {
            return ours[0] == Datums.FLOAT
                    && theirs[0] == Datums.FLOAT
                    && ours.length == theirs.length
                    && ulps(ValueText.real(ours), ValueText.real(theirs)) <= MOST_ULPS;
        }
        if (column.tp() == 4) {
            float a = Float.intBitsToFloat(LittleEndian.int32(ours, 0));
            float b = Float.intBitsToFloat(LittleEndian.int32(theirs, 0));
            return Float.isFinite(a)
                    && Float.isFinite(b)
                    && Math.abs((long) ordered(Float.floatToRawIntBits(a)) - ordered(Float.floatToRawIntBits(b)))
                            <= MOST_ULPS;
        }
        return ulps(
                        Double.longBitsToDouble(LittleEndian.int64(ours, 0)),
                        Double.longBitsToDouble(LittleEndian.int64(theirs, 0)))
                <= MOST_ULPS;
    }

    /** Doubles between two doubles; very many where one is infinite or no number. */
    static long ulps(double a, double b) {
        if (!Double.isFinite(a) || !Double.isFinite(b)) {
            return Long.MAX_VALUE;
        }
        long x = ordered(Double.doubleToRawLongBits(a));
        long y = ordered(Double.doubleToRawLongBits(b));
        long distance = x - y;
        boolean overflowed = ((x ^ y) & (x ^ distance)) < 0;
        return overflowed || distance == Long.MIN_VALUE ? Long.MAX_VALUE : Math.abs(distance);
    }

    private static long ordered(long bits) {
        return bits < 0 ? Long.MIN_VALUE - bits : bits;
    }

    private static int ordered(int bits) {
        return bits < 0 ? Integer.MIN_VALUE - bits : bits;
    }

    /** Same type, and where the recorded value looks like a UUID ours does too, of the same version. */
    private static boolean isUuidLike(byte[] ours, byte[] theirs, boolean isChunked) {
        if (!isChunked && ours[0] != theirs[0]) {
            return false;
        }
        String a = uuidShape(ours, isChunked);
        return a.equals(uuidShape(theirs, isChunked));
    }

    private static String uuidShape(byte[] cell, boolean isChunked) {
        int at = isChunked ? 0 : 2;
        if (cell.length - at != UUID_CHARACTERS) {
            return "type";
        }
        String text = new String(cell, at, UUID_CHARACTERS, StandardCharsets.ISO_8859_1);
        var shape = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean isHex = c >= '0' && c <= '9' || c >= 'a' && c <= 'f';
            shape.append(i == 14 || !isHex ? c : 'h'); // the 15th character is the version
        }
        return shape.toString();
    }

    private static void cells(long row, byte[][] ours, byte[][] theirs, RowTable table, List<Difference> differences) {
        for (int column = 0; column < theirs.length; column++) {
            OutputColumn type = table.columns().get(column);
            if (!isEqual(ours[column], theirs[column], type, table.isChunked())) {
                differences.add(new Difference(
                        "",
                        row,
                        column,
                        ValueText.of(ours[column], type, table.isChunked()),
                        ValueText.of(theirs[column], type, table.isChunked()),
                        "value"));
                return;
            }
        }
    }

    private static void count(RowTable ours, RowTable theirs, List<Difference> differences) {
        if (ours.rows().size() != theirs.rows().size()) {
            differences.addFirst(
                    Difference.of("row count", ours.rows().size(), theirs.rows().size()));
        }
    }

    private static String text(byte[][] row, RowTable table) {
        var text = new StringBuilder();
        for (int i = 0; i < row.length; i++) {
            text.append(i == 0 ? "" : ", ")
                    .append(ValueText.of(row[i], table.columns().get(i), table.isChunked()));
        }
        return text.toString();
    }

    /** Rows of {@code left} that {@code right} does not have, sorted; {@code rest} gets those of {@code right} that are left over. */
    private static List<byte[][]> minus(
            List<byte[][]> left, List<byte[][]> right, RowTable table, List<byte[][]> rest) {
        Comparator<byte[][]> order = byExactCellsFirst(table.columns());
        List<byte[][]> a = left.stream().sorted(order).toList();
        List<byte[][]> b = right.stream().sorted(order).toList();
        var extra = new ArrayList<byte[][]>();
        int i = 0;
        int j = 0;
        while (i < a.size() && j < b.size()) {
            int difference = order.compare(a.get(i), b.get(j));
            if (difference == 0) {
                i++;
                j++;
            } else if (difference < 0) {
                extra.add(a.get(i++));
            } else {
                rest.add(b.get(j++));
            }
        }
        extra.addAll(a.subList(i, a.size()));
        rest.addAll(b.subList(j, b.size()));
        boolean isFree = table.columns().stream().anyMatch(column -> column.isLoose() || column.isUuid());
        return isFree ? pairLoosely(extra, rest, table) : extra;
    }

    private static List<byte[][]> pairLoosely(List<byte[][]> extra, List<byte[][]> rest, RowTable table) {
        var unpaired = new ArrayList<byte[][]>();
        var used = new BitSet();
        for (byte[][] row : extra) {
            int found = used.nextClearBit(0);
            while (found < rest.size() && (used.get(found) || !isEqual(row, rest.get(found), table))) {
                found++;
            }
            if (found < rest.size()) {
                used.set(found);
            } else {
                unpaired.add(row);
            }
        }
        for (int i = rest.size() - 1; i >= 0; i--) {
            if (used.get(i)) {
                rest.remove(i);
            }
        }
        return unpaired;
    }

    private static boolean isEqual(byte[][] ours, byte[][] theirs, RowTable table) {
        for (int column = 0; column < theirs.length; column++) {
            if (!isEqual(ours[column], theirs[column], table.columns().get(column), table.isChunked())) {
                return false;
            }
        }
        return true;
    }

    /** By exact columns, then by the others, so that rows that are close are neighbours. */
    private static Comparator<byte[][]> byExactCellsFirst(List<OutputColumn> columns) {
        int[] order = new int[columns.size()];
        int next = 0;
        for (boolean free : new boolean[] {false, true}) {
            for (int i = 0; i < order.length; i++) {
                if ((columns.get(i).isLoose() || columns.get(i).isUuid()) == free) {
                    order[next++] = i;
                }
            }
        }
        return (a, b) -> {
            for (int column : order) {
                if (a[column] == null || b[column] == null) {
                    if (a[column] != b[column]) {
                        return a[column] == null ? -1 : 1;
                    }
                    continue;
                }
                int difference = Arrays.compareUnsigned(a[column], b[column]);
                if (difference != 0) {
                    return difference;
                }
            }
            return 0;
        };
    }
}
