package io.coplane.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.testing.Dumps;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InnerKeysTest {
    @ParameterizedTest
    @CsvSource({
        "78, -1",
        "7800, -1",
        "780102, -1",
        "780102030405, 66051",
        "78010203, 66051",
        "7800000a, 10",
        "780003e8, 1000",
        "780186a0, 100000",
        "7480000000, -1",
        "6d80000000, -1",
        "'', -1",
        "78000001748000000000000075, 1", // snapshot.md 8.4
    })
    void knowsTheKeyspace(String key, int keyspaceId) {
        assertThat(InnerKeys.keyspaceId(Dumps.bytes(key))).isEqualTo(keyspaceId);
    }

    @ParameterizedTest
    @CsvSource({
        "7800002a74800000000000007b, 74800000000000007b",
        "7800002a, ''",
        "780000, 780000",
        "'', ''",
        "7480, 7480",
    })
    void trimsByContent(String outer, String inner) {
        byte[] key = Dumps.bytes(outer);

        assertThat(Dumps.hex(InnerKeys.trim(key))).isEqualTo(inner);
        assertThat(InnerKeys.trimBytes(MemorySegment.ofArray(key), 0, key.length))
                .isEqualTo(InnerKeys.trimBytes(key))
                .isEqualTo((outer.length() - inner.length()) / 2);
    }

    @ParameterizedTest
    @CsvSource({
        "'', ffffffffffffffff",
        "78000002, ffffffffffffffff",
        "7800000274, 74",
        "74, 74",
        "ffffffffffffffff, ffffffffffffffff",
        "780000, 780000",
    })
    void widensEndsOfKeyspaces(String outerEnd, String innerEnd) {
        assertThat(Dumps.hex(InnerKeys.innerEnd(Dumps.bytes(outerEnd)))).isEqualTo(innerEnd);
    }

    @ParameterizedTest
    @CsvSource({"7800002a74, 7800002a", "7800002a, 7800002a", "78000000, ''", "'', ''", "74800000, ''"})
    void prefixesOuterKeysAgain(String outerStart, String prefix) {
        assertThat(Dumps.hex(InnerKeys.outerPrefix(Dumps.bytes(outerStart)))).isEqualTo(prefix);
    }

    @ParameterizedTest
    @CsvSource({ // snapshot.md 8.4
        "'', 0000000000000000f7",
        "61, 6100000000000000f8",
        "61626364656667, 6162636465666700fe",
        "6162636465666768, 6162636465666768ff0000000000000000f7",
        "616263646566676869, 6162636465666768ff6900000000000000f8",
        "7800002a74800000000000007b5f728000000000000001, 7800002a74800000ff000000007b5f7280ff0000000000000100fe",
    })
    void encodesMemcomparable(String key, String encoded) {
        byte[] bytes = Dumps.bytes(key);

        assertThat(Dumps.hex(InnerKeys.encode(bytes))).isEqualTo(encoded);
        assertThat(InnerKeys.encodedBytes(bytes.length)).isEqualTo(encoded.length() / 2);
    }
}
