package io.coplane.sst;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.testing.NoLeaks;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Random rows through every kind of table and back, against a sorted map. */
@ExtendWith(NoLeaks.class)
class ModelTest {
    private static final int STEPS = 3_000;

    /** One version of a key. */
    private record Version(long version, int meta, byte[] userMeta, byte[] value) {}

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void tableAgreesWithSortedMap(long seed) {
        var random = new SplittableRandom(seed);
        NavigableMap<byte[], List<Version>> model = random(random);
        try (var file = new TestFile(new byte[0])) {
            SstOptions options = options(random);
            int tables = random.nextInt(1, 4);
            List<SstReader> level = write(model, options, tables, file);

            walk(TableCursor.overLevel(level, random.nextBoolean(), file.arena), model, random);
            lookUp(TableCursor.overLevel(level, random.nextBoolean(), file.arena), model, random);
        }
    }

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void memTableAgreesWithSortedMap(long seed) {
        var random = new SplittableRandom(seed);
        NavigableMap<byte[], List<Version>> model = random(random);
        try (var file = new TestFile(new byte[0]);
                var builder = new MemTableBuilder(file.guard)) {
            for (int times = 0; times < 2; times++) { // a builder is used again
                model.forEach((key, versions) -> versions.forEach(v -> builder.add(
                        key,
                        0,
                        key.length,
                        v.version,
                        v.meta,
                        v.userMeta,
                        0,
                        v.userMeta.length,
                        v.value,
                        0,
                        v.value.length)));
                MemTable table = builder.finish(file.arena);

                assertThat(table.entries())
                        .isEqualTo(model.values().stream().mapToInt(List::size).sum());
                walk(table.cursor(random.nextBoolean(), file.arena), model, random);
                lookUp(table.cursor(random.nextBoolean(), file.arena), model, random);
            }
            MemTable empty = builder.finish(file.arena);
            assertThat(empty.cursor(false, file.arena).rewind()).isFalse();
            assertThat(empty.spans(new byte[] {1}, 0, 1)).isFalse();
        }
    }

    private static SstOptions options(SplittableRandom random) {
        ShardKey key = random.nextInt(4) == 0 ? ShardKey.plain(bytes(random, 64), random.nextInt(5)) : null;
        return new SstOptions(
                random.nextInt(10) == 0 ? 1 : random.nextInt(1, 3_000),
                CompressionType.values()[random.nextInt(3)],
                3,
                ChecksumType.values()[random.nextInt(3)],
                key);
    }

    private static List<SstReader> write(
            NavigableMap<byte[], List<Version>> model, SstOptions options, int tables, TestFile file) {
        var level = new ArrayList<SstReader>();
        var keys = new ArrayList<>(model.keySet());
        try (var builder = new SstBuilder(options, 1, false, file.guard)) {
            int written = 0;
            for (int i = 0; i < keys.size(); i++) {
                for (Version v : model.get(keys.get(i))) {
                    Tables.add(builder, keys.get(i), v.version, v.meta, v.userMeta, v.value);
                }
                if ((i + 1) * tables / keys.size() > written || i + 1 == keys.size()) {
                    written++;
                    int id = level.size() + 1;
                    level.add(SstReader.open(builder.finish(file.arena).bytes(), id, 1 + id % 3, options.key()));
                    builder.reset(id + 1);
                }
            }
        }
        return level;
    }

    private static void walk(TableCursor cursor, NavigableMap<byte[], List<Version>> model, SplittableRandom random) {
        Map.Entry<byte[], List<Version>> at = null;
        int version = 0;
        for (int step = 0; step < STEPS; step++) {
            boolean moved;
            switch (random.nextInt(at == null ? 2 : 12)) {
                case 0 -> {
                    moved = cursor.rewind();
                    at = cursor.isReverse() ? model.lastEntry() : model.firstEntry();
                    version = 0;
                }
                case 1 -> {
                    byte[] key = near(model, random);
                    moved = cursor.seek(key, 0, key.length);
                    at = cursor.isReverse() ? model.floorEntry(key) : model.ceilingEntry(key);
                    version = 0;
                }
                case 2 -> {
                    cursor.setReverse(!cursor.isReverse());
                    continue;
                }
                case 3, 4, 5, 6 -> {
                    moved = cursor.next();
                    at = cursor.isReverse() ? model.lowerEntry(at.getKey()) : model.higherEntry(at.getKey());
                    version = 0;
                }
                case 7, 8, 9 -> {
                    assertThat(cursor.nextVersion())
                            .isEqualTo(++version < at.getValue().size());
                    moved = true;
                    if (version >= at.getValue().size()) {
                        assertThat(cursor.nextVersion()).isFalse();
                        assertThat(cursor.copyKey()).isEqualTo(at.getKey());
                        moved = cursor.seek(at.getKey(), 0, at.getKey().length);
                        version = 0;
                    }
                }
                default -> {
                    long readTs = random.nextLong(0, 40);
                    int found = version;
                    while (found < at.getValue().size() && at.getValue().get(found).version > readTs) {
                        found++;
                    }
                    assertThat(cursor.seekVersion(readTs))
                            .isEqualTo(found < at.getValue().size());
                    version = found;
                    moved = true;
                    if (found == at.getValue().size()) {
                        moved = cursor.seek(at.getKey(), 0, at.getKey().length);
                        version = 0;
                    }
                }
            }
            assertThat(moved).isEqualTo(at != null);
            assertThat(cursor.valid()).isEqualTo(at != null);
            if (at != null) {
                assertOn(cursor, at.getKey(), at.getValue().get(version));
            }
        }
    }

