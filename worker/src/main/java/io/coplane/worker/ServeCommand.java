package io.coplane.worker;

import io.coplane.worker.config.LoadedConfig;
import io.coplane.worker.config.Machine;
import io.coplane.worker.config.WorkerConfig;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code coplane serve}: a worker until a signal comes. The options are the reference's (worker.md 1). */
@Command(
        name = "serve",
        description = "Runs a worker until SIGTERM, SIGINT or SIGHUP.",
        mixinStandardHelpOptions = true)
final class ServeCommand implements Callable<Integer> {
    private static final Logger LOG = LoggerFactory.getLogger(ServeCommand.class);

    @Mixin
    private WorkerOptions options = new WorkerOptions();

    @Override
    public Integer call() throws InterruptedException {
        JvmFlags.check();
        LoadedConfig loaded = options.read(System.getenv());
        WorkerConfig config = loaded.config();
        Logs.configure(config.logLevel(), config.logFile(), config.own().isLogJson());
        Machine machine = Machine.read(System.getenv());
        loaded.unknown().forEach(sentence -> LOG.warn("configuration: {}", sentence));
        if (!loaded.accepted().isEmpty()) {
            LOG.info("configuration: not used by this worker: {}", String.join(", ", loaded.accepted()));
        }
        Worker worker = Worker.start(config, machine);
        LOG.info("configuration: {}", config); // after the start: its text is long in the making
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(worker), "coplane-stop"));
        new CountDownLatch(1).await();
        return 0;
    }

    /** Runs when a signal came. A stop that was asked for is a success, which the JVM would not report by itself. */
    private static void stop(Worker worker) {
        LOG.info("stopping: addr={}", worker.address());
        worker.close();
        LOG.info("stopped");
        Runtime.getRuntime().halt(0);
    }
}
