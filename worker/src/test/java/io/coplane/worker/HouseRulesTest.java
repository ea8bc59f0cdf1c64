package io.coplane.worker;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.MethodModel;
import java.lang.classfile.instruction.LineNumber;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rules of CONTRIBUTING.md that a compiler doesn't know: who imports whom, what kernels may touch, how long a method may be. */
final class HouseRulesTest {
    private static final int MOST_LINES = 100;
    private static final Path ROOT = Path.of(System.getProperty("coplane.root"));

    private static JavaClasses classes;

    @BeforeAll
    static void importHouse() {
        classes = new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .withImportOption(location -> !location.contains("/io/coplane/proto/")) // generated, and many
                .importPackages("io.coplane");
        assertThat(classes.stream()
                        .map(c -> c.getPackageName().split("\\.", -1)[2])
                        .distinct())
                .contains("nativecache", "types", "sst", "snapshot", "cop", "engine", "worker");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "nativecache | types sst snapshot compaction cop engine worker proto",
                "types | sst snapshot compaction cop engine worker",
                "sst | snapshot compaction cop engine worker",
                "snapshot | compaction cop engine worker",
                "compaction | snapshot cop engine worker",
                "cop | engine worker",
                "engine | worker"
            })
    void aModuleImportsOnlyWhatStandsBelowIt(String module, String banned) {
        String[] packages = Stream.of(banned.strip().split(" ", -1))
                .map(name -> "io.coplane." + name + "..")
                .toArray(String[]::new);

        noClasses()
                .that()
                .resideInAPackage("io.coplane." + module.strip() + "..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(packages)
                .check(classes);
    }

    @Test
    void kernelsTouchNoStreamsBoxesLocksOrLogs() {
        noClasses()
                .that()
                .resideInAPackage("..kernel..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "java.util.stream..", "org.slf4j..", "java.util.concurrent.locks..", "java.util.logging..")
                .check(classes);
    }

    @Test
    void onlyTheGroundLinksNativeCode() {
        noClasses()
                .that()
                .resideOutsideOfPackage("io.coplane.nativecache..")
                .should()
                .dependOnClassesThat()
                .haveFullyQualifiedName("java.lang.foreign.Linker")
                .check(classes);
    }

    @Test
    void theEngineKnowsNoTransport() {
        noClasses()
                .that()
                .resideOutsideOfPackage("io.coplane.worker..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.netty..", "picocli..")
                .check(classes);
        noClasses()
                .that()
                .resideOutsideOfPackages("io.coplane.worker..", "io.coplane.compaction..") // whose requests are JSON
                .should()
                .dependOnClassesThat()
                .resideInAPackage("com.fasterxml..")
                .check(classes);
    }

    @Test
    void noMethodIsLongerThanAPage() throws IOException {
        List<String> tooLong = new ArrayList<>();
        int[] methods = {0};
        for (Path file : files("target/classes", ".class")) {
            var model = ClassFile.of().parse(file);
            for (MethodModel method : model.methods()) {
                methods[0]++;
                int lines = lines(method);
                // static initialisers hold tables (signatures, byte maps); they are data, not code
                if (lines > MOST_LINES && !method.methodName().equalsString("<clinit>")) {
                    tooLong.add(model.thisClass().asInternalName() + "."
                            + method.methodName().stringValue() + ": " + lines);
                }
            }
        }

        assertThat(methods[0]).isGreaterThan(500);
        assertThat(tooLong).isEmpty();
    }

    @Test
    void everyPackageHasItsDoorSign() throws IOException {
        List<Path> without = new ArrayList<>();
        List<Path> sources = files("src/main/java", ".java");
        for (Path source : sources) {
            if (!Files.exists(source.resolveSibling("package-info.java")) && !without.contains(source.getParent())) {
                without.add(source.getParent());
            }
        }

        assertThat(sources).hasSizeGreaterThan(50);
        assertThat(without).isEmpty();
    }

    private static int lines(MethodModel method) {
        int first = Integer.MAX_VALUE;
        int last = 0;
        var code = method.code();
        if (code.isEmpty()) {
            return 0;
        }
        for (var element : code.get()) {
            if (element instanceof LineNumber line) {
                first = Math.min(first, line.line());
                last = Math.max(last, line.line());
            }
        }
        return last == 0 ? 0 : last - first + 1;
    }

    /** Files of one kind in all modules but the generated one. */
    private static List<Path> files(String folder, String ending) throws IOException {
        try (Stream<Path> modules = Files.list(ROOT)) {
            return modules.filter(module -> Files.exists(module.resolve("pom.xml")) && !module.endsWith("proto"))
                    .map(module -> module.resolve(folder))
                    .filter(Files::isDirectory)
                    .flatMap(HouseRulesTest::walk)
                    .filter(file ->
                            file.toString().endsWith(ending) && !file.toString().contains("jmh_generated"))
                    .toList();
        }
    }

    private static Stream<Path> walk(Path folder) {
        try {
            return Files.walk(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
