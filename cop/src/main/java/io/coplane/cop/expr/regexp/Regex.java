package io.coplane.cop.expr.regexp;

import io.coplane.cop.expr.regexp.Node.LookKind;
import io.coplane.types.text.Utf8;
import java.util.Arrays;

/**
 * A compiled pattern with its working memory: leftmost-first matches in time bounded by program times text (expressions.md 9.2). One thread.
 */
public final class Regex {
    private static final LookKind[] LOOKS = LookKind.values();
    /** A pattern that is a column's value is compiled again and again: tables are for one that stays. */
    private static final int USES_BEFORE_TABLES = 8;

    private final Program program;
    private final int slots;
    private final long[] asciiLow; // per set: characters 0 to 63, 64 to 127
    private final long[] asciiHigh;
    private Threads current;
    private Threads next;
    private int[] stack = new int[64];
    private final int[] scratch;
    private final int[] none;
    private final int[] found;
    private LazyDfa tables; // null: not made yet, or not possible
    private int untilTables = USES_BEFORE_TABLES;
    private byte[] text;
    private int from;
    private int to;

    /** Threads of one place, most preferred first, each with its slots. */
    private static final class Threads {
        final int[] places; // program places, in order
        final int[] index; // by place: where it stands in places
        final int[] captures;
        int count;

        Threads(int length, int slots) {
            places = new int[length];
            index = new int[length];
            captures = new int[length * slots];
        }

        boolean add(int place) {
            int i = index[place];
            if (i < count && places[i] == place) {
                return false;
            }
            index[place] = count;
            places[count++] = place;
            return true;
        }
    }

    private Regex(Program program, int groups) {
        this.program = program;
        slots = 2 * groups + 2;
        current = new Threads(program.length(), slots);
        next = new Threads(program.length(), slots);
        scratch = new int[slots];
        none = new int[slots];
        Arrays.fill(none, -1);
        found = new int[slots];
        int sets = 0;
        for (int i = 0; i < program.length(); i++) {
            sets = program.code(i) == Program.CHARS ? Math.max(sets, program.first(i) + 1) : sets;
        }
        asciiLow = new long[sets];
        asciiHigh = new long[sets];
        for (int s = 0; s < sets; s++) {
            for (int c = 0; c < 128; c++) {
                if (program.set(s).contains(c)) {
                    if (c < 64) {
                        asciiLow[s] |= 1L << c;
                    } else {
                        asciiHigh[s] |= 1L << c;
                    }
                }
            }
        }
    }

    /**
     * Compiles a pattern.
     *
     * @throws io.coplane.types.EvalException 1139 with the reference's text
     */
    public static Regex compile(String pattern) {
        RegexParser parser = new RegexParser(pattern.codePoints().toArray());
        Node node = parser.parse();
        return new Regex(Program.compile(node), parser.groups());
    }

    /** Groups that capture, besides the whole match. */
    public int groups() {
        return slots / 2 - 1;
    }

    /**
     * Sets the text to search in. Nothing outside of it is looked at.
     *
     * @param text well-formed UTF-8 in the range; borrowed
     */
    public void reset(byte[] text, int start, int end) {
        this.text = text;
        from = start;
        to = end;
    }

    /** True if there is a match anywhere. */
    public boolean matches() {
        return switch (ask(from)) {
            case MATCH -> true;
            case NO_MATCH -> false;
            case UNKNOWN -> simulate(from, true);
        };
    }

    private LazyDfa.Outcome ask(int at) {
        if (at >= to || tables == null && untilTables < 0) {
            return LazyDfa.Outcome.UNKNOWN;
        }
        if (tables == null) {
            if (--untilTables < 0) {
                tables = LazyDfa.of(program);
            }
            return LazyDfa.Outcome.UNKNOWN;
        }
        LazyDfa.Outcome outcome = tables.search(text, from, at, to);
        if (outcome == LazyDfa.Outcome.UNKNOWN) {
            tables = null;
        }
        return outcome;
    }

    /**
     * Finds the first match that starts at {@code at} or later; read it with {@link #start} and {@link #end}.
     *
     * @param at index into the text, at the start of a character or its end
     */
    public boolean find(int at) {
        return ask(at) != LazyDfa.Outcome.NO_MATCH && simulate(at, false);
    }

    /** Where a group of the last match starts; 0 is the whole match; -1 if it took no part. */
    public int start(int group) {
        return found[2 * group];
    }

    /** Where a group of the last match ends. */
    public int end(int group) {
        return found[2 * group + 1];
    }

