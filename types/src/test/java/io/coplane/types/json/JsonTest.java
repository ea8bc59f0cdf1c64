package io.coplane.types.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.ByteSink;
import io.coplane.types.EvalException;
import io.coplane.types.column.BytesColumn;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Vectors of coprocessor.md 4.10, 9.4 and rules of expressions.md 6.9. */
final class JsonTest {
    private static final HexFormat HEX = HexFormat.of();

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"key\":\"value\"} | 01010000001c0000001300000003000c160000006b65790576616c7565",
                "[1,null] | 03020000001a00000009120000000400000000 0100000000000000",
                "\"a\" | 0c0161",
                "true | 0401",
                "-1 | 09ffffffffffffffff"
            })
    void buildsTheBinaryForm(String text, String hex) {
        assertThat(HEX.formatHex(parse(text).data())).isEqualTo(hex.replace(" ", ""));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"b\":1,\"a\":[true,false,null],\"b\":2} | {\"a\": [true, false, null], \"b\": 2}",
                "[] | []",
                "{} | {}",
                "[[[]],{\"\":{}}] | [[[]], {\"\": {}}]",
                "9223372036854775806 | 9223372036854775806",
                "18446744073709551615 | 18446744073709551615",
                "18446744073709551616 | 1.8446744073709552e19",
                "-9223372036854775808 | -9223372036854775808",
                "-9223372036854775809 | -9.223372036854776e18",
                "-0 | -0.0",
                "3.0 | 3.0",
                "1234.5 | 1234.5",
                "1e16 | 1e16",
                "1e15 | 1000000000000000.0",
                "1.5e300 | 1.5e300",
                "1e-7 | 1e-7",
                "0.00001 | 0.00001",
                "0.000001 | 1e-6",
                "\"\\u0001\\t\\u00e9\\ud83d\\ude03/\\/\" | \"\\u0001\\té😃//\"",
                "  [ 1 , 2 ]  | [1, 2]"
            })
    void printsWhatItParsed(String text, String printed) {
        assertThat(print(parse(text))).isEqualTo(printed);
    }

    @ParameterizedTest
    @CsvSource({"9223372036854775806, 9", "9223372036854775807, 10", "-5, 9", "5.0, 11", "-0, 11", "1e2, 11"})
    void choosesTheNumberType(String text, int type) {
        assertThat(parse(text).type()).isEqualTo(type);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "  ",
                "[1,]",
                "{\"a\"}",
                "{a:1}",
                "01",
                "1.",
                ".5",
                "+1",
                "1e",
                "nul",
                "\"\\u12\"",
                "\"\\ud800\"",
                "\"\\udc00\"",
                "\"a",
                "[1 2]",
                "1 2",
                "\"\\x\"",
                "1e999",
                "'a'",
                "\"\t\"",
                "{\"a\":1,}"
            })
    void refusesTextThatIsNoJson(String text) {
        assertThatThrownBy(() -> parse(text))
                .isInstanceOf(EvalException.class)
                .hasMessageContaining("Illegal Json text: ");
    }

    @Test
    void refusesTextThatIsNestedTooDeeply() {
        assertThat(print(parse("[".repeat(127) + "]".repeat(127)))).hasSize(254);
        assertThatThrownBy(() -> parse("[".repeat(100_000))).hasMessageContaining("recursion limit exceeded");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "-1 | 18446744073709551615 | -1",
                "9.0 | 9 | 0",
                "8.9 | 9 | -1",
                "9 | 9.1 | -1",
                "false | true | -1",
                "-3 | 3 | -1",
                "3.0 | 4.9 | -1",
                "\"hello\" | \"hello, world\" | -1",
                "[\"a\",\"b\"] | [\"a\",\"c\"] | -1",
                "[1] | [1,2] | -1",
                "{\"a\":\"b\"} | {\"a\":\"c\"} | -1",
                "1.5 | 2 | -1",
                "1.5 | false | -1",
                "2 | true | -1",
                "null | {\"a\":\"b\"} | -1",
                "2 | \"hello, world\" | -1",
                "\"hello, world\" | {\"a\":\"b\"} | -1",
                "{\"a\":\"b\"} | [\"a\",\"b\"] | -1",
                "[\"a\",\"b\"] | false | -1",
                "null | null | 0"
            })
    void compares(String left, String right, int sign) {
        assertThat(Integer.signum(parse(left).compare(parse(right)))).isEqualTo(sign);
        assertThat(Integer.signum(parse(right).compare(parse(left)))).isEqualTo(-sign);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"a\":[1,2,{\"b\":3}]} | $.a[2].b | 3",
                "{\"a\":[1,2,{\"b\":3}]} | $.a[last] | {\"b\": 3}",
                "{\"a\":[1,2,{\"b\":3}]} | $.a[last - 1] | 2",
                "{\"a\":[1,2,{\"b\":3}]} | $.a[0 to 1] | [1, 2]",
                "{\"a\":[1,2,{\"b\":3}]} | $.a[1 to last] | [2, {\"b\": 3}]",
                "{\"a\":[1,2,{\"b\":3}]} | $.a[*] | [1, 2, {\"b\": 3}]",
                "{\"a\":1,\"b\":{\"a\":2}} | $**.a | [1, 2]",
                "{\"a\":1,\"b\":2} | $.* | [1, 2]",
                "[[1],[2]] | $**[0] | [[1], 1, 2]",
                "5 | $[0] | 5",
                "5 | $[0 to 3] | 5",
                "{\"a b\":1} | $.\"a b\" | 1",
                "{\"a\":1} |  $ . a  | 1",
                "[] | $[0 to 0] | none",
                "5 | $[last] | none",
                "[1] | $[3] | none",
                "{\"a\":1} | $.b | none"
            })
    void extracts(String document, String path, String found) {
        JsonValue value = parse(document);
        JsonBuilder out = new JsonBuilder();

        boolean any =
                JsonQuery.pushExtract(out, value.data(), value.ref(), new JsonPath[] {path(path)}, new JsonMatches());

        assertThat(any ? print(finish(out)) : "none")
                .isEqualTo("5".equals(found) && path.contains("to") ? "[5]" : found);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "a | 1",
                "$. | 3",
                "$.1a | 3",
                "$[ | 3",
                "$[a] | 3",
                "$** | 3",
                "$[1 to 0] | 8",
                "$.a$b.c* | 8",
                "$[last-1 to last-2] | 13"
            })
    void namesThePositionOfAPathError(String path, int position) {
        assertThatThrownBy(() -> path(path))
                .isInstanceOf(EvalException.class)
                .hasMessage("Invalid JSON path expression. The error is around character position " + position + ".");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "SET | {\"a\":1} | $.b | 2 | {\"a\": 1, \"b\": 2}",
                "SET | {\"a\":1} | $.a | 2 | {\"a\": 2}",
                "INSERT | {\"a\":1} | $.a | 2 | {\"a\": 1}",
                "REPLACE | {\"a\":1} | $.b | 2 | {\"a\": 1}",
                "INSERT | [1] | $[5] | 2 | [1, 2]",
                "INSERT | 1 | $[1] | 2 | [1, 2]",
                "SET | {\"a\":{\"b\":null}} | $.a.b | [] | {\"a\": {\"b\": []}}",
                "SET | {\"a\":{\"b\":1}} | $ | 7 | 7",
                "SET | [1,true,3] | $[1] | false | [1, false, 3]",
                "INSERT | {\"c\":1} | $.a.b | 2 | {\"c\": 1}"
            })
    void modifies(JsonEdit.Mode mode, String document, String path, String value, String expected) {
        assertThat(print(new JsonEdit().modify(mode, parse(document), path(path), path, parse(value))))
                .isEqualTo(expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"a\":1,\"b\":[1,2]} | $.b[0] | {\"a\": 1, \"b\": [2]}",
                "{\"a\":1,\"b\":true} | $.b | {\"a\": 1}",
                "5 | $[0] | 5",
                "[1,2,3] | $[last] | [1, 2]"
            })
    void removes(String document, String path, String expected) {
        assertThat(print(new JsonEdit().remove(parse(document), new JsonPath[] {path(path)})))
                .isEqualTo(expected);
    }

    @Test
    void mergesAndPatches() {
        JsonEdit edit = new JsonEdit();

        assertThat(print(edit.merge(List.of(parse("{\"a\":1}"), parse("{\"a\":2,\"b\":3}"), parse("[4]"), parse("5")))))
                .isEqualTo("[{\"a\": [1, 2], \"b\": 3}, 4, 5]");
        assertThat(print(edit.mergePatch(
                        parse("{\"a\":1,\"b\":{\"c\":2,\"d\":3}}"),
                        parse("{\"a\":null,\"b\":{\"c\":9,\"d\":null},\"e\":{\"f\":null}}"))))
                .isEqualTo("{\"b\": {\"c\": 9}, \"e\": {}}");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"a\":[1,2],\"b\":3} | {\"a\":[2]} | true",
                "{\"a\":[1,2]} | {\"c\":1} | false",
                "[1,[2,3]] | [3] | true",
                "[1,2] | 2 | true",
                "[1,2] | [1,5] | false",
                "1 | 1.0 | true"
            })
    void tellsWhatIsContained(String document, String target, boolean contained) {
        assertThat(JsonQuery.contains(parse(document), parse(target))).isEqualTo(contained);
    }

    @Test
    void measures() {
        JsonValue value = parse("{\"a\":[1,{\"b\":[]}]}");

        assertThat(JsonQuery.depth(value.data(), value.ref())).isEqualTo(4);
        assertThat(JsonQuery.length(value.data(), value.ref())).isEqualTo(1);
    }

    @Test
    void brokenDocumentsAreTypedErrorsOrValid() {
        byte[] whole = parse("{\"a\":[1,true,\"xyz\",{\"b\":null,\"c\":2.5}],\"d\":\"e\"}")
                .data();
        for (int length = 0; length < whole.length; length++) {
            assertCorruptOrReadable(Arrays.copyOf(whole, length));
        }
        for (int bit = 0; bit < whole.length * 8; bit++) {
            byte[] flipped = whole.clone();
            flipped[bit >>> 3] ^= (byte) (1 << (bit & 7));
            assertCorruptOrReadable(flipped);
        }
    }

    private static void assertCorruptOrReadable(byte[] document) {
        try {
            long ref = JsonDocs.root(document, 0, document.length);
            assertThat(print(new JsonValue(document, ref))).isNotEmpty();
        } catch (CoplaneException e) {
            assertThat(e.code()).isEqualTo(ErrorCode.CORRUPT_VALUE);
            assertThat(e).hasMessageContaining("offset=");
        }
    }

    private static JsonValue parse(String text) {
        JsonBuilder builder = new JsonBuilder();
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        new JsonParser(builder).parse(bytes, 0, bytes.length);
        return finish(builder);
    }

    private static JsonValue finish(JsonBuilder builder) {
        BytesColumn column = new BytesColumn();
        column.resetOwned(1);
        builder.finish(column, 0);
        byte[] document =
                Arrays.copyOfRange(column.data(), column.starts()[0], column.starts()[0] + column.lengths()[0]);
        return new JsonValue(document, JsonDocs.root(document, 0, document.length));
    }

    private static String print(JsonValue value) {
        try (MemoryGuard guard = MemoryGuard.unlimited();
                ByteSink out = new ByteSink(guard)) {
            JsonText.append(out, value.data(), value.ref());
            return new String(out.bytes(), 0, out.length(), StandardCharsets.UTF_8);
        }
    }

    private static JsonPath path(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        return JsonPath.parse(bytes, 0, bytes.length);
    }
}
