package io.coplane.worker.inspect;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.sst.FileInspector;
import io.coplane.sst.RowFileKind;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code coplane dump}: what is in a file. */
@Command(
        name = "dump",
        mixinStandardHelpOptions = true,
        description = "Prints footer, sections, properties, blocks and entries of a file of the row store."
                + " Exit status 1 if something in it is not sound.")
public final class DumpCommand implements Callable<Integer> {
    @Parameters(
            paramLabel = "FILE|URL",
            description = "A file, or an object as s3://BUCKET/PREFIX/xx/ID.sst?endpoint=..&region=..")
    private String place;

    @Mixin
    private InspectOptions options = new InspectOptions();

    @Option(
            names = "--limit",
            paramLabel = "N",
            defaultValue = "9223372036854775807",
            description = "Most entries printed; 0 prints blocks only. Default: all.")
    private long limit;

    @Option(names = "--keys-only", description = "Leave values out.")
    private boolean keysOnly;

    @Spec
    private CommandSpec spec;

    /** Made by picocli. */
    public DumpCommand() {}

    @Override
    public Integer call() {
        Map<String, String> environment = System.getenv();
        Lines lines = new Lines(spec.commandLine().getOut(), options.isJson());
        try (OpenedFile file = OpenedFile.open(place, environment);
                MemoryGuard guard = MemoryGuard.unlimited()) {
            LocalMeta local = options.localMeta(file);
            RowFileKind kind = local == null ? options.kind(file) : null;
            Map<String, Object> values = new LinkedHashMap<>();
            values.put("name", file.name());
            values.put("kind", kind == null ? local.kind() : kind.name().toLowerCase(Locale.ROOT));
            values.put("bytes", file.viewBytes().byteSize());
            lines.print(0, "file", values);
            if (kind == null) {
                local.print(lines);
                lines.flush();
                return 0;
            }
            DumpVisitor visitor = new DumpVisitor(lines, kind, keysOnly, limit);
            FileInspector.inspect(
                    file.viewBytes(), kind, options.fileId(file), options.key(environment), guard, visitor);
            lines.flush();
            return visitor.problems() == 0 ? 0 : 1;
        }
    }
}
