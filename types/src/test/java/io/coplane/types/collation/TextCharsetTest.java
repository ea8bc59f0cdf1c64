package io.coplane.types.collation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.types.EvalException;
import io.coplane.types.vectors.Vector;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class TextCharsetTest {
    static Stream<Vector> conversions() {
        return Stream.concat(
                Vector.of("cast", "ToBinary", "FromBinary"), Vector.of("string", "ToBinary", "UpperUTF8", "LowerUTF8"));
    }

    @ParameterizedTest
    @MethodSource("conversions")
    void convertsAsTheReference(Vector vector) {
        String arg = vector.args().get(0);
        if (arg.startsWith("NULL")) {
            return;
        }
        byte[] text = Vector.bytes(arg.startsWith("X:") ? arg.replaceAll("\\{.*", "") : arg);
        TextCharset charset = charset(vector.operation().equals("FromBinary") ? vector.context() : arg);

        if (vector.expect().startsWith("ERR")) {
            assertThatThrownBy(() -> run(vector.operation(), charset, text)).isInstanceOf(EvalException.class);
        } else {
            assertThat(run(vector.operation(), charset, text)).isEqualTo(Vector.bytes(vector.expect()));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "中文,d6d0cec4",
        "€,a2e3",
        "ḿ,a8bc",
        "\ue7c7,8135f437",
        "😃,9439fc39",
        "ǹ,a8bf",
        "⺁㧟㩳㧐,fe50fe63fe64fe65",
        "\ufe10,a6d9",
        "𠂇𠂉,9532903195329033",
        "\uf9f1,fda0",
        "\ue5e5\ue000,a3a0aaa1"
    })
    void knowsGb18030(String text, String hex) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        byte[] codes = HexFormat.of().parseHex(hex);

        assertThat(run("ToBinary", TextCharset.GB18030, utf8)).isEqualTo(codes);
        assertThat(run("FromBinary", TextCharset.GB18030, codes)).isEqualTo(utf8);
    }

    @Test
    void everyCharacterSurvivesGb18030() {
        for (int c = 0; c <= Character.MAX_CODE_POINT; c++) {
            if (c < 0xd800 || c > 0xdfff) {
                byte[] utf8 = Character.toString(c).getBytes(StandardCharsets.UTF_8);
                byte[] codes = run("ToBinary", TextCharset.GB18030, utf8);
                assertThat(Arrays.equals(run("FromBinary", TextCharset.GB18030, codes), utf8))
                        .as("U+%X", c)
                        .isTrue();
            }
        }
    }

    @Test
    void tellsWhatDoesNotConvert() {
        byte[] bytes = {'a', (byte) 0xff, 'b', 'c', 'd', 'e', 'f'};

        assertThatThrownBy(() -> run("FromBinary", TextCharset.GBK, bytes))
                .hasMessage("Cannot convert string 'a\\xFFbcde...' from binary to gbk");
        assertThatThrownBy(() -> TextCharset.of("koi8r")).hasMessage("Unsupported charset : koi8r");
    }

    private static byte[] run(String operation, TextCharset charset, byte[] text) {
        byte[] out = new byte[4 * text.length];
        int end = switch (operation) {
            case "ToBinary" -> charset.encode(text, 0, text.length, out, 0);
            case "FromBinary" -> charset.decode(text, 0, text.length, out, 0);
            case "UpperUTF8" -> charset.upper(text, 0, text.length, out, 0);
            default -> charset.lower(text, 0, text.length, out, 0);
        };
        return Arrays.copyOf(out, end);
    }

    private static TextCharset charset(String attributes) {
        int at = attributes.lastIndexOf("charset=");
        return at < 0
                ? TextCharset.UTF8MB4
                : TextCharset.of(attributes.substring(at + 8).replaceAll("[,}].*", ""));
    }
}
