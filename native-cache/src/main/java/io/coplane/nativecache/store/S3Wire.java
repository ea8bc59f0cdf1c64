package io.coplane.nativecache.store;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.ObjectKeys;
import io.coplane.nativecache.ObjectListing;
import io.coplane.nativecache.store.S3Config.Provider;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.LongFunction;
import java.util.zip.CRC32;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.client.config.SdkAdvancedAsyncClientOption;
import software.amazon.awssdk.http.async.SdkAsyncHttpClient;
import software.amazon.awssdk.http.crt.AwsCrtAsyncHttpClient;
import software.amazon.awssdk.identity.spi.AwsCredentialsIdentity;
import software.amazon.awssdk.identity.spi.IdentityProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.DefaultRetryStrategy;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.S3AsyncClientBuilder;
import software.amazon.awssdk.services.s3.S3Configuration;
import software.amazon.awssdk.services.s3.model.CopyObjectRequest;
import software.amazon.awssdk.services.s3.model.CopyObjectResponse;
import software.amazon.awssdk.services.s3.model.DeleteObjectResponse;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectTaggingResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Request;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;

/** Single requests to a bucket, each made once. Owns the SDK's client and the timer. Thread-safe. */
final class S3Wire implements AutoCloseable {
    private static final long TAGGED_INFREQUENT_BYTES = 1 << 20;
    private static final int PIECE_BYTES = 1 << 20;
    private static final long LEAST_SILENCE_SECONDS = 30;

    private final S3Config config;
    private final Clock clock;
    private final ScheduledThreadPoolExecutor timer;
    private final ExecutorService credentialThread;
    private final IdentityProvider<AwsCredentialsIdentity> credentials;
    private final SdkAsyncHttpClient http;
    private final S3AsyncClient client;

    /**
     * A whole file to be put.
     *
     * @param pieces views of it, so that no piece is longer than what a buffer should be
     * @param crc32 base64 of its CRC32, or null where the provider does not take it
     */
    record Body(long bytes, List<ByteBuffer> pieces, String crc32) {
        static Body of(MemorySegment file, Provider provider) {
            List<ByteBuffer> pieces = new ArrayList<>();
            CRC32 crc = new CRC32();
            for (long at = 0; at < file.byteSize(); at += PIECE_BYTES) {
                ByteBuffer piece = file.asSlice(at, Math.min(PIECE_BYTES, file.byteSize() - at))
                        .asByteBuffer()
                        .asReadOnlyBuffer();
                pieces.add(piece);
                if (provider == Provider.AWS) {
                    crc.update(piece.duplicate());
                }
            }
            byte[] sum = ByteBuffer.allocate(Integer.BYTES)
                    .putInt((int) crc.getValue())
                    .array();
            return new Body(
                    file.byteSize(),
                    pieces,
                    provider == Provider.AWS ? Base64.getEncoder().encodeToString(sum) : null);
        }

        private AsyncRequestBody request() {
            ByteBuffer[] views = pieces.stream().map(ByteBuffer::duplicate).toArray(ByteBuffer[]::new);
            return views.length == 0 ? AsyncRequestBody.empty() : AsyncRequestBody.fromByteBuffersUnsafe(views);
        }
    }

    S3Wire(S3Config config, Clock clock) {
        this.config = config;
        this.clock = clock;
        timer = new ScheduledThreadPoolExecutor(1, named("coplane-s3-timer"));
        timer.setRemoveOnCancelPolicy(true);
        credentialThread = Executors.newFixedThreadPool(1, named("coplane-s3-credentials"));
        credentials = S3Credentials.of(config, credentialThread);
        http = new GatedHttp(http(config));
        client = client(config, http, credentials);
    }

    private static SdkAsyncHttpClient http(S3Config config) {
        S3Timing timing = config.timing();
        long silence = Math.max(
                LEAST_SILENCE_SECONDS,
                2 * Math.max(timing.dispatch().toSeconds(), timing.readBody().toSeconds()));
        AwsCrtAsyncHttpClient.Builder builder = AwsCrtAsyncHttpClient.builder()
                .maxConcurrency(config.requestsInFlight())
                .readBufferSizeInBytes(S3Store.BYTES_PER_REQUEST)
                .connectionTimeout(timing.connect())
                // the store's own timer is sharper; this only catches what it should not have missed
                .connectionHealthConfiguration(health ->
                        health.minimumThroughputInBps(1L).minimumThroughputTimeout(Duration.ofSeconds(silence)));
        if (timing.poolIdle().isPositive()) {
            builder.connectionMaxIdleTime(timing.poolIdle());
        }
        if (timing.keepAlive().toSeconds() > 0) {
            builder.tcpKeepAliveConfiguration(
                    keep -> keep.keepAliveInterval(timing.keepAlive()).keepAliveTimeout(timing.keepAlive()));
        }
        return builder.build();
    }

