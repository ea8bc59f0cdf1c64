package io.coplane.cop.expr.kernel;

import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalException;
import io.coplane.types.EvalType;
import io.coplane.types.collation.Collation;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.LongColumn;
import io.coplane.types.text.Utf8;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Positions of strings in strings (expressions.md 8.7). */
final class SearchKernels {
    private SearchKernels() {}

    static void declare(SignatureTable table) {
        locate(table, ScalarFuncSig.Locate2Args, EvalType.BYTES, EvalType.BYTES).runs(SearchKernels::locate);
        locate(table, ScalarFuncSig.Locate3Args, EvalType.BYTES, EvalType.BYTES, EvalType.INT)
                .runs(SearchKernels::locate);
        locate(table, ScalarFuncSig.Locate2ArgsUTF8, EvalType.BYTES, EvalType.BYTES)
                .prepares(SearchKernels::prepareCase)
                .runs(SearchKernels::locateUtf8);
        locate(table, ScalarFuncSig.Locate3ArgsUTF8, EvalType.BYTES, EvalType.BYTES, EvalType.INT)
                .prepares(SearchKernels::prepareCase)
                .runs(SearchKernels::locateUtf8);
        locate(table, ScalarFuncSig.Instr, EvalType.BYTES, EvalType.BYTES).runs(SearchKernels::instr);
        locate(table, ScalarFuncSig.InstrUTF8, EvalType.BYTES, EvalType.BYTES).runs(SearchKernels::instrUtf8);
    }

    private static Signature locate(SignatureTable table, ScalarFuncSig sig, EvalType... types) {
        return table.add(sig).takes(types).returns(EvalType.INT);
    }

    private static void prepareCase(Preparation node) {
        node.metadata(Collation.of(node.returnType().collate()).isCaseInsensitive());
    }

    private static void locate(KernelContext ctx, Column[] args, int rows, Column out) {
        BytesColumn needle = (BytesColumn) args[0];
        BytesColumn text = (BytesColumn) args[1];
        long[] positions = args.length > 2 ? ((LongColumn) args[2]).values() : null;
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            values[i] = 0;
            long position = positions == null ? 1 : positions[i];
            int length = text.lengths()[i];
            if (out.isNull(i) || position < 1 || position > length + 1L) {
                continue;
            }
            int start = text.starts()[i];
            int from = start + (int) position - 1;
            int at = Texts.indexOf(
                    text.data(), from, start + length, needle.data(), needle.starts()[i], needle.lengths()[i]);
            values[i] = at < 0 ? 0 : at - start + 1L;
        }
    }

    private static void instr(KernelContext ctx, Column[] args, int rows, Column out) {
        locate(ctx, new Column[] {args[1], args[0]}, rows, out);
    }

    private static void locateUtf8(KernelContext ctx, Column[] args, int rows, Column out) {
        BytesColumn needle = (BytesColumn) args[0];
        BytesColumn text = (BytesColumn) args[1];
        long[] positions = args.length > 2 ? ((LongColumn) args[2]).values() : null;
        long[] values = ((LongColumn) out).values();
        boolean lower = (Boolean) ctx.metadata();
        for (int i = 0; i < rows; i++) {
            values[i] = 0;
            if (out.isNull(i)) {
                continue;
            }
            Texts.requireUtf8(needle, i);
            Texts.requireUtf8(text, i);
            int start = text.starts()[i];
            int end = start + text.lengths()[i];
            long position = positions == null ? 1 : positions[i];
            long characters = Utf8.countCodePoints(text.data(), start, text.lengths()[i]);
            if (position < 1 || position > characters + 1) {
                continue;
            }
            int from = Texts.skipCharacters(text.data(), start, end, position - 1);
            long found = lower
                    ? findLowerCased(text, from, end, needle, i)
                    : find(text.data(), from, end, needle.data(), needle.starts()[i], needle.lengths()[i]);
            values[i] = found == 0 ? 0 : found + position - 1;
        }
    }

    /** One-based position in characters, 0 if absent. */
    private static long find(byte[] data, int from, int end, byte[] needle, int needleStart, int needleLength) {
        int at = Texts.indexOf(data, from, end, needle, needleStart, needleLength);
        return at < 0 ? 0 : Utf8.countCodePoints(data, from, at - from) + 1L;
    }

    /** Full lower-casing may change lengths, so the position counts in the lower-cased text (expressions.md 8.7). */
    private static long findLowerCased(BytesColumn text, int from, int end, BytesColumn needle, int row) {
        if (areAscii(text.data(), from, end, needle, row)) {
            return indexOfAscii(text.data(), from, end, needle, row) - from + 1L;
        }
        byte[] lowerText = lower(text.data(), from, end - from);
        byte[] lowerNeedle = lower(needle.data(), needle.starts()[row], needle.lengths()[row]);
        return find(lowerText, 0, lowerText.length, lowerNeedle, 0, lowerNeedle.length);
    }

    private static boolean areAscii(byte[] data, int from, int end, BytesColumn needle, int row) {
        int start = needle.starts()[row];
        int needleEnd = start + needle.lengths()[row];
        return Utf8.skipAscii(data, from, end) == end && Utf8.skipAscii(needle.data(), start, needleEnd) == needleEnd;
    }

    /** Index of an ASCII needle in an ASCII text whatever the case, {@code from - 1} if absent. */
    private static int indexOfAscii(byte[] data, int from, int end, BytesColumn needle, int row) {
        byte[] sought = needle.data();
        int start = needle.starts()[row];
        int length = needle.lengths()[row];
        for (int at = from; at <= end - length; at++) {
            int i = 0;
            while (i < length && lower(data[at + i]) == lower(sought[start + i])) {
                i++;
            }
            if (i == length) {
                return at;
            }
        }
        return from - 1;
    }

    private static int lower(byte ascii) {
        return ascii >= 'A' && ascii <= 'Z' ? ascii + 'a' - 'A' : ascii;
    }

    private static byte[] lower(byte[] data, int start, int length) {
        return Utf8.lossy(data, start, length).toLowerCase(Locale.ROOT).getBytes(StandardCharsets.UTF_8);
    }

    /** The byte offset found in the lower-cased text counts characters of the original (expressions.md 8.7, 13). */
    private static void instrUtf8(KernelContext ctx, Column[] args, int rows, Column out) {
        BytesColumn text = (BytesColumn) args[0];
        BytesColumn needle = (BytesColumn) args[1];
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            values[i] = 0;
            if (out.isNull(i)) {
                continue;
            }
            int start = text.starts()[i];
            if (areAscii(text.data(), start, start + text.lengths()[i], needle, i)) {
                values[i] = indexOfAscii(text.data(), start, start + text.lengths()[i], needle, i) - start + 1L;
                continue;
            }
            byte[] lowerText = lower(text.data(), text.starts()[i], text.lengths()[i]);
            byte[] lowerNeedle = lower(needle.data(), needle.starts()[i], needle.lengths()[i]);
            int at = Texts.indexOf(lowerText, 0, lowerText.length, lowerNeedle, 0, lowerNeedle.length);
            if (at < 0) {
                continue;
            }
            byte[] original =
                    Utf8.lossy(text.data(), text.starts()[i], text.lengths()[i]).getBytes(StandardCharsets.UTF_8);
            if (at > original.length || at < original.length && (original[at] & 0xc0) == 0x80) {
                throw EvalException.uncoded("lower-casing moved the match: byte=" + at);
            }
            values[i] = Utf8.countCodePoints(original, 0, at) + 1L;
        }
    }
}
