package io.coplane.types.collation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.ByteSink;
import io.coplane.types.vectors.Vector;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class CollatorTest {
    static Stream<Vector> compares() {
        return known(Vector.of("type.collation", "collate.compare"));
    }

    static Stream<Vector> sortKeys() {
        return known(Vector.of("type.collation", "collate.sort_key"));
    }

    @ParameterizedTest
    @MethodSource("compares")
    void comparesAsTheReference(Vector vector) {
        Collator collator = collation(vector).collator();
        byte[] a = Vector.bytes(vector.args().get(0));
        byte[] b = Vector.bytes(vector.args().get(1));

        int order = collator.compare(a, 0, a.length, b, 0, b.length);

        int wanted = switch (vector.expect()) {
            case "Less" -> -1;
            case "Equal" -> 0;
            default -> 1;
        };
        assertThat(order).isEqualTo(wanted);
        assertThat(collator.compare(b, 0, b.length, a, 0, a.length)).isEqualTo(-wanted);
    }

    @ParameterizedTest
    @MethodSource("sortKeys")
    void writesSortKeysAsTheReference(Vector vector) {
        byte[] text = Vector.bytes(vector.args().get(0));

        assertThat(sortKey(collation(vector).collator(), text)).isEqualTo(Vector.bytes(vector.expect()));
    }

    @ParameterizedTest
    @EnumSource(value = Collation.class, mode = EnumSource.Mode.EXCLUDE, names = "GB18030_CHINESE_CI")
    void orderHashAndSortKeyAgree(Collation collation) {
        Collator collator = collation.collator();
        SplittableRandom random = new SplittableRandom(7);
        for (int round = 0; round < 5_000; round++) {
            byte[] a = text(random);
            byte[] b = random.nextInt(3) == 0
                    ? (new String(a, StandardCharsets.UTF_8) + " ").getBytes(StandardCharsets.UTF_8)
                    : text(random);

            int order = collator.compare(a, 0, a.length, b, 0, b.length);

            int keys = Integer.signum(Arrays.compareUnsigned(sortKey(collator, a), sortKey(collator, b)));
            if (collation == Collation.GB18030_BIN) { // codes of two and four bytes: keys sort otherwise
                order = order == 0 ? 0 : 1;
                keys = keys == 0 ? 0 : 1;
            }
            assertThat(order)
                    .as(
                            "%s %s %s",
                            collation, new String(a, StandardCharsets.UTF_8), new String(b, StandardCharsets.UTF_8))
                    .isEqualTo(keys);
            if (order == 0) {
                assertThat(collator.hash(a, 0, a.length)).isEqualTo(collator.hash(b, 0, b.length));
            }
        }
    }

    @Test
    void refusesWhatItCannotWeigh() {
        assertThatThrownBy(Collation.GB18030_CHINESE_CI::collator)
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNSUPPORTED));
        assertThatThrownBy(() -> Collation.of(-1)).hasMessageContaining("Unsupported collation code: -1");
        assertThat(Collation.of(46)).isEqualTo(Collation.UTF8MB4_BIN_NO_PADDING);
    }

    private static byte[] text(SplittableRandom random) {
        String alphabet = "aAbBéß ſs中文\u0301가ǆﷺ𝌆\u0000㍿9";
        int[] points = alphabet.codePoints().toArray();
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(5); i > 0; i--) {
            text.appendCodePoint(points[random.nextInt(points.length)]);
        }
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] sortKey(Collator collator, byte[] text) {
        try (ByteSink sink = new ByteSink(MemoryGuard.unlimited())) {
            collator.writeSortKey(text, 0, text.length, sink);
            return sink.copyBytes();
        }
    }

    private static Stream<Vector> known(Stream<Vector> vectors) {
        return vectors.filter(vector -> !vector.context().contains("Gb18030ChineseCi"));
    }

    private static Collation collation(Vector vector) {
        return switch (vector.setting("collation")) {
            case "Utf8Mb4Bin" -> Collation.UTF8MB4_BIN;
            case "Utf8Mb4BinNoPadding" -> Collation.UTF8MB4_BIN_NO_PADDING;
            case "Utf8Mb4GeneralCi" -> Collation.UTF8MB4_GENERAL_CI;
            case "Utf8Mb4UnicodeCi" -> Collation.UTF8MB4_UNICODE_CI;
            case "Utf8Mb40900AiCi" -> Collation.UTF8MB4_0900_AI_CI;
            case "Utf8Mb40900Bin" -> Collation.UTF8MB4_0900_BIN;
            case "Latin1Bin" -> Collation.LATIN1_BIN;
            case "GbkBin" -> Collation.GBK_BIN;
            case "GbkChineseCi" -> Collation.GBK_CHINESE_CI;
            case "Gb18030Bin" -> Collation.GB18030_BIN;
            default -> throw new IllegalArgumentException(vector.context());
        };
    }
}
