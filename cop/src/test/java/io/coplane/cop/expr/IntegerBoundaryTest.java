package io.coplane.cop.expr;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.coplane.proto.tipb.Expr;
import io.coplane.proto.tipb.ExprType;
import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.testing.ManualClock;
import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.FieldType;
import io.coplane.types.column.Column;
import io.coplane.types.column.LongColumn;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Integer functions at the ends of their range, against arithmetic that has none. */
class IntegerBoundaryTest {
    private static final long[] VALUES = {
        0,
        1,
        -1,
        2,
        -2,
        7,
        Long.MAX_VALUE,
        Long.MAX_VALUE - 1,
        Long.MIN_VALUE,
        Long.MIN_VALUE + 1,
        1L << 32,
        -(1L << 31)
    };
    private static final BigInteger TWO_64 = BigInteger.ONE.shiftLeft(64);

    private static FieldType type(boolean unsigned) {
        return new FieldType(FieldType.LONG_LONG, unsigned ? FieldType.UNSIGNED_FLAG : 0, 20, 0, 0, "", List.of());
    }

    private static BigInteger number(long value, boolean unsigned) {
        BigInteger signed = BigInteger.valueOf(value);
        return unsigned && value < 0 ? signed.add(TWO_64) : signed;
    }

    private static Expression expression(
            ScalarFuncSig sig, boolean leftUnsigned, boolean rightUnsigned, EvalContext eval) {
        Expr.Builder node =
                Expr.newBuilder().setTp(ExprType.ScalarFunc).setSig(sig).setFieldType(VectorValues.wire(type(false)));
        for (long index = 0; index < 2; index++) {
            node.addChildren(Expr.newBuilder()
                    .setTp(ExprType.ColumnRef)
                    .setVal(ByteString.copyFrom(ByteBuffer.allocate(8).putLong(0, index ^ Long.MIN_VALUE))));
        }
        return Expression.compile(node.build(), List.of(type(leftUnsigned), type(rightUnsigned)), eval);
    }

    private static EvalContext eval() {
        return new EvalContext(0, 0, ZoneOffset.UTC, 64, 4, ManualClock.recorded());
    }

    private static LongColumn column(long[] values, int rows) {
        LongColumn column = new LongColumn();
        column.reset(rows);
        System.arraycopy(values, 0, column.values(), 0, rows);
        return column;
    }

    /** What the specification says of one pair; null for NULL, or an error if there is no such number. */
    private static Object expected(ScalarFuncSig sig, long l, long r, boolean leftUnsigned, boolean rightUnsigned) {
        BigInteger left = number(l, leftUnsigned);
        BigInteger right = number(r, rightUnsigned);
        boolean signed = !leftUnsigned && !rightUnsigned;
        boolean unsignedResult = !signed;
        BigInteger result;
        switch (sig) {
            case PlusInt -> result = left.add(right);
            case MinusInt -> result = left.subtract(right);
            case MultiplyInt -> {
                if (unsignedResult && (left.signum() < 0 || right.signum() < 0)) {
                    return "error";
                }
                result = left.multiply(right);
            }
            case IntDivideInt -> {
                if (right.signum() == 0) {
                    return null;
                }
                result = left.divide(right);
            }
            default -> {
                if (right.signum() == 0) {
                    return null;
                }
                result = left.remainder(right);
                return result.longValue();
            }
        }
        if (sig == ScalarFuncSig.MinusInt && !leftUnsigned && rightUnsigned && left.signum() < 0) {
            return "error";
        }
        BigInteger least = unsignedResult ? BigInteger.ZERO : BigInteger.valueOf(Long.MIN_VALUE);
        BigInteger most = unsignedResult ? TWO_64.subtract(BigInteger.ONE) : BigInteger.valueOf(Long.MAX_VALUE);
        boolean fits = result.compareTo(least) >= 0 && result.compareTo(most) <= 0;
        return fits ? (Object) result.longValue() : "error";
    }

