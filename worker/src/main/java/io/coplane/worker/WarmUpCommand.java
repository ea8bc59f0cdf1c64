package io.coplane.worker;

import io.coplane.nativecache.DirectoryStore;
import io.coplane.snapshot.RemoteRequestBody;
import io.coplane.worker.config.ConfigLoader;
import io.coplane.worker.config.Machine;
import io.coplane.worker.replay.Corpus;
import io.coplane.worker.replay.Corpus.DataSet;
import io.coplane.worker.replay.Corpus.Recorded;
import io.coplane.worker.replay.CorpusLayout;
import io.coplane.worker.replay.Shape;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code coplane warm-up}: a worker that starts, answers recorded requests and ends, while the JVM records what it loads, links and runs often. The
 * launcher runs it once after a build, so that later starts are fast.
 */
@Command(name = "warm-up", hidden = true)
final class WarmUpCommand implements Callable<Integer> {
    private static final Logger LOG = LoggerFactory.getLogger(WarmUpCommand.class);
    private static final String DATA_SET = "smoke";
    private static final int ROUNDS = 3;

    @Option(names = "--data", description = "Folder of the recorded data sets; without one, little is recorded.")
    private Path data;

    @Override
    public Integer call() throws IOException {
        Path folder = Files.createTempDirectory("coplane-warm-up");
        try {
            Path config = Files.writeString(folder.resolve("config.toml"), "coplane.shutdown-timeout = \"1s\"\n");
            var loaded = ConfigLoader.load(
                    Optional.of(config),
                    Map.of(
                            "addr",
                            "127.0.0.1:0",
                            "cop-addr",
                            "127.0.0.1:0",
                            "dfs.backend",
                            "local",
                            "dfs.local-dir",
                            folder.toString()),
                    Map.of());
            CoplaneMain.serve().parseArgs("serve", "-C", config.toString());
            Logs.configure("info", "");
            try (Worker worker = Worker.start(loaded, Machine.read(Map.of()))) {
                LOG.info("configuration: {}", loaded);
                ask(worker.address(), "/healthz", new byte[0]);
                ask(worker.address(), "/metrics", new byte[0]);
                ask(worker.address(), "/coplane/", new byte[0]);
                ask(worker.address(), "/coprocessor", RemoteRequestBody.join(new byte[0], new byte[0], new byte[0]));
                if (data != null && Files.isDirectory(data.resolve("corpus"))) {
                    replay(worker.address(), folder);
                }
            }
        } finally {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
        return 0;
    }

    private void replay(InetSocketAddress address, Path folder) throws IOException {
        DataSet dataSet = Corpus.open(data).load(DATA_SET);
        try (DirectoryStore store = new DirectoryStore(folder, "", 1)) {
            CorpusLayout layout =
                    CorpusLayout.build(dataSet.versions(), Shape.MIXED, store, 1_000, OptionalInt.empty(), 1);
            List<Recorded> requests = dataSet.requests();
            for (int i = 0; i < ROUNDS * requests.size(); i++) {
                ask(
                        address,
                        "/coprocessor",
                        layout.body(requests.get(i % requests.size()).request()));
            }
        }
    }

    private static void ask(InetSocketAddress address, String path, byte[] body) throws IOException {
        try (Socket socket = new Socket(address.getAddress(), address.getPort());
                OutputStream out = socket.getOutputStream();
                InputStream in = socket.getInputStream()) {
            String head =
                    "POST " + path + " HTTP/1.1\r\nConnection: close\r\nContent-Length: " + body.length + "\r\n\r\n";
            out.write(head.getBytes(StandardCharsets.US_ASCII));
            out.write(body);
            out.flush();
            in.transferTo(OutputStream.nullOutputStream());
        }
    }
}
