package io.coplane.nativecache.keys;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.Failures;
import io.coplane.nativecache.store.GatedHttp;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.http.async.SdkAsyncHttpClient;
import software.amazon.awssdk.http.crt.AwsCrtAsyncHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.kms.KmsAsyncClient;
import software.amazon.awssdk.services.kms.KmsAsyncClientBuilder;
import software.amazon.awssdk.services.kms.model.DecryptRequest;
import software.amazon.awssdk.services.kms.model.KmsException;

/**
 * The key management service of AWS, of which only {@code Decrypt} is used (worker.md 17.1).
 *
 * <p>Keys are asked for once each, at the start or when a keyspace is first seen, so every call has a client of its own over the CRT's HTTP client, and
 * nothing stays open. Credentials: environment, profile, web identity, container, instance metadata, as AWS tools do.
 */
public final class AwsKms {
    private static final Duration CONNECT = Duration.ofSeconds(3);
    private static final Duration ATTEMPT = Duration.ofSeconds(5);
    private static final Duration CALL = Duration.ofSeconds(15);
    private static final int SERVER_ERROR = 500;
    private static final int THROTTLED = 429;

    private AwsKms() {}

    /**
     * Decrypts. Blocks for at most 15 s; what may succeed later is tried three times within.
     *
     * @param keyId      key, alias or ARN; empty: the ciphertext names it
     * @param region     of the service; needed
     * @param endpoint   URL of the service, https unless it says otherwise; empty: AWS's own of the region
     * @param ciphertext borrowed
     * @return the plain text, owned by the caller
     * @throws CoplaneException BAD_CONFIG, BAD_ENCRYPTION_KEY if the service refuses, STORE_UNAVAILABLE if it can't be had. None of them names a key's bytes
     */
    public static byte[] decrypt(String keyId, String region, String endpoint, byte[] ciphertext) {
        if (region.isEmpty()) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, "a key of AWS KMS needs a region");
        }
        if (ciphertext.length == 0) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, "a key of AWS KMS needs a ciphertext");
        }
        DecryptRequest.Builder request = DecryptRequest.builder().ciphertextBlob(SdkBytes.fromByteArray(ciphertext));
        if (!keyId.isEmpty()) {
            request.keyId(keyId);
        }
        try (SdkAsyncHttpClient http = http();
                DefaultCredentialsProvider credentials =
                        DefaultCredentialsProvider.builder().build();
                KmsAsyncClient client = client(http, credentials, region, endpoint)) {
            return client.decrypt(request.build()).join().plaintext().asByteArray();
        } catch (CompletionException e) {
            throw typed(Failures.unwrap(e), region);
        }
    }

    private static SdkAsyncHttpClient http() {
        return new GatedHttp(AwsCrtAsyncHttpClient.builder()
                .maxConcurrency(1)
                .connectionTimeout(CONNECT)
                .build());
    }

    private static KmsAsyncClient client(
            SdkAsyncHttpClient http, DefaultCredentialsProvider credentials, String region, String endpoint) {
        KmsAsyncClientBuilder builder = KmsAsyncClient.builder()
                .httpClient(http)
                .region(Region.of(region))
                .credentialsProvider(credentials)
                .overrideConfiguration(limits -> limits.apiCallTimeout(CALL).apiCallAttemptTimeout(ATTEMPT));
        if (!endpoint.isEmpty()) {
            builder.endpointOverride(uri(endpoint));
        }
        return builder.build();
    }

    private static URI uri(String endpoint) {
        String text = endpoint.contains("://") ? endpoint : "https://" + endpoint;
        try {
            URI uri = new URI(text);
            if (uri.getHost() != null && uri.getUserInfo() == null) {
                return uri;
            }
        } catch (URISyntaxException e) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, "endpoint of the KMS is no URL", e);
        }
        throw new CoplaneException(ErrorCode.BAD_CONFIG, "endpoint of the KMS must be host or host:port");
    }

    private static CoplaneException typed(Throwable failure, String region) {
        if (failure instanceof KmsException e && e.statusCode() < SERVER_ERROR && e.statusCode() != THROTTLED) {
            String code = e.awsErrorDetails() == null
                    ? "unknown"
                    : e.awsErrorDetails().errorCode();
            return new CoplaneException(
                    ErrorCode.BAD_ENCRYPTION_KEY,
                    "KMS refuses to decrypt the master key: error=" + code + " status=" + e.statusCode() + " region="
                            + region,
                    e);
        }
        return new CoplaneException(
                ErrorCode.STORE_UNAVAILABLE,
                "KMS can't be asked for the master key: region=" + region + " cause=" + failure.getMessage(),
                failure);
    }
}
