package io.coplane.worker.config;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Table {@code security} (worker.md 4.5).
 *
 * @param caPath CA bundle, PEM; empty = no TLS
 * @param certPath certificate chain, PEM
 * @param keyPath private key, PEM
 * @param certAllowedCn common names that gRPC peers may have; empty = any
 * @param certReloadInterval least time between two looks at the certificate file
 * @param masterKey where the master key comes from
 */
public record SecurityConfig(
        String caPath,
        String certPath,
        String keyPath,
        List<String> certAllowedCn,
        Duration certReloadInterval,
        MasterKeyConfig masterKey) {
    /** The reference's default is not known (worker.md 24, question 5). */
    private static final Duration DEFAULT_RELOAD_INTERVAL = Duration.ofSeconds(30);

    public SecurityConfig {
        certAllowedCn = List.copyOf(certAllowedCn);
        boolean all = !caPath.isEmpty() && !certPath.isEmpty() && !keyPath.isEmpty();
        boolean none = caPath.isEmpty() && certPath.isEmpty() && keyPath.isEmpty();
        if (!all && !none) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, "ca, cert and private key should be all configured.");
        }
        if (all) {
            open("ca certificate", caPath);
            open("certificate", certPath);
            open("private key", keyPath);
        }
    }

    static SecurityConfig from(TomlTable table) {
        return new SecurityConfig(
                table.text("ca-path", ""),
                table.text("cert-path", ""),
                table.text("key-path", ""),
                table.texts("cert-allowed-cn"),
                table.duration("cert-reload-interval", DEFAULT_RELOAD_INTERVAL),
                MasterKeyConfig.from(table.table("master-key")));
    }

    /** True if servers and clients speak TLS. */
    public boolean isTls() {
        return !caPath.isEmpty();
    }

    private static void open(String tag, String file) {
        try (InputStream in = Files.newInputStream(Path.of(file))) {
            if (in.read() < 0) {
                throw new IOException("file is empty");
            }
        } catch (IOException e) {
            throw new CoplaneException(
                    ErrorCode.BAD_CONFIG, "failed to open " + file + " to load " + tag + ": " + e.getMessage(), e);
        }
    }
}
