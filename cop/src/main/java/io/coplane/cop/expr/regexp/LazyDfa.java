package io.coplane.cop.expr.regexp;

import io.coplane.cop.expr.regexp.Node.LookKind;
import io.coplane.types.text.Utf8;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Answers whether a program matches anywhere in a text, one table look-up a character. A state is the set of places that the nondeterministic machine
 * could be in; states and their transitions are made when they are first needed. Characters that no set of the program tells apart are one class.
 *
 * <p>The tables are bounded: when they are full they are emptied, and a text that empties them again and again is left to the caller. So the time is
 * bounded by program times text, as without this class. One thread.
 */
final class LazyDfa {
    /** What {@link #search} found. */
    enum Outcome {
        MATCH,
        NO_MATCH,
        /** The tables do not suffice for this program. */
        UNKNOWN
    }

    private static final LookKind[] LOOKS = LookKind.values();
    private static final int ASCII = 128;
    private static final int MOST_CLASSES = 256;
    private static final int MOST_STATES = 512;
    private static final int MOST_TABLE_INTS = 1 << 15;
    private static final int MOST_PLACES = 1 << 16;
    private static final int MOST_PROGRAM = 1 << 12;
    private static final int MOST_EMPTYINGS = 16;

    // transitions: 0 is not made yet
    private static final int ACCEPT = 1;
    private static final int DEAD = 2;
    private static final int FIRST_STATE = 3;

    private final Program program;
    private final int classes;
    private final int newlineClass;
    private final boolean hasLineStart;
    private final int[] asciiClass = new int[ASCII];
    private final int[] boundaries; // where a segment of code points begins, ascending
    private final int[] segmentClass;
    private final int[] representative; // of each class: a code point in it

    private final int mostStates;
    private int[] table = new int[0];
    private int[][] places = new int[16][];
    private byte[] acceptsAtEnd = new byte[16]; // 0 not known yet, 1 no, 2 yes
    private int states = FIRST_STATE;
    private int placeCount;
    private int emptyings;
    private final int[] firstStates = new int[3];
    private int skipState;
    private final boolean[] skips = new boolean[ASCII];
    private final Map<Places, Integer> known = new HashMap<>();
    private final Places sought = new Places();

    // a set under construction
    private final int[] mark;
    private int generation;
    private int[] building = new int[16];
    private int built;
    private boolean accepts;
    private int[] stack = new int[16];

    /** A set of places as a key of a map. */
    private static final class Places {
        private int[] list = {};
        private int count;

        @Override
        public boolean equals(Object other) {
            return other instanceof Places that && Arrays.equals(list, 0, count, that.list, 0, that.count);
        }

        @Override
        public int hashCode() {
            int hash = count;
            for (int i = 0; i < count; i++) {
                hash = 31 * hash + list[i];
            }
            return hash;
        }
    }

    private LazyDfa(Program program, int[] boundaries, int[] segmentClass, int classes) {
        this.program = program;
        this.boundaries = boundaries;
        this.segmentClass = segmentClass;
        this.classes = classes;
        representative = new int[classes];
        for (int i = boundaries.length - 1; i >= 0; i--) {
            representative[segmentClass[i]] = boundaries[i];
        }
        for (int c = 0; c < ASCII; c++) {
            asciiClass[c] = classOf(c);
        }
        newlineClass = asciiClass['\n'];
        hasLineStart = IntStream.range(0, program.length())
                .anyMatch(place ->
                        program.code(place) == Program.LOOK && LOOKS[program.first(place)] == LookKind.START_LINE);
        mark = new int[program.length()];
        mostStates = Math.min(MOST_STATES, MOST_TABLE_INTS / classes);
    }

    /** @return null if the program has conditions, or too many sets, for tables */
    static LazyDfa of(Program program) {
        if (program.length() > MOST_PROGRAM || looksBackBehindLookAhead(program)) {
            return null;
        }
        int[] boundaries = boundaries(program);
        if (boundaries == null) {
            return null;
        }
        BitSet lone = new BitSet(); // characters that instructions read alone
        lone.set('\n');
        BitSet sets = new BitSet();
        for (int place = 0; place < program.length(); place++) {
            if (program.code(place) == Program.CHAR) {
                lone.set(program.first(place));
            } else if (program.code(place) == Program.CHARS) {
                sets.set(program.first(place));
            }
        }
        Map<List<Integer>, Integer> classOfMembers = new HashMap<>();
        int[] segmentClass = new int[boundaries.length];
        for (int i = 0; i < boundaries.length; i++) {
            int c = boundaries[i];
            List<Integer> members = new ArrayList<>();
            members.add(lone.get(c) ? c : -1);
            sets.stream().filter(set -> program.set(set).contains(c)).forEach(members::add);
            segmentClass[i] = classOfMembers.computeIfAbsent(members, absent -> classOfMembers.size());
            if (classOfMembers.size() > MOST_CLASSES) {
                return null;
            }
        }
        return new LazyDfa(program, boundaries, segmentClass, classOfMembers.size());
    }

