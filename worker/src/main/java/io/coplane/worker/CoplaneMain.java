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
import picocli.CommandLine.Model.CommandSpec;

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
    private static final String SERVE = "serve";

    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    /** Runs the command and ends the process with its status. */
    public static void main(String[] arguments) {
        System.exit(execute(arguments.length > 0 && arguments[0].equals(SERVE) ? serve() : all(), arguments));
    }

    private static CommandLine all() {
        return new CommandLine(new CoplaneMain());
    }

    /** The command with {@code serve} alone: a worker need not wait until the others are described. */
    static CommandLine serve() {
        return new CommandLine(CommandSpec.create().name("coplane")).addSubcommand(new ServeCommand());
    }

    /** Runs the command; returns its exit status. */
    static int run(PrintWriter out, PrintWriter err, String... arguments) {
        return execute(all().setOut(out).setErr(err), arguments);
    }

    private static int execute(CommandLine commandLine, String... arguments) {
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
