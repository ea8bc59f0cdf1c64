package io.coplane.testing;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The test data of this build: golden files, recorded requests, expression vectors and the reference's speed.
 *
 * <p>The root is the folder named by the system property {@value #ROOT_PROPERTY} (a relative one starts at the project
 * root); without it, {@code testdata} of the project. Families, cases and data sets are found by listing the root, so that
 * the same tests run over other files. Layouts: {@code testdata/README.md}.
 *
 * <p>Whatever is asked for and isn't there is an {@link AssertionError} that names the folder: a test without data fails.
 *
 * <pre>{@code
 * static Stream<GoldenCase> cases() {
 *     return TestData.cases("sst");
 * }
 *
 * @ParameterizedTest
 * @MethodSource("cases")
 * void readsEveryEntry(GoldenCase golden) { ... }
 * }</pre>
 */
public final class TestData {
    /** System property that names another root. Unset or empty: the project's own. */
    public static final String ROOT_PROPERTY = "coplane.testdata";

    private static DataFolder current; // guarded by the class

    private TestData() {}

    /** Returns the folder that all data comes from. */
    public static Path root() {
        return current().root();
    }

    /** Returns the root of the project: the nearest folder above the working directory that holds a pom and the test data. */
    public static Path projectRoot() {
        Path start = Path.of("").toAbsolutePath();
        for (Path folder = start; folder != null; folder = folder.getParent()) {
            if (Files.isRegularFile(folder.resolve("pom.xml")) && Files.isDirectory(folder.resolve("testdata"))) {
                return folder;
            }
        }
        throw new AssertionError("no folder with pom.xml and testdata: above=" + start);
    }

    /** Returns the golden families that the root holds, sorted. */
    public static List<String> families() {
        return current().families();
    }

    /** Returns the cases of a golden family, sorted by name; at least one. */
    public static List<GoldenCase> golden(String family) {
        return current().golden(family);
    }

    /** Returns {@link #golden} as a stream, for a JUnit method source. */
    public static Stream<GoldenCase> cases(String family) {
        return golden(family).stream();
    }

    /** Returns one case of a golden family. Only for a case that a test cares about by name: another root may lack it. */
    public static GoldenCase goldenCase(String family, String name) {
        return current().goldenCase(family, name);
    }

    /** Returns the names of the recorded data sets, sorted; at least one. */
    public static List<String> corpusNames() {
        return current().corpusNames();
    }

    /**
     * Returns a file of a recorded data set, which exists.
     *
     * @param suffix {@code mvcc.zst}, {@code req.zst}, {@code tikv.zst} or {@code tsv}
     */
    public static Path corpusFile(String name, String suffix) {
        return current().corpusFile(name, suffix);
    }

    /** Returns the folder of the recorded data sets. */
    public static Path corpus() {
        return current().corpus();
    }

    /** Returns the file of expression test vectors. */
    public static Path expressionVectors() {
        return current().expressionVectors();
    }

    /** Returns the figures of the reference's executors. */
    public static Path referenceSpeed() {
        return current().file("reference-speed.tsv");
    }

    /** Returns the figures of the reference's storage code. */
    public static Path referenceStorageSpeed() {
        return current().file("reference-storage-speed.tsv");
    }

    /** Opens a {@code .zst} file as its plain bytes. The caller closes it. */
    public static InputStream openZstd(Path file) throws IOException {
        return DataFolder.openZstd(file);
    }

    private static synchronized DataFolder current() {
        if (current == null) {
            Path project = projectRoot();
            String property = System.getProperty(ROOT_PROPERTY, "");
            Path root = project.resolve(property.isBlank() ? "testdata" : property);
            current = new DataFolder(root, project.resolve("native-cache/target/testdata"));
        }
        return current;
    }
}
