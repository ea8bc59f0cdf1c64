package io.coplane.cop.expr.regexp;

import java.util.List;

/** A parsed pattern, flags applied. */
sealed interface Node {
    /** Matches nothing, successfully. */
    record Empty() implements Node {}

    /** One of a set of characters; an empty set never matches. */
    record Chars(CodePointSet set) implements Node {}

    /** A condition on the place. */
    record Look(LookKind kind) implements Node {}

    /** @param max {@link #UNBOUNDED} without bound */
    record Repeat(Node body, int min, int max, boolean greedy) implements Node {}

    /** @param index 1 for the first group */
    record Group(Node body, int index) implements Node {}

    /** One after the other. */
    record Concat(List<Node> parts) implements Node {}

    /** The first that leads to a match. */
    record Alternation(List<Node> branches) implements Node {}

    /** No upper bound of a repetition. */
    int UNBOUNDED = Integer.MAX_VALUE;

    /** Conditions on a place. */
    enum LookKind {
        START_TEXT,
        END_TEXT,
        START_LINE,
        END_LINE,
        START_CRLF,
        END_CRLF,
        WORD,
        NOT_WORD,
        WORD_START,
        WORD_END,
        WORD_START_HALF,
        WORD_END_HALF,
        ASCII_WORD,
        ASCII_NOT_WORD,
        ASCII_WORD_START,
        ASCII_WORD_END,
        ASCII_WORD_START_HALF,
        ASCII_WORD_END_HALF
    }
}
