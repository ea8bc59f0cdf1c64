package io.coplane.sst;

import static io.coplane.sst.CraftedTable.concat;
import static io.coplane.sst.CraftedTable.ints;
import static io.coplane.sst.CraftedTable.property;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.testing.Dumps;
import io.coplane.testing.NoLeaks;
import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Blob files with wrong fields and without checksums, as no writer makes them: a typed error, little memory. */
@ExtendWith(NoLeaks.class)
@Timeout(60)
class CraftedBlobTest {
    private static final long LIMIT_BYTES = 16 << 20;
    private static final long FILE_ID = 9;

    // of the file of sst.md 12.7: two records, no checksums
    private static final int INDEX_AT = 27;
    private static final int COUNT_AT = INDEX_AT + 8;
    private static final int KEY_OFFSETS_AT = COUNT_AT + 4;
    private static final int RECORD_OFFSETS_AT = KEY_OFFSETS_AT + 8;
    private static final int PREFIX_AT = RECORD_OFFSETS_AT + 8;
    private static final int KEYS_BYTES_AT = PREFIX_AT + 4;
    private static final int PROPERTIES_AT = 65;
    private static final int FOOTER_AT = 106;

    /** What stands where. */
    record Wrong(String name, int at, byte[] bytes) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Wrong> fields() {
        return Stream.of(
                new Wrong("4 Gi entries", COUNT_AT, ints(-1)),
                new Wrong("2 Gi entries", COUNT_AT, ints(Integer.MIN_VALUE)),
                new Wrong("512 Mi entries", COUNT_AT, ints(1 << 29)),
                new Wrong("one entry more", COUNT_AT, ints(3)),
                new Wrong("keys that go back", KEY_OFFSETS_AT, ints(1, 0)),
                new Wrong("a key at 4 Gi - 1", KEY_OFFSETS_AT + 4, ints(-1)),
                new Wrong("records that go back", RECORD_OFFSETS_AT, ints(13, 0)),
                new Wrong("records that overlap", RECORD_OFFSETS_AT, ints(0, 1)),
                new Wrong("a record beyond the records", RECORD_OFFSETS_AT + 4, ints(20)),
                new Wrong("a record at 4 Gi - 1", RECORD_OFFSETS_AT + 4, ints(-1)),
                new Wrong("a prefix of 65,535", PREFIX_AT, new byte[] {-1, -1}),
                new Wrong("keys of 4 GiB", KEYS_BYTES_AT, ints(-1)),
                new Wrong("an index of the future", INDEX_AT + 4, ints(2)),
                new Wrong("a property's name of 65,535", PROPERTIES_AT, new byte[] {-1, -1}),
                new Wrong("a property of 4 GiB", PROPERTIES_AT + 14, ints(-1)),
                new Wrong("an index at 4 Gi - 1", FOOTER_AT + 4, ints(-1)),
                new Wrong("an index behind the properties", FOOTER_AT + 4, ints(PROPERTIES_AT + 1)),
                new Wrong("properties behind the end", FOOTER_AT + 8, ints(1 << 20)),
                new Wrong("another magic", FOOTER_AT + 16, ints(0)),
                new Wrong("a compression of the future", FOOTER_AT + 22, new byte[] {3}),
                new Wrong("a checksum of the future", FOOTER_AT + 23, new byte[] {3}));
    }

    @ParameterizedTest
    @MethodSource("fields")
    void isRefusedByATypedError(Wrong wrong) {
        byte[] file = Dumps.bytes(HexVectors.BLOBS);
        System.arraycopy(wrong.bytes, 0, file, wrong.at, wrong.bytes.length);

        assertRefused(() -> {
            try (var in = new TestFile(file)) {
                BlobReader.open(in.bytes, FILE_ID, null).index();
            }
        });
        if (wrong.at < FOOTER_AT) {
            byte[] meta = Arrays.copyOfRange(file, INDEX_AT, file.length);
            assertRefused(() -> {
                try (var in = new TestFile(meta)) {
                    MetaFile.openBlob(in.bytes, FILE_ID);
                }
            });
        }
    }

