package io.coplane.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DumpsTest {
    /** SHA-256 of 201 zero bytes, by sha256sum. */
    private static final String SHA_OF_201_ZEROS = "ab3df617aaa3140f04dc53f65b5446f34a6b2bdbb1f7b78db8db4d067ba14db9";

    @Test
    void readsHex() {
        assertThat(Dumps.bytes("")).isEmpty();
        assertThat(Dumps.bytes("00ff7f")).containsExactly(0, -1, 127);
        assertThat(Dumps.hexByte("ff")).isEqualTo(255);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-", "~", "0", "0g", "@1", "#201:00"})
    void refusesFieldThatIsNoHex(String field) {
        assertThatThrownBy(() -> Dumps.bytes(field)).isInstanceOf(AssertionError.class);
    }

    @Test
    void writesLongValueAsHash() {
        assertThat(Dumps.value(new byte[200])).isEqualTo("00".repeat(200));
        assertThat(Dumps.value(new byte[201])).isEqualTo("#201:" + SHA_OF_201_ZEROS);
    }

    @Test
    void comparesValueWithItsField() {
        byte[] large = new byte[201];

        assertThat(Dumps.valueEquals("", new byte[0])).isTrue();
        assertThat(Dumps.valueEquals("-", new byte[0])).isFalse();
        assertThat(Dumps.valueEquals("~", new byte[0])).isFalse();
        assertThat(Dumps.valueEquals("01ab", new byte[] {1, (byte) 0xAB})).isTrue();
        assertThat(Dumps.valueEquals("01ab", new byte[] {1, (byte) 0xAC})).isFalse();
        assertThat(Dumps.valueEquals("#201:" + SHA_OF_201_ZEROS, large)).isTrue();
        assertThat(Dumps.valueEquals("#201:" + SHA_OF_201_ZEROS, MemorySegment.ofArray(large)))
                .isTrue();
        large[200] = 1;
        assertThat(Dumps.valueEquals("#201:" + SHA_OF_201_ZEROS, large)).isFalse();
    }

    @Test
    void tellsNoneFromEmpty() {
        assertThat(Dumps.isNone("-")).isTrue();
        assertThat(Dumps.isNone("")).isFalse();
    }
}
