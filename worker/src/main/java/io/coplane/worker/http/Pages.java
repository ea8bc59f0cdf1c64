package io.coplane.worker.http;

import io.coplane.engine.CompactAnswer;
import io.coplane.engine.CopAnswer;
import io.coplane.engine.TxnChunkAnswer;
import io.coplane.engine.TxnChunkRequest;
import io.coplane.nativecache.AsciiNumbers;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.util.AsciiString;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Supplier;
import java.util.zip.GZIPOutputStream;

/** Every route's answer but the data plane's own (worker.md 5). Thread-safe. */
final class Pages {
    static final String COPROCESSOR = "/coprocessor";
    static final String COMPACT = "/compact";
    static final String TXN_CHUNK = "/txn_chunk";

    private static final String KEYSPACE_ID = "keyspace_id";

    private static final String HEALTH = "/healthz";
    private static final String METRICS = "/metrics";
    private static final String STATUS = "/coplane/";

    private static final AsciiString PROTOBUF = AsciiString.cached("application/protobuf");
    private static final AsciiString JSON = AsciiString.cached("application/json");
    private static final AsciiString PLAIN = AsciiString.cached("text/plain");
    private static final AsciiString METRICS_TEXT = AsciiString.cached("text/plain; version=0.0.4");
    private static final AsciiString HTML = AsciiString.cached("text/html; charset=utf-8");
    private static final AsciiString GZIP = AsciiString.cached("gzip");
    private static final AsciiString REMOTE_CACHE = AsciiString.cached("x-dfs-remote-cache-addr");

    private final PrometheusRegistry registry;
    private final Supplier<String> statusPage;

    /**
     * @param registry what {@code /metrics} shows
     * @param statusPage HTML of {@code /coplane/}
     */
    Pages(PrometheusRegistry registry, Supplier<String> statusPage) {
        this.registry = registry;
        this.statusPage = statusPage;
    }

    /** The answer of any path but {@link #COPROCESSOR}. The method is not looked at. */
    Answer page(String path, HttpHeaders headers) {
        return switch (path) {
            case HEALTH -> Answer.text(HttpResponseStatus.OK, "ok");
            case METRICS -> metrics(headers);
            case STATUS ->
                Answer.bytes(HttpResponseStatus.OK, HTML, statusPage.get().getBytes(StandardCharsets.UTF_8));
            default -> Answer.text(HttpResponseStatus.NOT_FOUND, "Not Found");
        };
    }

    private Answer metrics(HttpHeaders headers) {
        byte[] text = TextMetrics.write(registry.scrape()).getBytes(StandardCharsets.UTF_8);
        if (!acceptsGzip(headers)) {
            return Answer.bytes(HttpResponseStatus.OK, METRICS_TEXT, text);
        }
        return new Answer(HttpResponseStatus.OK, METRICS_TEXT, GZIP, gzip(text));
    }

    private static byte[] gzip(byte[] text) {
        ByteArrayOutputStream out = new ByteArrayOutputStream(text.length / 4 + 64);
        try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(text);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // a byte array takes everything
        }
        return out.toByteArray();
    }

    /** Some item of the first {@code Accept-Encoding} is {@code gzip} or starts with {@code gzip;}; q-values are not looked at (worker.md 5.1). */
    private static boolean acceptsGzip(HttpHeaders headers) {
        String accepted = headers.get(HttpHeaderNames.ACCEPT_ENCODING, "");
        for (String item : accepted.split(",", -1)) {
            String trimmed = item.strip();
            if (trimmed.equals("gzip") || trimmed.startsWith("gzip;")) {
                return true;
            }
        }
        return false;
    }

    /** Some {@code Accept} header value is exactly {@code application/protobuf} (worker.md 6.1). */
    static boolean acceptsProtobuf(HttpHeaders headers) {
        for (String value : headers.getAll(HttpHeaderNames.ACCEPT)) {
            if (PROTOBUF.contentEquals(value)) {
                return true;
            }
        }
        return false;
    }

    /** Value of {@code x-dfs-remote-cache-addr}; empty if it is absent or no visible ASCII. */
    static String remoteCacheAddress(HttpHeaders headers) {
        String value = headers.get(REMOTE_CACHE, "");
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if ((c < ' ' || c > '~') && c != '\t') {
                return "";
            }
        }
        return value.strip();
    }

    /** The unsigned value of {@code keyspace_id} in a request target, of several the last; empty if it is absent or no u32 (worker.md 14.1). */
    static OptionalInt keyspaceId(String uri) {
        List<String> values;
        try {
            values = QueryStringDecoder.builder()
                    .semicolonIsNormalChar(true)
                    .build(uri)
                    .parameters()
                    .getOrDefault(KEYSPACE_ID, List.of());
        } catch (IllegalArgumentException e) { // a broken escape
            return OptionalInt.empty();
        }
        if (values.isEmpty() || values.getLast().startsWith("-")) {
            return OptionalInt.empty();
        }
        try {
            return OptionalInt.of(AsciiNumbers.parseUnsignedInt(values.getLast()));
        } catch (NumberFormatException e) {
            return OptionalInt.empty();
        }
    }

    /** What a request of {@code /txn_chunk} asks for. */
    static TxnChunkRequest.Method txnChunkMethod(HttpMethod method) {
        if (method.equals(HttpMethod.POST)) {
            return TxnChunkRequest.Method.POST;
        }
        return method.equals(HttpMethod.GET) ? TxnChunkRequest.Method.GET : TxnChunkRequest.Method.OTHER;
    }

    /** The answer about a txn chunk as a response: JSON, or a text without content type (worker.md 14.2). */
    static Answer txnChunk(TxnChunkAnswer answer) {
        return Answer.bytes(
                HttpResponseStatus.valueOf(answer.httpStatus()),
                answer.isSuccess() ? JSON : AsciiString.EMPTY_STRING,
                answer.text().getBytes(StandardCharsets.UTF_8));
    }

    /** A compaction's answer as a response: no content type (compaction.md 1.1). */
    static Answer compact(CompactAnswer answer) {
        return Answer.bytes(HttpResponseStatus.valueOf(answer.httpStatus()), AsciiString.EMPTY_STRING, answer.body());
    }

    /** The data plane's answer as a response (worker.md 6.2, 6.5). */
    static Answer coprocessor(CopAnswer answer, boolean acceptsProtobuf) {
        HttpResponseStatus status = HttpResponseStatus.valueOf(answer.httpStatus());
        if (answer.isSuccess()) {
            return Answer.bytes(status, AsciiString.EMPTY_STRING, answer.response());
        }
        if (acceptsProtobuf && answer.response() != null) {
            return Answer.bytes(status, PROTOBUF, answer.response());
        }
        AsciiString type = status.equals(HttpResponseStatus.FORBIDDEN) ? PLAIN : AsciiString.EMPTY_STRING;
        return Answer.bytes(status, type, answer.text().getBytes(StandardCharsets.UTF_8));
    }
}