    private static S3AsyncClient client(
            S3Config config, SdkAsyncHttpClient http, IdentityProvider<AwsCredentialsIdentity> credentials) {
        URI endpoint = config.endpointUri();
        S3AsyncClientBuilder builder = S3AsyncClient.builder()
                .httpClient(http)
                .endpointOverride(endpoint)
                .region(Region.of(config.signingRegion()))
                .credentialsProvider(credentials)
                .forcePathStyle(config.usesPathStyle())
                .disableS3ExpressSessionAuth(true)
                // checksums are sent where ia.md 16.3 has them, and files carry their own
                .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
                .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
                .serviceConfiguration(S3Configuration.builder()
                        .chunkedEncodingEnabled(false)
                        .expectContinueEnabled(false) // the whole body follows the head at once
                        .build())
                .asyncConfiguration(async ->
                        async.advancedOption(SdkAdvancedAsyncClientOption.FUTURE_COMPLETION_EXECUTOR, Runnable::run))
                .overrideConfiguration(override -> {
                    override.retryStrategy(DefaultRetryStrategy.doNotRetry());
                    if (config.provider() == Provider.ALIBABA) {
                        override.addExecutionInterceptor(new S3Headers());
                    }
                });
        return builder.build();
    }

    /** Where time-outs, pauses and deadlines wait. */
    ScheduledThreadPoolExecutor timer() {
        return timer;
    }

    Attempt<MemorySegment> read(String key, long start, long end, LongFunction<MemorySegment> memory) {
        GetObjectRequest request = GetObjectRequest.builder()
                .bucket(config.bucket())
                .key(key)
                .range(S3Headers.range(start, end))
                .build();
        ReadAttempt attempt = new ReadAttempt(start, end, memory, config.timing(), clock, timer);
        try {
            return attempt.of(client.getObject(request, attempt));
        } catch (RuntimeException e) {
            attempt.abort(e);
            return attempt;
        }
    }

    Attempt<HeadObjectResponse> head(String key) {
        return timed(client.headObject(head -> head.bucket(config.bucket()).key(key)));
    }

    Attempt<PutObjectResponse> put(String key, Body body) {
        PutObjectRequest.Builder request = PutObjectRequest.builder()
                .bucket(config.bucket())
                .key(key)
                .contentLength(body.bytes())
                .checksumCRC32(body.crc32());
        S3Headers.normalClass(config.provider()).ifPresent(request::storageClass);
        return new TimedAttempt<>(
                client.putObject(request.build(), body.request()),
                config.timing().putNanos(body.bytes()),
                timer);
    }

    /** Copies the object onto itself with the tag that the bucket's rule waits for (ia.md 17.1). */
    Attempt<CopyObjectResponse> markRemoved(String key, long byteSize) {
        CopyObjectRequest.Builder request = CopyObjectRequest.builder()
                .sourceBucket(config.bucket())
                .sourceKey(key)
                .destinationBucket(config.bucket())
                .destinationKey(key)
                .metadataDirective("REPLACE")
                .taggingDirective("REPLACE")
                .tagging(S3Store.REMOVED_TAG + "=" + S3Store.REMOVED_VALUE);
        if (byteSize > TAGGED_INFREQUENT_BYTES) {
            S3Headers.removedClass(config.provider()).ifPresent(request::storageClass);
        }
        return timed(client.copyObject(request.build()));
    }

    /** Copies the object onto itself without tags, back into the class of files in use (ia.md 17.2). */
    Attempt<CopyObjectResponse> retain(String key) {
        CopyObjectRequest.Builder request = CopyObjectRequest.builder()
                .sourceBucket(config.bucket())
                .sourceKey(key)
                .destinationBucket(config.bucket())
                .destinationKey(key)
                .metadataDirective("REPLACE")
                .taggingDirective("REPLACE")
                .tagging("");
        S3Headers.normalClass(config.provider()).ifPresent(request::storageClass);
        return timed(client.copyObject(request.build()));
    }

    Attempt<GetObjectTaggingResponse> tags(String key) {
        return timed(client.getObjectTagging(get -> get.bucket(config.bucket()).key(key)));
    }

    Attempt<DeleteObjectResponse> delete(String key) {
        return timed(
                client.deleteObject(delete -> delete.bucket(config.bucket()).key(key)));
    }

    /** Keys come without the prefix, as {@code after} is. */
    Attempt<ObjectListing> list(String after, int most) {
        String folder = ObjectKeys.prefix(config.prefix()) + "/";
        ListObjectsV2Request.Builder request = ListObjectsV2Request.builder()
                .bucket(config.bucket())
                .prefix(folder)
                .maxKeys(most);
        if (!after.isEmpty()) {
            request.startAfter(folder + after);
        }
        return timed(client.listObjectsV2(request.build()).thenApply(answer -> listing(answer, folder)));
    }

    private static ObjectListing listing(ListObjectsV2Response answer, String folder) {
        List<ObjectListing.Entry> entries = answer.contents().stream()
                .filter(object -> object.key().startsWith(folder))
                .map(object -> new ObjectListing.Entry(object.key().substring(folder.length()), object.size()))
                .toList();
        boolean isCut = Boolean.TRUE.equals(answer.isTruncated()) && !entries.isEmpty();
        return new ObjectListing(entries, isCut ? Optional.of(entries.getLast().key()) : Optional.empty());
    }

    private <T> Attempt<T> timed(CompletableFuture<T> sent) {
        return new TimedAttempt<>(sent, config.timing().dispatch().toNanos(), timer);
    }

    @Override
    public void close() {
        http.close();
        client.close();
        if (credentials instanceof S3Credentials chain) {
            chain.close();
        }
        credentialThread.shutdownNow();
        timer.shutdownNow();
        try {
            timer.awaitTermination(1, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static ThreadFactory named(String name) {
        return task -> {
            Thread thread = new Thread(task, name);
            thread.setDaemon(true);
            return thread;
        };
    }
}
