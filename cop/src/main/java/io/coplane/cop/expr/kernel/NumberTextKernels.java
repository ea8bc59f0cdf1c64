package io.coplane.cop.expr.kernel;

import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalException;
import io.coplane.types.EvalType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.LongColumn;
import io.coplane.types.text.Utf8;

/** Numbers in other bases, hex and base64 (expressions.md 8.6, 8.7). */
final class NumberTextKernels {
    private static final int OUT_OF_RANGE = 1690;
    private static final int BASE64_LINE = 76;
    private static final int MOST_BASE64_BYTES = 16_777_216;
    private static final byte[] BASE64 = new byte[64];
    private static final byte[] FROM_BASE64 = new byte[128];

    static {
        java.util.Arrays.fill(FROM_BASE64, (byte) -1);
        for (int i = 0; i < BASE64.length; i++) {
            int c = i < 26 ? 'A' + i : i < 52 ? 'a' + i - 26 : i < 62 ? '0' + i - 52 : i == 62 ? '+' : '/';
            BASE64[i] = (byte) c;
            FROM_BASE64[c] = (byte) i;
        }
    }

    private NumberTextKernels() {}

    static void declare(SignatureTable table) {
        bits(table, ScalarFuncSig.Bin, 1);
        bits(table, ScalarFuncSig.OctInt, 3);
        bits(table, ScalarFuncSig.HexIntArg, 4);
        text(table, ScalarFuncSig.OctString, NumberTextKernels::octString);
        text(table, ScalarFuncSig.HexStrArg, NumberTextKernels::hex);
        text(table, ScalarFuncSig.UnHex, NumberTextKernels::unhex);
        text(table, ScalarFuncSig.ToBase64, NumberTextKernels::toBase64);
        text(table, ScalarFuncSig.FromBase64, NumberTextKernels::fromBase64);
        table.add(ScalarFuncSig.Conv)
                .takes(EvalType.BYTES, EvalType.INT, EvalType.INT)
                .returns(EvalType.BYTES)
                .runs(NumberTextKernels::conv);
    }

    private static void text(SignatureTable table, ScalarFuncSig sig, Kernel kernel) {
        table.add(sig).takes(EvalType.BYTES).returns(EvalType.BYTES).runs(kernel);
    }

    private static void bits(SignatureTable table, ScalarFuncSig sig, int bitsPerDigit) {
        table.add(sig).takes(EvalType.INT).returns(EvalType.BYTES).runs((ctx, args, rows, out) -> {
            long[] values = ((LongColumn) args[0]).values();
            for (int i = 0; i < rows; i++) {
                if (!out.isNull(i)) {
                    Texts.putBits(ctx, (BytesColumn) out, i, values[i], bitsPerDigit);
                }
            }
        });
    }

