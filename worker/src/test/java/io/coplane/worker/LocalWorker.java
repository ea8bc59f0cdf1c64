package io.coplane.worker;

import io.coplane.worker.config.ConfigLoader;
import io.coplane.worker.config.Machine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** Workers in this process, on free ports, with HTTP and gRPC, that have their files in a folder. */
final class LocalWorker {
    private static final Machine MACHINE = new Machine(64L << 30, 2);

    private LocalWorker() {}

    /**
     * Starts a worker; the caller closes it.
     *
     * @param folder of its files and its configuration
     * @param toml more configuration
     */
    static Worker start(Path folder, String toml) throws IOException {
        Path file = Files.writeString(
                folder.resolve("worker.toml"),
                "addr = \"127.0.0.1:0\"\ncop-addr = \"127.0.0.1:0\"\ndfs.backend = \"local\"\ndfs.local-dir = \""
                        + folder + "\"\n" + toml);
        return Worker.start(ConfigLoader.load(Optional.of(file), Map.of(), Map.of()), MACHINE);
    }
}
