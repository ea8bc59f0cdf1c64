package io.coplane.worker.replay;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.ObjectStore;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.TestData;
import io.coplane.testing.Waits;
import io.coplane.worker.Worker;
import io.coplane.worker.config.ConfigLoader;
import io.coplane.worker.config.Machine;
import io.coplane.worker.grpc.GrpcChannels;
import io.coplane.worker.replay.Corpus.DataSet;
import io.coplane.worker.replay.Corpus.Recorded;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Recorded requests, answered page by page. */
@ExtendWith(NoLeaks.class)
@Timeout(120)
final class StreamReplayTest {
    private static final int REQUESTS = 200;

    @TempDir
    private Path folder;

    @Test
    void pagesPutTogetherAreTheAnswersOverHttpByteForByte() throws Exception {
        Path config = Files.writeString(
                folder.resolve("coplane.toml"),
                "addr = \"127.0.0.1:0\"\ncop-addr = \"127.0.0.1:0\"\ndfs.backend = \"local\"\ndfs.local-dir = \""
                        + folder + "\"\n[coplane]\nfixed-clock-micros = " + ReplayCommand.RECORDED_WALL_MICROS + "\n");
        try (Worker worker = Worker.start(
                        ConfigLoader.load(Optional.of(config), Map.of(), Map.of()), new Machine(64L << 30, 2));
                ObjectStore store = new DirectoryStore(folder, "", 1);
                GrpcChannels channels = new GrpcChannels(Optional.empty(), 64 << 20);
                HttpTarget http = new HttpTarget(
                        URI.create("http://127.0.0.1:" + worker.address().getPort()), store);
                StreamTarget stream = new StreamTarget(
                        channels.to("127.0.0.1:" + worker.grpcAddress().getPort()), store, 100)) {
            DataSet data = Corpus.open(TestData.root()).load("paging");

            sameAnswers(data, http, stream, store);

            assertThat(stream.pages.get()).isGreaterThan(stream.answers.get() + 20);
            // the last client may have its answer sooner
            Waits.until(() -> worker.memory().usedBytes() == worker.cachedBytes());
            assertThat(worker.memory().usedBytes()).isEqualTo(worker.cachedBytes());
        }
    }

    /** They differ from the recordings where those looked rows up in other regions, which requests over a network have no way to (docs/status.md). */
    private static void sameAnswers(DataSet data, HttpTarget http, StreamTarget stream, ObjectStore store)
            throws Exception {
        CorpusLayout layout = CorpusLayout.build(data.versions(), Shape.MIXED, store, 100_000, OptionalInt.empty(), 2);
        AnswerComparer comparer =
                new AnswerComparer(data.versions(), layout.prefix(), request -> rerun(http, layout, request));
        int compared = 0;
        int lookUps = 0;
        for (Recorded recorded : data.requests().subList(0, REQUESTS)) {
            Request request = recorded.request();
            Response whole = http.send(layout.body(request));
            Response streamed = stream.send(layout.body(request));
            boolean looksUp = recorded.shape().contains("IndexLookUp");
            lookUps += looksUp ? 1 : 0;
            assertThat(comparer.compare(recorded, whole).isEmpty())
                    .as(recorded.id())
                    .isEqualTo(!looksUp);
            assertThat(streamed.getOtherError().isEmpty())
                    .as(recorded.id())
                    .isEqualTo(whole.getOtherError().isEmpty());
            if (whole.getOtherError().isEmpty() && !isTimed(request)) {
                assertThat(streamed.getData()).as(recorded.id()).isEqualTo(whole.getData());
                assertThat(streamed.getRange()).as(recorded.id()).isEqualTo(whole.getRange());
                compared++;
            }
        }
        assertThat(compared).isGreaterThan(20);
        assertThat(lookUps).isEqualTo(12);
    }

    private static Response rerun(HttpTarget http, CorpusLayout layout, Request request) {
        try {
            return http.send(layout.body(request));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Answers with execution summaries differ in their times. */
    private static boolean isTimed(Request request) throws Exception {
        return request.getTp() == 103 && DAGRequest.parseFrom(request.getData()).getCollectExecutionSummaries();
    }
}
