package io.coplane.worker;

import io.coplane.nativecache.CoplaneException;
import io.coplane.worker.config.ConfigLoader;
import io.coplane.worker.config.ConfigText;
import io.coplane.worker.config.LoadedConfig;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code coplane config}: looks at configurations without starting a worker. */
@Command(
        name = "config",
        description = "Checks and shows configurations.",
        mixinStandardHelpOptions = true,
        subcommands = {ConfigCommand.Check.class, ConfigCommand.Show.class, ConfigCommand.Defaults.class})
final class ConfigCommand implements Runnable {
    @CommandLine.Spec
    private CommandLine.Model.CommandSpec spec;

    /** Without a subcommand there is nothing to do. */
    @Override
    public void run() {
        throw new CommandLine.ParameterException(spec.commandLine(), "say what to do: check, show or defaults");
    }

    /** Whether a worker would start from a file, as far as the file says. */
    @Command(
            name = "check",
            description = "Checks a file: status 1 if a worker would not start from it. Unknown keys are named.",
            mixinStandardHelpOptions = true)
    static final class Check implements Callable<Integer> {
        @CommandLine.Spec
        private CommandLine.Model.CommandSpec spec;

        @Parameters(paramLabel = "FILE", description = "Configuration, TOML.")
        private Path file;

        @Option(names = "--strict", description = "Unknown keys are status 1 as well.")
        private boolean strict;

        /** @throws CoplaneException BAD_CONFIG for what keeps a worker from starting */
        @Override
        public Integer call() {
            PrintWriter out = spec.commandLine().getOut();
            LoadedConfig loaded = ConfigLoader.read(Optional.of(file), Map.of(), Map.of());
            loaded.unknown().forEach(out::println);
            if (!loaded.accepted().isEmpty()) {
                out.println("not used by this worker: " + String.join(", ", loaded.accepted()));
            }
            Worker.requireServable(loaded.config());
            Logs.level(loaded.config().logLevel());
            boolean failed = strict && !loaded.unknown().isEmpty();
            out.println(failed ? "not accepted" : "ok");
            return failed ? 1 : 0;
        }
    }

    /** What is in force. */
    @Command(
            name = "show",
            description =
                    "Prints the values that serve would use with the same options and environment, and where each comes from.",
            mixinStandardHelpOptions = true)
    static final class Show implements Callable<Integer> {
        @CommandLine.Spec
        private CommandLine.Model.CommandSpec spec;

        @Mixin
        private WorkerOptions options = new WorkerOptions();

        @Override
        public Integer call() {
            LoadedConfig loaded = options.read(System.getenv());
            spec.commandLine().getOut().print(ConfigText.effective(loaded));
            loaded.unknown().forEach(spec.commandLine().getErr()::println);
            spec.commandLine().getOut().flush();
            return 0;
        }
    }

    /** A file to start from. */
    @Command(
            name = "defaults",
            description = "Prints a configuration of all keys with their defaults.",
            mixinStandardHelpOptions = true)
    static final class Defaults implements Callable<Integer> {
        @CommandLine.Spec
        private CommandLine.Model.CommandSpec spec;

        @Override
        public Integer call() {
            spec.commandLine().getOut().print(ConfigText.defaults());
            spec.commandLine().getOut().flush();
            return 0;
        }
    }
}
