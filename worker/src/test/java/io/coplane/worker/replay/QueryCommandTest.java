package io.coplane.worker.replay;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.protobuf.util.JsonFormat;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.proto.coprocessor.KeyRange;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.EncodeType;
import io.coplane.proto.tipb.SelectResponse;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.TestData;
import io.coplane.worker.replay.Corpus.DataSet;
import io.coplane.worker.replay.Corpus.Recorded;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** {@code query} and {@code explain} over a recorded data set and over files in a store. */
@ExtendWith(NoLeaks.class)
final class QueryCommandTest {
    @TempDir
    Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(Object command, String... arguments) {
        return new CommandLine(command)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .execute(arguments);
    }

    private static DataSet smoke() throws IOException {
        return Corpus.open(TestData.root()).load("smoke");
    }

    private static int rows(Recorded recorded) throws IOException {
        SelectResponse select = SelectResponse.parseFrom(recorded.answer().getData());
        DAGRequest dag = DAGRequest.parseFrom(recorded.request().getData());
        return RowTable.decode(
                        select.getChunksList(),
                        PlanShape.of(dag, recorded.request().getPagingSize()).outputs(),
                        select.getEncodeType() != EncodeType.TypeDefault)
                .rows()
                .size();
    }

    /** A request whose recorded answer has rows. */
    private static Recorded withRows(DataSet dataSet) throws IOException {
        for (Recorded recorded : dataSet.requests()) {
            if (recorded.request().getTp() == 103
                    && recorded.otherError().isEmpty()
                    && !SelectResponse.parseFrom(recorded.answer().getData()).hasError()
                    && recorded.request().getTasksCount() == 0
                    && rows(recorded) > 1) {
                return recorded;
            }
        }
        throw new AssertionError("no recorded answer has rows");
    }

    @Test
    void printsTheRowsOfARecordedRequestInEveryFormat() throws IOException {
        Recorded recorded = withRows(smoke());
        int expected = rows(recorded);
        String number = Integer.toString(recorded.ordinal());

        assertThat(run(new QueryCommand(), "--data-set", "smoke", "--number", number, "--format", "json"))
                .isZero();
        JsonNode json = new ObjectMapper().readTree(out.toString());
        out.getBuffer().setLength(0);
        assertThat(run(new QueryCommand(), "--data-set", "smoke", "--number", number))
                .isZero();

        assertThat(json).hasSize(expected);
        assertThat(out.toString()).contains("c0").endsWith(expected + " rows" + System.lineSeparator());
    }

    @Test
    void explainsARecordedRequestPerExecutor() throws IOException {
        Recorded recorded = withRows(smoke());

        assertThat(run(new ExplainCommand(), "--data-set", "smoke", "--number", Integer.toString(recorded.ordinal())))
                .isZero();

        List<String> lines = out.toString().lines().toList();
        assertThat(lines.get(0)).contains("rows", "pulls", "ms", "KiB");
        assertThat(lines.get(1)).containsPattern(" " + rows(recorded) + " ");
    }

    @Test
    void listsEveryFunctionWithItsStatus() {
        assertThat(run(new ExplainCommand(), "--functions")).isZero();

        assertThat(out.toString())
                .contains("CastIntAsInt")
                .contains("supported")
                .contains("refused");
        assertThat(out.toString().lines().count()).isGreaterThan(510);
    }

    /** A plan in JSON form on the files of a shard, which a captured body describes. */
    @Test
    void executesAPlanInJsonFormOnFilesInAStore() throws IOException {
        DataSet dataSet = smoke();
        Recorded recorded = withRows(dataSet);
        Path files = folder.resolve("files");
        try (DirectoryStore store = new DirectoryStore(files, "", 2)) {
            CorpusLayout layout = CorpusLayout.build(dataSet.versions(), Shape.LN, store, 1, OptionalInt.empty(), 1);
            Files.write(folder.resolve("body"), layout.body(recorded.request()));
        }
        DAGRequest dag = DAGRequest.parseFrom(recorded.request().getData());
        Files.writeString(folder.resolve("dag.json"), JsonFormat.printer().print(dag), StandardCharsets.UTF_8);

        String[] place = {
            "--store",
            "file:" + files.toString() + "?prefix=" + "",
            "--snapshot",
            folder.resolve("body").toString()
        };
        assertThat(run(new QueryCommand(), with(place, "--format", "json"))).isZero();
        JsonNode ofBody = new ObjectMapper().readTree(out.toString());
        out.getBuffer().setLength(0);
        List<String> more = new ArrayList<>(List.of(
                "--dag",
                folder.resolve("dag.json").toString(),
                "--start-ts",
                Long.toString(recorded.request().getStartTs()),
                "--format",
                "json"));
        for (KeyRange range : recorded.request().getRangesList()) {
            more.add("--range");
            more.add(HexFormat.of().formatHex(range.getStart().toByteArray()) + ".."
                    + HexFormat.of().formatHex(range.getEnd().toByteArray()));
        }
        assertThat(run(new QueryCommand(), with(place, more.toArray(new String[0]))))
                .isZero();

        assertThat(ofBody).hasSize(rows(recorded));
        assertThat(new ObjectMapper().readTree(out.toString())).isEqualTo(ofBody);
    }

    private static String[] with(String[] first, String... more) {
        String[] all = Arrays.copyOf(first, first.length + more.length);
        System.arraycopy(more, 0, all, first.length, more.length);
        return all;
    }

    @Test
    void saysInOneSentenceWhatIsMissing() {
        CommandLine command = new CommandLine(new QueryCommand()).setExecutionExceptionHandler((e, line, parsed) -> {
            err.write(String.valueOf(e.getMessage()));
            return 1;
        });

        assertThat(command.execute()).isEqualTo(1);
        assertThat(err.toString()).contains("--data-set").contains("--store");
    }
}
