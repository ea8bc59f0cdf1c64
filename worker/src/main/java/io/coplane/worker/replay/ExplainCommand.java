package io.coplane.worker.replay;

import io.coplane.cop.Coprocessor;
import io.coplane.cop.ExecutorWork;
import io.coplane.cop.expr.Signatures;
import io.coplane.worker.Logs;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code coplane explain}: the plan of one request as a tree, with what each executor did; or all functions with their status. */
@Command(
        name = "explain",
        mixinStandardHelpOptions = true,
        description = "Executes one coprocessor request and prints its plan with rows, time and memory per executor.")
public final class ExplainCommand implements Callable<Integer> {
    private static final double NANOS_PER_MILLI = 1e6;
    private static final double BYTES_PER_KIB = 1024;

    @Mixin
    private QueryOptions options;

    @Option(names = "--functions", description = "Instead: every function of the protocol and whether it is supported.")
    private boolean functions;

    @Spec
    private CommandSpec spec;

    /** Made by picocli. */
    public ExplainCommand() {}

    @Override
    public Integer call() throws IOException {
        Logs.configure("warn", "");
        PrintWriter out = spec.commandLine().getOut();
        if (functions) {
            for (Signatures.Status status : Signatures.status()) {
                out.printf(
                        Locale.ROOT,
                        "%5d  %-36s %s%n",
                        status.sig().getNumber(),
                        status.sig().name(),
                        status.supported() ? "supported, nulls: " + status.nullRule() : "refused");
            }
            out.flush();
            return 0;
        }
        Coprocessor.Explained done = options.run();
        List<ExecutorWork> work = done.executors();
        String[] lines = PlanText.of(options.executed()).tree("").split("\n", -1);
        int width = 0;
        for (String line : lines) {
            width = Math.max(width, line.length());
        }
        out.printf(Locale.ROOT, "%-" + width + "s  %12s %8s %12s %12s%n", "executor", "rows", "pulls", "ms", "KiB");
        for (int i = 0; i < lines.length - 1; i++) {
            int executor = work.size() - 1 - i; // the tree begins with the last one
            if (executor < 0) {
                out.println(lines[i]);
                continue;
            }
            ExecutorWork did = work.get(executor);
            out.printf(
                    Locale.ROOT,
                    "%-" + width + "s  %12d %8d %12.3f %12.1f%n",
                    lines[i],
                    did.rows(),
                    did.iterations(),
                    did.nanos() / NANOS_PER_MILLI,
                    did.peakBytes() / BYTES_PER_KIB);
        }
        out.println("time includes the executors below, memory does not");
        if (!done.response().getOtherError().isEmpty()) {
            out.println("refused: " + done.response().getOtherError());
        }
        out.flush();
        return done.response().getOtherError().isEmpty() ? 0 : 1;
    }
}