    /** Searches by stepping all threads at once. */
    boolean simulate(int start, boolean anyMatch) {
        current.count = 0;
        boolean matched = false;
        int at = start;
        while (true) {
            if (!matched) {
                addThread(current, 0, at, none, 0);
            }
            if (current.count == 0) {
                return matched;
            }
            int width = at < to ? Utf8.sequenceLength(text, at, to) : 0;
            int c = width == 0 ? -1 : Utf8.codePoint(text, at, width);
            next.count = 0;
            for (int t = 0; t < current.count; t++) {
                int place = current.places[t];
                byte code = program.code(place);
                if (code == Program.MATCH) {
                    if (anyMatch) {
                        return true;
                    }
                    System.arraycopy(current.captures, t * slots, found, 0, slots);
                    matched = true;
                    break; // the threads behind are less preferred
                }
                if (c >= 0
                        && (code == Program.CHAR ? program.first(place) == c : code == Program.CHARS && in(place, c))) {
                    addThread(next, place + 1, at + width, current.captures, t * slots);
                }
            }
            Threads swap = current;
            current = next;
            next = swap;
            if (at >= to) {
                return matched;
            }
            at += width;
        }
    }

    private boolean in(int place, int c) {
        int set = program.first(place);
        if (c < 64) {
            return (asciiLow[set] >>> c & 1) != 0;
        }
        if (c < 128) {
            return (asciiHigh[set] >>> c & 1) != 0;
        }
        return program.set(set).contains(c);
    }

    /** Follows the instructions that read nothing, in order of preference. */
    private void addThread(Threads threads, int start, int at, int[] captures, int offset) {
        int[] work = scratch;
        System.arraycopy(captures, offset, work, 0, slots);
        int depth = 0;
        stack = ensure(stack, depth + 3);
        stack[depth++] = start;
        while (depth > 0) {
            int place = stack[--depth];
            if (place < 0) { // restore a slot on the way back
                work[-place - 1] = stack[--depth];
                continue;
            }
            while (true) {
                if (!threads.add(place)) {
                    break;
                }
                byte code = program.code(place);
                if (code == Program.JUMP) {
                    place = program.first(place);
                } else if (code == Program.SPLIT) {
                    stack = ensure(stack, depth + 1);
                    stack[depth++] = program.second(place);
                    place = program.first(place);
                } else if (code == Program.SAVE) {
                    int slot = program.first(place);
                    stack = ensure(stack, depth + 2);
                    stack[depth++] = work[slot];
                    stack[depth++] = -slot - 1;
                    work[slot] = at;
                    place++;
                } else if (code == Program.LOOK) {
                    if (!holds(LOOKS[program.first(place)], at)) {
                        break;
                    }
                    place++;
                } else {
                    System.arraycopy(work, 0, threads.captures, threads.index[place] * slots, slots);
                    break;
                }
            }
        }
    }

    private static int[] ensure(int[] array, int length) {
        return length <= array.length ? array : Arrays.copyOf(array, 2 * length);
    }

    private boolean holds(LookKind kind, int at) {
        return switch (kind) {
            case START_TEXT -> at == from;
            case END_TEXT -> at == to;
            case START_LINE -> at == from || text[at - 1] == '\n';
            case END_LINE -> at == to || text[at] == '\n';
            case START_CRLF ->
                at == from || text[at - 1] == '\n' || text[at - 1] == '\r' && (at == to || text[at] != '\n');
            case END_CRLF -> at == to || text[at] == '\r' || text[at] == '\n' && (at == from || text[at - 1] != '\r');
            case WORD -> wordBefore(at) != wordAfter(at);
            case NOT_WORD -> wordBefore(at) == wordAfter(at);
            case WORD_START -> !wordBefore(at) && wordAfter(at);
            case WORD_END -> wordBefore(at) && !wordAfter(at);
            case WORD_START_HALF -> !wordBefore(at);
            case WORD_END_HALF -> !wordAfter(at);
            case ASCII_WORD -> asciiBefore(at) != asciiAfter(at);
            case ASCII_NOT_WORD -> asciiBefore(at) == asciiAfter(at);
            case ASCII_WORD_START -> !asciiBefore(at) && asciiAfter(at);
            case ASCII_WORD_END -> asciiBefore(at) && !asciiAfter(at);
            case ASCII_WORD_START_HALF -> !asciiBefore(at);
            case ASCII_WORD_END_HALF -> !asciiAfter(at);
        };
    }

    private boolean wordAfter(int at) {
        return at < to && UnicodeProperties.isWord(Utf8.codePoint(text, at, Utf8.sequenceLength(text, at, to)));
    }

    private boolean wordBefore(int at) {
        if (at == from) {
            return false;
        }
        int start = at - 1;
        while (start > from && (text[start] & 0xc0) == 0x80) {
            start--;
        }
        return UnicodeProperties.isWord(Utf8.codePoint(text, start, at - start));
    }

    private boolean asciiAfter(int at) {
        return at < to && text[at] >= 0 && UnicodeProperties.isWord(text[at]);
    }

    private boolean asciiBefore(int at) {
        return at > from && text[at - 1] >= 0 && UnicodeProperties.isWord(text[at - 1]);
    }
}
