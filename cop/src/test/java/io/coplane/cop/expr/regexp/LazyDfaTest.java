package io.coplane.cop.expr.regexp;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.types.EvalException;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class LazyDfaTest {
    private static final String[] ATOMS = {
        "a", "b", "ab", ".", "[ab]", "[^a]", "é", "\\d", "\\w", "^", "$", "\\n", "x", "[à-ü]", "\\b", "(?:)", "\\z",
        "\\A"
    };
    private static final String[] PARTS = {"a", "b", "x", "1", "é", "ü", "\n", "ab", "aa", "€", " ", "\r"};

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void agreesWithSimulation(long seed) {
        var random = new SplittableRandom(seed);
        int compared = 0;
        for (int i = 0; i < 2_000; i++) {
            String pattern =
                    (random.nextInt(4) == 0 ? "(?m)" : random.nextInt(4) == 0 ? "(?i)" : "") + pattern(random, 3);
            Regex regex;
            try {
                regex = Regex.compile(pattern);
            } catch (EvalException e) {
                continue; // not a pattern
            }
            for (int j = 0; j < 30; j++) {
                String text = text(random);
                byte[] bytes = ("é\n" + text + "ab").getBytes(StandardCharsets.UTF_8);
                int from = random.nextBoolean() ? 0 : 3;
                int to = bytes.length - random.nextInt(3);
                regex.reset(bytes, from, to);
                boolean expected = regex.simulate(from, true);
                assertThat(regex.matches())
                        .as("%s on %s from %d to %d", pattern, text, from, to)
                        .isEqualTo(expected);
                if (to > 3) {
                    assertThat(regex.find(3))
                            .as("%s on %s behind %d", pattern, text, from)
                            .isEqualTo(regex.simulate(3, false));
                }
                compared++;
            }
        }
        assertThat(compared).isGreaterThan(10_000);
    }

    @ParameterizedTest
    @CsvSource({
        "'a|b', 'xxb', true",
        "'^b', 'ab', false",
        "'(?m)^b', 'a\nb', true",
        "'a$', 'ba', true",
        "'a$', 'ab', false",
        "'(?m)a$', 'a\nb', true",
        "'$', 'abc', true",
        "'(?m)a$\n^b', 'a\nb', true",
        "'[^é]', 'éé', false",
    })
    void findsWhatIsThere(String pattern, String text, boolean there) {
        LazyDfa tables =
                LazyDfa.of(Program.compile(new RegexParser(pattern.codePoints().toArray()).parse()));
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        assertThat(tables.search(bytes, 0, 0, bytes.length))
                .isEqualTo(there ? LazyDfa.Outcome.MATCH : LazyDfa.Outcome.NO_MATCH);
    }

    @Test
    void staysRightWhenStatesDoNotFit() {
        String pattern = "[ab]*a[ab]{14}x"; // 2^14 states
        Regex regex = Regex.compile(pattern);
        var random = new SplittableRandom(7);
        for (int i = 0; i < 40; i++) {
            StringBuilder text = new StringBuilder();
            for (int j = 0; j < 500; j++) {
                text.append(random.nextBoolean() ? 'a' : 'b');
            }
            text.append(i % 2 == 0 ? "x" : "");
            byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
            regex.reset(bytes, 0, bytes.length);
            assertThat(regex.matches()).isEqualTo(regex.simulate(0, true));
        }
    }

    @Test
    void leavesConditionsOnWordsToOthers() {
        assertThat(LazyDfa.of(
                        Program.compile(new RegexParser("\\ba".codePoints().toArray()).parse())))
                .isNull();
    }

    private static String pattern(SplittableRandom random, int depth) {
        StringBuilder pattern = new StringBuilder();
        int parts = 1 + random.nextInt(3);
        for (int i = 0; i < parts; i++) {
            String atom = depth > 0 && random.nextInt(3) == 0
                    ? "(" + pattern(random, depth - 1) + "|" + pattern(random, depth - 1) + ")"
                    : ATOMS[random.nextInt(ATOMS.length)];
            pattern.append(atom);
            switch (random.nextInt(8)) {
                case 0 -> pattern.append('*');
                case 1 -> pattern.append('+');
                case 2 -> pattern.append('?');
                case 3 -> pattern.append("{1,3}");
                default -> {}
            }
        }
        return pattern.toString();
    }

    private static String text(SplittableRandom random) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(10); i > 0; i--) {
            text.append(PARTS[random.nextInt(PARTS.length)]);
        }
        return text.toString();
    }
}