    /** A compressed value, and how long its reference says that it is. */
    record Value(String name, CompressionType compression, byte[] stored, int valueBytes) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Value> values() {
        byte[] lz4 = Tables.hex("1061"); // one literal
        return Stream.of(
                new Value("LZ4 of 4 GiB", CompressionType.LZ4, lz4, -1),
                new Value("LZ4 of 2 GiB", CompressionType.LZ4, lz4, Integer.MAX_VALUE),
                new Value("LZ4 of more than there is", CompressionType.LZ4, lz4, 2),
                new Value("LZ4 that refers to before its start", CompressionType.LZ4, Tables.hex("14610900"), 40),
                new Value("zstd of 2^63", CompressionType.ZSTD, Tables.hex("28b52ffd e0 0000000000000080 010000"), -1),
                new Value(
                        "zstd of 1 GiB in one small block",
                        CompressionType.ZSTD,
                        Tables.hex("28b52ffd a0 00000040 0b0000 61"),
                        1 << 30),
                new Value("a zstd bomb", CompressionType.ZSTD, bomb(1_000), 1_000 << 17),
                new Value("zstd of another length", CompressionType.ZSTD, Tables.hex("28b52ffd 20 01 090000 61"), 2),
                new Value("no frame", CompressionType.ZSTD, new byte[64], 64),
                new Value("nothing for something", CompressionType.LZ4, new byte[0], 5));
    }

    @ParameterizedTest
    @MethodSource("values")
    void aValueThatCannotBeIsRefused(Value value) {
        byte[] file = file(value.compression, value.stored);

        assertRefused(() -> fetch(file, new BlobRef(FILE_ID, 0, value.stored.length, value.valueBytes)));
    }

    @Test
    void aSoundOneIsRead() {
        assertThat(fetch(file(CompressionType.LZ4, Tables.hex("1061")), new BlobRef(FILE_ID, 0, 2, 1)))
                .isEqualTo(new byte[] {'a'});
        assertThat(fetch(
                        file(CompressionType.ZSTD, Tables.hex("28b52ffd 20 01 090000 61")),
                        new BlobRef(FILE_ID, 0, 10, 1)))
                .isEqualTo(new byte[] {'a'});
        assertThat(fetch(file(CompressionType.LZ4, new byte[0]), new BlobRef(FILE_ID, 0, 0, 0)))
                .isEmpty();
    }

    private static byte[] fetch(byte[] bytes, BlobRef ref) {
        try (var guard = new MemoryLimiter(LIMIT_BYTES).acquire(0);
                var arena = new NativeArena(guard)) {
            MemorySegment file = arena.allocate(bytes.length);
            file.copyFrom(MemorySegment.ofArray(bytes));
            return new BlobFetcher(arena)
                    .fetch(BlobReader.open(file, FILE_ID, null), ref)
                    .toArray(ValueLayout.JAVA_BYTE);
        }
    }

    private static void assertRefused(Runnable read) {
        assertThatThrownBy(read::run)
                .isInstanceOfSatisfying(
                        CoplaneException.class,
                        e -> assertThat(e.code())
                                .isIn(ErrorCode.FILE_FORMAT, ErrorCode.FILE_TRUNCATED, ErrorCode.MEMORY_LIMIT));
    }

    /** One record without checksums. */
    private static byte[] file(CompressionType compression, byte[] stored) {
        byte[] record = concat(ints(0, stored.length), stored);
        byte[] index = concat(ints(0, 1, 1, 0, 0), new byte[] {1, 0, 'k'}, ints(0));
        byte[] properties =
                concat(property("smallest_key", new byte[] {'k'}), property("biggest_key", new byte[] {'k'}));
        int indexAt = record.length;
        int propertiesAt = indexAt + index.length;
        return concat(record, index, properties, ints(stored.length, indexAt, propertiesAt, 4, 0xDEADBEEF), new byte[] {
            1, 0, (byte) compression.number(), 0
        });
    }

    /** A frame of blocks that repeat one byte 128 Ki times, four bytes each. */
    private static byte[] bomb(int blocks) {
        var out = new ByteArrayOutputStream();
        out.writeBytes(Tables.hex("28b52ffd a0"));
        out.writeBytes(ints(blocks << 17));
        for (int i = 0; i < blocks; i++) {
            int header = (1 << 17) << 3 | 1 << 1 | (i + 1 == blocks ? 1 : 0);
            out.writeBytes(Arrays.copyOf(ints(header), 3));
            out.write('a');
        }
        return out.toByteArray();
    }
}