    @ParameterizedTest
    @EnumSource(
            value = ScalarFuncSig.class,
            names = {"PlusInt", "MinusInt", "MultiplyInt", "IntDivideInt", "ModInt"})
    void everyPairGivesTheExactNumberOrTheError(ScalarFuncSig sig) {
        for (int signs = 0; signs < 4; signs++) {
            boolean leftUnsigned = (signs & 1) != 0;
            boolean rightUnsigned = (signs & 2) != 0;
            Expression expression = expression(sig, leftUnsigned, rightUnsigned, eval());
            for (long l : VALUES) {
                for (long r : VALUES) {
                    List<Column> columns = List.of(column(new long[] {l}, 1), column(new long[] {r}, 1));
                    Object got;
                    try {
                        Column out = expression.evaluate(eval(), columns::get, 1);
                        got = out.isNull(0) ? null : (Object) ((LongColumn) out).values()[0];
                    } catch (EvalException e) {
                        assertThat(e.mysqlCode()).isEqualTo(1690);
                        got = "error";
                    }

                    assertThat(got)
                            .as("%s %d %d unsigned=%s,%s", sig, l, r, leftUnsigned, rightUnsigned)
                            .isEqualTo(expected(sig, l, r, leftUnsigned, rightUnsigned));
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 31, 32, 33, 64, 65, 1024})
    void nullRowsNeverFailWhateverLiesInThem(int rows) {
        for (ScalarFuncSig sig : List.of(
                ScalarFuncSig.PlusInt,
                ScalarFuncSig.MinusInt,
                ScalarFuncSig.MultiplyInt,
                ScalarFuncSig.IntDivideInt,
                ScalarFuncSig.ModInt)) {
            Expression expression = expression(sig, false, false, eval());
            LongColumn left = new LongColumn();
            LongColumn right = new LongColumn();
            left.reset(rows);
            right.reset(rows);
            List<Integer> nulls = new ArrayList<>();
            for (int i = 0; i < rows; i++) {
                boolean isNull = i % 3 == 0;
                left.values()[i] = isNull ? Long.MIN_VALUE : i;
                right.values()[i] = isNull ? -1 : 1;
                if (isNull) {
                    (i % 2 == 0 ? left : right).setNull(i);
                    nulls.add(i);
                }
            }
            List<Column> columns = List.of(left, right);

            LongColumn out = (LongColumn) expression.evaluate(eval(), columns::get, rows);

            for (int i = 0; i < rows; i++) {
                assertThat(out.isNull(i)).as("%s row=%d", sig, i).isEqualTo(nulls.contains(i));
                if (!out.isNull(i)) {
                    assertThat((Object) out.values()[i]).isEqualTo(expected(sig, i, 1, false, false));
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = ScalarFuncSig.class,
            names = {"LTInt", "LEInt", "GTInt", "GEInt", "EQInt", "NEInt", "NullEQInt"})
    void comparisonsFollowTheNumbersNotThePatterns(ScalarFuncSig sig) {
        for (int signs = 0; signs < 4; signs++) {
            boolean leftUnsigned = (signs & 1) != 0;
            boolean rightUnsigned = (signs & 2) != 0;
            Expression expression = expression(sig, leftUnsigned, rightUnsigned, eval());
            for (long l : VALUES) {
                for (long r : VALUES) {
                    int order = number(l, leftUnsigned).compareTo(number(r, rightUnsigned));
                    boolean wanted = switch (sig) {
                        case LTInt -> order < 0;
                        case LEInt -> order <= 0;
                        case GTInt -> order > 0;
                        case GEInt -> order >= 0;
                        case NEInt -> order != 0;
                        default -> order == 0;
                    };
                    List<Column> columns = List.of(column(new long[] {l}, 1), column(new long[] {r}, 1));

                    LongColumn out = (LongColumn) expression.evaluate(eval(), columns::get, 1);

                    assertThat(out.values()[0]).as("%d %s %d", l, sig, r).isEqualTo(wanted ? 1 : 0);
                }
            }
        }
    }
}
