package io.coplane.testing;

import java.net.URI;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.gaul.s3proxy.AuthenticationType;
import org.gaul.s3proxy.S3Proxy;
import org.jclouds.ContextBuilder;
import org.jclouds.blobstore.BlobStoreContext;
import org.jclouds.blobstore.TransientApiMetadata;

/**
 * A real S3 server in this process, its objects in memory: S3Proxy on a port of its own, which checks signatures. A module that uses it declares
 * {@code s3proxy} and {@code org.apache.jclouds.api:s3} for its tests. Thread-safe.
 */
public final class S3Server implements AutoCloseable {
    /** The key id that it knows. */
    public static final String KEY_ID = "coplane";

    /** The secret key of {@link #KEY_ID}. */
    public static final String SECRET_KEY = "open-sesame";

    /** The bucket that it has. */
    public static final String BUCKET = "bucket";

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final BlobStoreContext context;
    private final S3Proxy server;

    private S3Server(BlobStoreContext context, S3Proxy server) {
        this.context = context;
        this.server = server;
    }

    /** Starts a server with one empty bucket. */
    public static S3Server start() throws Exception {
        BlobStoreContext context = ContextBuilder.newBuilder(new TransientApiMetadata())
                .credentials(KEY_ID, SECRET_KEY)
                .build(BlobStoreContext.class);
        context.getBlobStore().createContainerInLocation(null, BUCKET);
        S3Proxy server = S3Proxy.builder()
                .blobStore(context.getBlobStore())
                .endpoint(URI.create("http://127.0.0.1:0"))
                .awsAuthentication(AuthenticationType.AWS_V4, KEY_ID, SECRET_KEY)
                .ignoreUnknownHeaders(true) // it has no tags
                .build();
        server.start();
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (!server.getState().equals("STARTED")) {
            if (System.nanoTime() > end) {
                throw new IllegalStateException("S3Proxy does not start: state=" + server.getState());
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
        }
        return new S3Server(context, server);
    }

    /** Where it listens. */
    public int port() {
        return server.getPort();
    }

    /** Its endpoint's URL. */
    public String endpoint() {
        return "http://127.0.0.1:" + port();
    }

    @Override
    public void close() {
        try {
            server.stop();
        } catch (Exception e) {
            throw new IllegalStateException("S3Proxy does not stop", e);
        } finally {
            context.close();
        }
    }
}
