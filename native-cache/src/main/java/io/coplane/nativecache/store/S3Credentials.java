package io.coplane.nativecache.store;

import io.coplane.nativecache.store.S3Failure.CredentialsException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.identity.spi.AwsCredentialsIdentity;
import software.amazon.awssdk.identity.spi.IdentityProvider;
import software.amazon.awssdk.identity.spi.ResolveIdentityRequest;

/**
 * Credentials off the I/O threads: the chain asks files and services, and blocks while it does. Its failures are told apart from those of the request.
 * Owns the chain. Thread-safe.
 */
final class S3Credentials implements IdentityProvider<AwsCredentialsIdentity>, AutoCloseable {
    private final DefaultCredentialsProvider chain;
    private final Executor executor;

    private S3Credentials(DefaultCredentialsProvider chain, Executor executor) {
        this.chain = chain;
        this.executor = executor;
    }

    /** Static ones where there is a key id, else the chain: environment, profile, web identity, instance metadata (ia.md 16.1). */
    static IdentityProvider<AwsCredentialsIdentity> of(S3Config config, Executor executor) {
        if (!config.keyId().isEmpty()) {
            return StaticCredentialsProvider.create(AwsBasicCredentials.create(
                    config.keyId(), config.secretKey().value()));
        }
        return new S3Credentials(DefaultCredentialsProvider.builder().build(), executor);
    }

    @Override
    public Class<AwsCredentialsIdentity> identityType() {
        return AwsCredentialsIdentity.class;
    }

    @Override
    public CompletableFuture<AwsCredentialsIdentity> resolveIdentity(ResolveIdentityRequest request) {
        CompletableFuture<AwsCredentialsIdentity> result = new CompletableFuture<>();
        executor.execute(() -> {
            try {
                result.complete(chain.resolveCredentials());
            } catch (RuntimeException e) {
                result.completeExceptionally(new CredentialsException(e));
            }
        });
        return result;
    }

    @Override
    public void close() {
        chain.close();
    }
}
