package io.coplane.cop.expr;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.coplane.proto.tipb.Expr;
import io.coplane.proto.tipb.ExprType;
import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.testing.ManualClock;
import io.coplane.types.EvalContext;
import io.coplane.types.FieldType;
import io.coplane.types.column.LongColumn;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Comparison, logic, bits and control of integers against numbers without bounds, row by row; null is NULL. */
class IntegerTwinTest {
    private static final int[] BATCHES = {1, 2, 31, 32, 33, 1024};
    private static final BigInteger WORD = BigInteger.ONE.shiftLeft(64);
    private static final long[] ODD = {
        0, 1, -1, 2, 63, 64, 65, Long.MAX_VALUE, Long.MIN_VALUE, 1L << 32, -(1L << 31), 0x5555_5555_5555_5555L
    };

    private static final Map<ScalarFuncSig, Function<BigInteger[], BigInteger>> TWINS = twins();
    private static final Map<ScalarFuncSig, Integer> ARGUMENTS = new EnumMap<>(Map.of(
            ScalarFuncSig.BitNegSig,
            1,
            ScalarFuncSig.UnaryNotInt,
            1,
            ScalarFuncSig.IntIsNull,
            1,
            ScalarFuncSig.IfInt,
            3,
            ScalarFuncSig.CoalesceInt,
            3,
            ScalarFuncSig.CaseWhenInt,
            3,
            ScalarFuncSig.BitCount,
            1));

    private static Map<ScalarFuncSig, Function<BigInteger[], BigInteger>> twins() {
        Map<ScalarFuncSig, Function<BigInteger[], BigInteger>> twins = new EnumMap<>(ScalarFuncSig.class);
        twins.put(ScalarFuncSig.LTInt, strict(v -> bool(v[0].compareTo(v[1]) < 0)));
        twins.put(ScalarFuncSig.LEInt, strict(v -> bool(v[0].compareTo(v[1]) <= 0)));
        twins.put(ScalarFuncSig.GTInt, strict(v -> bool(v[0].compareTo(v[1]) > 0)));
        twins.put(ScalarFuncSig.GEInt, strict(v -> bool(v[0].compareTo(v[1]) >= 0)));
        twins.put(ScalarFuncSig.EQInt, strict(v -> bool(v[0].equals(v[1]))));
        twins.put(ScalarFuncSig.NEInt, strict(v -> bool(!v[0].equals(v[1]))));
        twins.put(
                ScalarFuncSig.NullEQInt,
                v -> bool(v[0] == null || v[1] == null ? v[0] == null && v[1] == null : v[0].equals(v[1])));
        twins.put(ScalarFuncSig.BitAndSig, strict(v -> v[0].and(v[1])));
        twins.put(ScalarFuncSig.BitOrSig, strict(v -> v[0].or(v[1])));
        twins.put(ScalarFuncSig.BitXorSig, strict(v -> v[0].xor(v[1])));
        twins.put(ScalarFuncSig.BitNegSig, strict(v -> v[0].not()));
        twins.put(ScalarFuncSig.LeftShift, strict(v -> shift(v, true)));
        twins.put(ScalarFuncSig.RightShift, strict(v -> shift(v, false)));
        twins.put(
                ScalarFuncSig.BitCount,
                strict(v -> BigInteger.valueOf(v[0].mod(WORD).bitCount())));
        twins.put(ScalarFuncSig.UnaryNotInt, strict(v -> bool(v[0].signum() == 0)));
        twins.put(ScalarFuncSig.IntIsNull, v -> bool(v[0] == null));
        twins.put(
                ScalarFuncSig.LogicalAnd,
                v -> isZero(v[0]) || isZero(v[1])
                        ? BigInteger.ZERO
                        : v[0] == null || v[1] == null ? null : BigInteger.ONE);
        twins.put(
                ScalarFuncSig.LogicalOr,
                v -> isTrue(v[0]) || isTrue(v[1])
                        ? BigInteger.ONE
                        : v[0] == null || v[1] == null ? null : BigInteger.ZERO);
        twins.put(ScalarFuncSig.LogicalXor, strict(v -> bool(isTrue(v[0]) != isTrue(v[1]))));
        twins.put(ScalarFuncSig.IfNullInt, v -> v[0] != null ? v[0] : v[1]);
        twins.put(ScalarFuncSig.IfInt, v -> isTrue(v[0]) ? v[1] : v[2]);
        twins.put(ScalarFuncSig.CoalesceInt, v -> v[0] != null ? v[0] : v[1] != null ? v[1] : v[2]);
        twins.put(ScalarFuncSig.CaseWhenInt, v -> isTrue(v[0]) ? v[1] : v[2]);
        return twins;
    }

