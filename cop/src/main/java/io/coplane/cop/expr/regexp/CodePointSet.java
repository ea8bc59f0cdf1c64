package io.coplane.cop.expr.regexp;

import java.util.Arrays;
import java.util.function.IntPredicate;

/** An immutable set of code points (no surrogates) as sorted, disjoint, inclusive ranges. */
final class CodePointSet {
    static final int MAX = 0x10ffff;
    static final CodePointSet EMPTY = new CodePointSet(new int[0]);

    private static final int SURROGATES = 0xd800;
    private static final int BEHIND_SURROGATES = 0xe000;

    private final int[] ranges;

    private CodePointSet(int[] ranges) {
        this.ranges = ranges;
    }

    /** Pairs of first and last; need not be sorted or disjoint. */
    static CodePointSet of(int... pairs) {
        Builder builder = new Builder();
        for (int i = 0; i < pairs.length; i += 2) {
            builder.add(pairs[i], pairs[i + 1]);
        }
        return builder.build();
    }

    /** All code points with a property. */
    static CodePointSet where(IntPredicate property) {
        Builder builder = new Builder();
        int start = -1;
        for (int c = 0; c <= MAX + 1; c++) {
            boolean in = c <= MAX && (c < SURROGATES || c >= BEHIND_SURROGATES) && property.test(c);
            if (in && start < 0) {
                start = c;
            } else if (!in && start >= 0) {
                builder.add(start, c - 1);
                start = -1;
            }
        }
        return builder.build();
    }

    /** First and last of each range, alternating. */
    int[] ranges() {
        return ranges;
    }

    boolean isEmpty() {
        return ranges.length == 0;
    }

    boolean contains(int codePoint) {
        int at = Arrays.binarySearch(ranges, codePoint);
        return at >= 0 || (at & 1) == 0; // not found: -insertion - 1, and inside a range the insertion point is odd
    }

    CodePointSet union(CodePointSet other) {
        Builder builder = new Builder();
        builder.addAll(this);
        builder.addAll(other);
        return builder.build();
    }

    /** Everything else but surrogates. */
    CodePointSet negate() {
        Builder builder = new Builder();
        int next = 0;
        for (int i = 0; i < ranges.length; i += 2) {
            builder.addWithoutSurrogates(next, ranges[i] - 1);
            next = ranges[i + 1] + 1;
        }
        builder.addWithoutSurrogates(next, MAX);
        return builder.build();
    }

    CodePointSet intersect(CodePointSet other) {
        return negate().union(other.negate()).negate();
    }

    CodePointSet minus(CodePointSet other) {
        return intersect(other.negate());
    }

    CodePointSet symmetricDifference(CodePointSet other) {
        return union(other).minus(intersect(other));
    }

    /** Collects ranges. */
    static final class Builder {
        private long[] pairs = new long[8]; // first << 32 | last
        private int count;

        void add(int first, int last) {
            if (first > last) {
                return;
            }
            if (count == pairs.length) {
                pairs = Arrays.copyOf(pairs, 2 * count);
            }
            pairs[count++] = (long) first << 32 | last;
        }

        void addWithoutSurrogates(int first, int last) {
            add(first, Math.min(last, SURROGATES - 1));
            add(Math.max(first, BEHIND_SURROGATES), last);
        }

        void addAll(CodePointSet set) {
            for (int i = 0; i < set.ranges.length; i += 2) {
                add(set.ranges[i], set.ranges[i + 1]);
            }
        }

        CodePointSet build() {
            Arrays.sort(pairs, 0, count);
            int[] merged = new int[2 * count];
            int used = 0;
            for (int i = 0; i < count; i++) {
                int first = (int) (pairs[i] >>> 32);
                int last = (int) pairs[i];
                if (used > 0 && first <= merged[used - 1] + 1) {
                    merged[used - 1] = Math.max(merged[used - 1], last);
                } else {
                    merged[used++] = first;
                    merged[used++] = last;
                }
            }
            return new CodePointSet(Arrays.copyOf(merged, used));
        }
    }
}
