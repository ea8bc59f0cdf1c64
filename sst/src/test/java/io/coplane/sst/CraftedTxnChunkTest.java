package io.coplane.sst;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.testing.Dumps;
import io.coplane.testing.NoLeaks;
import java.lang.foreign.MemorySegment;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The chunk of two blocks of snapshot.md 8.7 with wrong fields and right checksums. */
@ExtendWith(NoLeaks.class)
@Timeout(60)
class CraftedTxnChunkTest {
    private static final long LIMIT_BYTES = 4 << 20;

    // sections end with their checksums
    private static final int BLOCK_END = 0x21;
    private static final int INDEX_AT = 0x36;
    private static final int HASH_AT = 0x8f;
    private static final int PROPERTIES_AT = 0xc7;
    private static final int FOOTER_AT = 0xed;

    private static final int BLOCK_OFFSETS_AT = INDEX_AT + 4;
    private static final int KEY_OFFSETS_AT = BLOCK_OFFSETS_AT + 12;
    private static final int KEYS_AT = KEY_OFFSETS_AT + 12;
    private static final int KEY_BYTES = 19;

    /** What stands where instead, in the section that begins and ends so. */
    record Wrong(String name, int sectionAt, int sectionEnd, int at, byte[] bytes) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Wrong> fields() {
        return Stream.of(
                block("no entries", 0, CraftedTable.ints(0)),
                block("4 Gi entries", 0, CraftedTable.ints(-1)),
                block("2 Gi entries", 0, CraftedTable.ints(Integer.MAX_VALUE)),
                block("one entry more", 0, CraftedTable.ints(3)),
                block("prefix longer than the first key", 4, new byte[] {-1, -1}),
                block("entry that begins behind its end", 6, CraftedTable.ints(9)),
                block("negative entry offset", 10, CraftedTable.ints(-5)),
                block("entries that reach beyond the block", 14, CraftedTable.ints(1 << 30)),
                block("key longer than its entry", 18, new byte[] {-1, -1}),
                index("no blocks", INDEX_AT, CraftedTable.ints(0)),
                index("4 Gi blocks", INDEX_AT, CraftedTable.ints(-1)),
                index("512 Mi blocks", INDEX_AT, CraftedTable.ints(1 << 29)),
                index("blocks that go back", BLOCK_OFFSETS_AT + 4, CraftedTable.ints(0)),
                index("a block beyond the blocks", BLOCK_OFFSETS_AT + 8, CraftedTable.ints(0x37)),
                index("a block at 4 Gi - 1", BLOCK_OFFSETS_AT + 4, CraftedTable.ints(-1)),
                index("keys that go back", KEY_OFFSETS_AT + 4, CraftedTable.ints(0x27)),
                index("a key at 4 Gi - 1", KEY_OFFSETS_AT, CraftedTable.ints(-1)),
                index("blocks out of order", KEYS_AT + KEY_BYTES + KEY_BYTES - 1, new byte[1]),
                index("a biggest key that isn't", KEYS_AT + 3 * KEY_BYTES - 1, new byte[1]),
                new Wrong("a name beyond the end", PROPERTIES_AT, FOOTER_AT, PROPERTIES_AT, new byte[] {-1, -1}),
                new Wrong("a value of 4 GiB", PROPERTIES_AT, FOOTER_AT, PROPERTIES_AT + 8, CraftedTable.ints(-1)),
                new Wrong("a number of 3 bytes", PROPERTIES_AT, FOOTER_AT, PROPERTIES_AT + 8, CraftedTable.ints(3)),
                footer("a hash index before the index", FOOTER_AT + 4, CraftedTable.ints(0)),
                footer("properties beyond the end", FOOTER_AT + 8, CraftedTable.ints(1 << 20)),
                footer("an index at 4 Gi - 1", FOOTER_AT, CraftedTable.ints(-1)),
                footer("another version", FOOTER_AT + 14, new byte[] {2, 0}));
    }

    private static Wrong block(String name, int at, byte[] bytes) {
        return new Wrong("block: " + name, 0, BLOCK_END, at, bytes);
    }

    private static Wrong index(String name, int at, byte[] bytes) {
        return new Wrong("index: " + name, INDEX_AT, HASH_AT, at, bytes);
    }

    private static Wrong footer(String name, int at, byte[] bytes) {
        return new Wrong("footer: " + name, 0, 0, at, bytes);
    }

    @ParameterizedTest
    @MethodSource("fields")
    void isRefusedByATypedError(Wrong wrong) {
        byte[] file = Dumps.bytes(TxnChunkReaderTest.TWO_BLOCKS);
        System.arraycopy(wrong.bytes, 0, file, wrong.at, wrong.bytes.length);
        if (wrong.sectionEnd > 0) {
            var crc = new CRC32();
            int end = wrong.sectionEnd - Integer.BYTES;
            crc.update(file, wrong.sectionAt, end - wrong.sectionAt);
            System.arraycopy(CraftedTable.ints((int) crc.getValue()), 0, file, end, Integer.BYTES);
        }

        assertThatThrownBy(() -> readAll(file))
                .hasMessageContaining("file=0000000000000007.txn offset=")
                .isInstanceOfSatisfying(
                        CoplaneException.class,
                        e -> assertThat(e.code()).isIn(ErrorCode.FILE_FORMAT, ErrorCode.FILE_TRUNCATED));
    }

    @Test
    void aSoundOneIsRead() {
        assertThat(readAll(Dumps.bytes(TxnChunkReaderTest.TWO_BLOCKS))).isEqualTo(3);
    }

    private static int readAll(byte[] bytes) {
        int entries = 0;
        try (var guard = new MemoryLimiter(LIMIT_BYTES).acquire(0);
                var arena = new NativeArena(guard)) {
            MemorySegment file = arena.allocate(bytes.length);
            file.copyFrom(MemorySegment.ofArray(bytes));
            TxnChunkReader chunk = TxnChunkReader.open(file, 7, null);
            TxnChunkCursor cursor = chunk.cursor(arena);
            cursor.first();
            do {
                entries++;
                assertThat(entries).isLessThan(100);
            } while (cursor.next());
            cursor.last();
            while (cursor.previous()) {
                assertThat(cursor.valid()).isTrue();
            }
            cursor.seekFloor(chunk.smallest());
            cursor.seekCeiling(chunk.biggest());
        }
        return entries;
    }
}
