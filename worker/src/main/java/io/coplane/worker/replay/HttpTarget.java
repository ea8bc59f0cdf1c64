package io.coplane.worker.replay;

import io.coplane.nativecache.ObjectStore;
import io.coplane.proto.coprocessor.Response;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** A worker at a URL. */
final class HttpTarget implements ReplayTarget {
    private static final String PROTOBUF = "application/protobuf";
    private static final Duration PATIENCE = Duration.ofSeconds(120);

    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(10))
            .build();
    private final URI uri;
    private final ObjectStore store;

    /** @param store what the worker reads from; borrowed */
    HttpTarget(URI base, ObjectStore store) {
        uri = base.resolve("/coprocessor");
        this.store = store;
    }

    @Override
    public ObjectStore store() {
        return store;
    }

    @Override
    public Response send(byte[] body) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(uri)
                .timeout(PATIENCE)
                .header("content-type", "application/octet-stream")
                .header("accept", PROTOBUF)
                .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                .build();
        HttpResponse<byte[]> answer = client.send(request, HttpResponse.BodyHandlers.ofByteArray());
        boolean isProtobuf = answer.headers()
                .firstValue("content-type")
                .filter(PROTOBUF::equals)
                .isPresent();
        if (answer.statusCode() / 100 == 2 || isProtobuf) {
            return Response.parseFrom(Corpus.input(answer.body()));
        }
        String text = new String(answer.body(), StandardCharsets.UTF_8);
        return Response.newBuilder()
                .setOtherError(answer.statusCode() + " " + text)
                .build();
    }

    @Override
    public void close() {
        client.close();
    }
}
