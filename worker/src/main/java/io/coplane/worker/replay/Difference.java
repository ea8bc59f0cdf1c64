package io.coplane.worker.replay;

/**
 * One thing in which an answer is not the recorded one.
 *
 * @param what part of the answer, with row and column where it has them
 * @param ours readable
 * @param theirs readable
 */
public record Difference(String what, String ours, String theirs) {
    private static final int MOST_CHARS = 300;

    public Difference {
        ours = shortened(ours);
        theirs = shortened(theirs);
    }

    @Override
    public String toString() {
        return what + "\n      ours:   " + ours + "\n      theirs: " + theirs;
    }

    private static String shortened(String text) {
        return text.length() <= MOST_CHARS
                ? text
                : text.substring(0, MOST_CHARS) + "… (" + text.length() + " characters)";
    }
}