    private static Function<BigInteger[], BigInteger> strict(Function<BigInteger[], BigInteger> twin) {
        return values -> {
            for (BigInteger value : values) {
                if (value == null) {
                    return null;
                }
            }
            return twin.apply(values);
        };
    }

    private static BigInteger bool(boolean value) {
        return value ? BigInteger.ONE : BigInteger.ZERO;
    }

    private static boolean isZero(BigInteger value) {
        return value != null && value.signum() == 0;
    }

    private static boolean isTrue(BigInteger value) {
        return value != null && value.signum() != 0;
    }

    /** Both sides are words without sign (expressions.md 8.5). */
    private static BigInteger shift(BigInteger[] values, boolean left) {
        BigInteger by = values[1].mod(WORD);
        if (by.compareTo(BigInteger.valueOf(63)) > 0) {
            return BigInteger.ZERO;
        }
        BigInteger word = values[0].mod(WORD);
        return left ? word.shiftLeft(by.intValue()) : word.shiftRight(by.intValue());
    }

    static Stream<Arguments> signaturesAndSigns() {
        return TWINS.keySet().stream().flatMap(sig -> Stream.of(Arguments.of(sig, false), Arguments.of(sig, true)));
    }

    @ParameterizedTest(name = "{0}, unsigned {1}")
    @MethodSource("signaturesAndSigns")
    void agreesWithItsTwin(ScalarFuncSig sig, boolean isUnsigned) {
        int count = ARGUMENTS.getOrDefault(sig, 2);
        FieldType type =
                new FieldType(FieldType.LONG_LONG, isUnsigned ? FieldType.UNSIGNED_FLAG : 0, 20, 0, 0, "", List.of());
        Expr.Builder node =
                Expr.newBuilder().setTp(ExprType.ScalarFunc).setSig(sig).setFieldType(VectorValues.wire(type));
        List<FieldType> schema = new ArrayList<>();
        for (long index = 0; index < count; index++) {
            schema.add(type);
            node.addChildren(Expr.newBuilder()
                    .setTp(ExprType.ColumnRef)
                    .setFieldType(VectorValues.wire(type))
                    .setVal(ByteString.copyFrom(ByteBuffer.allocate(Long.BYTES).putLong(0, index ^ Long.MIN_VALUE))));
        }
        EvalContext eval = new EvalContext(0, 0, ZoneOffset.UTC, 64, 4, ManualClock.recorded());
        Expression expression = Expression.compile(node.build(), schema, eval);
        SplittableRandom random = new SplittableRandom(7);
        for (int rows : BATCHES) {
            LongColumn[] columns = new LongColumn[count];
            BigInteger[][] values = new BigInteger[rows][count];
            for (int i = 0; i < count; i++) {
                columns[i] = new LongColumn();
                columns[i].reset(rows);
                for (int row = 0; row < rows; row++) {
                    long value = random.nextBoolean() ? ODD[random.nextInt(ODD.length)] : random.nextLong();
                    if (random.nextInt(5) == 0) {
                        columns[i].setNull(row);
                    } else {
                        columns[i].values()[row] = value;
                        BigInteger signed = BigInteger.valueOf(value);
                        values[row][i] = isUnsigned && value < 0 ? signed.add(WORD) : signed;
                    }
                }
            }
            LongColumn out = (LongColumn) expression.evaluate(eval, index -> columns[index], rows);
            for (int row = 0; row < rows; row++) {
                BigInteger expected = TWINS.get(sig).apply(values[row]);
                Long got = out.isNull(row) ? null : (Long) out.values()[row];
                assertThat(got)
                        .as("%s%s row %d of %d", sig, List.of(values[row].length), row, rows)
                        .isEqualTo(expected == null ? null : (Long) expected.longValue());
            }
        }
    }
}
