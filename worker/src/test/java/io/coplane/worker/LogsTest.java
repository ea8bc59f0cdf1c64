package io.coplane.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import io.coplane.nativecache.CoplaneException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Levels and the log file (worker.md 1). */
final class LogsTest {
    @TempDir
    private Path folder;

    @Test
    void aLevelThatIsNoneIsNamed() {
        assertThatThrownBy(() -> Logs.configure("loud", "", false))
                .isInstanceOf(CoplaneException.class)
                .hasMessageContaining("log-level is no level: value=loud");
    }

    @Test
    void whatLibrariesLogThroughTheJdkGoesTheSameWay() throws IOException {
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        Path file = folder.resolve("worker.log");
        try {
            Logs.configure("info", file.toString(), true);
            java.util.logging.Logger.getLogger("io.grpc.example").warning("connection lost");
            java.util.logging.Logger.getLogger("io.grpc.netty.NettyServerHandler")
                    .warning("Stream Error");
        } finally {
            Logs logs = new Logs();
            logs.setContext(context);
            logs.configure(context);
        }

        assertThat(Files.readString(file)).contains("connection lost", "WARN").doesNotContain("Stream Error");
    }

    @Test
    void aFullFileIsPutAsideUnderItsTime() throws IOException {
        LoggerContext context = new LoggerContext();
        PatternLayoutEncoder encoder = new PatternLayoutEncoder();
        encoder.setContext(context);
        encoder.setPattern("%msg%n");
        encoder.start();
        RotatingFile file = new RotatingFile(folder.resolve("worker.log"), encoder, 100);
        file.setContext(context);
        file.start();
        context.getLogger("test").addAppender(file);

        context.getLogger("test").error("a".repeat(80));
        context.getLogger("test").error("b".repeat(80));
        file.stop();

        assertThat(Files.readString(folder.resolve("worker.log")))
                .startsWith("bbb")
                .hasLineCount(1);
        try (Stream<Path> files = Files.list(folder)) {
            List<String> names =
                    files.map(path -> path.getFileName().toString()).sorted().toList();
            assertThat(names).hasSize(2);
            assertThat(names.getFirst()).matches("worker-\\d{4}-\\d\\d-\\d\\dT\\d\\d-\\d\\d-\\d\\d\\.\\d{3}\\.log");
            assertThat(Files.readString(folder.resolve(names.getFirst())))
                    .startsWith("aaa")
                    .hasLineCount(1);
        }
    }

    @Test
    void anOldFileIsContinued() throws IOException {
        Path log = Files.writeString(folder.resolve("worker.log"), "old\n");
        LoggerContext context = new LoggerContext();
        PatternLayoutEncoder encoder = new PatternLayoutEncoder();
        encoder.setContext(context);
        encoder.setPattern("%msg%n");
        encoder.start();
        RotatingFile file = new RotatingFile(log, encoder);
        file.setContext(context);
        file.start();
        context.getLogger("test").addAppender(file);

        context.getLogger("test").error("new");
        file.stop();

        assertThat(Files.readString(log)).isEqualTo("old\nnew\n");
    }
}
