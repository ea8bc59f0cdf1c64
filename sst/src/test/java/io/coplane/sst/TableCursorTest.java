package io.coplane.sst;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.testing.NoLeaks;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Behaviour that the reference's tests pin (sst.md 12.9). */
@ExtendWith(NoLeaks.class)
class TableCursorTest {
    @ParameterizedTest
    @CsvSource({
        "abc, k0000, -",
        "k0100, k0100, k0100",
        "k0100b, k0101, k0100",
        "k1234, k1234, k1234",
        "k1234b, k1235, k1234",
        "k9999, k9999, k9999",
        "z, -, k9999"
    })
    void seeksInBothDirections(String sought, String forward, String reverse) {
        try (var file = new TestFile(new byte[0])) {
            SstReader table = Tables.open("k", 10_000, file);
            TableCursor up = table.cursor(false, file.arena);
            TableCursor down = table.cursor(true, file.arena);

            assertThat(Tables.seek(up, sought)).isEqualTo(!forward.equals("-"));
            assertThat(Tables.key(up)).isEqualTo(forward);
            assertThat(Tables.seek(down, sought)).isEqualTo(!reverse.equals("-"));
            assertThat(Tables.key(down)).isEqualTo(reverse);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 99, 100, 101, 199, 200, 250, 9999, 10_000})
    void scansAllInBothDirections(int n) {
        try (var file = new TestFile(new byte[0])) {
            SstReader table = Tables.open("key", n, file);
            TableCursor cursor = table.cursor(false, file.arena);

            int count = 0;
            for (boolean more = cursor.rewind(); more; more = cursor.next()) {
                assertThat(Tables.value(cursor)).isEqualTo("" + count);
                count++;
            }
            assertThat(count).isEqualTo(n);
            assertThat(cursor.valid()).isFalse();
            assertThat(cursor.next()).isFalse();

            cursor.setReverse(true);
            for (boolean more = cursor.rewind(); more; more = cursor.next()) {
                count--;
                assertThat(Tables.value(cursor)).isEqualTo("" + count);
            }
            assertThat(count).isZero();
        }
    }

    @Test
    void scansFromWhereItWasSought() {
        try (var file = new TestFile(new byte[0])) {
            TableCursor cursor = Tables.open("key", 10_000, file).cursor(false, file.arena);

            int count = 0;
            for (boolean more = Tables.seek(cursor, "key1010"); more; more = cursor.next()) {
                count++;
            }
            assertThat(count).isEqualTo(8990);
            assertThat(Tables.seek(cursor, "key99999")).isFalse();
            assertThat(Tables.seek(cursor, "kex0000")).isTrue();
            assertThat(Tables.key(cursor)).isEqualTo("key0000");
        }
    }

    @Test
    void turnsRoundWhereItStands() {
        try (var file = new TestFile(new byte[0])) {
            TableCursor cursor = Tables.open("key", 10_000, file).cursor(false, file.arena);

            Tables.seek(cursor, "key1010");
            cursor.setReverse(true);
            assertThat(cursor.next()).isTrue();
            assertThat(cursor.next()).isTrue();
            assertThat(Tables.key(cursor)).isEqualTo("key1008");
            cursor.setReverse(false);
            assertThat(cursor.next()).isTrue();
            assertThat(cursor.next()).isTrue();
            assertThat(Tables.key(cursor)).isEqualTo("key1010");
            Tables.seek(cursor, "key2000");
            cursor.setReverse(true);
            assertThat(cursor.next()).isTrue();
            assertThat(Tables.key(cursor)).isEqualTo("key1999");
            cursor.setReverse(false);
            cursor.rewind();
            assertThat(Tables.key(cursor)).isEqualTo("key0000");
        }
    }

    @Test
    void seeksToItsOwnScratchKey() {
        try (var file = new TestFile(new byte[0])) {
            TableCursor cursor = Tables.open("key", 10_000, file).cursor(false, file.arena);

            Tables.seek(cursor, "key5000");
            cursor.seek(cursor.keyBytes(), 0, cursor.keyLength() - 2);

            assertThat(Tables.key(cursor)).isEqualTo("key5000");
            cursor.setReverse(true);
            cursor.seek(cursor.keyBytes(), 0, cursor.keyLength() - 2);
            assertThat(Tables.key(cursor)).isEqualTo("key4999");
        }
    }

