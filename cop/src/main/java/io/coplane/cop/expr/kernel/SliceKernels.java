package io.coplane.cop.expr.kernel;

import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalException;
import io.coplane.types.EvalType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.LongColumn;
import io.coplane.types.text.Utf8;

/** String functions whose result is a part of an argument (expressions.md 8.7): the rows are views, nothing is copied. */
final class SliceKernels {
    private static final long BOTH = 1;
    private static final long LEADING = 2;
    private static final long TRAILING = 3;

    private SliceKernels() {}

    static void declare(SignatureTable table) {
        trim(table, ScalarFuncSig.LTrim, true, false);
        trim(table, ScalarFuncSig.RTrim, false, true);
        trim(table, ScalarFuncSig.Trim1Arg, true, true);
        table.add(ScalarFuncSig.Trim2Args)
                .takes(EvalType.BYTES, EvalType.BYTES)
                .returns(EvalType.BYTES)
                .runs(SliceKernels::trimPattern);
        table.add(ScalarFuncSig.Trim3Args)
                .takes(EvalType.BYTES, EvalType.BYTES, EvalType.INT)
                .returns(EvalType.BYTES)
                .runs(SliceKernels::trimPattern);
        withCount(table, ScalarFuncSig.Left, SliceKernels::left);
        withCount(table, ScalarFuncSig.Right, SliceKernels::right);
        withCount(table, ScalarFuncSig.LeftUTF8, SliceKernels::leftUtf8);
        withCount(table, ScalarFuncSig.RightUTF8, SliceKernels::rightUtf8);
        withCount(table, ScalarFuncSig.Substring2Args, SliceKernels::substring);
        withCount(table, ScalarFuncSig.Substring2ArgsUTF8, SliceKernels::substringUtf8);
        withTwoCounts(table, ScalarFuncSig.Substring3Args, SliceKernels::substring);
        withTwoCounts(table, ScalarFuncSig.Substring3ArgsUTF8, SliceKernels::substringUtf8);
        table.add(ScalarFuncSig.SubstringIndex)
                .takes(EvalType.BYTES, EvalType.BYTES, EvalType.INT)
                .returns(EvalType.BYTES)
                .runs(SliceKernels::substringIndex);
    }

    private static void withCount(SignatureTable table, ScalarFuncSig sig, Kernel kernel) {
        table.add(sig)
                .takes(EvalType.BYTES, EvalType.INT)
                .returns(EvalType.BYTES)
                .runs(kernel);
    }

    private static void withTwoCounts(SignatureTable table, ScalarFuncSig sig, Kernel kernel) {
        table.add(sig)
                .takes(EvalType.BYTES, EvalType.INT, EvalType.INT)
                .returns(EvalType.BYTES)
                .runs(kernel);
    }

    private static void trim(SignatureTable table, ScalarFuncSig sig, boolean left, boolean right) {
        table.add(sig)
                .takes(EvalType.BYTES)
                .returns(EvalType.BYTES)
                .runs((ctx, args, rows, out) -> trimSpaces(args, rows, (BytesColumn) out, left, right));
    }

