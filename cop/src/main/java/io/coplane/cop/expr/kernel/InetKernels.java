package io.coplane.cop.expr.kernel;

import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.LongColumn;
import io.coplane.types.text.Utf8;
import java.util.Arrays;

/** Internet addresses (expressions.md 8.11). */
final class InetKernels {
    private static final int V4_BYTES = 4;
    private static final int V6_BYTES = 16;
    private static final int MOST_TEXT_BYTES = 64;
    private static final byte[] HEX = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};

    private InetKernels() {}

    static void declare(SignatureTable table) {
        table.add(ScalarFuncSig.InetAton)
                .takes(EvalType.BYTES)
                .returns(EvalType.INT)
                .runs(InetKernels::aton);
        table.add(ScalarFuncSig.InetNtoa)
                .takes(EvalType.INT)
                .returns(EvalType.BYTES)
                .runs(InetKernels::ntoa);
        table.add(ScalarFuncSig.Inet6Aton)
                .takes(EvalType.BYTES)
                .returns(EvalType.BYTES)
                .runs(InetKernels::aton6);
        table.add(ScalarFuncSig.Inet6Ntoa)
                .takes(EvalType.BYTES)
                .returns(EvalType.BYTES)
                .runs(InetKernels::ntoa6);
        test(table, ScalarFuncSig.IsIPv4, (data, at, length) -> parse4(data, at, at + length, new byte[V4_BYTES], 0));
        test(table, ScalarFuncSig.IsIPv6, (data, at, length) -> parse6(data, at, at + length, new byte[V6_BYTES]));
        test(table, ScalarFuncSig.IsIPv4Compat, (data, at, length) -> length == V6_BYTES && allEqual(data, at, 12, 0));
        test(
                table,
                ScalarFuncSig.IsIPv4Mapped,
                (data, at, length) ->
                        length == V6_BYTES && allEqual(data, at, 10, 0) && allEqual(data, at + 10, 2, -1));
    }

    /** A property of bytes. */
    @FunctionalInterface
    private interface Property {
        boolean test(byte[] data, int at, int length);
    }

    private static void test(SignatureTable table, ScalarFuncSig sig, Property property) {
        table.add(sig).takes(EvalType.BYTES).returns(EvalType.INT).seesNulls().runs((ctx, args, rows, out) -> {
            BytesColumn arg = (BytesColumn) args[0];
            long[] values = ((LongColumn) out).values();
            for (int i = 0; i < rows; i++) {
                boolean is = !arg.isNull(i) && property.test(arg.data(), arg.starts()[i], arg.lengths()[i]);
                values[i] = is ? 1 : 0;
            }
        });
    }

    private static boolean allEqual(byte[] data, int at, int count, int value) {
        for (int i = 0; i < count; i++) {
            if (data[at + i] != (byte) value) {
                return false;
            }
        }
        return true;
    }

    private static void aton(KernelContext ctx, Column[] args, int rows, Column out) {
        BytesColumn arg = (BytesColumn) args[0];
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            if (!out.isNull(i)) {
                long address = aton(arg.data(), arg.starts()[i], arg.lengths()[i]);
                values[i] = address;
                if (address < 0) {
                    out.setNull(i);
                }
            }
        }
    }

    /** The address, or -1. */
    private static long aton(byte[] data, int at, int length) {
        if (length == 0 || data[at + length - 1] == '.') {
            return -1;
        }
        long address = 0;
        int part = 0;
        int dots = 0;
        for (int i = at; i < at + length; i++) {
            byte b = data[i];
            if (b >= '0' && b <= '9') {
                part = part * 10 + b - '0';
                if (part > 255) {
                    return -1;
                }
            } else if (b == '.') {
                if (++dots > 3) {
                    return -1;
                }
                address = (address << 8) + part;
                part = 0;
            } else {
                return -1;
            }
        }
        int skipped = dots == 1 ? 2 : dots == 2 ? 1 : 0;
        return (address << 8 * skipped + 8) + part;
    }

    private static void ntoa(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        long[] values = ((LongColumn) args[0]).values();
        byte[] text = scratch(ctx);
        byte[] address = new byte[V4_BYTES];
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            if (values[i] < 0 || values[i] > 0xffffffffL) {
                Texts.putNull(out, i);
                continue;
            }
            for (int k = 0; k < V4_BYTES; k++) {
                address[k] = (byte) (values[i] >>> 24 - 8 * k);
            }
            out.set(i, text, 0, put4(address, 0, text, 0));
        }
    }

    private static byte[] scratch(KernelContext ctx) {
        if (ctx.scratch() == null) {
            ctx.scratch(new byte[MOST_TEXT_BYTES]);
        }
        return (byte[]) ctx.scratch();
    }

    private static int put4(byte[] address, int at, byte[] text, int to) {
        int write = to;
        for (int k = 0; k < V4_BYTES; k++) {
            int part = address[at + k] & 0xff;
            if (k > 0) {
                text[write++] = '.';
            }
            if (part >= 100) {
                text[write++] = (byte) ('0' + part / 100);
            }
            if (part >= 10) {
                text[write++] = (byte) ('0' + part / 10 % 10);
            }
            text[write++] = (byte) ('0' + part % 10);
        }
        return write;
    }

    private static void aton6(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        byte[] address = scratch(ctx);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            int at = arg.starts()[i];
            int end = at + arg.lengths()[i];
            if (parse6(arg.data(), at, end, address)) {
                out.set(i, address, 0, V6_BYTES);
            } else if (parse4(arg.data(), at, end, address, 0)) {
                out.set(i, address, 0, V4_BYTES);
            } else {
                Texts.putNull(out, i);
            }
        }
    }

    private static void ntoa6(KernelContext ctx, Column[] args, int rows, Column result) {
        BytesColumn out = (BytesColumn) result;
        BytesColumn arg = (BytesColumn) args[0];
        byte[] text = scratch(ctx);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            int at = arg.starts()[i];
            if (arg.lengths()[i] == V4_BYTES) {
                out.set(i, text, 0, put4(arg.data(), at, text, 0));
            } else if (arg.lengths()[i] == V6_BYTES) {
                out.set(i, text, 0, put6(arg.data(), at, text));
            } else {
                Texts.putNull(out, i);
            }
        }
    }

    private static int group(byte[] address, int at, int index) {
        return (address[at + 2 * index] & 0xff) << 8 | address[at + 2 * index + 1] & 0xff;
    }

    /** RFC 5952: the longest run of two or more zero groups, the first of equals, becomes {@code ::}. */
    private static int put6(byte[] address, int at, byte[] text) {
        if (allEqual(address, at, 10, 0) && allEqual(address, at + 10, 2, -1)) {
            int write = 0;
            for (byte b : new byte[] {':', ':', 'f', 'f', 'f', 'f', ':'}) {
                text[write++] = b;
            }
            return put4(address, at + 12, text, write);
        }
        int runStart = -1;
        int runLength = 1;
        for (int g = 0; g < 8; ) {
            int end = g;
            while (end < 8 && group(address, at, end) == 0) {
                end++;
            }
            if (end - g > runLength) {
                runStart = g;
                runLength = end - g;
            }
            g = Math.max(end, g + 1);
        }
        int write = 0;
        for (int g = 0; g < 8; g++) {
            if (g == runStart) {
                text[write++] = ':';
                text[write++] = ':';
                g += runLength - 1;
                continue;
            }
            if (g > 0 && text[write - 1] != ':') {
                text[write++] = ':';
            }
            int value = group(address, at, g);
            boolean started = false;
            for (int shift = 12; shift >= 0; shift -= 4) {
                int digit = value >>> shift & 0xf;
                started |= digit != 0 || shift == 0;
                if (started) {
                    text[write++] = HEX[digit];
                }
            }
        }
        return write;
    }

    /** Four decimal parts without leading zeros. */
    private static boolean parse4(byte[] data, int at, int end, byte[] address, int to) {
        int read = at;
        for (int part = 0; part < V4_BYTES; part++) {
            if (part > 0 && (read >= end || data[read++] != '.')) {
                return false;
            }
            int start = read;
            int value = 0;
            while (read < end && read - start < 3 && data[read] >= '0' && data[read] <= '9') {
                value = value * 10 + data[read++] - '0';
            }
            if (read == start || value > 255 || data[start] == '0' && read - start > 1) {
                return false;
            }
            address[to + part] = (byte) value;
        }
        return read == end;
    }

    /** RFC 4291 text. */
    private static boolean parse6(byte[] data, int at, int end, byte[] address) {
        if (!Utf8.isValid(data, at, end - at)) {
            return false;
        }
        Arrays.fill(address, 0, V6_BYTES, (byte) 0);
        int read = at;
        int written = 0;
        int gap = -1;
        if (end - at >= 2 && data[at] == ':' && data[at + 1] == ':') {
            gap = 0;
            read = at + 2;
        }
        while (read < end) {
            if (written == V6_BYTES) {
                return false;
            }
            if (written <= V6_BYTES - V4_BYTES && parse4(data, read, end, address, written)) {
                written += V4_BYTES;
                read = end;
                break;
            }
            int start = read;
            int value = 0;
            int digit;
            while (read < end && read - start < 4 && (digit = Character.digit(data[read], 16)) >= 0) {
                value = value << 4 | digit;
                read++;
            }
            if (read == start) {
                return false;
            }
            address[written++] = (byte) (value >>> 8);
            address[written++] = (byte) value;
            if (read == end) {
                break;
            }
            if (data[read++] != ':' || read == end) {
                return false;
            }
            if (data[read] == ':') {
                if (gap >= 0) {
                    return false;
                }
                gap = written;
                read++;
            }
        }
        if (gap < 0) {
            return written == V6_BYTES;
        }
        if (written >= V6_BYTES) {
            return false;
        }
        int moved = written - gap;
        System.arraycopy(address, gap, address, V6_BYTES - moved, moved);
        Arrays.fill(address, gap, V6_BYTES - moved, (byte) 0);
        return true;
    }
}
