package io.coplane.nativecache.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.testing.FaultProxy;
import io.coplane.testing.FaultProxy.Fault;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Headers by provider, ia.md 16.2, 16.3, 17.1. The provider is known by the endpoint's text, so that a path makes one of this machine's. */
final class S3HeadersTest {
    private FaultProxy proxy;

    @BeforeEach
    void start() throws IOException {
        proxy = new FaultProxy(0);
        proxy.plan(request -> Fault.ANSWER_OK);
    }

    @AfterEach
    void stop() throws IOException {
        proxy.close();
    }

    private S3Store open(String path) {
        S3Config config = new S3Config(
                "bucket",
                "",
                "http://127.0.0.1:" + proxy.port() + "/" + path,
                "r",
                "id",
                new Secret("secret"),
                Optional.empty(),
                false,
                4,
                S3Timing.DEFAULTS);
        return S3Store.open(config, Clock.system(), MemoryGuard.unlimited(), StoreMetrics.NONE);
    }

    private Map<String, String> last() {
        return proxy.seen().getLast().headers();
    }

    @Test
    void awsGetsClassAndChecksum() {
        try (S3Store store = open("amazonaws.com")) {
            put(store, "hello");
            assertThat(last())
                    .containsEntry("x-amz-storage-class", "INTELLIGENT_TIERING")
                    .containsEntry("x-amz-checksum-crc32", "NhCmhg==")
                    .containsEntry("content-length", "5");
            assertThat(proxy.seen().getLast().path()).endsWith("/bucket/default/61/0000000000000001.sst");
            put(store, "");
            assertThat(last()).containsEntry("x-amz-checksum-crc32", "AAAAAA==").containsEntry("content-length", "0");
        }
    }

    @Test
    void alibabaGetsItsOwnNamesAndNoChecksum() {
        try (S3Store store = open("aliyuncs.com")) {
            put(store, "hello");
            assertThat(last())
                    .containsEntry("x-oss-storage-class", "Standard")
                    .doesNotContainKeys("x-amz-storage-class", "x-amz-checksum-crc32");
            store.markRemoved(FileKind.SST, 1, (1 << 20) + 1).join();
            assertThat(removal())
                    .containsEntry("x-oss-storage-class", "IA")
                    .containsEntry("x-oss-tagging", "deleted=true")
                    .containsEntry("x-oss-tagging-directive", "REPLACE")
                    .containsEntry("x-oss-metadata-directive", "REPLACE")
                    .containsKey("x-oss-copy-source")
                    .doesNotContainKey("x-amz-tagging");
        }
    }

    @Test
    void removalOfALargeFileMovesItToTheInfrequentClass() {
        try (S3Store store = open("amazonaws.com")) {
            store.markRemoved(FileKind.SST, 1, (1 << 20) + 1).join();
            assertThat(removal())
                    .containsEntry("x-amz-storage-class", "STANDARD_IA")
                    .containsEntry("x-amz-tagging", "deleted=true");
            store.markRemoved(FileKind.SST, 1, 1 << 20).join();
            assertThat(removal()).doesNotContainKey("x-amz-storage-class");
            store.markRemoved(FileKind.SST, 1, S3Store.TO_END).join();
            assertThat(removal()).doesNotContainKey("x-amz-storage-class");
        }
    }

    @Test
    void onlyTheBucketsRuleDeletesInACloud() {
        for (String cloud : List.of("amazonaws.com", "aliyuncs.com")) {
            try (S3Store store = open(cloud)) {
                assertThatThrownBy(
                                () -> store.permanentlyRemove(FileKind.SST, 7).join())
                        .hasMessageContaining("7 permanently_remove is forbidden on AWS or alibaba cloud");
            }
        }
        assertThat(proxy.seen()).isEmpty();
    }

    @Test
    void whatIsRetainedGoesBackToTheNormalClass() {
        proxy.plan(request -> request.path().endsWith("?tagging") ? Fault.TAGGED : Fault.ANSWER_OK);
        try (S3Store store = open("amazonaws.com")) {
            assertThat(store.retain(FileKind.SST, 1).join()).isTrue();
            assertThat(removal())
                    .containsEntry("x-amz-storage-class", "INTELLIGENT_TIERING")
                    .containsEntry("x-amz-tagging-directive", "REPLACE");
        }
    }

    /** The latest copy; a HEAD follows it. */
    private Map<String, String> removal() {
        return proxy.seen().stream()
                .filter(seen -> seen.method().equals("PUT"))
                .reduce((first, second) -> second)
                .orElseThrow()
                .headers();
    }

    private static void put(S3Store store, String text) {
        store.put(FileKind.SST, 1, MemorySegment.ofArray(text.getBytes(StandardCharsets.US_ASCII)))
                .join();
    }
}