    @Test
    void findsEveryKeyAndNoOther() {
        try (var file = new TestFile(new byte[0])) {
            TableCursor cursor = Tables.open("key", 8_000, file).cursor(false, file.arena);

            for (int i = 0; i < 10_000; i++) {
                String key = String.format(Locale.ROOT, "key%04d", i);
                assertThat(Tables.find(cursor, key, -1)).as(key).isEqualTo(i < 8_000);
                assertThat(Tables.key(cursor)).isEqualTo(i < 8_000 ? key : "-");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 10})
    void startsVersionsAnewAtEverySeek(int keys) {
        try (var file = new TestFile(new byte[0]);
                var builder = new SstBuilder(Tables.PLAIN, 1, false, 0, false, file.guard)) {
            for (int i = 0; i < keys; i++) {
                for (int version = 3; version > 0; version--) {
                    Tables.add(builder, "k" + i, version, 0, Tables.ZERO_META, "v" + version);
                }
            }
            SstReader table = SstReader.open(builder.finish(file.arena).bytes(), 1, 1, null);
            TableCursor cursor = table.cursor(false, file.arena);

            for (int i = 0; i < keys; i++) {
                for (int times = 0; times < 2; times++) {
                    assertThat(Tables.seek(cursor, "k" + i)).isTrue();
                    assertThat(cursor.version()).isEqualTo(3);
                    assertThat(cursor.nextVersion()).isTrue();
                    assertThat(cursor.version()).isEqualTo(2);
                    assertThat(cursor.nextVersion()).isTrue();
                    assertThat(Tables.value(cursor)).isEqualTo("v1");
                }
                assertThat(cursor.nextVersion()).isFalse();
                assertThat(cursor.nextVersion()).isFalse();
                assertThat(cursor.valid()).isTrue();
                assertThat(Tables.key(cursor)).isEqualTo("k" + i);
            }
        }
    }

    @Test
    void findsVersionsAmongThousands() {
        try (var file = new TestFile(new byte[0]);
                var builder = new SstBuilder(Tables.PLAIN, 1, false, 0, false, file.guard)) {
            for (String key : List.of("a", "b", "c")) {
                for (int version = 4000; version > 0; version -= 2) {
                    Tables.add(builder, key, version, 0, Tables.ZERO_META, "");
                }
            }
            SstReader table = SstReader.open(builder.finish(file.arena).bytes(), 1, 1, null);
            TableCursor cursor = table.cursor(true, file.arena);

            for (int readTs = 0; readTs < 4010; readTs += 7) {
                boolean found = Tables.find(cursor, "b", readTs);
                assertThat(found).isEqualTo(readTs >= 2);
                if (found) {
                    assertThat(cursor.version()).isEqualTo(Math.min(4000, readTs & ~1));
                }
            }
            Tables.seek(cursor, "b");
            assertThat(cursor.seekVersion(1)).isFalse();
            assertThat(cursor.nextVersion()).isFalse();
            assertThat(cursor.next()).isTrue();
            assertThat(Tables.key(cursor)).isEqualTo("a");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "k0, k00, false, false, false",
        "k000, k0000, false, false, false",
        "k000, k0000, true, true, true",
        "k0000, k00000, false, true, true",
        "k00000, k00001, false, false, true",
        "k0001, k00010, false, true, true",
        "k00010, k0002, false, false, true",
        "k00010, k0002, true, true, true",
        "k0000, k0009, false, true, true",
        "k00090, k00091, true, false, false"
    })
    void tellsWhetherATableOverlapsARange(
            String lower, String upper, boolean inclusive, boolean overlaps, boolean touches) {
        try (var file = new TestFile(new byte[0])) {
            SstReader table = Tables.open("k", 10, file);

            byte[] from = Tables.bytes(lower);
            byte[] to = Tables.bytes(upper);
            assertThat(table.overlaps(from, to, inclusive, file.arena)).isEqualTo(overlaps);
            assertThat(table.touches(from, to, inclusive)).isEqualTo(touches);
        }
    }

    @Test
    void walksALevelAsOneTable() {
        try (var file = new TestFile(new byte[0])) {
            List<SstReader> level = List.of(
                    Tables.open("keya", 10_000, file),
                    Tables.open("keyb", 10_000, file),
                    Tables.open("keyc", 10_000, file));
            TableCursor cursor = TableCursor.overLevel(level, false, file.arena);

            int count = 0;
            for (boolean more = cursor.rewind(); more; more = cursor.next()) {
                assertThat(Tables.value(cursor)).isEqualTo("" + count % 10_000);
                count++;
            }
            assertThat(count).isEqualTo(30_000);
            assertThat(sought(cursor, "a")).isEqualTo("keya0000");
            assertThat(sought(cursor, "keyb")).isEqualTo("keyb0000");
            assertThat(sought(cursor, "keyb9999b")).isEqualTo("keyc0000");
            assertThat(sought(cursor, "keyd")).isEqualTo("-");
            assertThat(sought(cursor, "keyb9999b")).isEqualTo("keyc0000");
            assertThat(Tables.find(cursor, "keyb0007", -1)).isTrue();
            assertThat(Tables.find(cursor, "keyb9999b", -1)).isFalse();
            assertThat(Tables.find(cursor, "keyd", -1)).isFalse();
            assertThat(Tables.find(cursor, "a", -1)).isFalse();

            cursor.setReverse(true);
            for (boolean more = cursor.rewind(); more; more = cursor.next()) {
                count--;
                assertThat(Tables.value(cursor)).isEqualTo("" + count % 10_000);
            }
            assertThat(count).isZero();
            assertThat(sought(cursor, "a")).isEqualTo("-");
            assertThat(sought(cursor, "keyb")).isEqualTo("keya9999");
            assertThat(sought(cursor, "keyb9999b")).isEqualTo("keyb9999");
            assertThat(sought(cursor, "keyd")).isEqualTo("keyc9999");
        }
    }

    @Test
    void isInvalidOverNoTables() {
        try (var file = new TestFile(new byte[0])) {
            TableCursor cursor = TableCursor.overLevel(List.of(), false, file.arena);

            assertThat(cursor.rewind()).isFalse();
            assertThat(Tables.seek(cursor, "a")).isFalse();
            assertThat(Tables.find(cursor, "a", -1)).isFalse();
            assertThat(Tables.findNewer(cursor, "a", 0)).isFalse();
            assertThat(cursor.next()).isFalse();
        }
    }

    private static String sought(TableCursor cursor, String key) {
        assertThat(Tables.seek(cursor, key)).isEqualTo(cursor.valid());
        return Tables.key(cursor);
    }
}
