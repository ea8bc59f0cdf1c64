package io.coplane.nativecache.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectListing;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.testing.FaultProxy;
import io.coplane.testing.FaultProxy.Fault;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.S3Server;
import io.coplane.testing.Seeds;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** ia.md 15 to 17 against a real S3 server, with a proxy between that fails as a test wants. */
@ExtendWith(NoLeaks.class)
final class S3StoreTest {
    private static final int RETRIES = 2;
    /** Time-outs that no sound request of a slow machine runs into, so that requests can be counted. */
    private static final S3Timing PATIENT = timing(
            RETRIES, Duration.ofMillis(1), Duration.ofSeconds(30), Duration.ofSeconds(5), Duration.ofSeconds(30));
    /** For requests that stall: sound ones may be late too, so their number is not known. */
    private static final S3Timing QUICK = quick(RETRIES);

    private static final S3Timing QUICK_AND_STUBBORN = quick(12);
    /** So that nothing but a deadline ends a request. */
    private static final S3Timing ENDLESS =
            timing(RETRIES, Duration.ofMillis(1), Duration.ofHours(1), Duration.ZERO, Duration.ofHours(1));

    private static S3Server server;
    private static FaultProxy proxy;

    private final MemoryLimiter limiter = new MemoryLimiter(64 << 20);
    private final MemoryLimiter wire = new MemoryLimiter(64 << 20);
    private MemoryGuard guard;
    private NativeArena arena;
    private S3Store store;

    @BeforeAll
    static void start() throws Exception {
        server = S3Server.start();
        proxy = new FaultProxy(server.port());
        // the first request of a process loads classes for longer than the quick time-outs below
        try (MemoryGuard guard = MemoryGuard.unlimited();
                NativeArena arena = new NativeArena(guard);
                S3Store patient = S3Store.open(
                        config(S3Timing.DEFAULTS, 8, false),
                        Clock.system(),
                        MemoryGuard.unlimited(),
                        StoreMetrics.NONE)) {
            patient.put(FileKind.TXN_CHUNK, 1, MemorySegment.ofArray(new byte[1 << 20]))
                    .join();
            patient.read(FileKind.TXN_CHUNK, 1, 0, 10, arena).join();
            patient.byteSize(FileKind.TXN_CHUNK, 1).join();
        }
    }

    @AfterAll
    static void stop() throws Exception {
        proxy.close();
        server.close();
    }

    @BeforeEach
    void open() {
        proxy.plan(request -> Fault.NONE);
        proxy.forget();
        guard = limiter.acquire(0);
        arena = new NativeArena(guard);
        store = open(PATIENT, 8);
    }

    private S3Store open(S3Timing timing, int inFlight) {
        return S3Store.open(config(timing, inFlight, false), Clock.system(), wire.acquire(0), StoreMetrics.NONE);
    }

    private void reopen(S3Timing timing) {
        store.close();
        store = open(timing, 8);
    }

    private static boolean isStall(Fault fault) {
        return fault == Fault.STALL_HEAD || fault == Fault.STALL_BODY;
    }

    private static S3Timing quick(int retries) {
        return timing(
                retries, Duration.ofMillis(1), Duration.ofMillis(500), Duration.ofMillis(200), Duration.ofMillis(250));
    }

    private static S3Timing timing(
            int retries, Duration retrySleep, Duration dispatch, Duration writePerMib, Duration readBody) {
        return new S3Timing(
                retries,
                retrySleep,
                Duration.ofSeconds(30),
                dispatch,
                writePerMib,
                readBody,
                Duration.ofSeconds(20),
                Duration.ofSeconds(30));
    }

    @AfterEach
    void accountsAreZero() {
        assertThat(store.bytesInFlight()).isZero();
        assertThat(store.requestsInFlight()).isZero();
        store.close();
        arena.close();
        guard.close();
        assertThat(limiter.usedBytes()).isZero();
        assertThat(wire.usedBytes()).isZero();
    }

    private static S3Config config(S3Timing timing, int inFlight, boolean readOnly) {
        return new S3Config(
                S3Server.BUCKET,
                "p",
                "127.0.0.1:" + proxy.port(),
                "",
                S3Server.KEY_ID,
                new Secret(S3Server.SECRET_KEY),
                Optional.empty(),
                readOnly,
                inFlight,
                timing);
    }

