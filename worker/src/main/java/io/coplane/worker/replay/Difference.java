package io.coplane.worker.replay;

/**
 * One way in which an answer differs from the recorded one.
 *
 * @param where part of the answer: empty for the answer itself, else {@code batch 2}, {@code channel 0} and the like
 * @param row row, from 0; -1 where there is none
 * @param column output column, from 0; -1 where there is none
 * @param ours readable value of our answer
 * @param theirs readable value of the recorded one
 * @param what kind of difference: one of a small set, for counting
 */
public record Difference(String where, long row, int column, String ours, String theirs, String what) {
    private static final int MOST_CHARACTERS = 300;

    static Difference of(String what, Object ours, Object theirs) {
        return new Difference("", -1, -1, String.valueOf(ours), String.valueOf(theirs), what);
    }

    Difference in(String part) {
        return new Difference(where.isEmpty() ? part : part + " " + where, row, column, ours, theirs, what);
    }

    @Override
    public String toString() {
        var text = new StringBuilder(what);
        if (!where.isEmpty()) {
            text.append(" in ").append(where);
        }
        if (row >= 0) {
            text.append(", row ").append(row);
        }
        if (column >= 0) {
            text.append(", column ").append(column);
        }
        return text.append("\n      ours:   ")
                .append(shortened(ours))
                .append("\n      theirs: ")
                .append(shortened(theirs))
                .toString();
    }

    private static String shortened(String text) {
        return text.length() <= MOST_CHARACTERS
                ? text
                : text.substring(0, MOST_CHARACTERS) + "... (" + text.length() + " characters)";
    }
}