    private static void trimSpaces(Column[] args, int rows, BytesColumn out, boolean left, boolean right) {
        BytesColumn arg = (BytesColumn) args[0];
        Texts.borrow(out, arg, args, rows);
        byte[] data = arg.data();
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            int start = arg.starts()[i];
            int end = start + arg.lengths()[i];
            while (left && start < end && data[start] == ' ') {
                start++;
            }
            while (right && end > start && data[end - 1] == ' ') {
                end--;
            }
            out.setView(i, start, end - start);
        }
    }

    private static void trimPattern(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        BytesColumn pattern = (BytesColumn) args[1];
        long[] directions = args.length > 2 ? ((LongColumn) args[2]).values() : null;
        Texts.borrow(out, arg, args, rows);
        byte[] data = arg.data();
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            long direction = directions == null ? BOTH : directions[i];
            if (direction < BOTH || direction > TRAILING) {
                throw EvalException.uncoded("invalid direction value: " + direction);
            }
            int start = arg.starts()[i];
            int length = arg.lengths()[i];
            int from = pattern.starts()[i];
            int width = pattern.lengths()[i];
            if (width == 0) {
                out.setView(i, start, length);
                continue;
            }
            int left = 0;
            int right = length;
            if (direction != TRAILING) {
                while (left + width <= length && Texts.matches(data, start + left, pattern.data(), from, width)) {
                    left += width;
                }
            }
            if (direction != LEADING) {
                while (right - width >= 0 && Texts.matches(data, start + right - width, pattern.data(), from, width)) {
                    right -= width;
                }
            }
            right = Math.max(right, left);
            out.setView(i, start + left, right - left);
        }
    }

    private static void left(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        long[] counts = ((LongColumn) args[1]).values();
        Texts.borrow(out, arg, args, rows);
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                out.setView(i, arg.starts()[i], (int) Math.max(0, Math.min(counts[i], arg.lengths()[i])));
            }
        }
    }

    private static void right(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        long[] counts = ((LongColumn) args[1]).values();
        Texts.borrow(out, arg, args, rows);
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                int length = arg.lengths()[i];
                int kept = (int) Math.max(0, Math.min(counts[i], length));
                out.setView(i, arg.starts()[i] + length - kept, kept);
            }
        }
    }

    private static void leftUtf8(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        long[] counts = ((LongColumn) args[1]).values();
        Texts.borrow(out, arg, args, rows);
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                Texts.requireUtf8(arg, i);
                int start = arg.starts()[i];
                int end = Texts.skipCharacters(arg.data(), start, start + arg.lengths()[i], counts[i]);
                out.setView(i, start, end - start);
            }
        }
    }

    private static void rightUtf8(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        long[] counts = ((LongColumn) args[1]).values();
        Texts.borrow(out, arg, args, rows);
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                Texts.requireUtf8(arg, i);
                int start = arg.starts()[i];
                int end = start + arg.lengths()[i];
                long characters = Utf8.countCodePoints(arg.data(), start, arg.lengths()[i]);
                long kept = Math.max(0, Math.min(counts[i], characters));
                int from = Texts.skipCharacters(arg.data(), start, end, characters - kept);
                out.setView(i, from, end - from);
            }
        }
    }

    private static void substring(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        long[] positions = ((LongColumn) args[1]).values();
        long[] lengths = args.length > 2 ? ((LongColumn) args[2]).values() : null;
        Texts.borrow(out, arg, args, rows);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            int length = arg.lengths()[i];
            long from = firstIndex(positions[i], length);
            long wanted = lengths == null ? length : lengths[i];
            if (from < 0 || wanted <= 0) {
                out.setEmpty(i);
            } else {
                out.setView(i, arg.starts()[i] + (int) from, (int) Math.min(wanted, length - from));
            }
        }
    }

    /** Zero-based start of SUBSTRING, or -1 where the result is empty. */
    private static long firstIndex(long position, long length) {
        if (position > 0) {
            return Math.min(position - 1, length);
        }
        if (position == 0 || length + position < 0) {
            return -1;
        }
        return length + position;
    }

    private static void substringUtf8(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        long[] positions = ((LongColumn) args[1]).values();
        long[] lengths = args.length > 2 ? ((LongColumn) args[2]).values() : null;
        Texts.borrow(out, arg, args, rows);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            Texts.requireUtf8(arg, i);
            int start = arg.starts()[i];
            int end = start + arg.lengths()[i];
            long characters = Utf8.countCodePoints(arg.data(), start, arg.lengths()[i]);
            long from = firstIndex(positions[i], characters);
            long wanted = lengths == null ? characters : lengths[i];
            if (from < 0 || wanted <= 0) {
                out.setEmpty(i);
            } else {
                int first = Texts.skipCharacters(arg.data(), start, end, from);
                int last = Texts.skipCharacters(arg.data(), first, end, wanted);
                out.setView(i, first, last - first);
            }
        }
    }

    private static void substringIndex(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        BytesColumn delimiters = (BytesColumn) args[1];
        long[] counts = ((LongColumn) args[2]).values();
        Texts.borrow(out, arg, args, rows);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            int start = arg.starts()[i];
            int end = start + arg.lengths()[i];
            int width = delimiters.lengths()[i];
            if (counts[i] == 0 || start == end || width == 0) {
                out.setEmpty(i);
            } else if (counts[i] > 0) {
                int at = nth(
                        arg.data(), start, end, delimiters.data(), delimiters.starts()[i], width, counts[i]);
                out.setView(i, start, (at < 0 ? end : at) - start);
            } else {
                int at = nthFromEnd(
                        arg.data(), start, end, delimiters.data(), delimiters.starts()[i], width, counts[i]);
                int from = at < 0 ? start : at + width;
                out.setView(i, from, end - from);
            }
        }
    }

    private static int nth(byte[] data, int start, int end, byte[] needle, int needleStart, int width, long count) {
        int at = start;
        for (long left = count; ; left--) {
            int found = Texts.indexOf(data, at, end, needle, needleStart, width);
            if (found < 0 || left == 1) {
                return found;
            }
            at = found + width;
        }
    }

    /** @param count negative */
    private static int nthFromEnd(
            byte[] data, int start, int end, byte[] needle, int needleStart, int width, long count) {
        long left = count;
        for (int at = end - width; at >= start; at--) {
            if (Texts.matches(data, at, needle, needleStart, width)) {
                if (++left == 0) {
                    return at;
                }
                at -= width - 1;
            }
        }
        return -1;
    }
}
