package io.coplane.worker;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.LoggerContext;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;

/** Lines of the log, in both forms. */
final class LogLinesTest {
    @TempDir
    private Path folder;

    @Test
    void textHasTheKeysBehindTheMessage() throws IOException {
        String line = lines(
                        false,
                        log -> log.atInfo()
                                .addKeyValue("tag", "dag ks7:1:2:3")
                                .addKeyValue("status", 200)
                                .addKeyValue("empty", "")
                                .log("coprocessor"))
                .getFirst();

        assertThat(line)
                .matches(
                        "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}(Z|[+-]\\d\\d:\\d\\d) INFO  \\[main] Some - .*")
                .endsWith(" - coprocessor tag=\"dag ks7:1:2:3\" status=200 empty=\"\"");
    }

    @Test
    void whatComesFromOutsideBeginsNoLine() throws IOException {
        List<String> lines = lines(
                false,
                log -> log.atWarn().addKeyValue("peer", "x\"\ny").log("refused: {}", "a\r\nERROR \u001b[31m forged"));

        assertThat(lines).hasSize(1);
        assertThat(lines.getFirst()).endsWith("refused: a\\r\\nERROR \\u001b[31m forged peer=\"x\\\"\\ny\"");
    }

    @Test
    void jsonIsAnObjectALine() throws IOException {
        List<String> lines = lines(true, log -> {
            log.atInfo()
                    .addKeyValue("tag", "dag ks7:1:2:3")
                    .addKeyValue("status", 200)
                    .addKeyValue("micros", 5L)
                    .addKeyValue("none", (Object) null)
                    .log("copro\n\"cessor\"");
            log.error("broken", new IllegalStateException("why"));
        });

        assertThat(lines).hasSize(2);
        JsonNode first = new ObjectMapper().readTree(lines.getFirst());
        assertThat(first.get("level").textValue()).isEqualTo("INFO");
        assertThat(first.get("thread").textValue()).isEqualTo("main");
        assertThat(first.get("logger").textValue()).isEqualTo("Some");
        assertThat(first.get("message").textValue()).isEqualTo("copro\n\"cessor\"");
        assertThat(first.get("tag").textValue()).isEqualTo("dag ks7:1:2:3");
        assertThat(first.get("status").intValue()).isEqualTo(200);
        assertThat(first.get("micros").longValue()).isEqualTo(5);
        assertThat(first.has("time")).isTrue();
        assertThat(first.has("stack")).isFalse();
        assertThat(new ObjectMapper().readTree(lines.get(1)).get("stack").textValue())
                .startsWith("java.lang.IllegalStateException: why");
    }

    private interface Writing {
        void to(Logger log);
    }

    private List<String> lines(boolean isJson, Writing writing) throws IOException {
        LoggerContext context = new LoggerContext();
        LogLines encoder = new LogLines(isJson);
        encoder.setContext(context);
        encoder.start();
        Path file = folder.resolve("lines.log");
        RotatingFile appender = new RotatingFile(file, encoder);
        appender.setContext(context);
        appender.start();
        context.getLogger("io.some.Some").addAppender(appender);

        writing.to(context.getLogger("io.some.Some"));
        appender.stop();
        return Files.readAllLines(file);
    }
}
