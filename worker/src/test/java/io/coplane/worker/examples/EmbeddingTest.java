package io.coplane.worker.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.engine.CopAnswer;
import io.coplane.engine.DataPlane;
import io.coplane.engine.DataPlaneConfig;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.ObjectStore;
import io.coplane.proto.coprocessor.Response;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.TestData;
import io.coplane.worker.http.RawClient;
import io.coplane.worker.replay.AnswerComparer;
import io.coplane.worker.replay.Corpus;
import io.coplane.worker.replay.Corpus.DataSet;
import io.coplane.worker.replay.Corpus.Recorded;
import io.coplane.worker.replay.CorpusLayout;
import io.coplane.worker.replay.Shape;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** docs/embedding.md: its examples are the files of this package, and they give the recorded answers. */
@ExtendWith(NoLeaks.class)
final class EmbeddingTest {
    private static final Path ROOT = Path.of(System.getProperty("coplane.root"));
    private static final Path HERE = Path.of("worker/src/test/java/io/coplane/worker/examples");

    private static DataSet dataSet;
    private static Recorded recorded;

    @TempDir
    private Path folder;

    @BeforeAll
    static void load() throws IOException {
        dataSet = Corpus.open(TestData.root()).load("smoke");
        recorded = dataSet.requests().stream()
                .filter(request -> request.shape().equals("TableScan,Selection"))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aDataPlaneAnswersOneRequest() throws IOException {
        byte[] body;
        try (DirectoryStore store = new DirectoryStore(folder, "default", 1)) {
            body = body(store);
        }

        CopAnswer answer = AnswerOneRequest.answer(folder, body);

        assertThat(answer.httpStatus()).isEqualTo(200);
        assertIsRecorded(answer.response());
        assertThat(AnswerOneRequest.answer(folder, new byte[] {1}).httpStatus()).isEqualTo(500);
    }

    @Test
    void aStoreOfOnesOwnAndATransportOfOnesOwn() throws IOException {
        try (ObjectStore store = new MapStore();
                DataPlane plane = DataPlane.open(
                        DataPlaneConfig.defaults(2, 64L << 20), store, Clock.system(), new PrometheusRegistry())) {
            byte[] body = body(store);
            try (JdkTransport transport = new JdkTransport(plane);
                    RawClient client = new RawClient(transport.address())) {
                RawClient.Response answer = client.post("/coprocessor", body).read();
                assertThat(answer.status()).isEqualTo(200);
                assertIsRecorded(answer.body());

                RawClient.Response broken =
                        client.post("/coprocessor", new byte[] {1, 0, 0, 0}).read();
                assertThat(broken.status()).isEqualTo(500);
                assertThat(broken.text()).contains("failed to decode cop request");
            }
            assertThat(plane.memory().usedBytes()).isEqualTo(plane.cachedBytes());
        }
    }

    @ParameterizedTest
    @CsvSource({"AnswerOneRequest.java, answer", "MapStore.java, store", "JdkTransport.java, transport"})
    void thePageShowsTheCode(String file, String region) throws IOException {
        List<String> page = Files.readAllLines(ROOT.resolve("docs/embedding.md"));
        List<String> code = region(Files.readAllLines(ROOT.resolve(HERE).resolve(file)), region);

        int at = page.indexOf("<!-- " + HERE.resolve(file) + " " + region + " -->");
        assertThat(at).as("the mark before the code").isNotNegative();
        assertThat(page.get(at + 1)).isEqualTo("```java");
        assertThat(page.subList(at + 2, at + 2 + code.size())).isEqualTo(code);
        assertThat(page.get(at + 2 + code.size())).isEqualTo("```");
    }

    /** Lines between the region's marks, moved to the left as far as the first one. */
    private static List<String> region(List<String> lines, String name) {
        List<String> region = new ArrayList<>();
        int indent = -1;
        boolean inside = false;
        for (String line : lines) {
            if (line.strip().equals("// tag::" + name)) {
                inside = true;
                indent = line.indexOf('/');
            } else if (line.strip().equals("// end::" + name)) {
                return region;
            } else if (inside) {
                region.add(line.isBlank() ? "" : line.substring(indent));
            }
        }
        throw new AssertionError("no region " + name);
    }

    private static byte[] body(ObjectStore store) {
        CorpusLayout layout = CorpusLayout.build(dataSet.versions(), Shape.MIXED, store, 1_000, OptionalInt.empty(), 1);
        return layout.body(recorded.request());
    }

    private static void assertIsRecorded(byte[] response) throws IOException {
        assertThat(new AnswerComparer().compare(recorded, Response.parseFrom(response)))
                .isEmpty();
    }
}
