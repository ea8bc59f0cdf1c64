package io.coplane.worker;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.protobuf.ByteString;
import io.coplane.proto.coprocessor.Request;
import io.coplane.snapshot.RemoteRequestBody;
import io.coplane.testing.NoLeaks;
import io.coplane.worker.config.ConfigLoader;
import io.coplane.worker.config.Machine;
import io.coplane.worker.http.RequestLog;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** One line a request, what it says, and which are slow (worker.md 6.2, 6.6); with a real worker. */
@ExtendWith(NoLeaks.class)
@Timeout(60)
final class RequestLogTest {
    @TempDir
    private Path folder;

    private final HttpClient client = HttpClient.newHttpClient();
    private final Logger logger = (Logger) LoggerFactory.getLogger(RequestLog.class);
    private RotatingFile lines;
    private Worker worker;

    @BeforeEach
    void catchLines() {
        LoggerContext context = logger.getLoggerContext();
        LogLines encoder = new LogLines(true);
        encoder.setContext(context);
        encoder.start();
        lines = new RotatingFile(folder.resolve("lines.log"), encoder);
        lines.setContext(context);
        lines.start();
        logger.addAppender(lines);
    }

    @AfterEach
    void stop() {
        logger.detachAppender(lines);
        lines.stop();
        client.close();
    }

    @Test
    void aLineHasTagSizesPhasesAndCounts() throws Exception {
        start("slow-log-threshold = \"0s\"");
        byte[] memData = HungryRequests.integers();
        Request request = HungryRequests.modest().toBuilder()
                .setContext(HungryRequests.modest().getContext().toBuilder()
                        .setKeyspaceId(7)
                        .setRegionId(42)
                        .setResourceGroupTag(
                                ByteString.copyFrom(new byte[] {18, 1, 5, 10, 2, -1, 3}))) // field 2, field 1
                .build();
        byte[] body = RemoteRequestBody.join(request.toByteArray(), memData, HungryRequests.emptyShard());

        assertThat(post(body)).isEqualTo(200);
        JsonNode line = onlyLine();

        assertThat(line.get("level").textValue()).isEqualTo("INFO");
        assertThat(line.get("message").textValue()).isEqualTo("coprocessor");
        assertThat(line.get("tag").textValue()).isEqualTo("dag ks7:42:0:10");
        assertThat(line.get("status").intValue()).isEqualTo(200);
        assertThat(line.get("bodyBytes").intValue()).isEqualTo(body.length);
        assertThat(line.get("memDataBytes").intValue()).isEqualTo(memData.length);
        assertThat(line.get("digest").textValue()).isEqualTo("ff03");
        assertThat(line.get("files").intValue()).isZero();
        assertThat(line.get("scannedKeys").intValue()).isPositive();
        assertThat(line.get("answerBytes").intValue()).isPositive();
        assertThat(line.get("snapshotMicros").longValue()).isPositive();
        assertThat(line.get("processMicros").longValue()).isPositive();
        assertThat(line.get("micros").longValue())
                .isGreaterThanOrEqualTo(line.get("bodyMicros").longValue()
                        + line.get("waitMicros").longValue()
                        + line.get("snapshotMicros").longValue()
                        + line.get("processMicros").longValue());
        assertThat(line.get("peer").textValue()).startsWith("/127.0.0.1:");
    }

    @Test
    void whatIsSlowIsAWarning() throws Exception {
        start("slow-log-threshold = \"1us\"");

        assertThat(post(new byte[0])).isEqualTo(500);
        JsonNode line = onlyLine();

        assertThat(line.get("level").textValue()).isEqualTo("WARN");
        assertThat(line.get("message").textValue()).isEqualTo("slow coprocessor");
        assertThat(line.get("tag").textValue()).isEmpty();
    }

    /** A refusal names what was wrong; no line repeats keys or values of the request. */
    @Test
    void noLineHoldsDataOfUsers() throws Exception {
        start("slow-log-threshold = \"1us\"");
        byte[] body = RemoteRequestBody.join(
                HungryRequests.sortKeys().toByteArray(), HungryRequests.strings(), HungryRequests.emptyShard());

        assertThat(post(body)).isEqualTo(200);
        worker.close();

        assertThat(Files.readString(folder.resolve("lines.log"))).doesNotContain("aaaa");
    }

    private JsonNode onlyLine() throws IOException {
        worker.close(); // after which nobody writes
        List<String> all = Files.readAllLines(folder.resolve("lines.log"));
        assertThat(all).hasSize(1);
        return new ObjectMapper().readTree(all.getFirst());
    }

    private void start(String own) throws IOException {
        Path file = Files.writeString(folder.resolve("worker.toml"), String.format(Locale.ROOT, """
                addr = "127.0.0.1:0"
                cop-addr = ""
                dfs.backend = "local"
                dfs.local-dir = "%s"
                coplane.%s
                """, folder, own));
        worker = Worker.start(ConfigLoader.load(Optional.of(file), Map.of(), Map.of()), new Machine(64L << 30, 2));
    }

    private int post(byte[] body) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(
                        URI.create("http://127.0.0.1:" + worker.address().getPort() + "/coprocessor"))
                .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                .build();
        return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
    }
}
