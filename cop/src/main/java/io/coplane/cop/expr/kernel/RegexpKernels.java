package io.coplane.cop.expr.kernel;

import io.coplane.cop.expr.regexp.Regex;
import io.coplane.proto.tipb.Expr;
import io.coplane.proto.tipb.ExprType;
import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalException;
import io.coplane.types.EvalType;
import io.coplane.types.collation.Collation;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.LongColumn;
import io.coplane.types.text.Utf8;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** REGEXP and its family (expressions.md 9.2). */
final class RegexpKernels {
    private static final int REGEXP = 1139;
    private static final int PATTERN = 1;

    /** What is known at compile time. @param fixed null if the pattern or the match type is not constant */
    private record Plan(Regex fixed, boolean caseInsensitive, int matchTypeIndex) {}

    /** The pattern compiled last, and the search of one row. */
    private static final class State {
        private byte[] pattern = {};
        private byte[] matchType;
        private Regex regex;
        private Regex search; // of this row
        private int start; // where the searched part of the subject starts
        private int end;
    }

    private RegexpKernels() {}

    static void declare(SignatureTable table) {
        for (ScalarFuncSig sig :
                new ScalarFuncSig[] {ScalarFuncSig.RegexpSig, ScalarFuncSig.RegexpUTF8Sig, ScalarFuncSig.RegexpLikeSig
                }) {
            table.add(sig)
                    .takesFrom(2, EvalType.BYTES, EvalType.BYTES, EvalType.BYTES)
                    .returns(EvalType.INT)
                    .seesNulls()
                    .prepares(node -> prepare(node, 2))
                    .runs(RegexpKernels::like);
        }
        table.add(ScalarFuncSig.RegexpSubstrSig)
                .takesFrom(2, EvalType.BYTES, EvalType.BYTES, EvalType.INT, EvalType.INT, EvalType.BYTES)
                .returns(EvalType.BYTES)
                .seesNulls()
                .prepares(node -> prepare(node, 4))
                .runs(RegexpKernels::substr);
        table.add(ScalarFuncSig.RegexpInStrSig)
                .takesFrom(2, EvalType.BYTES, EvalType.BYTES, EvalType.INT, EvalType.INT, EvalType.INT, EvalType.BYTES)
                .returns(EvalType.INT)
                .seesNulls()
                .prepares(node -> prepare(node, 5))
                .runs(RegexpKernels::instr);
        table.add(ScalarFuncSig.RegexpReplaceSig)
                .takesFrom(
                        3, EvalType.BYTES, EvalType.BYTES, EvalType.BYTES, EvalType.INT, EvalType.INT, EvalType.BYTES)
                .returns(EvalType.BYTES)
                .seesNulls()
                .prepares(node -> prepare(node, 5))
                .runs(RegexpKernels::replace);
    }

    private static void prepare(Preparation node, int matchTypeIndex) {
        boolean caseInsensitive = Collation.of(node.returnType().collate()).isCaseInsensitive();
        Regex fixed = null;
        boolean hasMatchType = node.childCount() > matchTypeIndex;
        if (isText(node.child(PATTERN)) && (!hasMatchType || isText(node.child(matchTypeIndex)))) {
            byte[] pattern = node.child(PATTERN).getVal().toByteArray();
            byte[] matchType =
                    hasMatchType ? node.child(matchTypeIndex).getVal().toByteArray() : null;
            fixed = compile(pattern, matchType, caseInsensitive);
        }
        node.metadata(new Plan(fixed, caseInsensitive, hasMatchType ? matchTypeIndex : -1));
    }

    private static boolean isText(Expr child) {
        return child.getTp() == ExprType.String || child.getTp() == ExprType.Bytes;
    }

    /** @param matchType null if there is none */
    private static Regex compile(byte[] pattern, byte[] matchType, boolean caseInsensitive) {
        if (pattern.length == 0) {
            throw error("Empty pattern is invalid in regexp");
        }
        String flags = caseInsensitive ? "i" : "";
        if (matchType != null) {
            String types = text(matchType);
            for (int at = 0; at < types.length(); at += Character.charCount(types.codePointAt(at))) {
                String flag = Character.toString(types.codePointAt(at));
                switch (flag) {
                    case "c" -> flags = flags.replace("i", "");
                    case "i", "m", "s" -> flags = flags.contains(flag) ? flags : flags + flag;
                    default -> throw error("Invalid match type: " + flag + " in regexp");
                }
            }
        }
        String prefix = flags.isEmpty() ? "" : "(?" + flags + ")";
        return Regex.compile(prefix + text(pattern));
    }

