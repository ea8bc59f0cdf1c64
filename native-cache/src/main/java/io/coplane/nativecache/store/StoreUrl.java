package io.coplane.nativecache.store;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.ObjectStore;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Names an object store on a command line.
 *
 * <pre>
 * DIR                                          a directory; keys start with default/
 * file:DIR?prefix=P                            a directory; keys start with P/
 * s3://BUCKET/PREFIX?endpoint=E&amp;region=R&amp;path-style=true
 * </pre>
 *
 * All parameters may be left out; an empty PREFIX reads {@code default}. Credentials are no part of a URL, because command lines are seen by others: they
 * are taken from {@code DFS_S3_KEY_ID} and {@code DFS_S3_SECRET_KEY}, or else from where AWS tools find them. Immutable.
 */
public final class StoreUrl {
    private static final String S3 = "s3://";
    private static final String FILE = "file:";
    private static final String PREFIX = "prefix";
    private static final String ENDPOINT = "endpoint";
    private static final String REGION = "region";
    private static final String PATH_STYLE = "path-style";

    private final String text;
    private final Path directory;
    private final String bucket;
    private final String prefix;
    private final Map<String, String> parameters;

    private StoreUrl(String text, Path directory, String bucket, String prefix, Map<String, String> parameters) {
        this.text = text;
        this.directory = directory;
        this.bucket = bucket;
        this.prefix = prefix;
        this.parameters = parameters;
    }

    /** @throws CoplaneException BAD_CONFIG, without what could be a secret, if it is none of the forms above */
    public static StoreUrl parse(String text) {
        if (text.isEmpty()) {
            throw bad("the store's URL is empty");
        }
        if (text.startsWith(S3)) {
            return parseS3(text);
        }
        if (text.startsWith(FILE)) {
            String rest = text.substring(FILE.length());
            int query = rest.indexOf('?');
            Map<String, String> parameters = parameters(query < 0 ? "" : rest.substring(query + 1), PREFIX);
            String path = query < 0 ? rest : rest.substring(0, query);
            return new StoreUrl(
                    text,
                    Path.of(path.startsWith("//") ? path.substring(2) : path),
                    "",
                    parameters.getOrDefault(PREFIX, ""),
                    parameters);
        }
        if (text.contains("://")) {
            throw bad("a store is a directory, file:DIR or s3://BUCKET/PREFIX; this scheme is none of them: scheme="
                    + text.substring(0, text.indexOf(':')));
        }
        return new StoreUrl(text, Path.of(text), "", "", Map.of());
    }

    private static StoreUrl parseS3(String text) {
        URI uri;
        try {
            uri = new URI(text);
        } catch (URISyntaxException e) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, "the store's URL does not parse: at=" + e.getIndex(), e);
        }
        if (uri.getUserInfo() != null || uri.getAuthority() == null) {
            throw bad("the store's URL must be s3://BUCKET/PREFIX, without credentials");
        }
        String prefix = uri.getPath() == null ? "" : uri.getPath();
        while (prefix.startsWith("/")) {
            prefix = prefix.substring(1);
        }
        while (prefix.endsWith("/")) {
            prefix = prefix.substring(0, prefix.length() - 1);
        }
        String query = uri.getRawQuery() == null ? "" : uri.getRawQuery();
        return new StoreUrl(text, null, uri.getAuthority(), prefix, parameters(query, ENDPOINT, REGION, PATH_STYLE));
    }

    private static Map<String, String> parameters(String query, String... known) {
        Map<String, String> parameters = new LinkedHashMap<>();
        if (query.isEmpty()) {
            return parameters;
        }
        for (String part : query.split("&", -1)) {
            int equals = part.indexOf('=');
            String name = equals < 0 ? part : part.substring(0, equals);
            if (equals < 0 || !List.of(known).contains(name)) {
                throw bad("the store's URL has an unknown parameter: name=" + name + " known=" + List.of(known));
            }
            parameters.put(name, URLDecoder.decode(part.substring(equals + 1), StandardCharsets.UTF_8));
        }
        return parameters;
    }

    /** The directory; empty if it is no directory's URL. */
    public Optional<Path> directory() {
        return Optional.ofNullable(directory);
    }

    /** First part of every key; empty reads {@code default}. */
    public String prefix() {
        return prefix;
    }

    /**
     * The bucket's configuration.
     *
     * @param environment for {@code DFS_S3_KEY_ID}, {@code DFS_S3_SECRET_KEY}, and {@code DFS_S3_ENDPOINT}, {@code DFS_S3_REGION} or
     *     {@code AWS_REGION} where the URL is silent
     * @throws CoplaneException BAD_CONFIG if it is a directory's URL, or something needed is missing
     */
    public S3Config s3(Map<String, String> environment) {
        if (directory != null) {
            throw bad("no URL of S3: " + this);
        }
        String pathStyle = parameters.get(PATH_STYLE);
        if (pathStyle != null && !pathStyle.equals("true") && !pathStyle.equals("false")) {
            throw bad("path-style must be true or false: value=" + pathStyle);
        }
        return new S3Config(
                bucket,
                prefix,
                parameters.getOrDefault(ENDPOINT, environment.getOrDefault("DFS_S3_ENDPOINT", "")),
                parameters.getOrDefault(
                        REGION, environment.getOrDefault("DFS_S3_REGION", environment.getOrDefault("AWS_REGION", ""))),
                environment.getOrDefault("DFS_S3_KEY_ID", ""),
                new Secret(environment.getOrDefault("DFS_S3_SECRET_KEY", "")),
                Optional.ofNullable(pathStyle).map(Boolean::valueOf),
                false,
                S3Config.DEFAULT_REQUESTS_IN_FLIGHT,
                S3Timing.DEFAULTS);
    }

    /**
     * Opens the store for a tool.
     *
     * @param environment as in {@link #s3}; tools pass {@code System.getenv()}
     * @param ioThreads threads of a directory's store; 1 .. 1024
     * @return owned by the caller
     * @throws CoplaneException BAD_CONFIG, also for a directory that is not there
     */
    public ObjectStore open(Map<String, String> environment, int ioThreads) {
        if (directory == null) {
            return S3Store.open(s3(environment), Clock.system(), MemoryGuard.unlimited(), StoreMetrics.NONE);
        }
        if (!Files.isDirectory(directory)) {
            throw bad("no such directory: " + directory);
        }
        return new DirectoryStore(directory, prefix, ioThreads);
    }

    /** As it was given; it holds no secret. */
    @Override
    public String toString() {
        return text;
    }

    private static CoplaneException bad(String message) {
        return new CoplaneException(ErrorCode.BAD_CONFIG, message);
    }
}
