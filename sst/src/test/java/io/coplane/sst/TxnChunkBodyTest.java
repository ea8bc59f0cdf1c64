package io.coplane.sst;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.testing.Corrupt;
import io.coplane.testing.Dumps;
import io.coplane.testing.NoLeaks;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The bodies of worker.md 14.1 and 14.2. */
@ExtendWith(NoLeaks.class)
class TxnChunkBodyTest {
    @ParameterizedTest
    @CsvSource({
        "0100 61 00 02000000 7631 2cdc7a75, a 0 v1",
        "0200 6b31 00 01000000 61 0200 6b32 01 00000000 4f691c47, 'k1 0 a|k2 1 '",
        "0500 780000016b 00 00000000, 'k 0 '" // of keyspace 1; its checksum is appended
    })
    void makesAChunkOfABody(String hex, String entries) {
        byte[] bytes = Tables.hex(hex);
        byte[] body = entries.startsWith("k 0") ? withChecksum(bytes) : bytes;

        assertThat(entries(body, 7)).isEqualTo(List.of(entries.split("\\|", -1)));
    }

    @Test
    void makesTheChunkOfTheReferencesTest() {
        var out = new ByteArrayOutputStream();
        var expected = new ArrayList<String>();
        for (int i = 0; i < 100; i++) {
            String number = String.format(Locale.ROOT, "%03d", i);
            out.writeBytes(entry("key" + number, 1, "val" + number));
            expected.add("key" + number + " 1 val" + number);
        }
        byte[] body = withChecksum(out.toByteArray());

        assertThat(body).hasSize(1_904);
        assertThat(Dumps.hex(body)).endsWith("8acbac73");
        assertThat(entries(body, 155)).isEqualTo(expected);
    }

    @Test
    void refusesBrokenBodies() {
        assertRefused(new byte[0], "body is invalid");
        assertRefused(new byte[3], "body is invalid");
        assertRefused(new byte[] {0, 0, 0, 1}, "checksum mismatch");
        assertRefused(new byte[4], "body has no entries");
        assertRefused(withChecksum(new byte[6]), "entry is cut");
        assertRefused(withChecksum(Tables.hex("ffff 61 00 02000000 7631")), "entry is cut");
        assertRefused(withChecksum(Tables.hex("0100 61 00 ffffffff 7631")), "entry is cut");
        assertRefused(withChecksum(Tables.hex("0100 61 03 00000000")), "unknown mutation");
        assertRefused(withChecksum(Tables.hex("0000 00 00000000")), "key of a mutation");
        assertRefused(withChecksum(Tables.hex("0400 78000001 00 00000000")), "key of a mutation");
        byte[] twice = CraftedTable.concat(entry("b", 0, ""), entry("b", 0, ""));
        assertRefused(withChecksum(twice), "mutation is out of order");
        byte[] back = CraftedTable.concat(entry("b", 0, ""), entry("a", 0, ""));
        assertRefused(withChecksum(back), "mutation is out of order");
    }

    @Test
    void anyDamageIsRefused() {
        byte[] good = withChecksum(CraftedTable.concat(entry("a", 0, "1"), entry("b", 4, "22"), entry("c", 6, "")));

        Corrupt.bitFlips(good, 1, 10_000, (damage, bytes) -> assertRefused(bytes, "checksum mismatch"));
        Corrupt.truncations(good, 1, 10_000, (damage, bytes) -> assertRefused(bytes, ""));
    }

    private static void assertRefused(byte[] body, String message) {
        assertThatThrownBy(() -> entries(body, 1))
                .hasMessageStartingWith(message)
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_REQUEST_BODY));
    }

    private static List<String> entries(byte[] body, long chunkId) {
        var entries = new ArrayList<String>();
        try (var file = new TestFile(body)) {
            SstFile made = TxnChunkBody.build(
                    file.bytes, chunkId, TxnChunkBuilder.DEFAULT_BLOCK_BYTES, null, file.guard, file.arena);
            TxnChunkCursor cursor =
                    TxnChunkReader.open(made.bytes(), chunkId, null).cursor(file.arena);
            cursor.first();
            do {
                entries.add(text(cursor.copyKey()) + " " + cursor.op() + " " + text(cursor.copyValue()));
            } while (cursor.next());
        }
        return entries;
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.US_ASCII);
    }

    private static byte[] entry(String key, int op, String value) {
        return ByteBuffer.allocate(7 + key.length() + value.length())
                .order(ByteOrder.LITTLE_ENDIAN)
                .putShort((short) key.length())
                .put(Tables.bytes(key))
                .put((byte) op)
                .putInt(value.length())
                .put(Tables.bytes(value))
                .array();
    }

    private static byte[] withChecksum(byte[] entries) {
        var crc = new CRC32();
        crc.update(entries);
        return CraftedTable.concat(entries, CraftedTable.ints((int) crc.getValue()));
    }
}
