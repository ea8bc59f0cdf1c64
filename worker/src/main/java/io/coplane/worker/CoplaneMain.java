package io.coplane.worker;

import io.coplane.nativecache.CoplaneException;
import io.coplane.worker.inspect.DumpCommand;
import io.coplane.worker.inspect.VerifyCommand;
import io.coplane.worker.replay.DemoCommand;
import io.coplane.worker.replay.ExplainCommand;
import io.coplane.worker.replay.QueryCommand;
import io.coplane.worker.replay.ReplayCommand;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;

/** The command {@code coplane}. Exit status: 0 done, 1 failed, 2 wrong usage. */
@Command(
        name = "coplane",
        description = "A data plane for TiDB's cloud storage engine.",
        mixinStandardHelpOptions = true,
        versionProvider = CoplaneMain.Versions.class,
        subcommands = {
            ServeCommand.class,
            DemoCommand.class,
            ReplayCommand.class,
            QueryCommand.class,
            ExplainCommand.class,
            DumpCommand.class,
            VerifyCommand.class,
            CompactCommand.class,
            ConfigCommand.class,
            WarmUpCommand.class
        })
public final class CoplaneMain implements Runnable {
    private static final int FAILED = 1;

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    /** Runs the command and ends the process with its status. */
    public static void main(String[] arguments) {
        CommandLine defaults = new CommandLine(new CoplaneMain());
        System.exit(run(defaults.getOut(), defaults.getErr(), arguments));
    }

    /** Runs the command; returns its exit status. */
    static int run(PrintWriter out, PrintWriter err, String... arguments) {
        CommandLine commandLine = new CommandLine(new CoplaneMain()).setOut(out).setErr(err);
        commandLine.setCaseInsensitiveEnumValuesAllowed(true);
        commandLine.setExecutionExceptionHandler((e, command, parsed) -> {
            // what users do wrong is one sentence; what we do wrong has a stack
            if (e instanceof CoplaneException) {
                command.getErr().println("coplane: " + e.getMessage());
            } else {
                e.printStackTrace(command.getErr());
            }
            return FAILED;
        });
        return commandLine.execute(arguments);
    }

    /** Without a subcommand there is nothing to do. */
    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "say what to do: a command is missing");
    }

    /** Version of the jar. */
    static final class Versions implements IVersionProvider {
        @Override
        public String[] getVersion() {
            return new String[] {"coplane " + Version.text()};
        }
    }
}
