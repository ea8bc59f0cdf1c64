package io.coplane.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * One golden case: a folder of files that the reference wrote, with its dumps. The notation of dump fields is decoded by
 * {@link Dumps}.
 *
 * @param family such as {@code sst}
 * @param name   of the case within its family
 * @param dir    its folder; not to be written to
 */
public record GoldenCase(String family, String name, Path dir) {
    /** Returns whether the case has a file. */
    public boolean has(String file) {
        return Files.isRegularFile(dir.resolve(file));
    }

    /** Returns the path of a file, which exists. */
    public Path path(String file) {
        if (!has(file)) {
            throw new AssertionError("no such file in golden case: " + dir.resolve(file));
        }
        return dir.resolve(file);
    }

    /** Returns the contents of a file. */
    public byte[] bytes(String file) {
        try {
            return Files.readAllBytes(path(file));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read golden file: " + dir.resolve(file), e);
        }
    }

    /**
     * Returns the files whose names end so, sorted, as paths within the case ({@code in/0001.sst}); perhaps none.
     *
     * @param suffix such as {@code .sst}
     */
    public List<String> files(String suffix) {
        try (Stream<Path> walk = Files.walk(dir)) {
            return walk.filter(Files::isRegularFile)
                    .map(path -> dir.relativize(path).toString().replace('\\', '/'))
                    .filter(path -> path.endsWith(suffix))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot list golden case: " + dir, e);
        }
    }

    /** Returns the lines of a dump, each cut at its tabs; empty fields are kept. A dump may have no lines. */
    public List<String[]> tsv(String file) {
        String text = new String(bytes(file), StandardCharsets.UTF_8);
        var lines = new ArrayList<String[]>();
        for (int at = 0; at < text.length(); ) {
            int end = text.indexOf('\n', at);
            if (end < 0) {
                throw new AssertionError("last line of a dump is cut: " + dir.resolve(file));
            }
            lines.add(text.substring(at, end).split("\t", -1));
            at = end + 1;
        }
        return lines;
    }

    /** Returns the lines of a dump, none if the case has no such dump. */
    public List<String[]> tsvIfPresent(String file) {
        return has(file) ? tsv(file) : List.of();
    }

    /** Returns {@code meta.tsv}, in the order of its lines. */
    public Map<String, String> meta() {
        return meta("meta.tsv");
    }

    /**
     * Returns a file of lines {@code name, value}, in the order of its lines.
     *
     * @param file such as {@code sst.meta.tsv}
     */
    public Map<String, String> meta(String file) {
        var meta = new LinkedHashMap<String, String>();
        for (String[] line : tsv(file)) {
            if (line.length != 2 || meta.put(line[0], line[1]) != null) {
                throw new AssertionError("not one value: name=" + line[0] + " file=" + dir.resolve(file));
            }
        }
        return meta;
    }

    /**
     * Returns the distinct keys of an entries dump in its order: what {@code @i} in other dumps refers to.
     *
     * @param entries such as {@code entries.tsv}, {@code cf0.entries.tsv}; keys in its first column, equal ones adjacent
     */
    public List<byte[]> distinctKeys(String entries) {
        var keys = new ArrayList<byte[]>();
        String last = null;
        for (String[] line : tsv(entries)) {
            if (!line[0].equals(last)) {
                keys.add(Dumps.bytes(line[0]));
                last = line[0];
            }
        }
        return keys;
    }

    /** Returns the name: what JUnit shows. */
    @Override
    public String toString() {
        return name;
    }
}
