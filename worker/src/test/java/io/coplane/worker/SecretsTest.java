package io.coplane.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.read.ListAppender;
import io.coplane.testing.KmsServer;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.S3Server;
import io.coplane.worker.config.ConfigLoader;
import io.coplane.worker.config.Machine;
import io.coplane.worker.config.WorkerConfig;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** Keys and passwords are nowhere to be seen: logs, metrics, pages, texts of configurations and of errors. */
@ExtendWith(NoLeaks.class)
@Timeout(60)
final class SecretsTest {
    private static final Machine MACHINE = new Machine(64L << 30, 2);
    private static final byte[] MASTER_KEY = "the-master-key-of-32-plain-bytes".getBytes(StandardCharsets.UTF_8);
    private static final String CIPHER_TEXT = Base64.getEncoder().encodeToString(KmsServer.encrypt(MASTER_KEY));
    private static final String ACCESS_SECRET = "access-secret-of-the-chain";

    @TempDir
    private Path folder;

    private final ListAppender<ILoggingEvent> log = new ListAppender<>();
    private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    private KmsServer kms;

    @BeforeEach
    void start() throws Exception {
        kms = new KmsServer();
        System.setProperty("aws.accessKeyId", KmsServer.KEY_ID);
        System.setProperty("aws.secretAccessKey", ACCESS_SECRET);
        log.start();
        root.addAppender(log);
    }

    @AfterEach
    void stop() {
        root.detachAppender(log);
        System.clearProperty("aws.accessKeyId");
        System.clearProperty("aws.secretAccessKey");
        kms.close();
    }

    @Test
    void aWorkerWithAKeyOfAKeyServiceShowsNoneOfItsSecrets() throws Exception {
        WorkerConfig config = load(kms("aws", "alias/cse", CIPHER_TEXT) + "dfs.s3-secret-key = \"" + S3Server.SECRET_KEY
                + "\"\ndfs.s3-key-id = \"id\"\n");
        StringBuilder seen = new StringBuilder(config.toString());
        StringWriter shown = new StringWriter();
        PrintWriter printer = new PrintWriter(shown, true);
        String file = folder.resolve("worker.toml").toString();
        assertThat(CoplaneMain.run(printer, printer, "config", "show", "-C", file))
                .isZero();
        assertThat(CoplaneMain.run(printer, printer, "config", "check", file)).isZero();
        seen.append(shown);

        try (Worker worker = Worker.start(config, MACHINE)) {
            for (String path : List.of("/metrics", "/coplane/", "/healthz", "/txn_chunk?keyspace_id=1")) {
                seen.append(get(worker, path));
            }
        }

        assertThat(kms.calls()).isEqualTo(1); // the key was asked for, once
        assertThat(config.security().masterKey().resolve()).isEqualTo(MASTER_KEY);
        showsNoSecret(seen + logged());
    }

    @Test
    void aKeyThatIsRefusedEndsTheStartWithoutShowingIt() throws Exception {
        kms.refuse("AccessDeniedException");

        showsNoSecret(
                failure(kms("aws", "alias/cse", CIPHER_TEXT), "KMS refuses to decrypt the master key") + logged());
    }

    @Test
    void aCiphertextThatIsNoneIsNotShownEither() throws Exception {
        showsNoSecret(failure(kms("aws", "alias/cse", CIPHER_TEXT + "!"), "cipher-text is no base64") + logged());
    }

    @Test
    void theTestVendorsKeyIsASecretToo() throws Exception {
        WorkerConfig config = load(kms("test", new String(MASTER_KEY, StandardCharsets.UTF_8), ""));

        assertThat(config.security().masterKey().resolve()).isEqualTo(MASTER_KEY);
        showsNoSecret(config + "");
    }

    @Test
    void aPlainKeyOfAnotherLengthIsRefused() throws Exception {
        String shorter = Base64.getEncoder().encodeToString(KmsServer.encrypt(new byte[16]));

        assertThat(failure(kms("aws", "k", shorter), "bytes=16 wanted=32")).doesNotContain(shorter);
    }

    private String failure(String toml, String text) throws Exception {
        WorkerConfig config = load(toml);
        StringWriter trace = new StringWriter();
        assertThatThrownBy(() -> Worker.start(config, MACHINE))
                .hasMessageContaining(text)
                .satisfies(e -> e.printStackTrace(new PrintWriter(trace)));
        return trace.toString();
    }

    private String kms(String vendor, String keyId, String cipherText) {
        return String.format(
                Locale.ROOT,
                "[security.master-key]\nvendor = \"%s\"\nkey-id = \"%s\"\ncipher-text = \"%s\"\nregion = \"eu-west-1\"\nendpoint = \"%s\"\n",
                vendor,
                keyId,
                cipherText,
                kms.endpoint());
    }

    private WorkerConfig load(String toml) throws Exception {
        Path file = Files.writeString(
                folder.resolve("worker.toml"),
                "addr = \"127.0.0.1:0\"\ncop-addr = \"\"\ndfs.backend = \"local\"\ndfs.local-dir = \"" + folder + "\"\n"
                        + dotted(toml));
        return ConfigLoader.load(Optional.of(file), Map.of(), Map.of());
    }

    /** Keys with dots before tables: a table's header would take them in. */
    private static String dotted(String toml) {
        StringBuilder keys = new StringBuilder();
        StringBuilder tables = new StringBuilder();
        for (String line : toml.split("\n", -1)) {
            (line.startsWith("dfs.") ? keys : tables).append(line).append('\n');
        }
        return keys.append(tables).toString();
    }

    private static String get(Worker worker, String path) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            URI uri = URI.create("http://127.0.0.1:" + worker.address().getPort() + path);
            return client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString())
                    .body();
        }
    }

    private String logged() {
        StringBuilder text = new StringBuilder();
        for (ILoggingEvent event : log.list) {
            text.append(event.getFormattedMessage()).append('\n');
            if (event.getThrowableProxy() != null) {
                text.append(ThrowableProxyUtil.asString(event.getThrowableProxy()));
            }
        }
        return text.toString();
    }

    private static void showsNoSecret(String text) {
        assertThat(text)
                .isNotEmpty()
                .doesNotContain(CIPHER_TEXT)
                .doesNotContain(new String(MASTER_KEY, StandardCharsets.UTF_8))
                .doesNotContain(Base64.getEncoder().encodeToString(MASTER_KEY))
                .doesNotContain(HexFormat.of().formatHex(MASTER_KEY))
                .doesNotContain(S3Server.SECRET_KEY)
                .doesNotContain(ACCESS_SECRET);
    }
}
