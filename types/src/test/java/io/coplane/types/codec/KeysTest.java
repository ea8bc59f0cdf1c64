package io.coplane.types.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.ByteSink;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Table keys, index keys, ranges: coprocessor.md 3.4, 3.6, 4.3, 9.5. */
class KeysTest {
    private final ByteSink sink = new ByteSink(MemoryGuard.unlimited());

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }

    @ParameterizedTest
    @CsvSource({
        "'', 00",
        "00, 01",
        "ff, ff00",
        "ffffff, ffffff00",
        "01ff, 0200",
        "0001ff, 000200",
        "0001ff05, 0001ff06",
        "000105ff, 00010600",
        "0001ffff, 00020000",
        "00ffffff, 01000000"
    })
    void prefixNext(String key, String next) {
        assertThat(KeyRanges.prefixNext(bytes(key))).isEqualTo(bytes(next));
        assertThat(KeyRanges.isPoint(bytes(key), bytes(next))).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"00, 0000", "00, 02", "'', ''", "ff, ff", "ff, ff01", "01ff, 0201", "01ff, 02", "0102, 0203", "ff, fe00"
    })
    void otherRangesAreNoPoints(String start, String end) {
        assertThat(KeyRanges.isPoint(bytes(start), bytes(end))).isFalse();
    }

    @Test
    void rowKey() {
        TableKeys.putRowKey(sink, 49, 1);

        assertThat(sink.copyBytes()).isEqualTo(bytes("7480000000000000315f728000000000000001"));
        assertThat(TableKeys.tableId(sink.bytes(), 0, sink.length())).isEqualTo(49);
        assertThat(TableKeys.isRecordKey(sink.bytes(), 0, sink.length())).isTrue();
        assertThat(TableKeys.isIndexKey(sink.bytes(), 0, sink.length())).isFalse();
    }

    @Test
    void indexKey() {
        TableKeys.putIndexPrefix(sink, 49, 2);
        Datums.putInt(sink, 1);

        assertThat(sink.copyBytes()).isEqualTo(bytes("7480000000000000315f698000000000000002038000000000000001"));
        TableKeys.checkIndexKey(sink.bytes(), 0, sink.length());
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, Long.MAX_VALUE, -1, 0, 2, 3, 1024})
    void handlesComeBack(long handle) {
        sink.putByte(0);
        TableKeys.putRowKey(sink, 1, handle);

        assertThat(TableKeys.intHandle(sink.bytes(), 1, sink.length() - 1)).isEqualTo(handle);

        long[] handles = new long[1];
        TableKeys.intHandles(sink.bytes(), new int[] {1}, new int[] {sink.length() - 1}, 1, handles);
        assertThat(handles[0]).isEqualTo(handle);
    }

    @ParameterizedTest
    @CsvSource({
        "7480000000000000315f, record or index key expected",
        "7580000000000000315f728000000000000001, record or index key expected",
        "7480000000000000315f698000000000000001, expected key sep type",
        "7480000000000000315f7280000000000000, row key is too short"
    })
    void rejectsWhatIsNoRowKey(String hex, String message) {
        byte[] key = bytes(hex);

        assertThatThrownBy(() -> TableKeys.intHandle(key, 0, key.length))
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CORRUPT_KEY))
                .hasMessageContaining(message);
    }

    @Test
    void rejectsWhatIsNoIndexKey() {
        byte[] row = bytes("7480000000000000315f728000000000000001");
        byte[] cut = bytes("7480000000000000315f6980000000000000");

        assertThatThrownBy(() -> TableKeys.checkIndexKey(row, 0, row.length))
                .hasMessageContaining("expected key sep type");
        assertThatThrownBy(() -> TableKeys.checkIndexKey(cut, 0, cut.length)).hasMessageContaining("too short");
        assertThatThrownBy(() -> TableKeys.tableId(row, 0, 8)).hasMessageContaining("table key expected");
    }

    /** coprocessor.md 3.6: the handle position of index keys. */
    @ParameterizedTest
    @CsvSource({"038000000000000001, 1", "040000000000000004, 4", "7e8000000000000064 0380000000000003e7, 999"})
    void indexHandles(String hex, long handle) {
        byte[] key = bytes(hex);

        int at = IndexKeys.skipPartitionId(key, 0, key.length);

        assertThat(IndexKeys.intHandle(key, at, key.length)).isEqualTo(handle);
        if (at > 0) {
            assertThat(IndexKeys.partitionId(key, 0, key.length)).isEqualTo(100);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "99", "7e8001", "0301", "0401"})
    void rejectsBadIndexHandles(String hex) {
        byte[] key = bytes(hex);

        assertThatThrownBy(() -> IndexKeys.intHandle(key, IndexKeys.skipPartitionId(key, 0, key.length), key.length))
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CORRUPT_KEY));
    }

    @Test
    void namesTheHandleFlag() {
        assertThatThrownBy(() -> IndexKeys.intHandle(bytes("99"), 0, 1))
                .hasMessageContaining("Unexpected handle flag 153");
    }
}
