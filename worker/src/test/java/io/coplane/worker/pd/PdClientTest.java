package io.coplane.worker.pd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.ErrorCode;
import io.coplane.proto.metapb.Store;
import io.coplane.worker.config.PdConfig;
import io.coplane.worker.grpc.GrpcChannels;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** worker.md 18, against members that speak real gRPC. */
@Timeout(60)
final class PdClientTest {
    private final PdServer.Cluster cluster = new PdServer.Cluster(77, List.of(1L, 5L));
    private final GrpcChannels channels = new GrpcChannels(Optional.empty(), 1 << 20);
    private PdServer first;
    private PdServer second;
    private PdClient client;

    @BeforeEach
    void start() throws IOException {
        first = new PdServer(cluster);
        second = new PdServer(cluster);
        cluster.put(Store.newBuilder().setId(4).setAddress("127.0.0.1:20160").build());
    }

    @AfterEach
    void stop() {
        if (client != null) {
            client.close();
        }
        channels.close();
        first.close();
        second.close();
    }

    @Test
    void findsTheLeaderThroughAFollower() throws InterruptedException {
        client = connect(List.of(second.url()), false);

        assertThat(client.clusterId()).isEqualTo(77);
        assertThat(client.leaderUrl()).isEqualTo(first.url());
        assertThat(client.store(4).join().getAddress()).isEqualTo("127.0.0.1:20160");
    }

    @Test
    void triesTheNextEndpointWhenOneIsDead() throws InterruptedException {
        client = connect(List.of("127.0.0.1:1", second.url()), false);

        assertThat(client.clusterId()).isEqualTo(77);
    }

    @Test
    void givesUpAfterTheConfiguredAttempts() {
        PdConfig config =
                new PdConfig(List.of("127.0.0.1:1"), Duration.ofMillis(1), 2, 1, Duration.ofMinutes(10), false, false);

        assertThatThrownBy(() -> PdClient.connect(config, channels, Clock.system()))
                .isInstanceOfSatisfying(
                        PdException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.PD_UNAVAILABLE));
    }

    @Test
    void tellsWhatPdRefused() throws InterruptedException {
        client = connect(List.of(first.url()), false);

        assertThatThrownBy(() -> client.store(9).join())
                .isInstanceOf(CompletionException.class)
                .cause()
                .hasMessageContaining("method=GetStore")
                .hasMessageContaining("invalid store ID 9, not found")
                .isInstanceOfSatisfying(
                        PdException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.PD_REFUSED));
    }

    @Test
    void sendsAgainOnTheSameConnectionTwiceThenLooksForTheLeader() throws InterruptedException {
        client = connect(List.of(first.url()), false);
        int asked = first.membersAsked.get();
        first.failuresToCome.set(2);

        assertThat(client.store(4).join().getId()).isEqualTo(4);
        assertThat(first.membersAsked).hasValue(asked);

        first.failuresToCome.set(3);
        assertThat(client.store(4).join().getId()).isEqualTo(4);
        assertThat(first.membersAsked).hasValueGreaterThan(asked);
    }

    @Test
    void followsALeaderChangeForCallsAndTimestamps() throws InterruptedException {
        client = connect(List.of(first.url()), false);
        long before = client.timestamp().join();
        cluster.leader = second;

        assertThat(client.store(4).join().getId()).isEqualTo(4);
        assertThat(client.timestamp().join()).isGreaterThan(before);
        assertThat(client.leaderUrl()).isEqualTo(second.url());
    }

    /** A member may announce what it likes. */
    @Test
    void passesOverMembersWhoseUrlIsNone() throws InterruptedException {
        cluster.urlsThatAreNone.addAll(List.of("http://pd", "http://pd:http", ""));
        client = connect(List.of("nowhere", first.url()), false);
        cluster.leader = second;

        assertThat(client.store(4).join().getId()).isEqualTo(4);
        assertThat(client.leaderUrl()).isEqualTo(second.url());
    }

    @Test
    void aTimestampServiceWithoutAnAddressFailsTypedUntilItHasOne() throws InterruptedException {
        cluster.tsoPrimary = "tso";
        client = connect(List.of(first.url()), false);

        assertThatThrownBy(() -> client.timestamp().join())
                .cause()
                .hasMessageContaining("no host:port: address=tso")
                .isInstanceOfSatisfying(
                        PdException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.PD_UNAVAILABLE));
        cluster.tsoPrimary = "";
        CompletableFuture<Long> later = client.timestamp();
        while (later.handle((timestamp, failure) -> failure != null).join()) {
            later = client.timestamp();
        }
        assertThat(later.join()).isGreaterThan(100L << 18);
    }

    @Test
    void goesThroughAFollowerWhileTheLeaderIsGone() throws InterruptedException {
        first.close();

        client = connect(List.of(second.url()), true);

        CompletableFuture<Store> asked = client.store(4);
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (!second.forwardedHosts.contains(first.url()) && System.nanoTime() - end < 0) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }

        assertThat(second.forwardedHosts).contains(first.url());
        assertThat(!asked.isDone() || asked.isCompletedExceptionally()) // the follower of this test does not forward
                .isTrue();
    }

    @Test
    void waitingRequestsShareAMessageAndGetDisjointTimestamps() throws InterruptedException {
        client = connect(List.of(first.url()), false);
        List<CompletableFuture<Long>> asked = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            asked.add(client.timestamp());
        }

        List<Long> got = asked.stream().map(CompletableFuture::join).toList();

        assertThat(got).doesNotHaveDuplicates().isSorted();
        assertThat(first.tsoCounts.stream().mapToInt(Integer::intValue).sum()).isEqualTo(1000);
        assertThat(first.tsoCounts).hasSizeLessThan(500).allMatch(count -> count <= 64);
    }

    @Test
    void idsOfABatchAreConsecutiveAndEndAtTheAnsweredTimestamp() throws InterruptedException {
        client = connect(List.of(first.url()), false);
        long before = cluster.lastTimestamp.get();

        List<CompletableFuture<Long>> asked =
                List.of(client.timestamps(3), client.timestamps(1), client.timestamps(500));

        assertThat(asked.stream().map(CompletableFuture::join))
                .containsExactlyElementsOf(LongStream.of(before + 3, before + 4, before + 504)
                        .boxed()
                        .toList());
    }

    @Test
    void asksAnotherTimeWhenAStreamStaysSilent() throws InterruptedException {
        client = connect(List.of(first.url()), false);
        first.isTsoSilent = true;
        CompletableFuture<Long> asked = client.timestamp();
        cluster.leader = second;

        assertThat(asked.join()).isGreaterThan(100L << 18);
    }

    @Test
    void comparesTheIdOfTheKeyspaceThatPdFound() throws InterruptedException {
        client = connect(List.of(first.url()), false);

        assertThat(client.keyspace(5).join()).isPresent();
        assertThat(client.keyspace(2).join()).isEmpty();
        assertThat(client.keyspace(6).join()).isEmpty();
    }

    @Test
    void callsAfterTheEndFailTyped() throws InterruptedException {
        client = connect(List.of(first.url()), false);
        client.close();

        assertThatThrownBy(() -> client.timestamp().join()).cause().hasMessageContaining("PD client is closed");
    }

    private PdClient connect(List<String> endpoints, boolean isForwardingEnabled) throws InterruptedException {
        return PdClient.connect(
                new PdConfig(
                        endpoints, Duration.ofMillis(50), 10, 1, Duration.ofMinutes(10), isForwardingEnabled, false),
                channels,
                Clock.system());
    }
}
