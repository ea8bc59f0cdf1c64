package io.coplane.worker.inspect;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.sst.FileInspector;
import io.coplane.sst.RowFileKind;
import io.coplane.sst.ShardKey;
import io.coplane.worker.inspect.VerifyVisitor.Problem;
import java.io.PrintWriter;
import java.io.Writer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Verifies files, several at one time. Borrows the limiter that is charged for decoded blocks. Thread-safe. */
final class FileVerifier {
    private final InspectOptions options;
    private final ShardKey key; // or null
    private final int shown;
    private final MemoryLimiter limiter;

    /** @param shown most problems kept a file; at least 1 */
    FileVerifier(InspectOptions options, ShardKey key, int shown, MemoryLimiter limiter) {
        this.options = options;
        this.key = key;
        this.shown = shown;
        this.limiter = limiter;
    }

    /** Opens a file, which the caller closes. */
    interface Source {
        OpenedFile open();
    }

    /**
     * What was found of a file.
     *
     * @param values of its line
     * @param problems the first ones
     */
    record Verdict(Map<String, Object> values, List<Problem> problems) {
        boolean isGood() {
            return problems.isEmpty();
        }

        void print(Lines lines) {
            lines.print(0, isGood() ? "good" : "bad", values);
            for (Problem problem : problems) {
                Map<String, Object> details = new LinkedHashMap<>();
                details.put("offset", problem.offset());
                details.put("code", problem.code().name());
                details.put("what", problem.what());
                lines.print(1, "problem", details);
            }
        }
    }

    /** Verifies one file; one that can't be read is a bad one. */
    Verdict verify(String name, Source source) {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("name", name);
        try (OpenedFile file = source.open();
                MemoryGuard guard = limiter.acquire(0)) {
            LocalMeta local = options.localMeta(file);
            return local == null ? table(file, guard, values) : local(file, local, values);
        } catch (CoplaneException e) {
            return bad(values, 0, e);
        }
    }

    private Verdict table(OpenedFile file, MemoryGuard guard, Map<String, Object> values) {
        VerifyVisitor visitor = new VerifyVisitor(shown);
        RowFileKind kind = options.kind(file);
        values.put("kind", kind.name().toLowerCase(Locale.ROOT));
        values.put("bytes", file.viewBytes().byteSize());
        FileInspector.inspect(file.viewBytes(), kind, options.fileId(file), key, guard, visitor);
        values.put("blocks", visitor.blocks());
        values.put("entries", visitor.entries());
        values.put("problems", visitor.problems());
        List<Problem> problems = visitor.firstProblems();
        if (!problems.isEmpty()) {
            values.put("first_bad_offset", problems.getFirst().offset());
        }
        return new Verdict(values, problems);
    }

    private static Verdict local(OpenedFile file, LocalMeta local, Map<String, Object> values) {
        values.put("kind", local.kind());
        values.put("bytes", file.viewBytes().byteSize());
        try {
            values.put("records", local.print(new Lines(new PrintWriter(Writer.nullWriter()), false)));
            return new Verdict(values, List.of());
        } catch (CoplaneException e) {
            return bad(values, local.badOffset(), e);
        }
    }

    private static Verdict bad(Map<String, Object> values, long offset, CoplaneException e) {
        values.put("problems", 1);
        values.put("first_bad_offset", offset);
        return new Verdict(values, List.of(new Problem(offset, e.code(), e.getMessage())));
    }
}
