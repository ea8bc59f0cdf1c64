package io.coplane.types.collation;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.types.vectors.Vector;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class LikeMatcherTest {
    private static final int GB18030_CHINESE_CI = -248;

    static Stream<Vector> vectors() {
        return Vector.of("like", "LikeSig")
                .filter(vector -> vector.args().stream().noneMatch(arg -> arg.startsWith("NULL")))
                .filter(vector -> id(vector.context()) != GB18030_CHINESE_CI);
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void matchesAsTheReference(Vector vector) {
        LikeMatcher matcher = LikeMatcher.of(
                id(vector.context()), id(vector.args().get(0)), id(vector.args().get(1)));
        byte[] text = Vector.bytes(literal(vector.args().get(0)));
        byte[] pattern = Vector.bytes(literal(vector.args().get(1)));
        int escape = (int) Long.parseLong(vector.args().get(2).replaceAll("\\{.*|^I:", ""));

        assertThat(matcher.matches(text, 0, text.length, pattern, 0, pattern.length, escape))
                .isEqualTo(vector.expect().equals("I:1"));
    }

    @Test
    void agreesWithTheObviousRecursion() {
        SplittableRandom random = new SplittableRandom(11);
        LikeMatcher matcher = LikeMatcher.of(-46, -46, -46);
        for (int round = 0; round < 50_000; round++) {
            String text = word(random, "ab中", 8);
            String pattern = word(random, "ab中_%%\\", 6);
            byte[] t = text.getBytes(StandardCharsets.UTF_8);
            byte[] p = pattern.getBytes(StandardCharsets.UTF_8);

            assertThat(matcher.matches(t, 0, t.length, p, 0, p.length, '\\'))
                    .as("%s LIKE %s", text, pattern)
                    .isEqualTo(slow(text, pattern));
        }
    }

    private static boolean slow(String text, String pattern) {
        if (pattern.isEmpty()) {
            return text.isEmpty();
        }
        char c = pattern.charAt(0);
        boolean escaped = c == '\\' && pattern.length() > 1;
        String rest = pattern.substring(escaped ? 2 : 1);
        if (!escaped && c == '%') {
            return slow(text, rest) || !text.isEmpty() && slow(text.substring(1), pattern);
        }
        char wanted = escaped ? pattern.charAt(1) : c;
        boolean any = !escaped && c == '_';
        return !text.isEmpty() && (any || text.charAt(0) == wanted) && slow(text.substring(1), rest);
    }

    private static String word(SplittableRandom random, String alphabet, int longest) {
        StringBuilder word = new StringBuilder();
        for (int i = random.nextInt(longest + 1); i > 0; i--) {
            word.append(alphabet.charAt(random.nextInt(alphabet.length())));
        }
        return word.toString();
    }

    private static String literal(String arg) {
        return arg.startsWith("X:") ? arg.replaceAll("\\{.*", "") : arg;
    }

    private static int id(String attributes) {
        String set = attributes.substring(attributes.lastIndexOf('{') + 1, attributes.lastIndexOf('}'));
        int id = 0;
        for (String attribute : set.split(",", -1)) {
            if (attribute.startsWith("collate=")) {
                return Integer.parseInt(attribute.substring(8));
            }
            if (attribute.startsWith("collation=")) {
                id = idOf(attribute.substring(10));
            }
        }
        return id;
    }

    private static int idOf(String name) {
        return switch (name) {
            case "Binary" -> 63;
            case "Utf8Mb4Bin" -> -46;
            case "Utf8Mb4BinNoPadding" -> 46;
            case "Utf8Mb4GeneralCi" -> -45;
            case "Utf8Mb4UnicodeCi" -> -224;
            case "Utf8Mb40900AiCi" -> -255;
            case "Utf8Mb40900Bin" -> -309;
            case "Latin1Bin" -> -47;
            case "GbkBin" -> -87;
            case "GbkChineseCi" -> -28;
            case "Gb18030Bin" -> -249;
            case "Gb18030ChineseCi" -> GB18030_CHINESE_CI;
            default -> throw new IllegalArgumentException(name);
        };
    }
}
