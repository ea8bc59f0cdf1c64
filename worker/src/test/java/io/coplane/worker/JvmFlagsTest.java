package io.coplane.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** One list of flags, and what the worker says when one is missing. */
final class JvmFlagsTest {
    private static final Path ROOT = Path.of(System.getProperty("coplane.root"));

    @Test
    void theBuildAndTheLauncherHaveTheSameFlags() throws IOException {
        List<String> flags = Files.readAllLines(ROOT.resolve("config/jvm.flags"));
        String pom = Files.readString(ROOT.resolve("pom.xml"));

        assertThat(flags).isNotEmpty();
        assertThat(pom).contains("<coplane.jvmFlags>" + String.join(" ", flags) + "</coplane.jvmFlags>");
    }

    @Test
    void everyFlagOfTheListIsChecked() throws IOException {
        assertThat(JvmFlags.missing(name -> false))
                .containsExactlyElementsOf(Files.readAllLines(ROOT.resolve("config/jvm.flags")));
    }

    @Test
    void testsRunWithAllOfThem() {
        assertThatNoException().isThrownBy(JvmFlags::check);
    }
}
