package io.coplane.sst;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.testing.NoLeaks;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(NoLeaks.class)
class TxnChunkBuilderTest {
    private static final byte[] NOTHING = new byte[0];
    private static final int[] OPS = {0, 1, 2, 4, 6};

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void readsBackWhatWasAdded(long seed) {
        var random = new SplittableRandom(seed);
        var entries = new TreeMap<String, String>();
        int count = 1 + random.nextInt(3_000);
        for (int i = 0; i < count; i++) {
            String value = "v".repeat(random.nextInt(40));
            entries.put("k" + random.nextInt(10_000), OPS[random.nextInt(OPS.length)] + " " + value);
        }
        try (var file = new TestFile(NOTHING);
                var builder = new TxnChunkBuilder(7, 1 + random.nextInt(2_000), null, file.guard)) {
            entries.forEach((k, v) -> add(builder, k, v.charAt(0) - '0', v.substring(2)));

            TxnChunkReader chunk =
                    TxnChunkReader.open(builder.finish(file.arena).bytes(), 7, null);
            TxnChunkCursor cursor = chunk.cursor(file.arena);
            var read = new ArrayList<String>();
            cursor.first();
            do {
                read.add(new String(cursor.copyKey(), StandardCharsets.US_ASCII) + " " + cursor.op() + " "
                        + cursor.valueLength());
            } while (cursor.next());

            List<String> expected = entries.entrySet().stream()
                    .map(e -> e.getKey() + " " + e.getValue().charAt(0) + " "
                            + (e.getValue().length() - 2))
                    .toList();
            assertThat(read).isEqualTo(expected);
        }
    }

    /** Fifty entries of the reference's own test: all blocks but the last are at least as large as wanted, and less than twice that. */
    @ParameterizedTest
    @ValueSource(ints = {32, 64, 100, 256})
    void cutsBlocksAtTheTarget(int target) {
        try (var file = new TestFile(NOTHING);
                var builder = new TxnChunkBuilder(1, target, null, file.guard)) {
            for (int i = 0; i < 100; i += 2) {
                int op = i < 50 ? TxnChunkCursor.OP_INSERT : i < 60 ? TxnChunkCursor.OP_CHECK_NOT_EXIST : 0;
                add(builder, String.format(Locale.ROOT, "key%02d", i), op, String.format(Locale.ROOT, "value%02d", i));
            }
            TxnChunkReader chunk =
                    TxnChunkReader.open(builder.finish(file.arena).bytes(), 1, null);

            assertThat(chunk.insertCount()).isEqualTo(25);
            assertThat(chunk.checkNotExistCount()).isEqualTo(5);
            for (int block = 0; block + 1 < chunk.blocks(); block++) {
                long bytes = chunk.blockEnd(block) - chunk.blockStart(block) - Integer.BYTES;
                long entries = chunk.bytes.get(Layouts.LE_INT, chunk.blockStart(block));
                long counted = bytes - Integer.BYTES - Short.BYTES - Integer.BYTES * (entries + 1) - 2 * entries;
                assertThat(counted).isBetween((long) target, 2L * target - 1);
            }
        }
    }

    @Test
    void refusesWhatNoReaderCouldRead() {
        try (var file = new TestFile(NOTHING);
                var builder = new TxnChunkBuilder(1, 100, null, file.guard)) {
            assertRefused(() -> builder.finish(file.arena));
            assertRefused(() -> add(builder, "", 0, ""));
            assertRefused(() -> add(builder, "x123k", 0, ""));
            assertRefused(() -> add(builder, "k".repeat(0x1_0000), 0, ""));
            assertRefused(() -> add(builder, "k", 3, ""));
            assertRefused(() -> add(builder, "k", -1, ""));
            add(builder, "k2", 0, "v".repeat(200)); // ends its block
            assertRefused(() -> add(builder, "k2", 0, ""));
            assertRefused(() -> add(builder, "k1", 0, ""));
            add(builder, "k3", 0, "v");
            assertRefused(() -> add(builder, "k3", 0, ""));
            builder.finish(file.arena);
            assertRefused(() -> add(builder, "k4", 0, ""));
        }
    }

    @Test
    void refusesMoreEntriesInABlockThanCanBeAddressed() {
        try (var file = new TestFile(NOTHING);
                var builder = new TxnChunkBuilder(1, Integer.MAX_VALUE, null, file.guard)) {
            for (int i = 0; i <= 0xFFFF; i++) {
                add(builder, String.format(Locale.ROOT, "k%05d", i), 0, "");
            }
            assertRefused(() -> add(builder, "l", 0, ""));
            TxnChunkReader chunk =
                    TxnChunkReader.open(builder.finish(file.arena).bytes(), 1, null);
            assertThat(chunk.blocks()).isOne();
        }
    }

    private static void assertRefused(ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_ARGUMENT));
    }

    private static void add(TxnChunkBuilder builder, String key, int op, String value) {
        byte[] k = Tables.bytes(key);
        byte[] v = Tables.bytes(value);
        builder.add(k, 0, k.length, op, v, 0, v.length);
    }
}
