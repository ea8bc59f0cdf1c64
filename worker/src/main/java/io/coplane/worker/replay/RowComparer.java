package io.coplane.worker.replay;

import io.coplane.types.FieldType;
import io.coplane.worker.replay.PlanShape.SortKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Compares rows by the order that a plan gives them (corpus README, rules 3 and 6). */
final class RowComparer {
    private static final int OPEN_ULPS = 4;

    private final String what;
    private final PlanShape shape;
    private final Rows ours;
    private final Rows theirs;
    private final int ulps;

    RowComparer(String what, PlanShape shape, Rows ours, Rows theirs) {
        this.what = what;
        this.shape = shape;
        this.ours = ours;
        this.theirs = theirs;
        ulps = shape.openReals() ? OPEN_ULPS : 0;
    }

    void compare(PlanShape.Order order, List<Difference> differences) {
        if (ours.count() != theirs.count()) {
            differences.add(
                    new Difference(what + " rows", Integer.toString(ours.count()), Integer.toString(theirs.count())));
            return;
        }
        switch (order) {
            case FIXED -> compareInOrder(differences);
            case FREE -> compareAsMultisets(0, ours.count(), differences);
            case TOP_N -> compareTopN(differences);
        }
    }

    /** Compares only how many rows there are and which cells are NULL: for values that differ from run to run. */
    void compareShape(List<Difference> differences) {
        if (ours.count() != theirs.count()) {
            differences.add(
                    new Difference(what + " rows", Integer.toString(ours.count()), Integer.toString(theirs.count())));
            return;
        }
        for (int row = 0; row < ours.count(); row++) {
            for (int column = 0; column < ours.columnCount(); column++) {
                byte[] left = ours.row(row)[column];
                byte[] right = theirs.row(row)[column];
                if ((left == null) != (right == null) || left != null && left.length != right.length) {
                    differences.add(cell(row, column));
                }
            }
        }
    }

    private void compareInOrder(List<Difference> differences) {
        for (int row = 0; row < ours.count(); row++) {
            for (int column = 0; column < ours.columnCount(); column++) {
                if (!ours.sameCell(column, ours.row(row)[column], theirs.row(row)[column], ulps)) {
                    differences.add(cell(row, column));
                    return;
                }
            }
        }
    }

    private Difference cell(int row, int column) {
        String type = FieldType.name(
                shape.columns().size() > column ? shape.columns().get(column).tp() : 0);
        return new Difference(
                what + " row " + row + " column " + column + " (" + type + ")",
                ours.show(column, ours.row(row)[column]),
                theirs.show(column, theirs.row(row)[column]));
    }

    /** Rows {@code from .. to - 1} hold the same rows, in whatever order. */
    private void compareAsMultisets(int from, int to, List<Difference> differences) {
        Map<Key, List<byte[][]>> left = new HashMap<>();
        for (int row = from; row < to; row++) {
            left.computeIfAbsent(key(ours.row(row)), key -> new ArrayList<>()).add(ours.row(row));
        }
        for (int row = from; row < to; row++) {
            byte[][] wanted = theirs.row(row);
            List<byte[][]> candidates = left.getOrDefault(key(wanted), List.of());
            int match = match(candidates, wanted);
            if (match < 0) {
                String nearest = candidates.isEmpty() ? "no such row" : ours.show(candidates.getFirst());
                differences.add(new Difference(what + " row " + row + " (any order)", nearest, theirs.show(wanted)));
                return;
            }
            candidates.remove(match);
        }
    }

    private int match(List<byte[][]> candidates, byte[][] wanted) {
        for (int i = 0; i < candidates.size(); i++) {
            boolean same = true;
            for (int column = 0; same && column < wanted.length; column++) {
                same = ours.sameCell(column, candidates.get(i)[column], wanted[column], ulps);
            }
            if (same) {
                return i;
            }
        }
        return -1;
    }

    /** What two equal rows surely share: all cells, but for reals that may differ a little. */
    private Key key(byte[][] row) {
        byte[][] cells = row.clone();
        for (int column = 0; ulps > 0 && column < cells.length; column++) {
            if (ours.isReal(column, cells[column])) {
                cells[column] = null;
            }
        }
        return new Key(cells);
    }

    private record Key(byte[][] cells) {
        @Override
        public boolean equals(Object other) {
            return other instanceof Key key && Arrays.deepEquals(cells, key.cells);
        }

        @Override
        public int hashCode() {
            return Arrays.deepHashCode(cells);
        }
    }

    /**
     * Keys agree place by place; rows of equal keys may come in any order; of the last such run, which the limit may have cut, only the keys count.
     * Where a key can't be seen in the output, or equal strings may have different bytes, runs can't be told apart: then the rows must agree as a
     * multiset, or, where the limit cut, in all but those that no visible key tells apart.
     */
    private void compareTopN(List<Difference> differences) {
        List<Integer> visible = shape.topN().stream()
                .map(SortKey::column)
                .filter(column -> column >= 0 && comparesByBytes(shape.columns().get(column)))
                .toList();
        boolean allVisible = visible.size() == shape.topN().size();
        int last = allVisible ? checkKeys(visible, differences) : 0;
        if (!differences.isEmpty()) {
            return;
        }
        boolean cut = ours.count() == shape.limit();
        if (!allVisible) {
            compareAsMultisets(0, ours.count(), differences);
            return;
        }
        int from = 0;
        for (int row = 1; row <= last; row++) {
            if (row == last || !sameKeys(visible, row - 1, row)) {
                compareAsMultisets(from, row, differences);
                from = row;
            }
        }
        if (!cut) {
            compareAsMultisets(last, ours.count(), differences);
        }
    }

    /** @return where the last run of equal keys begins */
    private int checkKeys(List<Integer> keys, List<Difference> differences) {
        int last = 0;
        for (int row = 0; row < ours.count(); row++) {
            for (int column : keys) {
                if (!ours.sameCell(column, ours.row(row)[column], theirs.row(row)[column], ulps)) {
                    differences.add(cell(row, column));
                    return 0;
                }
            }
            if (row > 0 && !sameKeys(keys, row - 1, row)) {
                last = row;
            }
        }
        return last;
    }

    private boolean sameKeys(List<Integer> keys, int row, int other) {
        for (int column : keys) {
            if (!theirs.sameCell(column, theirs.row(row)[column], theirs.row(other)[column], ulps)) {
                return false;
            }
        }
        return true;
    }

    /** True where equal values have equal bytes. Decimals, strings under a collation and JSON don't. */
    private static boolean comparesByBytes(FieldType type) {
        return switch (type.tp()) {
            case FieldType.TINY,
                    FieldType.SHORT,
                    FieldType.INT24,
                    FieldType.LONG,
                    FieldType.LONG_LONG,
                    FieldType.YEAR,
                    FieldType.FLOAT,
                    FieldType.DOUBLE,
                    FieldType.DATE,
                    FieldType.DATE_TIME,
                    FieldType.TIMESTAMP,
                    FieldType.DURATION,
                    FieldType.BIT,
                    FieldType.ENUM -> true;
            default -> false;
        };
    }
}
