package io.coplane.worker;

import io.coplane.snapshot.RemoteRequestBody;
import io.coplane.worker.config.ConfigLoader;
import io.coplane.worker.config.Machine;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/**
 * {@code coplane warm-up}: a worker that starts, answers a little and ends, while the JVM records what it loads. The launcher runs it once
 * after a build, so that later starts are fast.
 */
@Command(name = "warm-up", hidden = true)
final class WarmUpCommand implements Callable<Integer> {
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
                            "",
                            "dfs.backend",
                            "local",
                            "dfs.local-dir",
                            folder.toString()),
                    Map.of());
            Logs.configure("error", "");
            try (Worker worker = Worker.start(loaded, Machine.read(Map.of()))) {
                ask(worker.address(), "/healthz", new byte[0]);
                ask(worker.address(), "/metrics", new byte[0]);
                ask(worker.address(), "/coplane/", new byte[0]);
                ask(worker.address(), "/coprocessor", RemoteRequestBody.join(new byte[0], new byte[0], new byte[0]));
            }
            Files.delete(config);
        } finally {
            Files.delete(folder);
        }
        return 0;
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
