package io.coplane.worker;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code coplane config}. */
final class ConfigCommandTest {
    @TempDir
    private Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Test
    void aGoodFileIsOk() throws IOException {
        String file = file("dfs.backend = \"local\"\ndfs.local-dir = \"" + folder + "\"\nworker-scaler.run = false\n");

        assertThat(run("config", "check", file)).isZero();
        assertThat(out.toString()).isEqualToIgnoringNewLines("not used by this worker: worker-scaler.runok");
    }

    @Test
    void unknownKeysAreToldAndWithStrictAreStatusOne() throws IOException {
        String file = file("dfs.backend = \"local\"\ndfs.local-dir = \"" + folder + "\"\nlog-levle = \"info\"\n");

        assertThat(run("config", "check", file)).isZero();
        assertThat(run("config", "check", "--strict", file)).isEqualTo(1);
        assertThat(out.toString()).contains("unknown key: log-levle, did you mean log-level?", "not accepted");
    }

    @Test
    void whatKeepsAWorkerFromStartingIsStatusOne() throws IOException {
        assertThat(run("config", "check", file("dfs.backend = \"s3\""))).isEqualTo(1);
        assertThat(run(
                        "config",
                        "check",
                        file("dfs.backend = \"local\"\ndfs.local-dir = \"" + folder + "\"\nlog-level = \"loud\"")))
                .isEqualTo(1);
        assertThat(run("config", "check", file("addr = 5"))).isEqualTo(1);
        assertThat(run("config", "check", folder.resolve("none").toString())).isEqualTo(1);
        assertThat(err.toString())
                .contains("dfs.s3-bucket", "log-level is no level: value=loud", "addr must be a string", "none");
    }

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '`',
            delimiter = '|',
            value = {
                "security.master-key.vendor = 'AliYun' | security.master-key.vendor",
                "register = true | register needs pd.endpoints",
                "push-metrics-addr = 'a b' | push-metrics-addr is no HOST:PORT",
                "dfs.local-dir = 'nowhere' | dfs.local-dir is no directory",
                "update-interval = '0s' | update-interval is too short"
            })
    void whatServeRefusesIsStatusOne(String line, String text) throws IOException {
        String rest = line.startsWith("dfs.local-dir") ? "" : "dfs.local-dir = '" + folder + "'\n";

        assertThat(run("config", "check", file("dfs.backend = 'local'\n" + rest + line.replace('\'', '"'))))
                .isEqualTo(1);
        assertThat(err.toString()).contains(text);
    }

    @Test
    void defaultsAreAFileThatIsOkButForTheBucket() throws IOException {
        assertThat(run("config", "defaults")).isZero();
        String defaults = out.toString();
        assertThat(defaults)
                .contains(
                        "# HTTP listen address",
                        "addr = \"0.0.0.0:19000\"\n",
                        "\n[coplane]\n",
                        "\n[dfs.conn-options]\n");

        String file = file(defaults.replace("s3-bucket = \"\"", "s3-bucket = \"b\"")
                .replace("s3-region = \"\"", "s3-region = \"r\""));
        assertThat(run("config", "check", "--strict", file)).as(err.toString()).isZero();
    }

    @Test
    void showTakesTheOptionsOfServe() throws IOException {
        String file = file("log-level = \"debug\"\n");

        assertThat(run("config", "show", "-C", file, "-A", "1.2.3.4:5", "--register", "true"))
                .isZero();
        assertThat(out.toString())
                .contains("addr = \"1.2.3.4:5\"  # option\n", "register = true  # option\n")
                .contains("log-level = \"debug\"  # file\n", "cop-max-resp-size = \"32MiB\"  # default\n");
    }

    @Test
    void wrongUsageIsStatusTwo() {
        assertThat(run("config")).isEqualTo(2);
        assertThat(run("config", "check")).isEqualTo(2);
        assertThat(run("config", "show", "--fly")).isEqualTo(2);
    }

    private String file(String toml) throws IOException {
        return Files.writeString(folder.resolve("c.toml"), toml).toString();
    }

    private int run(String... arguments) {
        return CoplaneMain.run(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
    }
}