    /** First code points of the segments that no instruction tells apart; null if there is an instruction that needs more than the next character. */
    private static int[] boundaries(Program program) {
        IntStream.Builder starts = IntStream.builder();
        starts.add(0).add('\n').add('\n' + 1);
        boolean[] seen = new boolean[program.length()];
        for (int place = 0; place < program.length(); place++) {
            switch (program.code(place)) {
                case Program.CHAR -> starts.add(program.first(place)).add(program.first(place) + 1);
                case Program.CHARS -> {
                    if (!seen[program.first(place)]) {
                        seen[program.first(place)] = true;
                        int[] ranges = program.set(program.first(place)).ranges();
                        for (int i = 0; i < ranges.length; i += 2) {
                            starts.add(ranges[i]).add(ranges[i + 1] + 1);
                        }
                    }
                }
                case Program.LOOK -> {
                    switch (LOOKS[program.first(place)]) {
                        case START_TEXT, END_TEXT, START_LINE, END_LINE -> {}
                        default -> {
                            return null;
                        }
                    }
                }
                default -> {}
            }
        }
        return starts.build().sorted().distinct().toArray();
    }

    /** True if a condition on what is behind follows one on what is ahead without a character between them: a set does not tell what was behind. */
    private static boolean looksBackBehindLookAhead(Program program) {
        for (int place = 0; place < program.length(); place++) {
            if (program.code(place) == Program.LOOK
                    && !looksBack(program, place)
                    && reachesLookBack(program, place + 1)) {
                return true;
            }
        }
        return false;
    }

    private static boolean looksBack(Program program, int place) {
        LookKind kind = LOOKS[program.first(place)];
        return kind == LookKind.START_TEXT || kind == LookKind.START_LINE;
    }

    private static boolean reachesLookBack(Program program, int start) {
        BitSet seen = new BitSet();
        ArrayDeque<Integer> open = new ArrayDeque<>(List.of(start));
        while (!open.isEmpty()) {
            int place = open.pop();
            if (seen.get(place)) {
                continue;
            }
            seen.set(place);
            switch (program.code(place)) {
                case Program.JUMP -> open.push(program.first(place));
                case Program.SPLIT -> {
                    open.push(program.first(place));
                    open.push(program.second(place));
                }
                case Program.SAVE -> open.push(place + 1);
                case Program.LOOK -> {
                    if (looksBack(program, place)) {
                        return true;
                    }
                    open.push(place + 1);
                }
                default -> {} // reads or ends
            }
        }
        return false;
    }

    private static boolean reads(Program program, int place, int c) {
        return switch (program.code(place)) {
            case Program.CHAR -> program.first(place) == c;
            case Program.CHARS -> program.set(program.first(place)).contains(c);
            default -> false;
        };
    }

    private int classOf(int c) {
        int at = Arrays.binarySearch(boundaries, c);
        return segmentClass[at >= 0 ? at : -at - 2];
    }

    /**
     * Searches a match that starts at {@code start} or later.
     *
     * @param text well-formed UTF-8; not empty from {@code start}
     * @param from where the text begins: what "start of text" means
     */
    Outcome search(byte[] text, int from, int start, int to) {
        emptyings = 0;
        int skip = skipState();
        int state = first(start == from ? 0 : text[start - 1] == '\n' ? 1 : 2);
        if (emptyings > 0) {
            skip = -1; // the number means another state now
        }
        boolean[] stays = skips;
        int at = start;
        while (at < to) {
            if (state < FIRST_STATE) {
                return outcome(state);
            }
            if (state == skip) {
                at = behindSkipped(text, at, to, stays);
                if (at == to) {
                    break;
                }
            }
            int c = text[at];
            int characterClass;
            if (c >= 0) {
                characterClass = asciiClass[c];
                at++;
            } else {
                int width = Utf8.sequenceLength(text, at, to);
                characterClass = classOf(Utf8.codePoint(text, at, width));
                at += width;
            }
            int next = table[state * classes + characterClass];
            if (next == 0) {
                next = make(state, characterClass);
                if (emptyings > 0) {
                    skip = -1;
                }
            }
            state = next;
        }
        if (state < FIRST_STATE) {
            return outcome(state);
        }
        if (acceptsAtEnd[state] == 0) {
            acceptsAtEnd[state] = (byte) (matchesAtEnd(places[state]) ? 2 : 1);
        }
        return acceptsAtEnd[state] == 2 ? Outcome.MATCH : Outcome.NO_MATCH;
    }

    /** Characters that leave the machine where it stands, searching for a beginning: no table is asked. */
    private static int behindSkipped(byte[] text, int start, int to, boolean[] stays) {
        int at = start;
        while (at < to && text[at] >= 0 && stays[text[at]]) {
            at++;
        }
        return at;
    }

