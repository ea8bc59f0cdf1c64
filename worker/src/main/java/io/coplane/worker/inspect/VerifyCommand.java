package io.coplane.worker.inspect;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.sst.FileInspector;
import io.coplane.sst.RowFileKind;
import io.coplane.worker.inspect.VerifyVisitor.Problem;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code coplane verify}: whether files are sound. */
@Command(
        name = "verify",
        mixinStandardHelpOptions = true,
        description =
                "Checks files of the row store: checksums, order, filters, counts, bounds, references between parts."
                        + " Reports the first bad offset of each. Exit status 1 if any is bad.")
public final class VerifyCommand implements Callable<Integer> {
    private static final List<String> SUFFIXES = List.of(".sst", ".blob", ".txn", ".sst.meta", ".blob.meta");

    @Parameters(
            paramLabel = "FILE|URL|DIR",
            arity = "1..*",
            description =
                    "Files, objects as s3://BUCKET/PREFIX/xx/ID.sst?endpoint=.., or directories with all below them.")
    private List<String> places;

    @Mixin
    private InspectOptions options = new InspectOptions();

    @Option(
            names = "--problems",
            paramLabel = "N",
            defaultValue = "5",
            description = "Most problems shown a file. Default: 5.")
    private int shown;

    @Spec
    private CommandSpec spec;

    private Lines lines;
    private long files;
    private long bad;

    /** Made by picocli. */
    public VerifyCommand() {}

    @Override
    public Integer call() {
        lines = new Lines(spec.commandLine().getOut(), options.isJson());
        Map<String, String> environment = System.getenv();
        for (String place : places) {
            if (!place.contains("://") && Files.isDirectory(Path.of(place))) {
                for (Path file : files(Path.of(place))) {
                    verify(file.toString(), environment);
                }
            } else {
                verify(place, environment);
            }
        }
        if (files == 0) {
            throw new CoplaneException(
                    ErrorCode.BAD_ARGUMENT, "no file of the row store there: " + places + " suffixes=" + SUFFIXES);
        }
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("files", files);
        values.put("bad", bad);
        lines.print(0, "summary", values);
        lines.flush();
        return bad == 0 ? 0 : 1;
    }

    private static List<Path> files(Path directory) {
        try (Stream<Path> all = Files.walk(directory)) {
            return new ArrayList<>(all.filter(VerifyCommand::isRowFile).sorted().toList());
        } catch (IOException e) {
            throw new CoplaneException(
                    ErrorCode.STORE_UNAVAILABLE, "can't list a directory: " + directory + " cause=" + e, e);
        }
    }

    private static boolean isRowFile(Path file) {
        return Files.isRegularFile(file) && SUFFIXES.stream().anyMatch(file.toString()::endsWith);
    }

    private void verify(String place, Map<String, String> environment) {
        files++;
        VerifyVisitor visitor = new VerifyVisitor(Math.max(1, shown));
        Map<String, Object> values = new LinkedHashMap<>();
        try (OpenedFile file = OpenedFile.open(place, environment);
                MemoryGuard guard = MemoryGuard.unlimited()) {
            LocalMeta local = options.localMeta(file);
            if (local != null) {
                verify(file, local);
                return;
            }
            RowFileKind kind = options.kind(file);
            values.put("name", file.name());
            values.put("kind", kind.name().toLowerCase(Locale.ROOT));
            values.put("bytes", file.viewBytes().byteSize());
            FileInspector.inspect(
                    file.viewBytes(), kind, options.fileId(file), options.key(environment), guard, visitor);
        }
        values.put("blocks", visitor.blocks());
        values.put("entries", visitor.entries());
        values.put("problems", visitor.problems());
        List<Problem> problems = visitor.firstProblems();
        if (!problems.isEmpty()) {
            bad++;
            values.put("first_bad_offset", problems.getFirst().offset());
        }
        lines.print(0, problems.isEmpty() ? "good" : "bad", values);
        for (Problem problem : problems) {
            Map<String, Object> details = new LinkedHashMap<>();
            details.put("offset", problem.offset());
            details.put("code", problem.code().name());
            details.put("what", problem.what());
            lines.print(1, "problem", details);
        }
    }

    private void verify(OpenedFile file, LocalMeta local) {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("name", file.name());
        values.put("kind", local.kind());
        values.put("bytes", file.viewBytes().byteSize());
        try {
            values.put("records", local.print(new Lines(new PrintWriter(Writer.nullWriter()), false)));
            lines.print(0, "good", values);
        } catch (CoplaneException e) {
            bad++;
            values.put("problems", 1);
            values.put("first_bad_offset", local.badOffset());
            lines.print(0, "bad", values);
            Map<String, Object> details = new LinkedHashMap<>();
            details.put("offset", local.badOffset());
            details.put("code", e.code().name());
            details.put("what", e.getMessage());
            lines.print(1, "problem", details);
        }
    }
}
