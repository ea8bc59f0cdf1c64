package io.coplane.nativecache.keys;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.testing.KmsServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** worker.md 17.1, against a server that speaks the service's protocol. */
@Timeout(60)
final class AwsKmsTest {
    private static final byte[] PLAIN = "the-plain-key-nobody-may-ever-see".getBytes(StandardCharsets.UTF_8);
    private static final byte[] CIPHER = KmsServer.encrypt(PLAIN);

    private KmsServer server;

    @BeforeEach
    void start() throws IOException {
        server = new KmsServer();
        System.setProperty("aws.accessKeyId", KmsServer.KEY_ID);
        System.setProperty("aws.secretAccessKey", "never-sent");
    }

    @AfterEach
    void stop() {
        System.clearProperty("aws.accessKeyId");
        System.clearProperty("aws.secretAccessKey");
        server.close();
    }

    @Test
    void decryptsByTheKeyThatIsNamed() {
        byte[] plain = AwsKms.decrypt("alias/cse", "eu-west-1", server.endpoint(), CIPHER);

        assertThat(plain).isEqualTo(PLAIN);
        assertThat(server.calls()).isEqualTo(1);
        assertThat(server.bodies())
                .isNotEmpty()
                .allSatisfy(body -> assertThat(body)
                        .contains("\"KeyId\":\"alias/cse\"")
                        .contains(Base64.getEncoder().encodeToString(CIPHER)));
    }

    @Test
    void theKeyMayBeLeftToTheCiphertext() {
        assertThat(AwsKms.decrypt("", "eu-west-1", server.endpoint(), CIPHER)).isEqualTo(PLAIN);
        assertThat(server.bodies().getFirst()).doesNotContain("KeyId");
    }

    @Test
    void anErrorOfTheServerIsTriedAgain() {
        server.fail(1);

        assertThat(AwsKms.decrypt("k", "eu-west-1", server.endpoint(), CIPHER)).isEqualTo(PLAIN);
        assertThat(server.bodies()).hasSizeGreaterThanOrEqualTo(2);
        assertThat(server.calls()).isEqualTo(1);
        assertThat(AwsKms.decrypt("k", "eu-west-1", server.endpoint(), CIPHER)).isEqualTo(PLAIN);
        assertThat(server.calls()).isEqualTo(2);
    }

    @Test
    void aRefusalIsNoOutage() {
        server.refuse("InvalidCiphertextException");

        fails(ErrorCode.BAD_ENCRYPTION_KEY, server.endpoint(), "error=InvalidCiphertextException");
        assertThat(server.bodies()).hasSizeLessThan(3); // an outage is tried three times, and an answer may be late
    }

    @Test
    void aServiceThatCantBeHadIsTold() {
        server.fail(Integer.MAX_VALUE);
        fails(ErrorCode.STORE_UNAVAILABLE, server.endpoint(), "KMS can't be asked");

        server.close();
        fails(ErrorCode.STORE_UNAVAILABLE, server.endpoint(), "KMS can't be asked");
    }

    @Test
    void settingsThatCantBeAreRefusedBeforeAnythingIsSent() {
        fails(ErrorCode.BAD_CONFIG, "http://", "endpoint of the KMS");
        fails(ErrorCode.BAD_CONFIG, "http://user:secret@host", "endpoint of the KMS");
        assertThatThrownBy(() -> AwsKms.decrypt("k", "", server.endpoint(), CIPHER))
                .hasMessageContaining("needs a region");
        assertThatThrownBy(() -> AwsKms.decrypt("k", "eu-west-1", server.endpoint(), new byte[0]))
                .hasMessageContaining("needs a ciphertext");
        assertThat(server.bodies()).isEmpty();
    }

    private static void fails(ErrorCode code, String endpoint, String text) {
        assertThatThrownBy(() -> AwsKms.decrypt("k", "eu-west-1", endpoint, CIPHER))
                .hasMessageContaining(text)
                .satisfies(e -> {
                    assertThat(((CoplaneException) e).code()).isEqualTo(code);
                    StringWriter trace = new StringWriter();
                    e.printStackTrace(new PrintWriter(trace));
                    assertThat(trace.toString())
                            .doesNotContain(Base64.getEncoder().encodeToString(CIPHER))
                            .doesNotContain("never-sent")
                            .doesNotContain("user:secret");
                });
    }
}
