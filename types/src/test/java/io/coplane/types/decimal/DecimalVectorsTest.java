package io.coplane.types.decimal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.coplane.testing.TestData;
import io.coplane.types.EvalException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The lines of the expression vectors that are about decimals alone, which the reference answered. */
class DecimalVectorsTest {
    static Stream<List<String>> vectors() throws IOException {
        List<List<String>> vectors = Files.readAllLines(TestData.expressionVectors()).stream()
                .filter(line -> line.startsWith("type.decimal\t"))
                .map(line -> List.of(line.split("\t", -1)).subList(1, 5))
                .toList();
        assertThat(vectors).hasSizeGreaterThan(100);
        return vectors.stream();
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void agreesWithTheReference(List<String> vector) {
        String operation = vector.get(0);
        List<String> args = List.of(vector.get(1).split(", ", -1));
        String expected = vector.get(3);

        switch (operation) {
            case "decimal.parse", "parse", "str.convert" -> parses(args, expected);
            case "real.to_decimal" -> {
                var value = new Decimal();
                value.setDouble(Double.parseDouble(args.get(0).substring(2)));
                assertThat(value.plainText()).isEqualTo(expected.substring(2));
            }
            case "to_real" ->
                assertThat(decimal(args.get(0)).toDouble())
                        .isEqualTo(Double.parseDouble(expected.substring(3)), within(1e-12));
            case "decimal.cmp" ->
                assertThat(decimal(args.get(0)).compareTo(decimal(args.get(1))))
                        .isEqualTo(List.of("Less", "Equal", "Greater").indexOf(expected) - 1);
            case "decimal.max" -> {
                var value = new Decimal();
                value.setMax(false, Integer.parseInt(args.get(0)), Integer.parseInt(args.get(1)));
                assertThat("B:\"" + value.plainText() + "\"").isEqualTo(expected);
            }
            case "decimal.text" -> check(DecimalStatus.OK, decimal(args.get(0)).plainText(), expected);
            default -> computes(operation, args, expected);
        }
    }

    private static void parses(List<String> args, String expected) {
        var value = new Decimal();
        byte[] text = args.get(0).startsWith("D:")
                ? args.get(0).substring(2).getBytes(StandardCharsets.UTF_8)
                : args.get(0).startsWith("X:")
                        ? HexFormat.of().parseHex(args.get(0).substring(2))
                        : args.get(0).substring(3, args.get(0).length() - 1).getBytes(StandardCharsets.UTF_8);
        if (expected.startsWith("ERR")) {
            assertThatThrownBy(() -> value.parse(text, 0, text.length).orThrow())
                    .isInstanceOf(EvalException.class);
            return;
        }
        int words = args.size() > 1 ? Integer.parseInt(args.get(1)) : Decimal.WORDS;
        DecimalStatus status = DecimalText.parse(text, 0, text.length, words, value);
        if (expected.startsWith("D:")) {
            assertThat(value.compareTo(decimal(expected))).isZero();
        } else {
            check(status, value.plainText(), expected);
        }
    }

    private static void computes(String operation, List<String> args, String expected) {
        Decimal left = decimal(args.get(0));
        var out = new Decimal();
        out.set(left);
        DecimalStatus status = switch (operation) {
            case "decimal +" -> out.setSum(left, decimal(args.get(1)));
            case "decimal -" -> out.setDifference(left, decimal(args.get(1)));
            case "decimal *" -> out.setProduct(left, decimal(args.get(1)));
            case "decimal/" -> out.setQuotient(left, decimal(args.get(1)), 4);
            case "decimal %", "decimal.mod" -> out.setRemainder(left, decimal(args.get(1)));
            case "decimal.div" -> out.setQuotient(left, decimal(args.get(1)), option(args, 2));
            case "decimal.ceil" -> out.ceil();
            case "decimal.floor" -> out.floor();
            case "decimal.round" ->
                out.round(
                        Integer.parseInt(args.get(1)),
                        switch (args.get(2)) {
                            case "HalfEven" -> RoundMode.HALF_UP;
                            case "Truncate" -> RoundMode.TRUNCATE;
                            default -> RoundMode.CEILING;
                        });
            case "decimal.shift" ->
                DecimalRounding.shift(
                        out,
                        Math.clamp(Long.parseLong(args.get(1)), Integer.MIN_VALUE, Integer.MAX_VALUE),
                        option(args, 2));
            case "decimal.as_i64" -> out.toLong();
            case "decimal.as_u64" -> out.toUlong();
            default -> throw new AssertionError("unknown operation: " + operation);
        };
        if (expected.startsWith("NULL")) {
            assertThat(status).isNull();
        } else if (operation.startsWith("decimal.as_")) {
            check(
                    status,
                    operation.endsWith("i64") ? "" + out.integer() : Long.toUnsignedString(out.integer()),
                    expected);
        } else if (expected.startsWith("D:")) {
            assertThat(out.compareTo(decimal(expected))).isZero();
        } else {
            check(status, out.plainText(), expected);
        }
    }

    private static int option(List<String> args, int index) {
        String text = args.get(index);
        return Integer.parseInt(text.substring(text.indexOf('=') + 1));
    }

    private static void check(DecimalStatus status, String text, String expected) {
        String plain = expected.replace(" /text", "").replace("B:\"", "").replace("\"", "");
        if (plain.indexOf('(') < 0) {
            assertThat(text).isEqualTo(plain);
        } else {
            String name =
                    status == DecimalStatus.OK ? "Ok" : status == DecimalStatus.TRUNCATED ? "Truncated" : "Overflow";
            assertThat(name + "(" + text + ")").isEqualTo(plain);
        }
    }

    private static Decimal decimal(String literal) {
        var value = new Decimal();
        value.parse(literal.substring(2));
        return value;
    }
}