    private static void lookUp(TableCursor cursor, NavigableMap<byte[], List<Version>> model, SplittableRandom random) {
        for (int i = 0; i < STEPS; i++) {
            byte[] key = near(model, random);
            long readTs = random.nextLong(0, 40);
            List<Version> versions = model.getOrDefault(key, List.of());
            long hash = Fingerprint64.hash(key);
            if (random.nextBoolean()) {
                var expected =
                        versions.stream().filter(v -> v.version <= readTs).findFirst();
                assertThat(cursor.find(key, 0, key.length, hash, readTs)).isEqualTo(expected.isPresent());
                expected.ifPresent(v -> assertOn(cursor, key, v));
            } else {
                var expected = versions.stream()
                        .limit(1)
                        .filter(v -> v.version > readTs)
                        .findFirst();
                assertThat(cursor.findNewer(key, 0, key.length, hash, readTs)).isEqualTo(expected.isPresent());
                expected.ifPresent(v -> assertOn(cursor, key, v));
            }
        }
    }

    private static void assertOn(TableCursor cursor, byte[] key, Version v) {
        assertThat(cursor.copyKey()).isEqualTo(key);
        assertThat(cursor.version()).isEqualTo(v.version);
        assertThat(cursor.meta() & ~ValueMeta.HAS_OLD_VERSION).isEqualTo(v.meta);
        assertThat(cursor.copyUserMeta()).isEqualTo(v.userMeta);
        assertThat(cursor.copyValue()).isEqualTo(v.value);
    }

    /** A key of the model or one beside it. */
    private static byte[] near(NavigableMap<byte[], List<Version>> model, SplittableRandom random) {
        byte[] random4 = bytes(random, random.nextInt(1, 4));
        byte[] key = model.floorKey(random4);
        if (key == null) {
            return random4;
        }
        return switch (random.nextInt(4)) {
            case 0 -> Arrays.copyOf(key, key.length + 1);
            case 1 -> key.length > 1 ? Arrays.copyOf(key, key.length - 1) : key;
            default -> key;
        };
    }

    private static NavigableMap<byte[], List<Version>> random(SplittableRandom random) {
        var model = new TreeMap<byte[], List<Version>>(Arrays::compareUnsigned);
        int keys = random.nextInt(1, 600);
        int alphabet = random.nextInt(2, 256);
        int longest = random.nextInt(2, 40);
        for (int i = 0; i < keys; i++) {
            byte[] key = new byte[random.nextInt(1, longest)];
            for (int j = 0; j < key.length; j++) {
                key[j] = (byte) random.nextInt(alphabet);
            }
            if (Bytes.hasKeyspace(key, 0, key.length)) {
                key[0] = 't';
            }
            var versions = new ArrayList<Long>();
            int count = random.nextInt(5) > 0 ? random.nextInt(1, 3) : random.nextInt(1, 12);
            while (versions.size() < count) {
                long version = random.nextLong(1, 40);
                if (!versions.contains(version)) {
                    versions.add(version);
                }
            }
            versions.sort(Collections.reverseOrder());
            model.put(
                    key,
                    versions.stream()
                            .map(version -> new Version(
                                    version,
                                    random.nextInt(2),
                                    bytes(random, random.nextInt(4) == 0 ? random.nextInt(256) : 17),
                                    bytes(
                                            random,
                                            random.nextInt(20) == 0 ? random.nextInt(3_000) : random.nextInt(30))))
                            .toList());
        }
        return model;
    }

    private static byte[] bytes(SplittableRandom random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }
}