    @Test
    void readsBackWhatWasPut() {
        byte[] file = bytes(1, 3 << 20); // more than the CRT's window
        put(7, file);

        assertThat(read(7, 0, ObjectStore.TO_END)).isEqualTo(file);
        assertThat(read(7, 1 << 20, ObjectStore.TO_END)).isEqualTo(slice(file, 1 << 20, file.length));
        assertThat(read(7, 5, 1_000_005)).isEqualTo(slice(file, 5, 1_000_005));
        assertThat(read(7, 0, file.length)).isEqualTo(file);
        assertThat(store.byteSize(FileKind.BLOB, 7).join()).isEqualTo(file.length);

        put(7, bytes(2, 10));
        assertThat(read(7, 0, ObjectStore.TO_END)).isEqualTo(bytes(2, 10));
    }

    @Test
    void oneCallIsOneRequestWithTheHeadersOfTheSpec() {
        put(42, new byte[20 << 20]); // a put of this size would be cut in parts by the CRT's own S3 client
        read(42, 0, ObjectStore.TO_END);
        read(42, 0, 10 << 20);
        read(42, 8, ObjectStore.TO_END);

        List<FaultProxy.Seen> seen = proxy.seen();
        assertThat(seen).extracting(FaultProxy.Seen::method).containsExactly("PUT", "GET", "GET", "GET");
        assertThat(seen)
                .extracting(FaultProxy.Seen::path)
                .containsOnly("/" + S3Server.BUCKET + "/p/blob/b6/000000000000002a.blob");
        assertThat(seen)
                .extracting(request -> request.headers().get("range"))
                .containsExactly(null, null, "bytes=0-10485759", "bytes=8-");
        assertThat(seen.getFirst().headers())
                .containsEntry("content-length", Integer.toString(20 << 20))
                .doesNotContainKeys("x-amz-storage-class", "x-amz-checksum-crc32", "x-amz-sdk-checksum-algorithm");
        assertThat(seen)
                .allSatisfy(request -> assertThat(request.headers().get("authorization"))
                        .startsWith("AWS4-HMAC-SHA256 Credential=coplane/")
                        .contains("/us-east-1/s3/aws4_request")
                        .doesNotContain(S3Server.SECRET_KEY));
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {
                "NONE",
                "DENIED",
                "MISSING",
                "TAGGED",
                "UNTAGGED",
                "ANSWER_OK",
                "HALF_LENGTH",
                "RESET_REQUEST",
                "OTHER_RANGE"
            },
            mode = EnumSource.Mode.EXCLUDE)
    void aReadIsRepeatedUntilItIsWhole(Fault fault) {
        byte[] file = bytes(3, 100_000);
        put(1, file);
        reopen(isStall(fault) ? QUICK_AND_STUBBORN : PATIENT);
        failTimes(fault, RETRIES);

        assertThat(read(1, 0, ObjectStore.TO_END)).isEqualTo(file);
        assertSeenAfter(fault);
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"HALF_LENGTH", "OTHER_RANGE", "STALL_BODY", "SHORT_BODY", "RESET_BODY"})
    void aRangeIsRepeatedUntilItIsTheOneAskedFor(Fault fault) {
        byte[] file = bytes(3, 100_000);
        put(1, file);
        reopen(isStall(fault) ? QUICK_AND_STUBBORN : PATIENT);
        failTimes(fault, RETRIES);

        assertThat(read(1, 10, 50_000)).isEqualTo(slice(file, 10, 50_000));
        assertSeenAfter(fault);
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {
                "STALL_HEAD",
                "STALL_BODY",
                "SLOW_DOWN",
                "SERVER_ERROR",
                "RESET_BODY",
                "SHORT_BODY",
                "LONG_LENGTH",
                "RESET_FIRST"
            })
    void aStoreThatNeverRecoversIsATypedErrorThatNamesTheObject(Fault fault) {
        put(42, bytes(3, 100_000));
        reopen(isStall(fault) ? QUICK : PATIENT);
        failTimes(fault, Integer.MAX_VALUE);

        assertThatThrownBy(() -> store.read(FileKind.BLOB, 42, 0, ObjectStore.TO_END, arena)
                        .join())
                .cause()
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.STORE_UNAVAILABLE))
                .hasMessageContaining("p/blob/b6/000000000000002a.blob")
                .hasMessageContaining("attempts=" + (RETRIES + 1));
        if (!isStall(fault)) { // of those some may have been given up before they came
            assertThat(proxy.seen()).hasSize(RETRIES + 1);
        }
    }

    @Test
    void missingAndDeniedAreNotRepeated() {
        assertFails(
                () -> store.read(FileKind.SST, 42, 0, ObjectStore.TO_END, arena), ErrorCode.FILE_NOT_FOUND, "p/b6/");
        assertFails(() -> store.byteSize(FileKind.SST, 42), ErrorCode.FILE_NOT_FOUND, "p/b6/");
        failTimes(Fault.MISSING, 9);
        assertFails(() -> store.read(FileKind.SST, 1, 2, 3, arena), ErrorCode.FILE_NOT_FOUND, "p/61/");
        assertThat(proxy.seen()).hasSize(1);
        failTimes(Fault.DENIED, 9);
        assertFails(() -> store.read(FileKind.SST, 1, 2, 3, arena), ErrorCode.STORE_REFUSED, "AccessDenied");
        assertFails(
                () -> store.put(FileKind.SST, 1, MemorySegment.ofArray(new byte[9])), ErrorCode.STORE_REFUSED, "p/61/");

        assertThat(proxy.seen()).hasSize(2);
        assertThat(arena.ownedBytes()).isZero();
    }

    @Test
    void aWrongSecretIsRefusedAndNotShown() {
        S3Config good = config(PATIENT, 2, false);
        S3Config bad = new S3Config(
                good.bucket(),
                good.prefix(),
                good.endpoint(),
                "",
                good.keyId(),
                new Secret("my-guess"),
                Optional.empty(),
                false,
                2,
                PATIENT);
        try (S3Store other = S3Store.open(bad, Clock.system(), wire.acquire(0), StoreMetrics.NONE)) {
            assertFails(() -> other.byteSize(FileKind.SST, 1), ErrorCode.STORE_REFUSED, "status=403");
            assertThatThrownBy(() -> other.read(FileKind.SST, 1, 0, 1, arena).join())
                    .hasStackTraceContaining("SignatureDoesNotMatch")
                    .satisfies(e -> assertThat(e.toString()).doesNotContain("my-guess"));
        }
    }

    @Test
    void aRangeBeyondTheFileIsAnErrorOfTheFile() {
        put(1, bytes(1, 10));

        for (long[] range : new long[][] {{0, 11}, {11, ObjectStore.TO_END}, {9, 12}, {20, 30}}) {
            assertFails(
                    () -> store.read(FileKind.BLOB, 1, range[0], range[1], arena), ErrorCode.FILE_TRUNCATED, "range");
        }
        for (long[] range : new long[][] {{-1, 3}, {3, 3}, {4, 2}}) {
            assertFails(() -> store.read(FileKind.BLOB, 1, range[0], range[1], arena), ErrorCode.BAD_ARGUMENT, "range");
        }
        assertThat(proxy.seen()).hasSize(1 + 4);
        assertThat(limiter.usedBytes()).isZero();
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"RESET_REQUEST", "RESET_FIRST", "SLOW_DOWN", "STALL_HEAD", "SERVER_ERROR"})
    void aPutIsRepeatedAndNothingHalfWrittenIsSeen(Fault fault) {
        byte[] old = bytes(1, 1000);
        byte[] next = bytes(2, 2_000_000);
        put(1, old);
        proxy.plan(request -> request.method().equals("PUT") ? fault : Fault.NONE);

        reopen(isStall(fault) ? QUICK : PATIENT);
        assertFails(
                () -> store.put(FileKind.BLOB, 1, MemorySegment.ofArray(next)),
                ErrorCode.STORE_UNAVAILABLE,
                "p/blob/61/");
        reopen(isStall(fault) ? QUICK_AND_STUBBORN : PATIENT);
        assertThat(read(1, 0, ObjectStore.TO_END)).isEqualTo(old);

        failTimes(fault, RETRIES);
        put(1, next);
        assertSeenAfter(fault);
        assertThat(read(1, 0, ObjectStore.TO_END)).isEqualTo(next);
    }

    @Test
    void theDeadlineCutsTheWaitForTheStoreShort() {
        put(1, bytes(1, 1000));
        failTimes(Fault.STALL_HEAD, 99);
        reopen(ENDLESS);

        ObjectStore hurried = store.within(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(100));
        for (int i = 0; i < 2; i++) {
            assertFails(
                    () -> hurried.read(FileKind.BLOB, 1, 0, 5, arena).orTimeout(60, TimeUnit.SECONDS),
                    ErrorCode.DEADLINE,
                    "p/blob/61/");
        }
        assertThat(proxy.seen()).hasSizeLessThanOrEqualTo(1); // the second never went out
    }

    @Test
    void aPauseBeyondTheDeadlineIsNotSlept() {
        reopen(timing(9, Duration.ofHours(1), PATIENT.dispatch(), PATIENT.writePerMib(), PATIENT.readBody()));
        failTimes(Fault.SLOW_DOWN, 99);

        ObjectStore hurried = store.within(System.nanoTime() + TimeUnit.MINUTES.toNanos(30));
        assertFails(() -> hurried.read(FileKind.BLOB, 1, 0, 5, arena), ErrorCode.DEADLINE, "SlowDown");
        assertThat(proxy.seen()).hasSize(1);
    }

    @Test
    void requestsAboveTheBoundWaitForAPlaceAndNoLongerThanTheirDeadline() {
        put(1, bytes(1, 1000));
        CountDownLatch isLetOn = new CountDownLatch(1);
        proxy.plan(request -> {
            try {
                isLetOn.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return Fault.NONE;
        });
        try (S3Store narrow = open(ENDLESS, 2)) {
            List<CompletableFuture<MemorySegment>> reads = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                reads.add(narrow.read(FileKind.BLOB, 1, 0, ObjectStore.TO_END, arena));
            }
            ObjectStore hurried = narrow.within(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(100));
            assertThat(narrow.requestsInFlight()).isEqualTo(2);
            assertThat(narrow.bytesInFlight()).isEqualTo(2 * S3Store.BYTES_PER_REQUEST);
            assertFails(
                    () -> hurried.read(FileKind.BLOB, 1, 0, 5, arena).orTimeout(60, TimeUnit.SECONDS),
                    ErrorCode.DEADLINE,
                    "p/blob/61/");
            isLetOn.countDown();
            reads.forEach(read -> assertThat(read.join().byteSize()).isEqualTo(1000));
            assertThat(narrow.requestsInFlight()).isZero();
        } finally {
            isLetOn.countDown();
        }
    }

    @Test
    void aConnectionOfAnAbortedRequestIsGivenUp() {
        put(1, bytes(1, 1000));
        AtomicInteger number = new AtomicInteger();
        proxy.plan(request -> number.getAndIncrement() % 2 == 0 ? Fault.STALL_BODY : Fault.NONE);
        try (S3Store narrow = open(QUICK_AND_STUBBORN, 1)) {
            for (int i = 0; i < 4; i++) {
                assertThat(narrow.read(FileKind.BLOB, 1, 0, ObjectStore.TO_END, arena)
                                .join()
                                .byteSize())
                        .isEqualTo(1000);
            }
        }
        assertThat(proxy.seen()).hasSizeGreaterThanOrEqualTo(1 + 8);
    }

    @Test
    void aBodyTooLargeForTheLimitIsRefusedAndNothingIsHeld() {
        put(1, bytes(1, 1000));
        try (MemoryGuard small = new MemoryLimiter(999).acquire(0);
                NativeArena tight = new NativeArena(small)) {
            assertThatThrownBy(() -> store.read(FileKind.BLOB, 1, 0, ObjectStore.TO_END, tight)
                            .join())
                    .hasCauseInstanceOf(MemoryLimitException.class);
            assertThat(tight.ownedBytes()).isZero();
        }
        assertThat(proxy.seen()).hasSize(2);
    }

    @Test
    void listsPartByPart() {
        ObjectListing all = store.list("", 1000).join();
        store.put(FileKind.VECTOR_INDEX, 1, MemorySegment.ofArray(new byte[5])).join();
        store.put(FileKind.VECTOR_INDEX, 42, MemorySegment.ofArray(new byte[6])).join();

        ObjectListing first = store.list("vec/", 1).join();
        ObjectListing second = store.list(first.next().orElseThrow(), 1).join();

        assertThat(all.next()).isEmpty();
        assertThat(first.entries()).containsExactly(new ObjectListing.Entry("vec/61/0000000000000001.vec", 5));
        assertThat(second.entries()).containsExactly(new ObjectListing.Entry("vec/b6/000000000000002a.vec", 6));
    }

    @Test
    void removalCopiesTheObjectOntoItself() {
        put(1, bytes(1, 10));
        failTimes(Fault.DENIED, 1); // repeated whatever came

        assertThat(store.markRemoved(FileKind.BLOB, 1, 10).join()).isTrue();
        FaultProxy.Seen copy = proxy.seen().get(1);
        assertThat(copy.method()).isEqualTo("PUT");
        assertThat(copy.headers())
                .containsEntry("x-amz-metadata-directive", "REPLACE")
                .containsEntry("x-amz-tagging", "deleted=true")
                .containsEntry("x-amz-tagging-directive", "REPLACE")
                .doesNotContainKey("x-amz-storage-class");
        assertThat(copy.headers().get("x-amz-copy-source"))
                .endsWith(S3Server.BUCKET + "/p/blob/61/0000000000000001.blob");
        assertThat(proxy.seen().get(2).method()).isEqualTo("HEAD");
        assertThat(read(1, 0, ObjectStore.TO_END)).hasSize(10);

        failTimes(Fault.SERVER_ERROR, 99);
        assertThat(store.markRemoved(FileKind.BLOB, 1, 10).join()).isFalse();
    }

    @Test
    void aRemovalIsSeenByItsTagAndUndone() {
        put(1, bytes(1, 10));
        proxy.forget();
        proxy.plan(request -> Fault.UNTAGGED);
        assertThat(store.isRemoved(FileKind.BLOB, 1).join()).isFalse();
        assertThat(store.retain(FileKind.BLOB, 1).join()).isFalse();
        assertThat(proxy.seen()).allMatch(seen -> seen.method().equals("GET"));

        proxy.plan(request -> Fault.TAGGED);
        assertThat(store.isRemoved(FileKind.BLOB, 1).join()).isTrue();
        assertThat(store.retain(FileKind.BLOB, 1).join()).isTrue();
        assertThat(proxy.seen().getLast().method()).isEqualTo("PUT");
        assertThat(proxy.seen().getLast().headers())
                .containsEntry("x-amz-metadata-directive", "REPLACE")
                .containsEntry("x-amz-tagging-directive", "REPLACE")
                .containsKey("x-amz-copy-source");
        assertThat(proxy.seen().getLast().headers().getOrDefault("x-amz-tagging", ""))
                .isEmpty();
        assertThat(read(1, 0, ObjectStore.TO_END)).hasSize(10);
    }

    @Test
    void aRefusalToTellTagsIsNotRepeatedButALostConnectionIs() {
        put(1, bytes(1, 10));
        proxy.forget();
        proxy.plan(request -> Fault.SLOW_DOWN);
        assertFails(() -> store.isRemoved(FileKind.BLOB, 1), ErrorCode.STORE_UNAVAILABLE, "SlowDown");
        assertThat(proxy.seen()).hasSize(1);
        proxy.plan(request -> Fault.MISSING);
        assertFails(() -> store.retain(FileKind.BLOB, 1), ErrorCode.FILE_NOT_FOUND, "does not exist");

        proxy.forget();
        proxy.plan(request -> proxy.seen().size() < 3 ? Fault.RESET_FIRST : Fault.TAGGED);
        assertThat(store.isRemoved(FileKind.BLOB, 1).join()).isTrue();
        assertThat(proxy.seen()).hasSize(3);
    }

    @Test
    void anUnknownProvidersFileCanBeDeleted() {
        put(1, bytes(1, 10));

        store.permanentlyRemove(FileKind.BLOB, 1).join();
        store.permanentlyRemove(FileKind.BLOB, 1).join();

        assertFails(() -> store.byteSize(FileKind.BLOB, 1), ErrorCode.FILE_NOT_FOUND, "does not exist");
    }

    @Test
    void aReadOnlyStoreWritesNothing() {
        try (S3Store other =
                S3Store.open(config(PATIENT, 2, true), Clock.system(), wire.acquire(0), StoreMetrics.NONE)) {
            assertFails(
                    () -> other.put(FileKind.SST, 1, MemorySegment.ofArray(new byte[1])),
                    ErrorCode.STORE_READ_ONLY,
                    "The DFS is read only");
            assertFails(() -> other.markRemoved(FileKind.SST, 1, 1), ErrorCode.STORE_READ_ONLY, "The DFS is read only");
            assertFails(() -> other.retain(FileKind.SST, 1), ErrorCode.STORE_READ_ONLY, "The DFS is read only");
            assertFails(() -> other.permanentlyRemove(FileKind.SST, 1), ErrorCode.STORE_READ_ONLY, "read only");
        }
        assertThat(proxy.seen()).isEmpty();
    }

    @Test
    void aClosedStoreFails() {
        S3Store other = open(PATIENT, 2);
        other.close();
        other.close();

        assertThatThrownBy(() -> other.read(FileKind.SST, 1, 0, 1, arena).join())
                .cause()
                .isInstanceOf(CoplaneException.class);
    }

    /** Reads and puts under random faults: right bytes or a typed error, and nothing left on any account. */
    @ParameterizedTest
    @MethodSource("seeds")
    void anyMixOfFaultsGivesTheRightBytesOrATypedError(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        byte[][] files = new byte[6][];
        for (int i = 0; i < files.length; i++) {
            files[i] = bytes(seed + i, 1 + random.nextInt(300_000));
            put(100 + i, files[i]);
        }
        reopen(QUICK);
        SplittableRandom faults = random.split();
        Fault[] all = {
            Fault.NONE,
            Fault.NONE,
            Fault.NONE,
            Fault.NONE,
            Fault.NONE,
            Fault.NONE,
            Fault.SLOW_DOWN,
            Fault.SERVER_ERROR,
            Fault.RESET_BODY,
            Fault.SHORT_BODY,
            Fault.LONG_LENGTH,
            Fault.OTHER_RANGE,
            Fault.RESET_FIRST,
            Fault.STALL_BODY
        };
        proxy.plan(request -> {
            synchronized (faults) {
                return all[faults.nextInt(all.length)];
            }
        });
        List<CompletableFuture<MemorySegment>> reads = new ArrayList<>();
        List<byte[]> wanted = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            int file = random.nextInt(files.length);
            int start = random.nextInt(files[file].length);
            int end = start + 1 + random.nextInt(files[file].length - start);
            reads.add(store.read(FileKind.BLOB, 100 + file, start, end, arena));
            wanted.add(slice(files[file], start, end));
        }

        for (int i = 0; i < reads.size(); i++) {
            CompletableFuture<MemorySegment> read = reads.get(i).handle((bytes, failure) -> {
                if (failure == null) {
                    return bytes;
                }
                assertThat(failure.getCause())
                        .isInstanceOfSatisfying(
                                CoplaneException.class,
                                e -> assertThat(e.code()).isEqualTo(ErrorCode.STORE_UNAVAILABLE));
                return null;
            });
            MemorySegment bytes = read.join();
            if (bytes != null) {
                assertThat(bytes.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(wanted.get(i));
            }
        }
    }

    static Stream<Long> seeds() {
        return Stream.of(1L, 42L, Seeds.fresh());
    }

    private void failTimes(Fault fault, int times) {
        AtomicInteger left = new AtomicInteger(times);
        proxy.forget();
        proxy.plan(request -> left.getAndDecrement() > 0 ? fault : Fault.NONE);
    }

    /** All the faults came, and a sound request after them; no other one but where it may have been late. */
    private static void assertSeenAfter(Fault fault) {
        if (isStall(fault)) {
            assertThat(proxy.seen()).hasSizeGreaterThanOrEqualTo(RETRIES + 1);
        } else {
            assertThat(proxy.seen()).hasSize(RETRIES + 1);
        }
    }

    private void put(long fileId, byte[] file) {
        store.put(FileKind.BLOB, fileId, MemorySegment.ofArray(file)).join();
    }

    private byte[] read(long fileId, long start, long end) {
        return store.read(FileKind.BLOB, fileId, start, end, arena).join().toArray(ValueLayout.JAVA_BYTE);
    }

    private static void assertFails(Supplier<CompletableFuture<?>> call, ErrorCode code, String text) {
        assertThatThrownBy(() -> call.get().join())
                .cause()
                .isInstanceOfSatisfying(
                        CoplaneException.class,
                        e -> assertThat(e.code()).as(e.getMessage()).isEqualTo(code))
                .hasMessageContaining(text);
    }

    private static byte[] bytes(long seed, int count) {
        byte[] bytes = new byte[count];
        new SplittableRandom(seed).nextBytes(bytes);
        return bytes;
    }

    private static byte[] slice(byte[] bytes, int start, int end) {
        return java.util.Arrays.copyOfRange(bytes, start, end);
    }
}