    private static String text(byte[] bytes) {
        if (!Utf8.isValid(bytes, 0, bytes.length)) {
            throw Texts.notUtf8();
        }
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static EvalException error(String text) {
        return EvalException.coded(REGEXP, text);
    }

    private static State state(KernelContext ctx) {
        if (ctx.scratch() == null) {
            ctx.scratch(new State());
        }
        return (State) ctx.scratch();
    }

    /**
     * Sets up subject and pattern of a row.
     *
     * @return false if the row is NULL
     */
    private static boolean begin(KernelContext ctx, Column[] args, int row, State state) {
        BytesColumn subject = (BytesColumn) args[0];
        if (subject.isNull(row)) {
            return false;
        }
        Texts.requireUtf8(subject, row);
        Plan plan = (Plan) ctx.metadata();
        Regex regex = plan.fixed() != null ? plan.fixed() : regex(plan, args, row, state);
        if (regex == null) {
            return false;
        }
        ctx.eval().spend((long) subject.lengths()[row] * ((BytesColumn) args[PATTERN]).lengths()[row]);
        state.search = regex;
        state.start = subject.starts()[row];
        state.end = state.start + subject.lengths()[row];
        return true;
    }

    private static Regex regex(Plan plan, Column[] args, int row, State state) {
        BytesColumn patterns = (BytesColumn) args[PATTERN];
        BytesColumn matchTypes = plan.matchTypeIndex() < 0 ? null : (BytesColumn) args[plan.matchTypeIndex()];
        if (patterns.isNull(row) || matchTypes != null && matchTypes.isNull(row)) {
            return null;
        }
        boolean same = state.regex != null
                && holds(patterns, row, state.pattern)
                && (matchTypes == null || holds(matchTypes, row, state.matchType));
        if (!same) {
            state.regex = null;
            state.pattern = copy(patterns, row);
            state.matchType = matchTypes == null ? null : copy(matchTypes, row);
            state.regex = compile(state.pattern, state.matchType, plan.caseInsensitive());
        }
        return state.regex;
    }

    private static boolean holds(BytesColumn column, int row, byte[] bytes) {
        int start = column.starts()[row];
        return Arrays.equals(column.data(), start, start + column.lengths()[row], bytes, 0, bytes.length);
    }

    private static byte[] copy(BytesColumn column, int row) {
        int start = column.starts()[row];
        return Arrays.copyOfRange(column.data(), start, start + column.lengths()[row]);
    }

    /** The number of an optional argument; {@code absent} if there is none. */
    private static long number(Column[] args, int index, int row, long absent) {
        return index < args.length ? ((LongColumn) args[index]).values()[row] : absent;
    }

    private static boolean isNull(Column[] args, int index, int row) {
        return index < args.length && args[index].isNull(row);
    }

    /** Cuts the subject before its {@code position}-th character. */
    private static void cut(State state, BytesColumn subject, long position) {
        byte[] data = subject.data();
        int cut = position < 1 ? -1 : Texts.skipCharacters(data, state.start, state.end, position - 1);
        if (cut < 0 || cut == state.end && position != 1) {
            long count = Utf8.countCodePoints(data, state.start, state.end - state.start);
            throw error("Invalid pos: " + position + " in regexp, count: " + count);
        }
        state.start = cut;
    }

    private static void like(KernelContext ctx, Column[] args, int rows, Column out) {
        State state = state(ctx);
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            if (begin(ctx, args, i, state)) {
                state.search.reset(((BytesColumn) args[0]).data(), state.start, state.end);
                values[i] = state.search.matches() ? 1 : 0;
            } else {
                out.setNull(i);
            }
        }
    }

    /** Finds the n-th match; an empty one directly behind another doesn't count. */
    private static boolean findNth(State state, byte[] data, long nth) {
        state.search.reset(data, state.start, state.end);
        int at = state.start;
        int last = -1;
        for (long left = Math.max(1, nth); ; ) {
            if (!state.search.find(at)) {
                return false;
            }
            int end = state.search.end(0);
            if (state.search.start(0) == end && end == last) {
                if (at >= state.end) {
                    return false;
                }
                at += Utf8.sequenceLength(data, at, state.end);
                continue;
            }
            if (--left == 0) {
                return true;
            }
            last = end;
            at = end;
        }
    }

