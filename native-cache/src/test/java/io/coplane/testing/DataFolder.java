package io.coplane.testing;

import com.github.luben.zstd.ZstdInputStream;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** One root of test data, in the packed layout, the plain one or a mixture. Thread-safe; safe between processes. */
final class DataFolder {
    private static final String PACKED = ".tar.zst";
    private static final Object UNPACKING = new Object(); // file locks don't exclude threads of one process

    private final Path root;
    private final Path unpacked;
    private final Map<String, List<GoldenCase>> familyCases = new HashMap<>(); // guarded by itself

    /**
     * @param root     folder that holds {@code golden}, {@code corpus} and the rest
     * @param unpacked folder for unpacked archives; made when first needed
     */
    DataFolder(Path root, Path unpacked) {
        if (!Files.isDirectory(root)) {
            throw new AssertionError("no test data: folder=" + root.toAbsolutePath());
        }
        this.root = root.toAbsolutePath().normalize();
        this.unpacked = unpacked.toAbsolutePath().normalize();
    }

    Path root() {
        return root;
    }

    Path corpus() {
        return root.resolve("corpus");
    }

    List<String> families() {
        Path golden = root.resolve("golden");
        var names = new TreeSet<String>();
        for (Path path : list(golden, path -> true)) {
            String name = path.getFileName().toString();
            if (Files.isDirectory(path)) {
                names.add(name);
            } else if (name.endsWith(PACKED)) {
                names.add(name.substring(0, name.length() - PACKED.length()));
            }
        }
        return List.copyOf(notEmpty(names.stream().toList(), "golden family", golden));
    }

    List<GoldenCase> golden(String family) {
        synchronized (familyCases) {
            List<GoldenCase> cases = familyCases.get(family);
            if (cases == null) {
                cases = findCases(family);
                familyCases.put(family, cases);
            }
            return cases;
        }
    }

    GoldenCase goldenCase(String family, String name) {
        for (GoldenCase golden : golden(family)) {
            if (golden.name().equals(name)) {
                return golden;
            }
        }
        throw new AssertionError("no such golden case: family=" + family + " case=" + name + " root=" + root);
    }

    List<String> corpusNames() {
        var names = new ArrayList<String>();
        for (Path path : list(corpus(), Files::isRegularFile)) {
            String file = path.getFileName().toString();
            if (file.endsWith(".req.zst")) {
                names.add(file.substring(0, file.length() - ".req.zst".length()));
            }
        }
        return List.copyOf(notEmpty(names, "recorded data set", corpus()));
    }

    Path corpusFile(String name, String suffix) {
        return file("corpus/" + name + "." + suffix);
    }

    Path expressionVectors() {
        Path plain = root.resolve("spec/expression-vectors.tsv");
        return Files.isRegularFile(plain) ? plain : file("expressions/expression-vectors.tsv");
    }

    Path file(String relative) {
        Path path = root.resolve(relative);
        if (!Files.isRegularFile(path)) {
            throw new AssertionError("no such test data: file=" + path);
        }
        return path;
    }

    static InputStream openZstd(Path file) throws IOException {
        InputStream stored = new BufferedInputStream(Files.newInputStream(file), 1 << 16);
        try {
            return new BufferedInputStream(new ZstdInputStream(stored), 1 << 16);
        } catch (IOException | RuntimeException e) {
            stored.close();
            throw e;
        }
    }

    private List<GoldenCase> findCases(String family) {
        if (!family.matches("[a-z0-9_]+")) {
            throw new AssertionError("no name of a golden family: " + family);
        }
        Path folder = root.resolve("golden").resolve(family);
        if (!Files.isDirectory(folder)) {
            Path archive = root.resolve("golden").resolve(family + PACKED);
            if (!Files.isRegularFile(archive)) {
                throw new AssertionError("no such golden family: folder=" + folder + " archive=" + archive);
            }
            folder = unpack(family, archive);
        }
        var cases = new ArrayList<GoldenCase>();
        for (Path path : list(folder, Files::isDirectory)) {
            cases.add(new GoldenCase(family, path.getFileName().toString(), path));
        }
        return List.copyOf(notEmpty(cases, "golden case", folder));
    }

    /** Unpacks an archive unless that was done before; the name of the folder tells which bytes it came from. */
    private Path unpack(String family, Path archive) {
        try {
            String hash = Dumps.sha256(Files.readAllBytes(archive)).substring(0, 16);
            Path done = unpacked.resolve(hash);
            Files.createDirectories(unpacked);
            Path lock = unpacked.resolve(hash + ".lock");
            synchronized (UNPACKING) {
                try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                        var held = channel.lock()) {
                    if (!Files.isDirectory(done) && held.isValid()) {
                        Path partial = unpacked.resolve(hash + ".partial");
                        delete(partial); // left by a build that was killed
                        try (InputStream tar = openZstd(archive)) {
                            Untar.into(partial, family, tar);
                        }
                        Files.move(partial, done, StandardCopyOption.ATOMIC_MOVE);
                    }
                }
            }
            return done.resolve(family);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot unpack: archive=" + archive, e);
        }
    }

    private static List<Path> list(Path folder, Predicate<Path> wanted) {
        if (!Files.isDirectory(folder)) {
            throw new AssertionError("no test data: folder=" + folder);
        }
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.filter(wanted).sorted().toList();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot list: folder=" + folder, e);
        }
    }

    private static <T> List<T> notEmpty(List<T> found, String what, Path folder) {
        if (found.isEmpty()) {
            throw new AssertionError("no " + what + ": folder=" + folder);
        }
        return found;
    }

    private static void delete(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        List<Path> paths;
        try (Stream<Path> walk = Files.walk(folder)) {
            paths = walk.toList();
        }
        for (Path path : paths.reversed()) {
            Files.delete(path);
        }
    }
}
