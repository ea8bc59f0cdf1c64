package io.coplane.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Exit status and messages of the command, and one worker as a process of its own (worker.md 1, 3). */
@Timeout(60)
final class CommandLineTest {
    private static final Path ROOT = Path.of(System.getProperty("coplane.root"));

    @TempDir
    private Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Test
    void theVersionIsPrinted() {
        assertThat(run("--version")).isZero();
        assertThat(out.toString()).startsWith("coplane ");
    }

    @Test
    void helpNamesTheReferencesOptions() {
        assertThat(run("serve", "--help")).isZero();
        assertThat(out.toString())
                .contains(
                        "-C, --config", "-A, --addr", "-f, --log-file", "-L, --log-level", "--pd-endpoints", "--cacert")
                .contains("--register", "--data-dir", "--cop-addr", "--push-metrics-interval", "--update-interval");
    }

    @Test
    void wrongUsageIsStatusTwo() {
        assertThat(run()).isEqualTo(2);
        assertThat(run("fly")).isEqualTo(2);
        assertThat(run("serve", "--fly")).isEqualTo(2);
        assertThat(err.toString()).contains("a command is missing", "fly");
    }

    @Test
    void aBadConfigurationIsOneSentenceAndStatusOne() throws IOException {
        Path file = Files.writeString(folder.resolve("c.toml"), "addr = 5\n");

        assertThat(run("serve", "-C", file.toString())).isEqualTo(1);
        assertThat(err.toString()).isEqualToIgnoringNewLines("coplane: addr must be a string: value=5");
    }

    @Test
    void aWorkerServesUntilItIsToldToEnd() throws Exception {
        Path config = Files.writeString(
                folder.resolve("c.toml"),
                "addr = \"127.0.0.1:1\"\ndfs.backend = \"local\"\ndfs.local-dir = \"" + folder + "\"\n");
        Path log = folder.resolve("log/worker.log");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin/java").toString());
        command.addAll(Files.readAllLines(ROOT.resolve("config/jvm.flags")));
        command.addAll(
                List.of("-Xmx256m", "-cp", System.getProperty("java.class.path"), "io.coplane.worker.CoplaneMain"));
        command.addAll(List.of("serve", "-C", config.toString(), "-A", "127.0.0.1:0", "-f", log.toString()));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            String listening = line(log, process, "listening: addr=");
            int port = Integer.parseInt(listening.replaceAll(".*addr=[^:]*:(\\d+) .*", "$1"));
            try (HttpClient client = HttpClient.newHttpClient()) {
                HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/healthz"))
                        .build();
                assertThat(client.send(request, HttpResponse.BodyHandlers.ofString())
                                .body())
                        .isEqualTo("ok");
            }

            process.destroy(); // SIGTERM
            assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
            assertThat(Files.readString(log)).contains("stopping: ", "stopped");
        } finally {
            process.destroyForcibly();
        }
    }

    /** The line of the log that has {@code text}, once it is there. */
    private static String line(Path log, Process process, String text) throws IOException {
        while (true) {
            if (Files.exists(log)) {
                for (String line : Files.readAllLines(log)) {
                    if (line.contains(text)) {
                        return line;
                    }
                }
            }
            if (!process.isAlive()) {
                try (BufferedReader output = process.inputReader()) {
                    throw new AssertionError("worker ended: " + output.readAllAsString());
                }
            }
            Thread.onSpinWait();
        }
    }

    private int run(String... arguments) {
        return CoplaneMain.run(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
    }
}
