package io.coplane.sst;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.testing.Corrupt;
import io.coplane.testing.Dumps;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The locks of snapshot.md 8.6. */
class LockTest {
    private static final byte[] PK = Tables.bytes("pk");
    private static final byte[] SHORT_VALUE = Tables.bytes("short_value");
    private static final long[] NONE = new long[0];

    /** A lock and its bytes. */
    record Vector(Lock lock, String hex) {}

    static Stream<Vector> vectors() {
        List<byte[]> secondaries = List.of(Tables.bytes("k"));
        return Stream.of(
                new Vector(Lock.of(LockType.PUT, PK, 1, 10), "5004706b010a"),
                new Vector(
                        new Lock(LockType.DELETE, PK, 1, 10, SHORT_VALUE, 0, 0, 0, null, NONE, 0, 0, 0, false),
                        "4404706b010a760b73686f72745f76616c7565"),
                new Vector(
                        new Lock(
                                LockType.PUT,
                                PK,
                                111,
                                222,
                                SHORT_VALUE,
                                333,
                                444,
                                555,
                                secondaries,
                                NONE,
                                0,
                                0,
                                0,
                                false),
                        "5004706b6fde01760b73686f72745f76616c756566000000000000014d7400000000000001bc"
                                + "63000000000000022b6101026b"),
                new Vector(
                        new Lock(
                                LockType.PUT,
                                PK,
                                111,
                                222,
                                SHORT_VALUE,
                                333,
                                444,
                                555,
                                null,
                                new long[] {12, 24, 13},
                                0,
                                0,
                                0,
                                false),
                        "5004706b6fde01760b73686f72745f76616c756566000000000000014d7400000000000001bc"
                                + "63000000000000022b7203000000000000000c0000000000000018000000000000000d"),
                new Vector(
                        new Lock(LockType.LOCK, PK, 1, 10, null, 6, 16, 8, null, NONE, 4, 2, 1, false),
                        "4c04706b010a660000000000000006740000000000000010630000000000000008"
                                + "6c0000000000000004027301"),
                new Vector(
                        new Lock(LockType.PUT, new byte[] {1}, 3, 12, null, 0, 100, 1, null, NONE, 0, 0, 0, true),
                        "500201030c74000000000000006463000000000000000154"));
    }

    @ParameterizedTest
    @MethodSource("vectors")
    void writesAndReadsTheVectorsOfTheSpec(Vector vector) {
        assertThat(Dumps.hex(vector.lock().encode())).isEqualTo(vector.hex());
        assertThat(Lock.parse(Dumps.bytes(vector.hex())))
                .usingRecursiveComparison()
                .isEqualTo(vector.lock());
    }

    @Test
    void readsALockOfATxnFile() {
        Lock lock = Lock.parse(Dumps.bytes("440201030c740000000000000064630000000000000001547603616263"));

        assertThat(lock.type()).isEqualTo(LockType.DELETE);
        assertThat(lock.txnFile()).isTrue();
        assertThat(lock.shortValue()).isEqualTo(Tables.bytes("abc"));
    }

    @Test
    void takesAMissingTtlAsZeroAndIgnoresWhatItDoesNotKnow() {
        assertThat(Lock.parse(Dumps.bytes("5004706b01")).ttlMillis()).isZero();
        byte[] known = Lock.of(LockType.PUT, PK, 1, 10).encode();
        byte[] withMore = Arrays.copyOf(known, known.length + 7);
        System.arraycopy(Tables.bytes("unknown"), 0, withMore, known.length, 7);

        assertThat(Lock.parse(withMore).encode()).isEqualTo(known);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "51",
                "50",
                "5004706b", // no start ts
                "5004706b010a76", // no length of the value
                "5004706b010a760b73", // value longer than the lock
                "5004706b010a76ffffffffffffffffff01",
                "5004706b010a66000000",
                "5004706b010a61ffffffff0f", // more secondaries than there is room for
                "5004706b010a72ffffffffffffffff7f",
                "5003706b010a", // negative length
                "50ffffffffffffffffffff01"
            })
    void refusesWhatIsNoLock(String hex) {
        assertThatThrownBy(() -> Lock.parse(Dumps.bytes(hex)))
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.CORRUPT_VALUE));
    }

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void readsWhatItWrites(long seed) {
        var random = new SplittableRandom(seed);
        for (int i = 0; i < 300; i++) {
            List<byte[]> secondaries = random.nextBoolean() ? null : new ArrayList<>();
            for (int k = random.nextInt(4); secondaries != null && k > 0; k--) {
                secondaries.add(bytes(random, 20));
            }
            var lock = new Lock(
                    LockType.values()[random.nextInt(4)],
                    bytes(random, 40),
                    number(random),
                    number(random),
                    random.nextBoolean() ? null : bytes(random, 300),
                    number(random),
                    number(random),
                    number(random),
                    secondaries,
                    random.longs(random.nextInt(3)).toArray(),
                    number(random),
                    number(random),
                    number(random),
                    random.nextBoolean());

            byte[] encoded = lock.encode();

            assertThat(Lock.parse(encoded)).usingRecursiveComparison().isEqualTo(lock);
            assertThat(LockTs.parse(encoded, 0, encoded.length)).isEqualTo(lock.startTs());
            Corrupt.everyWay(encoded, seed, 100, (damage, bytes) -> {
                try {
                    Lock.parse(bytes);
                } catch (CoplaneException e) {
                    assertThat(e.code()).isEqualTo(ErrorCode.CORRUPT_VALUE);
                }
            });
        }
    }

    private static long number(SplittableRandom random) {
        return random.nextLong() >>> random.nextInt(64);
    }

    private static byte[] bytes(SplittableRandom random, int most) {
        byte[] bytes = new byte[random.nextInt(most)];
        random.nextBytes(bytes);
        return bytes;
    }
}
