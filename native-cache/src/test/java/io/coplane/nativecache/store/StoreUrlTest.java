package io.coplane.nativecache.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.ObjectStore;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class StoreUrlTest {
    private static final Map<String, String> KEYS =
            Map.of("DFS_S3_KEY_ID", "id", "DFS_S3_SECRET_KEY", "sesame", "AWS_REGION", "r0");

    @Test
    void namesABucket() {
        S3Config config = StoreUrl.parse(
                        "s3://bucket/a/b/?endpoint=http%3A%2F%2F127.0.0.1:9000&region=r1&path-style=true")
                .s3(KEYS);

        assertThat(config.bucket()).isEqualTo("bucket");
        assertThat(config.key("x")).isEqualTo("a/b/x");
        assertThat(config.endpointUri()).hasToString("http://127.0.0.1:9000");
        assertThat(config.signingRegion()).isEqualTo("r1");
        assertThat(config.usesPathStyle()).isTrue();
        assertThat(config.keyId()).isEqualTo("id");
        assertThat(config.secretKey().value()).isEqualTo("sesame");
        assertThat(config.toString()).doesNotContain("sesame");
    }

    @Test
    void anEndpointIsTheRegionsUnlessItIsGiven() {
        S3Config config = StoreUrl.parse("s3://bucket").s3(KEYS);

        assertThat(config.endpointUri()).hasToString("http://s3.r0.amazonaws.com");
        assertThat(config.key("x")).isEqualTo("default/x");
        assertThat(config.usesPathStyle()).isFalse();
        assertThat(config.provider()).isEqualTo(S3Config.Provider.AWS);
    }

    @Test
    void aPortMeansPathStyle() {
        assertThat(StoreUrl.parse("s3://b?endpoint=minio:9000").s3(KEYS).usesPathStyle())
                .isTrue();
        assertThat(StoreUrl.parse("s3://b?endpoint=https://minio").s3(KEYS).usesPathStyle())
                .isFalse();
        assertThat(StoreUrl.parse("s3://b?endpoint=minio:9000").s3(KEYS).provider())
                .isEqualTo(S3Config.Provider.UNKNOWN);
    }

    @Test
    void opensADirectory(@TempDir Path root) {
        try (ObjectStore store = StoreUrl.parse("file:" + root + "?prefix=p").open(Map.of(), 1)) {
            store.put(FileKind.SST, 1, MemorySegment.ofArray(new byte[3])).join();
        }
        assertThat(root.resolve("p/61/0000000000000001.sst")).hasSize(3);

        try (ObjectStore store = StoreUrl.parse(root.toString()).open(Map.of(), 1)) {
            store.put(FileKind.SST, 1, MemorySegment.ofArray(new byte[3])).join();
        }
        assertThat(Files.exists(root.resolve("default/61/0000000000000001.sst")))
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "gs://b/p",
                "s3://",
                "s3:///p",
                "s3://id:sesame@b/p",
                "s3://b/p?secret-key=sesame",
                "s3://b/p?region",
                "file:/d?endpoint=x",
                "s3://b p/"
            })
    void refusesOtherTextsWithoutRepeatingSecrets(String text) {
        assertThatThrownBy(() -> StoreUrl.parse(text))
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_CONFIG))
                .hasMessageNotContaining("sesame");
    }

    @Test
    void refusesWhatIsIncomplete() {
        assertThatThrownBy(() -> StoreUrl.parse("s3://b").s3(Map.of())).hasMessageContaining("region or an endpoint");
        assertThatThrownBy(() -> StoreUrl.parse("s3://b?region=r").s3(Map.of("DFS_S3_KEY_ID", "id")))
                .hasMessageContaining("go together");
        assertThatThrownBy(() -> StoreUrl.parse("s3://b?region=r&path-style=1").s3(Map.of()))
                .hasMessageContaining("path-style");
        assertThatThrownBy(() -> StoreUrl.parse("s3://b?endpoint=http://u:p@h").s3(Map.of()))
                .hasMessageContaining("endpoint");
        assertThatThrownBy(() -> StoreUrl.parse("/nowhere/at/all").open(Map.of(), 1))
                .hasMessageContaining("no such directory");
    }
}
