package io.coplane.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.testing.Corrupt;
import io.coplane.testing.Dumps;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RemoteRequestBodyTest {
    /** snapshot.md 8.1. */
    private static final String VECTOR =
            "0100000007000000636f705f726571080000006d656d5f6461746109000000736e61705f64617461";

    @Test
    void splitsTheVectorOfTheSpec() {
        RemoteRequestBody body = split(VECTOR);

        assertThat(text(body.request())).isEqualTo("cop_req");
        assertThat(text(body.memData())).isEqualTo("mem_data");
        assertThat(text(body.snapData())).isEqualTo("snap_data");
    }

    @Test
    void joinsTheVectorOfTheSpec() {
        byte[] joined = RemoteRequestBody.join(utf8("cop_req"), utf8("mem_data"), utf8("snap_data"));

        assertThat(Dumps.hex(joined)).isEqualTo(VECTOR);
    }

    @Test
    void takesEmptyMemDataAndIgnoresTrailingBytes() {
        byte[] joined = RemoteRequestBody.join(utf8("cop_req"), new byte[0], utf8("snap_data"));

        RemoteRequestBody body =
                RemoteRequestBody.split(MemorySegment.ofArray(Arrays.copyOf(joined, joined.length + 3)));

        assertThat(body.memData().byteSize()).isZero();
        assertThat(text(body.snapData())).isEqualTo("snap_data");
    }

    @ParameterizedTest
    @CsvSource({
        "010000, failed to decode cop request",
        "0200000000000000, failed to decode cop request",
        "01000000, failed to decode cop request",
        "01000000010000, failed to decode cop request",
        "0100000002000000aa, failed to decode cop request",
        "01000000ffffffffaa, failed to decode cop request",
        "0100000001000000aa, invalid cop request",
        "0100000001000000aa000000, invalid cop request",
        "0100000001000000aa01000000, failed to decode cop request",
        "0100000001000000aa0000000000, invalid cop request",
        "0100000001000000aa0000000002000000bb, failed to decode cop request",
    })
    void refusesWithTheReferencesText(String hex, String message) {
        assertThatThrownBy(() -> split(hex))
                .isInstanceOf(CoplaneException.class)
                .hasMessage(message)
                .extracting(e -> ((CoplaneException) e).code())
                .isEqualTo(ErrorCode.BAD_REQUEST_BODY);
    }

    @Test
    void survivesAnyDamage() {
        Corrupt.everyWay(Dumps.bytes(VECTOR), 1, 10_000, (damage, bytes) -> {
            try {
                RemoteRequestBody.split(MemorySegment.ofArray(bytes));
            } catch (CoplaneException e) {
                assertThat(e.code()).isEqualTo(ErrorCode.BAD_REQUEST_BODY);
            }
        });
    }

    private static RemoteRequestBody split(String hex) {
        return RemoteRequestBody.split(MemorySegment.ofArray(Dumps.bytes(hex)));
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(MemorySegment part) {
        return new String(part.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }
}
