package io.coplane.worker;

import io.coplane.worker.config.LoadedConfig;
import io.coplane.worker.config.Machine;
import io.coplane.worker.config.WorkerConfig;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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

    /** After a signal a start may take so long to end. */
    private static final long START_SECONDS = 5;

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
        CompletableFuture<Worker> started = new CompletableFuture<>();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(started), "coplane-stop"));
        try {
            started.complete(Worker.start(config, machine));
        } finally {
            started.complete(null); // of a start that failed; without effect otherwise
        }
        LOG.info("configuration: {}", config); // after the start: its text is long in the making
        new CountDownLatch(1).await();
        return 0;
    }

    /**
     * Runs when a signal came, or a start failed. A stop that was asked for is a success, which the JVM would not report by itself. A start that takes long
     * (PD is looked for without an end) is not waited for: nobody is served yet.
     */
    private static void stop(CompletableFuture<Worker> started) {
        Worker worker;
        try {
            worker = started.get(START_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            LOG.info("stopping: the start has not ended", e);
            return;
        }
        if (worker == null) {
            return;
        }
        LOG.info("stopping: addr={}", worker.address());
        worker.close();
        LOG.info("stopped");
        Runtime.getRuntime().halt(0);
    }
}
