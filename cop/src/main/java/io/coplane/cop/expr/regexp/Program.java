package io.coplane.cop.expr.regexp;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A pattern as instructions of a nondeterministic machine. Immutable once built. */
final class Program {
    /** Reads a character of set {@link #first}. */
    static final byte CHARS = 0;
    /** Goes on at {@link #first}, or else at {@link #second}. */
    static final byte SPLIT = 1;
    /** Goes on at {@link #first}. */
    static final byte JUMP = 2;
    /** Notes the place in slot {@link #first}. */
    static final byte SAVE = 3;
    /** Goes on if condition {@link #first} (an ordinal of LookKind) holds. */
    static final byte LOOK = 4;
    /** Success. */
    static final byte MATCH = 5;
    /** Reads the one character {@link #first}. */
    static final byte CHAR = 6;

    /** What the reference allows a compiled pattern to take. */
    private static final long MOST_BYTES = 10 << 20;

    private byte[] codes = new byte[16];
    private int[] first = new int[16];
    private int[] second = new int[16];
    private int length;
    private long bytes;
    private final List<CodePointSet> sets = new ArrayList<>();

    static Program compile(Node node) {
        Program program = new Program();
        program.emit(SAVE, 0, 0);
        program.add(node);
        program.emit(SAVE, 1, 0);
        program.emit(MATCH, 0, 0);
        return program;
    }

    int length() {
        return length;
    }

    byte code(int at) {
        return codes[at];
    }

    int first(int at) {
        return first[at];
    }

    int second(int at) {
        return second[at];
    }

    CodePointSet set(int index) {
        return sets.get(index);
    }

    private int emit(byte code, int a, int b) {
        if (length == codes.length) {
            codes = Arrays.copyOf(codes, 2 * length);
            first = Arrays.copyOf(first, 2 * length);
            second = Arrays.copyOf(second, 2 * length);
        }
        codes[length] = code;
        first[length] = a;
        second[length] = b;
        charge(24);
        return length++;
    }

    /** An estimate of what the reference's program takes. */
    private void charge(long more) {
        bytes += more;
        if (bytes > MOST_BYTES) {
            throw RegexError.invalid("CompiledTooBig(" + MOST_BYTES + ")");
        }
    }

    private void add(Node node) {
        switch (node) {
            case Node.Empty ignored -> {}
            case Node.Chars chars -> addChars(chars.set());
            case Node.Look look -> emit(LOOK, look.kind().ordinal(), 0);
            case Node.Group group -> {
                emit(SAVE, 2 * group.index(), 0);
                add(group.body());
                emit(SAVE, 2 * group.index() + 1, 0);
            }
            case Node.Concat concat -> concat.parts().forEach(this::add);
            case Node.Alternation alternation -> addAlternation(alternation.branches());
            case Node.Repeat repeat -> addRepeat(repeat);
        }
    }

    private void addChars(CodePointSet set) {
        int[] ranges = set.ranges();
        if (ranges.length == 2 && ranges[0] == ranges[1]) {
            emit(CHAR, ranges[0], 0);
            return;
        }
        int index = sets.indexOf(set); // by identity: repetitions share the set
        if (index < 0) {
            index = sets.size();
            sets.add(set);
        }
        charge(16L * ranges.length);
        emit(CHARS, index, 0);
    }

    private void addAlternation(List<Node> branches) {
        int[] ends = new int[branches.size()];
        for (int i = 0; i < ends.length; i++) {
            boolean last = i == ends.length - 1;
            int split = last ? -1 : emit(SPLIT, length + 1, 0);
            add(branches.get(i));
            ends[i] = last ? -1 : emit(JUMP, 0, 0);
            if (!last) {
                second[split] = length;
            }
        }
        for (int i = 0; i < ends.length - 1; i++) {
            first[ends[i]] = length;
        }
    }

    private void addRepeat(Node.Repeat repeat) {
        for (int i = 0; i < repeat.min() - 1; i++) {
            add(repeat.body());
            charge(1); // an empty body must end too
        }
        boolean greedy = repeat.greedy();
        if (repeat.max() == Node.UNBOUNDED) {
            if (repeat.min() > 0) {
                addPlus(repeat.body(), greedy);
            } else if (isNullable(repeat.body())) {
                int split = split(); // (?:e+)? keeps the priorities of an empty body right
                addPlus(repeat.body(), greedy);
                patch(split, greedy, length);
            } else {
                int split = split();
                add(repeat.body());
                emit(JUMP, split, 0);
                patch(split, greedy, length);
            }
            return;
        }
        if (repeat.min() > 0) {
            add(repeat.body());
        }
        List<Integer> splits = new ArrayList<>();
        for (int i = repeat.min(); i < repeat.max(); i++) {
            splits.add(split());
            add(repeat.body());
        }
        for (int split : splits) {
            patch(split, greedy, length);
        }
    }

    private void addPlus(Node body, boolean greedy) {
        int start = length;
        add(body);
        int split = emit(SPLIT, start, start);
        patch(split, greedy, length);
    }

    /** A choice whose body comes next; the way around it is patched later. */
    private int split() {
        return emit(SPLIT, length + 1, length + 1);
    }

    private void patch(int split, boolean greedy, int target) {
        if (greedy) {
            second[split] = target;
        } else {
            first[split] = target;
        }
    }

    private static boolean isNullable(Node node) {
        return switch (node) {
            case Node.Empty ignored -> true;
            case Node.Chars ignored -> false;
            case Node.Look ignored -> true;
            case Node.Group group -> isNullable(group.body());
            case Node.Concat concat -> concat.parts().stream().allMatch(Program::isNullable);
            case Node.Alternation alternation -> alternation.branches().stream().anyMatch(Program::isNullable);
            case Node.Repeat repeat -> repeat.min() == 0 || isNullable(repeat.body());
        };
    }
}