    private static void octString(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            int at = arg.starts()[i];
            int end = at + arg.lengths()[i];
            if (at == end) {
                Texts.putNull(out, i);
                continue;
            }
            byte[] data = arg.data();
            while (at < end && isAsciiSpace(data[at])) {
                at++;
            }
            boolean negative = at < end && data[at] == '-';
            if (at < end && (data[at] == '-' || data[at] == '+')) {
                at++;
            }
            long value = 0;
            boolean overflow = false;
            for (; at < end && data[at] >= '0' && data[at] <= '9'; at++) {
                int digit = data[at] - '0';
                overflow |= Long.compareUnsigned(value, Long.divideUnsigned(-1L - digit, 10)) > 0;
                value = value * 10 + digit;
            }
            Texts.putBits(ctx, out, i, overflow ? -1 : negative ? -value : value, 3);
        }
    }

    /** Space, tab, line feed, form feed, carriage return. */
    private static boolean isAsciiSpace(byte b) {
        return b == ' ' || b == '\t' || b == '\n' || b == '\f' || b == '\r';
    }

    private static void hex(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            int start = arg.starts()[i];
            int length = arg.lengths()[i];
            int to = ctx.reserve(out, 2L * length);
            byte[] target = out.data();
            byte[] data = arg.data();
            for (int k = 0; k < length; k++) {
                int b = data[start + k];
                target[to + 2 * k] = Texts.hexDigit(b >> 4 & 0xf);
                target[to + 2 * k + 1] = Texts.hexDigit(b & 0xf);
            }
            out.setView(i, to, 2 * length);
        }
    }

    private static void unhex(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            int start = arg.starts()[i];
            int length = arg.lengths()[i];
            int bytes = (length + 1) / 2;
            int to = ctx.reserve(out, bytes);
            int odd = length & 1;
            boolean valid = true;
            if (odd == 1) {
                out.data()[to] = 0; // what the first digit is put behind
            }
            for (int k = 0; k < length; k++) {
                int digit = digit(arg.data()[start + k], 16);
                valid &= digit >= 0;
                int at = to + (k + odd) / 2;
                out.data()[at] = (byte) (((k + odd) % 2 == 0 ? 0 : out.data()[at] << 4) | digit & 0xf);
            }
            if (valid) {
                out.setView(i, to, bytes);
            } else {
                ctx.unreserve(out, bytes);
                Texts.putNull(out, i);
            }
        }
    }

    /** Value of an ASCII digit or letter below the base, else -1. */
    private static int digit(byte b, int base) {
        int value = b >= '0' && b <= '9'
                ? b - '0'
                : b >= 'a' && b <= 'z' ? b - 'a' + 10 : b >= 'A' && b <= 'Z' ? b - 'A' + 10 : -1;
        return value < base ? value : -1;
    }

    private static void toBase64(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            int length = arg.lengths()[i];
            if (length == 0 || length > MOST_BASE64_BYTES) {
                out.setEmpty(i);
                continue;
            }
            int characters = (length + 2) / 3 * 4;
            int total = characters + (characters - 1) / BASE64_LINE;
            int to = ctx.reserve(out, total);
            encode64(arg.data(), arg.starts()[i], length, out.data(), to);
            out.setView(i, to, total);
        }
    }

    private static void encode64(byte[] data, int start, int length, byte[] target, int to) {
        int write = to;
        int column = 0;
        for (int k = 0; k < length; k += 3) {
            if (column == BASE64_LINE) {
                target[write++] = '\n';
                column = 0;
            }
            int left = length - k;
            int group = (data[start + k] & 0xff) << 16
                    | (left > 1 ? (data[start + k + 1] & 0xff) << 8 : 0)
                    | (left > 2 ? data[start + k + 2] & 0xff : 0);
            target[write++] = BASE64[group >>> 18];
            target[write++] = BASE64[group >>> 12 & 63];
            target[write++] = left > 1 ? BASE64[group >>> 6 & 63] : (byte) '=';
            target[write++] = left > 2 ? BASE64[group & 63] : (byte) '=';
            column += 4;
        }
    }

    private static void fromBase64(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            byte[] data = arg.data();
            int start = arg.starts()[i];
            int end = start + arg.lengths()[i];
            int characters = 0;
            for (int k = start; k < end; k++) {
                characters += isBase64Space(data[k]) ? 0 : 1;
            }
            if (characters % 4 != 0 || characters == 0) {
                out.setEmpty(i);
                continue;
            }
            int most = characters / 4 * 3;
            int to = ctx.reserve(out, most);
            int length = decode64(data, start, end, characters, out.data(), to);
            if (length < 0) {
                ctx.unreserve(out, most);
                Texts.putNull(out, i);
            } else {
                ctx.unreserve(out, most - length);
                out.setView(i, to, length);
            }
        }
    }

    private static boolean isBase64Space(byte b) {
        return b == ' ' || b >= '\t' && b <= '\r';
    }

    /** @return bytes written, or -1: a wrong character, padding not at the end, or unused bits that are not zero */
    private static int decode64(byte[] data, int start, int end, int characters, byte[] target, int to) {
        int seen = 0;
        int padding = 0;
        int group = 0;
        int write = to;
        for (int k = start; k < end; k++) {
            byte b = data[k];
            if (isBase64Space(b)) {
                continue;
            }
            int value = b >= 0 ? FROM_BASE64[b] : -1;
            if (b == '=' && seen >= characters - 2) {
                padding++;
                value = 0;
            } else if (value < 0 || padding > 0) {
                return -1;
            }
            group = group << 6 | value;
            if (++seen % 4 == 0) {
                if (padding == 1 && (group & 0xff) != 0 || padding == 2 && (group & 0xffff) != 0) {
                    return -1;
                }
                target[write++] = (byte) (group >>> 16);
                if (padding < 2) {
                    target[write++] = (byte) (group >>> 8);
                }
                if (padding < 1) {
                    target[write++] = (byte) group;
                }
                group = 0;
            }
        }
        return write - to;
    }

    /** expressions.md 8.6.1. */
    private static void conv(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        long[] fromBases = ((LongColumn) args[1]).values();
        long[] toBases = ((LongColumn) args[2]).values();
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            long from = Math.abs(fromBases[i]); // MIN stays negative, as in the reference, and is out of range
            long to = Math.abs(toBases[i]);
            if (from < 2 || from > 36 || to < 2 || to > 36) {
                Texts.putNull(out, i);
                continue;
            }
            int start = arg.starts()[i];
            int end = start + arg.lengths()[i];
            int at = Utf8.skipWhiteSpace(arg.data(), start, end);
            boolean negative = at < end && arg.data()[at] == '-';
            if (at < end && (negative || arg.data()[at] == '+')) {
                at++;
            }
            long value = parse(arg.data(), at, end, (int) from);
            if (fromBases[i] < 0) {
                value = limit(value, negative);
            }
            if (negative && toBases[i] > 0 && value > 0) {
                value = -value;
            }
            putInBase(ctx, out, i, value, (int) to, negative && toBases[i] < 0);
        }
    }

    /** A magnitude read in a negative base: at most 2^63, or 2^63-1 for a positive number. */
    private static long limit(long value, boolean negative) {
        if (value >= 0) {
            return value;
        }
        return negative ? Long.MIN_VALUE : Long.MAX_VALUE;
    }

    private static long parse(byte[] data, int start, int end, int base) {
        long value = 0;
        boolean overflow = false;
        int at = start;
        for (; at < end; at++) {
            int digit = digit(data[at], base);
            if (digit < 0) {
                break;
            }
            overflow |= Long.compareUnsigned(value, Long.divideUnsigned(-1L - digit, base)) > 0;
            value = value * base + digit;
        }
        if (overflow) {
            throw EvalException.coded(
                    OUT_OF_RANGE,
                    "BIGINT UNSIGNED value is out of range in 'conv(" + Utf8.lossy(data, start, at - start) + ")'");
        }
        return value;
    }

    private static void putInBase(KernelContext ctx, BytesColumn out, int row, long value, int base, boolean minus) {
        int digits = 0;
        long rest = value;
        do {
            rest = Long.divideUnsigned(rest, base);
            digits++;
        } while (rest != 0);
        int length = digits + (minus ? 1 : 0);
        int to = ctx.reserve(out, length);
        rest = value;
        for (int k = to + length - 1; digits > 0; digits--, k--) {
            int digit = (int) Long.remainderUnsigned(rest, base);
            out.data()[k] = (byte) (digit < 10 ? '0' + digit : 'A' + digit - 10);
            rest = Long.divideUnsigned(rest, base);
        }
        if (minus) {
            out.data()[to] = '-';
        }
        out.setView(row, to, length);
    }
}
