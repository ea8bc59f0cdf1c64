package io.coplane.cop.expr.kernel;

import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.DecimalColumn;
import io.coplane.types.column.LongColumn;
import io.coplane.types.decimal.Decimal;
import io.coplane.types.decimal.DecimalColumns;
import io.coplane.types.decimal.RoundMode;
import java.security.SecureRandom;

/** UUIDs (expressions.md 8.11). */
final class UuidKernels {
    /** 100 ns intervals from 1582-10-15 to 1970-01-01. */
    static final long GREGORIAN_OFFSET = 0x01B21DD213814000L;

    private static final int TEXT_BYTES = 36;
    private static final long NO_TIME = Long.MIN_VALUE;
    private static final byte[] HEX = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};

    /** State of one node: ids must differ within a request. */
    private static final class Generator {
        private final byte[] node = new byte[6];
        private final byte[] text = new byte[TEXT_BYTES];
        private final int sequence;
        private long last;

        Generator() {
            SecureRandom random = new SecureRandom();
            random.nextBytes(node);
            node[0] |= 1; // multicast: no hardware address
            sequence = random.nextInt(1 << 14);
        }
    }

    private UuidKernels() {}

    static void declare(SignatureTable table) {
        table.add(ScalarFuncSig.UUID).takes().returns(EvalType.BYTES).runs(UuidKernels::uuid);
        table.add(ScalarFuncSig.UUIDVersion)
                .takes(EvalType.BYTES)
                .returns(EvalType.INT)
                .runs(UuidKernels::version);
        table.add(ScalarFuncSig.UUIDTimestamp)
                .takes(EvalType.BYTES)
                .returns(EvalType.DECIMAL)
                .runs(UuidKernels::timestamp);
    }

    private static void timestamp(KernelContext ctx, Column[] args, int rows, Column out) {
        BytesColumn arg = (BytesColumn) args[0];
        long[] halves = new long[2];
        Decimal value = ctx.decimal(0);
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            boolean parsed = parse(arg.data(), arg.starts()[i], arg.lengths()[i], halves);
            long micros = parsed ? unixMicros(halves) : NO_TIME;
            if (micros == NO_TIME) {
                out.setNull(i);
                continue;
            }
            value.setLong(micros);
            value.shift(-6).orThrow();
            value.round(6, RoundMode.TRUNCATE).orThrow();
            DecimalColumns.store(value, (DecimalColumn) out, i);
        }
    }

    private static long unixMicros(long[] halves) {
        long high = halves[0];
        long low = high >>> 32;
        long mid = high >>> 16 & 0xffff;
        long top = high & 0xfff;
        return switch ((int) (high >>> 12) & 0xf) {
            case 1 -> Math.floorDiv((top << 48 | mid << 32 | low) - GREGORIAN_OFFSET, 10L);
            case 6 -> Math.floorDiv((high >>> 16 << 12 | top) - GREGORIAN_OFFSET, 10L);
            case 7 -> (high >>> 16) * 1_000;
            default -> NO_TIME;
        };
    }

    private static void uuid(KernelContext ctx, Column[] args, int rows, Column out) {
        if (ctx.scratch() == null) {
            ctx.scratch(new Generator());
        }
        Generator generator = (Generator) ctx.scratch();
        for (int i = 0; i < rows; i++) {
            long time = ctx.eval().clock().wallMicros() * 10 + GREGORIAN_OFFSET;
            generator.last = Math.max(time, generator.last + 1);
            write(generator);
            ((BytesColumn) out).set(i, generator.text, 0, TEXT_BYTES);
        }
    }

    private static void write(Generator generator) {
        long time = generator.last;
        long high = time << 32 | (time >>> 32 & 0xffff) << 16 | 0x1000 | time >>> 48 & 0xfff;
        long low = 0x8000L | generator.sequence;
        for (byte b : generator.node) {
            low = low << 8 | b & 0xff;
        }
        int at = 0;
        for (int digit = 0; digit < 32; digit++) {
            if (digit == 8 || digit == 12 || digit == 16 || digit == 20) {
                generator.text[at++] = '-';
            }
            long half = digit < 16 ? high : low;
            generator.text[at++] = HEX[(int) (half >>> 60 - 4 * (digit % 16)) & 0xf];
        }
    }

    private static void version(KernelContext ctx, Column[] args, int rows, Column out) {
        BytesColumn arg = (BytesColumn) args[0];
        long[] values = ((LongColumn) out).values();
        long[] halves = new long[2];
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            if (parse(arg.data(), arg.starts()[i], arg.lengths()[i], halves)) {
                values[i] = halves[0] >>> 12 & 0xf;
            } else {
                out.setNull(i);
            }
        }
    }

    /** Hyphenated, 32 digits, in braces or with {@code urn:uuid:} in front. */
    static boolean parse(byte[] data, int start, int length, long[] halves) {
        int at = start;
        int end = start + length;
        if (length == 38 && data[at] == '{' && data[end - 1] == '}') {
            at++;
            end--;
        } else if (length == 45) {
            byte[] urn = {'u', 'r', 'n', ':', 'u', 'u', 'i', 'd', ':'};
            if (!Texts.matches(data, at, urn, 0, urn.length)) {
                return false;
            }
            at += urn.length;
        }
        boolean hyphens = end - at == TEXT_BYTES;
        if (!hyphens && !(end - at == 32 && length == 32)) {
            return false;
        }
        int digits = 0;
        halves[0] = 0;
        halves[1] = 0;
        for (int i = 0; at + i < end; i++) {
            if (hyphens && (i == 8 || i == 13 || i == 18 || i == 23)) {
                if (data[at + i] != '-') {
                    return false;
                }
                continue;
            }
            byte b = data[at + i];
            int digit = b < 0 ? -1 : Character.digit(b, 16);
            if (digit < 0) {
                return false;
            }
            halves[digits / 16] = halves[digits / 16] << 4 | digit;
            digits++;
        }
        return true;
    }
}
