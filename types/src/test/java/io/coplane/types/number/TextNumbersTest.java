package io.coplane.types.number;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.FieldType;
import io.coplane.types.vectors.Contexts;
import io.coplane.types.vectors.Vector;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class TextNumbersTest {
    static Stream<Vector> integers() {
        return Vector.of(
                "type.convert",
                "int.to_int",
                "int.to_uint",
                "real.to_int",
                "real.to_uint",
                "str.to_int",
                "str.to_uint");
    }

    static Stream<Vector> prefixes() {
        return Vector.of("type.convert", "get_valid_float_prefix", "get_valid_int_prefix");
    }

    static Stream<Vector> roundings() {
        return Vector.of("type.convert", "round_int_str");
    }

    static Stream<Vector> cuts() {
        return Vector.of("type.convert", "truncate_f64");
    }

    @ParameterizedTest
    @MethodSource("integers")
    void convertsAsTheReference(Vector vector) {
        EvalContext context = Contexts.of(vector);
        String literal = vector.args().get(0);
        int tp = type(vector.args().get(1));

        LongSupplier conversion = () -> convert(vector.operation(), literal, tp, context);

        if (vector.expect().startsWith("ERR")) {
            assertThatThrownBy(conversion::getAsLong).isInstanceOf(EvalException.class);
        } else {
            long wanted = new BigInteger(vector.expect().replaceFirst("^[IU]:", "")).longValue();
            assertThat(conversion.getAsLong()).isEqualTo(wanted);
        }
    }

    @ParameterizedTest
    @MethodSource("prefixes")
    void findsThePrefixOfTheReference(Vector vector) {
        EvalContext context = Contexts.of(vector);
        byte[] text = Vector.bytes(vector.args().get(0));

        int length = NumberPrefix.real(text, 0, text.length, context);
        byte[] prefix = length == 0 ? NumberPrefix.ZERO : Arrays.copyOf(text, length);
        byte[] own = vector.operation().equals("get_valid_int_prefix")
                ? NumberPrefix.integerTextOrNull(prefix, 0, prefix.length, context)
                : null;

        assertThat(new String(own == null ? prefix : own, StandardCharsets.UTF_8))
                .isEqualTo(Vector.text(vector.expect()));
    }

    @ParameterizedTest
    @MethodSource("roundings")
    void roundsDigitsUp(Vector vector) {
        byte[] text = Vector.bytes(vector.args().get(1));
        boolean sign = text[0] == '+' || text[0] == '-';
        byte[] rounded = vector.args().get(0).charAt(1) >= '5' ? NumberPrefix.increment(text, sign ? 1 : 0) : text;

        assertThat(rounded).isEqualTo(Vector.bytes(vector.expect()));
    }

    @ParameterizedTest
    @MethodSource("cuts")
    void cutsRealsToTheirType(Vector vector) {
        double value = Double.parseDouble(vector.args().get(0).substring(2));
        int flen = Integer.parseInt(vector.args().get(1).substring(2));
        int decimal = Integer.parseInt(vector.args().get(2).substring(2));

        String wanted = vector.expect().replaceAll("^.*R:|\\)$", "");
        assertThat(Reals.truncate(value, flen, decimal)).isEqualTo(Double.parseDouble(wanted));
    }

    @ParameterizedTest
    @CsvSource({
        "1.0,1",
        "-0.0,-0",
        "1e21,1000000000000000000000",
        "1e-7,0.0000001",
        "0.1,0.1",
        "123.456,123.456",
        "0,0",
        "1.5e300,15" + ZEROS_299,
        "100,100",
        "1234567890123456789,1234567890123456800",
        "-2.5,-2.5",
        "1e15,1000000000000000",
        "9007199254740993,9007199254740992",
        "0.3,0.3",
        "1e22,10000000000000000000000",
        "1.7976931348623157e8,179769313.48623157"
    })
    void writesPlainText(String value, String wanted) {
        assertThat(RealText.of(Double.parseDouble(value))).isEqualTo(wanted);
    }

    private static final String ZEROS_299 =
            "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
                    + "0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
                    + "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000";

    @Test
    void plainTextIsTheShortestThatReadsBack() {
        SplittableRandom random = new SplittableRandom(5);
        byte[] text = new byte[RealText.MAX_BYTES];
        for (int i = 0; i < (Boolean.getBoolean("coplane.long") ? 1_000_000 : 50_000); i++) {
            double value = i % 2 == 0
                    ? Double.longBitsToDouble(random.nextLong())
                    : random.nextInt(-1_000_000, 1_000_000) / Math.pow(10, random.nextInt(8));
            if (!(Math.abs(value) >= Double.MIN_NORMAL && Math.abs(value) < Double.POSITIVE_INFINITY)) {
                continue;
            }
            int length = RealText.write(value, text, 0);
            String plain = new String(text, 0, length, StandardCharsets.ISO_8859_1);
            assertThat(Double.parseDouble(plain)).isEqualTo(value);
            assertThat(TextNumbers.parseReal(text, 0, length)).isEqualTo(value);
            isAsShortAndAsNear(plain, Double.toString(value), new BigDecimal(value));
            float narrow = (float) value;
            if (!Float.isInfinite(narrow)) {
                length = RealText.writeFloat(narrow, text, 0);
                plain = new String(text, 0, length, StandardCharsets.ISO_8859_1);
                assertThat(Float.parseFloat(plain)).isEqualTo(narrow);
                if (Math.abs(narrow) >= Float.MIN_NORMAL) { // below, Java may give two digits where one does
                    isAsShortAndAsNear(plain, Float.toString(narrow), new BigDecimal(narrow));
                }
            }
        }
    }

    /** Java takes the even digit where two shortest texts are equally near. */
    private static void isAsShortAndAsNear(String plain, String shortest, BigDecimal value) {
        BigDecimal ours = new BigDecimal(plain).stripTrailingZeros();
        BigDecimal java = new BigDecimal(shortest).stripTrailingZeros();
        assertThat(ours.precision()).isEqualTo(java.precision());
        assertThat(ours.subtract(value).abs())
                .isEqualByComparingTo(java.subtract(value).abs());
    }

    /** Texts of recorded answers. */
    @ParameterizedTest
    @CsvSource({
        "769.45855712890625, 769.4585571289063",
        "-685.04351806640625, -685.0435180664063",
        "2407.229736328125, 2407.229736328125",
        "-9200000267938955264, -9200000267938955000",
        "100000002004087734272, 100000002004087730000"
    })
    void takesTheLargerOfTwoTextsThatAreEquallyNear(double value, String wanted) {
        assertThat(RealText.of(value)).isEqualTo(wanted);
        assertThat(RealText.of(Double.MIN_VALUE)).hasSize(326).endsWith("05");
    }

    @Test
    void castsSignedAndUnsigned() {
        EvalContext context = Contexts.flags(EvalContext.TRUNCATE_AS_WARNING | EvalContext.OVERFLOW_AS_WARNING);

        assertThat(cast(" 18446744073709551615 ", false, context)).isEqualTo(-1);
        assertThat(cast("-1", true, context)).isEqualTo(-1);
        assertThat(cast("12x", false, context)).isEqualTo(12);
        assertThat(cast("-9223372036854775809", false, context)).isEqualTo(Long.MIN_VALUE);
        assertThat(cast("1e5", false, context)).isEqualTo(1);
        assertThat(context.warnings().stream().map(EvalException::warningCode))
                .isEqualTo(List.of(1105, 1105, 1292, 1292, 1292));
    }

    @Test
    void readsBinaryLiterals() {
        EvalContext context = Contexts.flags(EvalContext.TRUNCATE_AS_WARNING);

        assertThat(TextNumbers.binaryLiteral(new byte[] {0, 0, 1, 2}, 0, 4, context))
                .isEqualTo(258);
        assertThat(TextNumbers.binaryLiteral(new byte[] {1, 2, 3, 4, 5, 6, 7, 8, (byte) 0xab}, 0, 9, context))
                .isEqualTo(-1);
        assertThat(context.warnings().get(0).getMessage())
                .isEqualTo("Truncated incorrect BINARY value: '0x0102030405060708ab'");
    }

    @Test
    void cutsStringsByCharacters() {
        EvalContext context = Contexts.flags(EvalContext.TRUNCATE_AS_WARNING);
        FieldType type = new FieldType(FieldType.VAR_CHAR, 0, 2, -1, -46, "utf8mb4", List.of());
        byte[] text = "中文字".getBytes(StandardCharsets.UTF_8);

        assertThat(StringFit.keptBytes(text, 0, 9, type, context)).isEqualTo(6);
        assertThat(StringFit.keptBytes(text, 0, 6, type, context)).isEqualTo(6);
        assertThat(context.warnings().get(0).getMessage()).isEqualTo("Data Too Long, field len 2, data len 3");
        FieldType binary = new FieldType(FieldType.STRING, 0, 5, -1, 63, "binary", List.of());
        assertThat(StringFit.zeroPadding(3, binary)).isEqualTo(2);
    }

    private static long cast(String text, boolean unsigned, EvalContext context) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return TextNumbers.castToInt(bytes, 0, bytes.length, unsigned, false, context);
    }

    private static long convert(String operation, String literal, int tp, EvalContext context) {
        if (operation.startsWith("str")) {
            byte[] text = Vector.bytes(literal);
            return operation.equals("str.to_int")
                    ? TextNumbers.toInt(text, 0, text.length, tp, context)
                    : TextNumbers.toUnsigned(text, 0, text.length, tp, context);
        }
        if (operation.startsWith("real")) {
            double value = Double.parseDouble(literal.substring(2));
            return operation.equals("real.to_int")
                    ? IntBounds.fromReal(value, tp, context)
                    : IntBounds.fromRealUnsigned(value, tp, context);
        }
        BigInteger value = new BigInteger(literal);
        boolean unsigned = value.bitLength() > 63;
        if (operation.equals("int.to_int")) {
            return unsigned
                    ? IntBounds.unsignedToSigned(value.longValue(), tp, context)
                    : IntBounds.signed(value.longValue(), tp, context);
        }
        return unsigned
                ? IntBounds.unsigned(value.longValue(), tp, context)
                : IntBounds.signedToUnsigned(value.longValue(), tp, context);
    }

    private static int type(String name) {
        return switch (name) {
            case "Tiny" -> FieldType.TINY;
            case "Short" -> FieldType.SHORT;
            case "Int24" -> FieldType.INT24;
            case "Long" -> FieldType.LONG;
            case "LongLong" -> FieldType.LONG_LONG;
            default -> throw new IllegalArgumentException(name);
        };
    }
}
