package io.coplane.cop.analyze;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.cop.kernel.Crc64;
import io.coplane.cop.kernel.Murmur3;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.tipb.Bucket;
import io.coplane.types.ByteSink;
import io.coplane.types.codec.Datums;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The vectors of coprocessor.md 6.1 and 7. */
class SketchesTest {
    private final Murmur3 murmur = new Murmur3();
    private final ByteSink datum = new ByteSink(MemoryGuard.unlimited());

    private void hash(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        murmur.hash(bytes, 0, bytes.length);
    }

    private void varInt(long value) {
        datum.truncate(0);
        Datums.putVarInt(datum, value);
    }

    @Test
    void murmurHashesShortAndLongText() {
        hash("€");
        assertThat(murmur.first()).isEqualTo(0x59e3303a2fdd9555L);
        assertThat(murmur.second()).isEqualTo(0x4f9d8bb3e4bc3164L);

        hash("€".repeat(10));
        assertThat(murmur.first()).isEqualTo(0xcecfeb77375eef6fL);
        assertThat(murmur.second()).isEqualTo(0xe9830bc26869e2c6L);

        varInt(1);
        murmur.hash(datum.bytes(), 0, datum.length());
        assertThat(murmur.first()).isEqualTo(0x4a08c13a200db448L);
    }

    private long ndv(int count, boolean irregular) {
        FmSketch sketch = new FmSketch(1000);
        for (int i = 0; i < count; i++) {
            long value = i;
            if (irregular && i < 1000) {
                value = i == 0 ? 0 : 2;
            } else if (irregular) {
                value += ((i - 1000) % 3 == 0 ? 1L : 0L) + ((i - 1000) % 5 == 0 ? 2L : 0L);
            }
            varInt(value);
            sketch.insert(murmur, datum.bytes(), 0, datum.length());
        }
        return sketch.ndv();
    }

    @Test
    void fmSketchEstimatesDistinctValues() {
        assertThat(ndv(10_000, true)).isEqualTo(6_232);
        assertThat(ndv(100_000, true)).isEqualTo(73_344);
        assertThat(ndv(100_000, false)).isEqualTo(100_480);
    }

    private static byte[] value(int value) {
        return new byte[] {(byte) value};
    }

    private static void append(EqualDepthHistogram histogram, int value, int times) {
        for (int i = 0; i < times; i++) {
            histogram.append(value(value), 0, 1);
        }
    }

    private static List<String> buckets(EqualDepthHistogram histogram) {
        return histogram.message().getBucketsList().stream()
                .map(SketchesTest::text)
                .toList();
    }

    private static String text(Bucket bucket) {
        return bucket.getLowerBound().byteAt(0) + ".." + bucket.getUpperBound().byteAt(0) + " " + bucket.getCount()
                + "/" + bucket.getRepeats();
    }

    @Test
    void histogramMergesPairsOfBuckets() {
        EqualDepthHistogram histogram = new EqualDepthHistogram(3, false);

        append(histogram, 0, 1);
        append(histogram, 1, 1);
        append(histogram, 2, 1);
        assertThat(buckets(histogram)).hasSize(3);
        assertThat(histogram.limit()).isEqualTo(1);

        append(histogram, 3, 1);
        assertThat(buckets(histogram)).containsExactly("0..1 2/1", "2..3 4/1");
        assertThat(histogram.limit()).isEqualTo(2);
        assertThat(histogram.ndv()).isEqualTo(4);

        append(histogram, 3, 3);
        append(histogram, 4, 4);
        assertThat(buckets(histogram)).containsExactly("0..1 2/1", "2..3 7/4", "4..4 11/4");

        append(histogram, 5, 1);
        assertThat(buckets(histogram)).containsExactly("0..3 7/4", "4..4 11/4", "5..5 12/1");
        assertThat(histogram.limit()).isEqualTo(4);
        assertThat(histogram.ndv()).isEqualTo(6);
    }

    @Test
    void histogramWithOneBucketDoublesItsLimit() {
        EqualDepthHistogram histogram = new EqualDepthHistogram(1, false);

        append(histogram, 1, 1);
        append(histogram, 2, 1);
        append(histogram, 3, 1);

        assertThat(histogram.limit()).isEqualTo(4);
        assertThat(buckets(histogram)).containsExactly("1..3 3/1");
    }

    @Test
    void crcOfKnownBytes() {
        byte[] digits = "123456789".getBytes(StandardCharsets.US_ASCII);

        assertThat(Crc64.end(Crc64.update(Crc64.START, digits, 0, digits.length)))
                .isEqualTo(0x995dc9bbdf1939faL);
        assertThat(Crc64.end(Crc64.START)).isZero();
    }
}
