package io.coplane.nativecache.store;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.ObjectKeys;
import io.coplane.nativecache.Require;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Optional;

/**
 * Which bucket, where, and with whose name (worker.md 4.6, ia.md 16.1).
 *
 * @param bucket not empty
 * @param prefix first part of every key; empty reads {@code default}
 * @param endpoint {@code host}, {@code host:port}, or either behind {@code http://} or {@code https://}; empty: AWS in {@code region}. TLS
 *     exactly when it starts with {@code https}
 * @param region of the signature; empty only together with an endpoint, which then gets {@code us-east-1}
 * @param keyId of static credentials; empty: the chain of environment, profile, web identity, instance metadata
 * @param secretKey of static credentials
 * @param pathStyle bucket in the path instead of the host name; empty: exactly when the endpoint names a port
 * @param readOnly every write fails
 * @param requestsInFlight most requests on the wire at one time; more wait in order; 1 .. 4096
 * @param timing time-outs and retries
 */
public record S3Config(
        String bucket,
        String prefix,
        String endpoint,
        String region,
        String keyId,
        Secret secretKey,
        Optional<Boolean> pathStyle,
        boolean readOnly,
        int requestsInFlight,
        S3Timing timing) {
    /** Requests on the wire at one time, where nothing else is said. */
    public static final int DEFAULT_REQUESTS_IN_FLIGHT = 128;

    private static final int MOST_REQUESTS_IN_FLIGHT = 4096;
    private static final String HTTP = "http://";
    private static final String HTTPS = "https://";
    private static final String DEFAULT_REGION = "us-east-1";

    /** Checks what must be there. */
    public S3Config {
        if (bucket.isEmpty()) {
            throw bad("an S3 bucket is needed: dfs.s3-bucket, or s3://BUCKET/PREFIX");
        }
        if (region.isEmpty() && endpoint.isEmpty()) {
            throw bad("S3 needs a region or an endpoint: bucket=" + bucket);
        }
        if (keyId.isEmpty() != secretKey.isEmpty()) {
            throw bad("S3 key id and secret key go together: bucket=" + bucket);
        }
        if (endpoint.contains("aliyuncs.com") && keyId.isEmpty()) {
            throw bad("roles of Alibaba Cloud are not built: give a key id and a secret key: endpoint=" + endpoint);
        }
        Require.range("requestsInFlight", requestsInFlight, 1, MOST_REQUESTS_IN_FLIGHT);
        uri(endpoint, region);
    }

    /** Whose service the endpoint is; it decides on headers (ia.md 16.1). */
    enum Provider {
        AWS,
        ALIBABA,
        UNKNOWN
    }

    Provider provider() {
        String text = endpointUri().toString();
        if (text.contains("amazonaws.com")) {
            return Provider.AWS;
        }
        return text.contains("aliyuncs.com") ? Provider.ALIBABA : Provider.UNKNOWN;
    }

    /** The endpoint with its scheme. */
    URI endpointUri() {
        return uri(endpoint, region);
    }

    boolean usesPathStyle() {
        return pathStyle.orElse(endpointUri().getPort() >= 0);
    }

    String signingRegion() {
        return region.isEmpty() ? DEFAULT_REGION : region;
    }

    String key(String name) {
        return ObjectKeys.prefix(prefix) + "/" + name;
    }

    private static URI uri(String endpoint, String region) {
        String text = endpoint.isEmpty() ? HTTP + "s3." + region + ".amazonaws.com" : endpoint;
        if (!text.startsWith(HTTP) && !text.startsWith(HTTPS)) {
            text = HTTP + text;
        }
        URI uri;
        try {
            uri = new URI(text);
        } catch (URISyntaxException e) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, "S3 endpoint is no URL: value=" + endpoint, e);
        }
        if (uri.getHost() == null || uri.getUserInfo() != null || uri.getQuery() != null) {
            throw bad("S3 endpoint must be host or host:port, behind http:// or https://");
        }
        return uri;
    }

    private static CoplaneException bad(String message) {
        return new CoplaneException(ErrorCode.BAD_CONFIG, message);
    }
}