    /** The state in the middle of a line with nothing matched yet; fills {@link #skips}. */
    private int skipState() {
        if (skipState == 0 && states + classes + 2 < mostStates) {
            int state = first(2);
            if (state < FIRST_STATE) {
                return -1;
            }
            for (int c = 0; c < ASCII; c++) {
                int at = state * classes + asciiClass[c];
                int next = table[at] != 0 ? table[at] : make(state, asciiClass[c]);
                skips[c] = next == state;
            }
            skipState = emptyings == 0 ? state : 0;
        }
        return skipState == 0 ? -1 : skipState;
    }

    private static Outcome outcome(int state) {
        return state == ACCEPT ? Outcome.MATCH : state == DEAD ? Outcome.NO_MATCH : Outcome.UNKNOWN;
    }

    /** @param behind 0: start of the text, 1: a newline, 2: anything else */
    private int first(int behind) {
        if (firstStates[behind] == 0) {
            begin();
            follow(0, behind == 0, behind <= 1, false, false);
            firstStates[behind] = state();
        }
        return firstStates[behind];
    }

    /** @return the state behind a character, or 0 if the tables do not suffice */
    private int make(int from, int characterClass) {
        boolean newline = characterClass == newlineClass;
        int[] before = places[from];
        if (newline) { // conditions that a newline ahead fulfils
            begin();
            for (int place : before) {
                follow(place, false, false, false, true);
            }
            if (accepts) {
                table[from * classes + characterClass] = ACCEPT;
                return ACCEPT;
            }
            before = Arrays.copyOf(building, built);
        }
        int c = representative[characterClass];
        begin();
        for (int place : before) {
            if (reads(program, place, c)) {
                follow(place + 1, false, newline, false, false);
            }
        }
        follow(0, false, newline, false, false); // a match may start here too
        int emptied = emptyings;
        int next = state();
        if (emptied == emptyings && next != 0) {
            table[from * classes + characterClass] = next;
        }
        return next;
    }

    private boolean matchesAtEnd(int[] pending) {
        begin();
        for (int place : pending) {
            follow(place, false, false, true, true);
        }
        return accepts;
    }

    private void begin() {
        generation++;
        built = 0;
        accepts = false;
    }

    /** Adds the places reached from one without reading; a condition on what comes next stays in the set until that is known. */
    private void follow(int start, boolean atStart, boolean lineStart, boolean atEnd, boolean lineEnd) {
        int depth = 0;
        stack[depth++] = start;
        while (depth > 0) {
            int place = stack[--depth];
            if (mark[place] == generation) {
                continue;
            }
            mark[place] = generation;
            if (depth + 2 > stack.length) {
                stack = Arrays.copyOf(stack, 2 * stack.length);
            }
            switch (program.code(place)) {
                case Program.MATCH -> accepts = true;
                case Program.JUMP -> stack[depth++] = program.first(place);
                case Program.SAVE -> stack[depth++] = place + 1;
                case Program.SPLIT -> {
                    stack[depth++] = program.first(place);
                    stack[depth++] = program.second(place);
                }
                case Program.LOOK -> {
                    LookKind kind = LOOKS[program.first(place)];
                    boolean ahead = kind == LookKind.END_TEXT || kind == LookKind.END_LINE;
                    if (kind == LookKind.START_TEXT && atStart
                            || kind == LookKind.START_LINE && lineStart
                            || kind == LookKind.END_TEXT && atEnd
                            || kind == LookKind.END_LINE && lineEnd) {
                        stack[depth++] = place + 1;
                    } else if (ahead) {
                        put(place);
                    }
                }
                default -> put(place);
            }
        }
    }

    private void put(int place) {
        if (built == building.length) {
            building = Arrays.copyOf(building, 2 * built);
        }
        building[built++] = place;
    }

    /** The state of the set just built; 0 if the tables do not suffice. */
    private int state() {
        if (accepts) {
            return ACCEPT;
        }
        if (built == 0 && !hasLineStart) {
            return DEAD; // with a line start, a match may still begin behind a newline
        }
        Arrays.sort(building, 0, built);
        sought.list = building;
        sought.count = built;
        Integer found = known.get(sought);
        if (found != null) {
            return found;
        }
        if (states >= mostStates || placeCount + built > MOST_PLACES) {
            if (++emptyings > MOST_EMPTYINGS || built > MOST_PLACES) {
                return 0;
            }
            known.clear();
            Arrays.fill(table, 0);
            Arrays.fill(firstStates, 0);
            skipState = 0;
            states = FIRST_STATE;
            placeCount = 0;
        }
        return add();
    }

    private int add() {
        int state = states++;
        if (state == places.length) {
            places = Arrays.copyOf(places, 2 * state);
            acceptsAtEnd = Arrays.copyOf(acceptsAtEnd, 2 * state);
        }
        if ((state + 1) * classes > table.length) {
            table = Arrays.copyOf(table, Math.max((state + 1) * classes, 2 * table.length));
        }
        Places key = new Places();
        key.list = Arrays.copyOf(building, built);
        key.count = built;
        places[state] = key.list;
        acceptsAtEnd[state] = 0;
        placeCount += built;
        known.put(key, state);
        return state;
    }
}