    private static void substr(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn subject = (BytesColumn) args[0];
        State state = state(ctx);
        for (int i = 0; i < rows; i++) {
            if (!begin(ctx, args, i, state) || isNull(args, 2, i)) {
                Texts.putNull(out, i);
                continue;
            }
            cut(state, subject, number(args, 2, i, 1));
            if (isNull(args, 3, i) || !findNth(state, subject.data(), number(args, 3, i, 1))) {
                Texts.putNull(out, i);
            } else {
                int start = state.search.start(0);
                Texts.put(ctx, out, i, subject.data(), start, state.search.end(0) - start);
            }
        }
    }

    private static void instr(KernelContext ctx, Column[] args, int rows, Column out) {
        BytesColumn subject = (BytesColumn) args[0];
        long[] values = ((LongColumn) out).values();
        State state = state(ctx);
        for (int i = 0; i < rows; i++) {
            if (!begin(ctx, args, i, state) || isNull(args, 2, i)) {
                out.setNull(i);
                continue;
            }
            long position = number(args, 2, i, 1);
            cut(state, subject, position);
            if (isNull(args, 3, i) || isNull(args, 4, i)) {
                out.setNull(i);
                continue;
            }
            long option = number(args, 4, i, 0);
            if (option != 0 && option != 1) {
                throw error("Invalid regexp return option: " + option);
            }
            values[i] = 0;
            if (findNth(state, subject.data(), number(args, 3, i, 1))) {
                int place = option == 0 ? state.search.start(0) : state.search.end(0);
                values[i] = Utf8.countCodePoints(subject.data(), state.start, place - state.start) + position;
            }
        }
    }

    private static void replace(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn subject = (BytesColumn) args[0];
        BytesColumn template = (BytesColumn) args[2];
        State state = state(ctx);
        for (int i = 0; i < rows; i++) {
            if (!begin(ctx, args, i, state) || template.isNull(i) || isNull(args, 3, i)) {
                Texts.putNull(out, i);
                continue;
            }
            int whole = state.start;
            cut(state, subject, number(args, 3, i, 1));
            if (isNull(args, 4, i)) {
                Texts.putNull(out, i);
                continue;
            }
            long occurrence = number(args, 4, i, 0);
            replaceRow(ctx, state, subject, template, i, occurrence < 0 ? 1 : occurrence, whole, out);
        }
    }

    /** @param occurrence 0 for all */
    private static void replaceRow(
            KernelContext ctx,
            State state,
            BytesColumn subject,
            BytesColumn template,
            int row,
            long occurrence,
            int whole,
            BytesColumn out) {
        byte[] data = subject.data();
        Regex search = state.search;
        search.reset(data, state.start, state.end);
        int written = ctx.reserve(out, 0);
        int first = written;
        int copied = whole;
        int at = state.start;
        int last = -1;
        long seen = 0;
        while (search.find(at)) {
            int end = search.end(0);
            if (search.start(0) == end && end == last) {
                if (at >= state.end) {
                    break;
                }
                at += Utf8.sequenceLength(data, at, state.end);
                continue;
            }
            seen++;
            last = end;
            at = end;
            if (occurrence != 0 && seen != occurrence) {
                continue;
            }
            written = append(ctx, out, written, data, copied, search.start(0) - copied);
            written = expand(ctx, search, data, template, row, out, written);
            copied = end;
            if (seen == occurrence) {
                break;
            }
        }
        written = append(ctx, out, written, data, copied, state.end - copied);
        out.setView(row, first, written - first);
    }

    private static int append(KernelContext ctx, BytesColumn out, int at, byte[] data, int start, int length) {
        int to = ctx.reserve(out, length);
        System.arraycopy(data, start, out.data(), to, length);
        return at + length;
    }

    private static int expand(
            KernelContext ctx, Regex search, byte[] data, BytesColumn template, int row, BytesColumn out, int at) {
        int written = at;
        byte[] source = template.data();
        int start = template.starts()[row];
        int end = start + template.lengths()[row];
        for (int i = start; i < end; i++) {
            byte b = source[i];
            if (b != '\\') {
                written = append(ctx, out, written, source, i, 1);
                continue;
            }
            if (++i == end) {
                break;
            }
            int group = source[i] - '0';
            if (group < 0 || group > 9) {
                written = append(ctx, out, written, source, i, 1);
                continue;
            }
            if (group > search.groups() || search.start(group) < 0) {
                throw error("Substitution number is out of range: " + group);
            }
            int from = search.start(group);
            written = append(ctx, out, written, data, from, search.end(group) - from);
        }
        return written;
    }
}
