package io.coplane.nativecache.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.testing.FaultProxy;
import io.coplane.testing.FaultProxy.Fault;
import io.coplane.testing.ManualClock;
import io.coplane.testing.NoLeaks;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** ia.md 19, snapshot.md 4.8. The sender says "near" for each byte of a file, the store behind "far!". */
@ExtendWith(NoLeaks.class)
final class RemoteCachedStoreTest {
    private static final long TTL_MILLIS = 600_000;

    @TempDir
    private Path root;

    private final ManualClock clock = ManualClock.recorded();
    private final MemoryLimiter limiter = new MemoryLimiter(1 << 20);
    private MemoryGuard guard;
    private NativeArena arena;
    private HttpServer sender;
    private FaultProxy proxy;
    private FilePeers peers;
    private DirectoryStore behind;
    private int senderStatus = 200;

    @BeforeEach
    void start() throws IOException {
        guard = limiter.acquire(0);
        arena = new NativeArena(guard);
        sender = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        sender.createContext("/dfs/", this::answer);
        sender.start();
        proxy = new FaultProxy(sender.getAddress().getPort());
        peers = new FilePeers(Optional.empty(), clock);
        behind = new DirectoryStore(root, "", 1);
    }

    @AfterEach
    void stop() throws IOException {
        peers.close();
        proxy.close();
        sender.stop(0);
        behind.close();
        arena.close();
        guard.close();
        assertThat(limiter.usedBytes()).isZero();
    }

    private void answer(HttpExchange exchange) throws IOException {
        String query = exchange.getRequestURI().getQuery();
        byte[] file = "near".getBytes(StandardCharsets.US_ASCII);
        int start = Integer.parseInt(query.replaceAll(".*start_off=(\\d+).*", "$1"));
        int end = query.contains("end_off") ? Integer.parseInt(query.replaceAll(".*end_off=(\\d+).*", "$1")) : 4;
        exchange.sendResponseHeaders(senderStatus, end - start);
        exchange.getResponseBody().write(file, start, end - start);
        exchange.close();
    }

    private ObjectStore store(String address) {
        return new RemoteCachedStore(behind, peers, address, TTL_MILLIS, clock);
    }

    private ObjectStore store() {
        return store("127.0.0.1:" + proxy.port());
    }

    /** Id of a file that is so old. */
    private long fileOfAge(long millis) {
        long fileId = clock.wallMillis() - millis << 18 | 77;
        behind.put(FileKind.COLUMNAR, fileId, MemorySegment.ofArray("far!".getBytes(StandardCharsets.US_ASCII)))
                .join();
        return fileId;
    }

    private String read(ObjectStore store, long fileId, long start, long end) {
        byte[] bytes =
                store.read(FileKind.COLUMNAR, fileId, start, end, arena).join().toArray(ValueLayout.JAVA_BYTE);
        return new String(bytes, StandardCharsets.US_ASCII);
    }

    @Test
    void youngFilesAreReadAtTheSender() {
        long young = fileOfAge(TTL_MILLIS);

        assertThat(read(store(), young, 0, ObjectStore.TO_END)).isEqualTo("near");
        assertThat(read(store(), young, 1, 3)).isEqualTo("ea");
        assertThat(proxy.seen())
                .extracting(FaultProxy.Seen::path)
                .containsExactly(
                        "/dfs/" + young + "?file_type=col&start_off=0",
                        "/dfs/" + young + "?file_type=col&start_off=1&end_off=3");
        assertThat(arena.ownedBytes()).isEqualTo(4 + 2);
    }

    @Test
    void olderFilesAreNot() {
        long old = fileOfAge(TTL_MILLIS + 1);

        assertThat(read(store(), old, 0, ObjectStore.TO_END)).isEqualTo("far!");
        assertThat(read(store(), fileOfAge(-5_000), 0, 2)).isEqualTo("ne"); // PD's clock is ahead of ours
        assertThat(proxy.seen()).hasSize(1);
    }

    @ParameterizedTest
    @EnumSource(
            value = Fault.class,
            names = {"SLOW_DOWN", "SERVER_ERROR", "RESET_BODY", "SHORT_BODY", "LONG_LENGTH", "RESET_FIRST", "MISSING"})
    void whateverFailsThereIsReadBehind(Fault fault) {
        long young = fileOfAge(1);
        proxy.plan(request -> fault);

        assertThat(read(store(), young, 0, ObjectStore.TO_END)).isEqualTo("far!");
        assertThat(proxy.seen()).isNotEmpty();
    }

    @Test
    void aRangeOfAnotherLengthIsReadBehind() {
        long young = fileOfAge(1);
        proxy.plan(request -> Fault.HALF_LENGTH);

        assertThat(read(store(), young, 0, 4)).isEqualTo("far!");
    }

    @Test
    void theDeadlineHoldsThereToo() {
        long young = fileOfAge(1);
        proxy.plan(request -> Fault.STALL_HEAD);

        ObjectStore hurried = store().within(clock.nanoTime() + TimeUnit.MILLISECONDS.toNanos(50));

        assertThat(read(hurried, young, 0, ObjectStore.TO_END)).isEqualTo("far!"); // a directory knows no deadline
    }

    @Test
    void aBodyThatStallsIsGivenUp() {
        long young = fileOfAge(1);
        proxy.plan(request -> Fault.STALL_BODY);

        ObjectStore hurried = store().within(clock.nanoTime() + TimeUnit.MILLISECONDS.toNanos(300));

        assertThat(read(hurried, young, 0, ObjectStore.TO_END)).isEqualTo("far!");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "no port or host", "user:password@127.0.0.1:1", "127.0.0.1:1/../x?", "127.0.0.1:1"})
    void anAddressThatIsNoneIsReadBehind(String address) {
        assertThat(read(store(address), fileOfAge(1), 0, ObjectStore.TO_END)).isEqualTo("far!");
    }

    @Test
    void overTheLimitIsNoBetterBehind() {
        long young = fileOfAge(1);
        try (MemoryGuard small = new MemoryLimiter(3).acquire(0);
                NativeArena tight = new NativeArena(small)) {
            assertThatThrownBy(() -> store().read(FileKind.COLUMNAR, young, 0, ObjectStore.TO_END, tight)
                            .join())
                    .hasRootCauseInstanceOf(MemoryLimitException.class);
            assertThat(tight.ownedBytes()).isZero();
        }
    }

    @Test
    void othersThanSuccessAreReadBehind() {
        senderStatus = 500;
        assertThat(read(store(), fileOfAge(1), 0, ObjectStore.TO_END)).isEqualTo("far!");
    }
}
