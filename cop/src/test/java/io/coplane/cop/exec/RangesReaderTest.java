package io.coplane.cop.exec;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.snapshot.RowBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The vectors of coprocessor.md 3.4. */
class RangesReaderTest {
    private static final String ZERO = "\0";

    private final RowBuffer rows = new RowBuffer(MemoryGuard.unlimited());

    /** Keys bar, bar_2, foo, foo_2, foo_3. */
    private static final class Source implements RowSource {
        private final NavigableMap<byte[], byte[]> map = new TreeMap<>(Arrays::compareUnsigned);
        private Iterator<byte[]> keys;

        Source() {
            for (String key : List.of("bar", "bar_2", "foo", "foo_2", "foo_3")) {
                map.put(bytes(key), new byte[] {1});
            }
        }

        @Override
        public void setRange(boolean reverse, byte[] lower, byte[] upper) {
            var range = map.subMap(lower, true, upper, false);
            keys = new ArrayList<>((reverse ? range.descendingMap() : range).keySet()).iterator();
        }

        @Override
        public int fill(RowBuffer rows, int maxRows) {
            int count = 0;
            while (count < maxRows && keys.hasNext()) {
                rows.append(keys.next(), new byte[] {1}, 1);
                count++;
            }
            return count;
        }

        @Override
        public boolean get(byte[] key, RowBuffer rows) {
            if (!map.containsKey(key)) {
                return false;
            }
            rows.append(key, map.get(key), 1);
            return true;
        }

        @Override
        public void close() {}
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static ScanRange interval(String start, String end) {
        return new ScanRange(bytes(start), bytes(end), false);
    }

    /** A single key, as a request states it. */
    private static ScanRange point(String key) {
        byte[] end = bytes(key);
        end[end.length - 1]++;
        return new ScanRange(bytes(key), end, false);
    }

    private static RangesReader reader(boolean backward, ScanRange... ranges) {
        return new RangesReader(new Source(), List.of(ranges), true, backward);
    }

    private static String taken(RangesReader reader) {
        ScanRange range = reader.takeScannedRange();
        return "[" + new String(range.start(), StandardCharsets.ISO_8859_1) + ", "
                + new String(range.end(), StandardCharsets.ISO_8859_1) + ")";
    }

    @Test
    void scannedRangeEndsBehindTheLastRowForward() {
        RangesReader reader = reader(false, interval("foo", "foo_8"));

        assertThat(reader.read(rows, 2)).isFalse();
        assertThat(taken(reader)).isEqualTo("[foo, foo_2" + ZERO + ")");
        assertThat(reader.read(rows, 1)).isFalse();
        assertThat(taken(reader)).isEqualTo("[foo_2" + ZERO + ", foo_3" + ZERO + ")");
        assertThat(reader.read(rows, 1)).isTrue();
        assertThat(taken(reader)).isEqualTo("[foo_3" + ZERO + ", foo_8)");
    }

    @Test
    void scannedRangeEndsAtTheLastRowBackward() {
        RangesReader reader = reader(true, interval("foo", "foo_8"));

        reader.read(rows, 2);
        assertThat(taken(reader)).isEqualTo("[foo_2, foo_8)");
        reader.read(rows, 1);
        assertThat(taken(reader)).isEqualTo("[foo, foo_2)");
        assertThat(reader.read(rows, 1)).isTrue();
        assertThat(taken(reader)).isEqualTo("[foo, foo)");
    }

    @Test
    void scannedRangeOfNothingIsTheRange() {
        RangesReader empty = reader(false, interval("x", "xb"));
        RangesReader missing = reader(false, point("x"));
        RangesReader none = reader(false);

        assertThat(empty.read(rows, 1)).isTrue();
        assertThat(missing.read(rows, 1)).isTrue();
        assertThat(none.read(rows, 1)).isTrue();

        assertThat(taken(empty)).isEqualTo("[x, xb)");
        assertThat(taken(missing)).isEqualTo("[x, x" + ZERO + ")");
        assertThat(taken(none)).isEqualTo("[, )");
    }

    @Test
    void scannedRangeSpansRanges() {
        RangesReader reader = reader(
                false,
                interval("foo", "foo_3"),
                interval("foo_5", "foo_50"),
                interval("bar", "bar_"),
                point("bar_2"),
                point("bar_3"),
                interval("bar_4", "box"));
        List<String> ranges = new ArrayList<>();

        for (int i = 0; i < 5; i++) {
            reader.read(rows, 1);
            ranges.add(taken(reader));
        }

        assertThat(ranges)
                .containsExactly(
                        "[foo, foo" + ZERO + ")",
                        "[foo" + ZERO + ", foo_2" + ZERO + ")",
                        "[foo_2" + ZERO + ", bar" + ZERO + ")",
                        "[bar" + ZERO + ", bar_2" + ZERO + ")",
                        "[bar_2" + ZERO + ", box)");
    }

    @Test
    void countsRowsOfRangesBegun() {
        RangesReader reader =
                reader(false, interval("foo", "foo_2a"), point("foo_2b"), point("foo_3"), interval("a", "z"));

        reader.read(rows, 3);
        assertThat(reader.takeRangeRows()).containsExactly(2, 0, 1);
        assertThat(reader.takeRangeRows()).containsExactly(0);
        reader.read(rows, 2);
        assertThat(reader.takeRangeRows()).containsExactly(0, 2);
    }
}
