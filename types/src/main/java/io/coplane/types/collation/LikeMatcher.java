package io.coplane.types.collation;

import io.coplane.types.text.Utf8;

/**
 * LIKE (expressions.md 9.1): {@code _} one character, {@code %} any number, an escape character. Goes back to the last {@code %} only, so the cost
 * is at most pattern bytes times text bytes. Immutable; any thread; allocates nothing.
 */
public final class LikeMatcher {
    private static final int REPLACEMENT = 0xfffd;
    private static final int ANY_ONE = '_';
    private static final int ANY_MANY = '%';

    /** True if one byte is one character. */
    private final boolean decodesBytes;
    /** What compares characters, or null if they must be identical. */
    private final Collator collator;

    private LikeMatcher(boolean decodesBytes, Collator collator) {
        this.decodesBytes = decodesBytes;
        this.collator = collator;
    }

    /**
     * The matcher of a LIKE node.
     *
     * @param node collate id of the node's field type
     * @param target collate id of the first child's
     * @param pattern collate id of the second child's
     * @throws io.coplane.nativecache.CoplaneException BAD_PLAN for an id that is not known, UNSUPPORTED for gb18030_chinese_ci
     */
    public static LikeMatcher of(int node, int target, int pattern) {
        Collation collation = Collation.of(node);
        Collation left = Collation.of(target);
        Collation right = Collation.of(pattern);
        if (node >= 0) {
            return new LikeMatcher(false, null);
        }
        return switch (collation) {
            case BINARY, GB18030_BIN -> new LikeMatcher(true, null);
            case UTF8MB4_BIN, UTF8MB4_BIN_NO_PADDING, UTF8MB4_0900_BIN, LATIN1_BIN, GBK_BIN ->
                new LikeMatcher(false, null);
            case UTF8MB4_GENERAL_CI, UTF8MB4_UNICODE_CI, UTF8MB4_0900_AI_CI, GBK_CHINESE_CI, GB18030_CHINESE_CI ->
                new LikeMatcher(left.decodesBytes() && right.decodesBytes(), collation.collator());
        };
    }

    /**
     * Matches a text.
     *
     * @param escape code point of the escape character
     */
    public boolean matches(
            byte[] text,
            int textOffset,
            int textLength,
            byte[] pattern,
            int patternOffset,
            int patternLength,
            int escape) {
        int textEnd = textOffset + textLength;
        int patternEnd = patternOffset + patternLength;
        int p = patternOffset;
        int t = textOffset;
        int retryPattern = -1; // behind the last %
        int retryText = -1; // where its run of characters ends, so far
        while (p < patternEnd || t < textEnd) {
            if (p < patternEnd) {
                int at = p;
                int width = width(pattern, at, patternEnd);
                int c = character(pattern, at, patternEnd);
                boolean escaped = c == escape && at + width < patternEnd;
                if (escaped) {
                    at += width;
                    width = width(pattern, at, patternEnd);
                    c = character(pattern, at, patternEnd);
                }
                boolean literal = escaped || c == escape;
                if (!literal && c == ANY_MANY) {
                    p = at + width;
                    if (p == patternEnd) {
                        return true;
                    }
                    retryPattern = p;
                    retryText = t;
                    continue;
                }
                if (t < textEnd && (!literal && c == ANY_ONE || same(character(text, t, textEnd), c))) {
                    p = at + width;
                    t += width(text, t, textEnd);
                    continue;
                }
            }
            if (retryPattern < 0 || retryText >= textEnd) {
                return false;
            }
            retryText += width(text, retryText, textEnd);
            p = retryPattern;
            t = retryText;
        }
        return true;
    }

    private int width(byte[] bytes, int at, int end) {
        return decodesBytes || bytes[at] >= 0 ? 1 : Math.max(1, Utf8.sequenceLength(bytes, at, end));
    }

    private int character(byte[] bytes, int at, int end) {
        int lead = bytes[at];
        if (lead >= 0 || decodesBytes) {
            return lead & 0xff;
        }
        int width = Utf8.sequenceLength(bytes, at, end);
        return width == 0 ? REPLACEMENT : Utf8.codePoint(bytes, at, width);
    }

    private boolean same(int a, int b) {
        if (collator == null) {
            return a == b;
        }
        if (decodesBytes && (a >= 0x80 || b >= 0x80)) {
            return collator.undecodableMatches(); // a byte alone, seen by a collation of UTF-8
        }
        return collator.sameCharacter(a, b);
    }
}
