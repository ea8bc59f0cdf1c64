package io.coplane.sst;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.testing.Dumps;
import io.coplane.testing.NoLeaks;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The chunks of snapshot.md 8.7. */
@ExtendWith(NoLeaks.class)
class TxnChunkReaderTest {
    private static final String KEY = "7480000000000000015f7280000000000000";
    private static final String ONE_BLOCK = "03000000" + "1200" + "00000000" + "05000000" + "0b000000" + "0f000000"
            + "0100" + "01" + "04" + "61" + "0100" + "02" + "00" + "6262" + "0100" + "03" + "01" + "646c1ee9";
    private static final String ONE_BLOCK_ENCRYPTED =
            "1667f3ddfbd40d683485008cb5daf7b5139a066be9a9d3f5e96923716fcf946c717583f0f4c62e3711";
    private static final String ONE_BLOCK_INDEX =
            "01000000" + "00000000" + "29000000" + "00000000" + "13000000" + KEY + "01" + KEY + "03" + "f6a7a14d";
    private static final String ONE_BLOCK_HASH = "02000000" + "00000000" + "18000000" + "24000000"
            + "8adfb52f96ef6be600000100" + "38d981a77d77886700000200" + "f300061e34dd101e00000000" + "4d709693";
    private static final String COUNTS =
            "0600" + "696e73657274" + "04000000" + "01000000" + "0a00" + "636865636b5f626c6b73";
    private static final String FIRST = ONE_BLOCK + ONE_BLOCK_INDEX + ONE_BLOCK_HASH + COUNTS + "01000000" + "01"
            + "348a290a" + "29000000" + "67000000" + "9f000000" + "00" + "02" + "0100" + "ccb608a6";
    static final String TWO_BLOCKS = "02000000" + "1200" + "00000000" + "05000000" + "0b000000" + "0100" + "01"
            + "04" + "61" + "0100" + "02" + "00" + "6262" + "4ecd080f" + "01000000" + "1300" + "00000000" + "03000000"
            + "0000" + "01" + "e1da6b01" + "02000000" + "00000000" + "21000000" + "36000000" + "00000000" + "13000000"
            + "26000000" + KEY + "01" + KEY + "03" + KEY + "03" + "a1418184" + "02000000" + "00000000" + "18000000"
            + "24000000" + "8adfb52f96ef6be600000100" + "38d981a77d77886701000000" + "f300061e34dd101e00000000"
            + "712590dc" + COUNTS + "02000000" + "0100" + "1c402875" + "36000000" + "8f000000" + "c7000000" + "00"
            + "02"
            + "0100" + "ccb608a6";
    private static final String ENCRYPTED = ONE_BLOCK_ENCRYPTED + ONE_BLOCK_INDEX + ONE_BLOCK_HASH + COUNTS + "01000000"
            + "01" + "0e00" + "656e6372797074696f6e5f766572" + "04000000" + "00000000" + "998c6b6c" + "29000000"
            + "67000000" + "9f000000" + "00" + "02" + "0100" + "ccb608a6";

    @Test
    void readsTheVectorsOfTheSpec() {
        List<String> entries = List.of(KEY + "01 4 61", KEY + "02 0 6262", KEY + "03 1 ");

        assertThat(FIRST).hasSize(2 * 216);
        assertThat(TWO_BLOCKS).hasSize(2 * 257);
        assertThat(ENCRYPTED).hasSize(2 * 240);
        assertThat(entries(FIRST, null)).isEqualTo(entries);
        assertThat(entries(TWO_BLOCKS, null)).isEqualTo(entries);
        byte[] text = new byte[64];
        for (int i = 0; i < text.length; i++) {
            text[i] = (byte) (0x40 + i);
        }
        assertThat(entries(ENCRYPTED, ShardKey.plain(text, 0))).isEqualTo(entries);
    }

    @Test
    void knowsWhichBlocksCheck() {
        try (var file = new TestFile(Dumps.bytes(TWO_BLOCKS))) {
            TxnChunkReader chunk = TxnChunkReader.open(file.bytes, 1, null);

            assertThat(chunk.insertCount()).isEqualTo(1);
            assertThat(chunk.checkNotExistCount()).isZero();
            assertThat(chunk.mayCheck(0)).isTrue();
            assertThat(chunk.mayCheck(1)).isFalse();
        }
    }

    private static List<String> entries(String hex, ShardKey key) {
        var entries = new ArrayList<String>();
        try (var file = new TestFile(Dumps.bytes(hex))) {
            TxnChunkCursor cursor = TxnChunkReader.open(file.bytes, 1001, key).cursor(file.arena);
            cursor.first();
            do {
                entries.add(Dumps.hex(cursor.copyKey()) + " " + cursor.op() + " " + Dumps.hex(cursor.copyValue()));
            } while (cursor.next());
        }
        return entries;
    }
}
