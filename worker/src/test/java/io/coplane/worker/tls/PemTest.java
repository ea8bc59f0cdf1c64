package io.coplane.worker.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.RSAPrivateKey;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys made by OpenSSL; the numbers are what it prints of them. */
final class PemTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"rsa-pkcs1.pem", "rsa-pkcs8.pem"})
    void readsRsaKeys(String name) throws IOException {
        RSAPrivateKey key = (RSAPrivateKey) Pem.privateKey(file(name));

        assertThat(key.getModulus().toString(16)).startsWith("f0fe3234563da007c4b523867c45c6069e97cfc0076c9bd9a9b2");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ec-sec1.pem", "ec-pkcs8.pem"})
    void readsEcKeysBehindTheirParameters(String name) throws IOException {
        ECPrivateKey key = (ECPrivateKey) Pem.privateKey(file(name));

        assertThat(key.getS().toString(16)).startsWith("812f0e368b7915b236626ff4414f0ae6f4adde5ad9070d1c2695316b277");
    }

    @Test
    void namesTheFileThatHoldsNoKey() throws IOException {
        Path empty = Files.writeString(folder.resolve("no.pem"), "nothing");

        assertThatThrownBy(() -> Pem.privateKey(empty))
                .hasMessageContaining("holds no private key")
                .hasMessageContaining("no.pem");
        assertThatThrownBy(() -> Pem.certificates(empty)).hasMessageContaining("holds no certificate");
    }

    @Test
    void refusesEveryTruncationOfAKey() throws IOException {
        for (String name : new String[] {"ec-sec1.pem", "rsa-pkcs1.pem"}) {
            String text = Files.readString(file(name));
            String end = text.substring(text.lastIndexOf("-----END"));
            int begin = text.lastIndexOf("-----BEGIN");
            int first = text.indexOf('\n', begin) + 1;
            for (int length = first; length < text.length() - end.length() - 4; length += 7) {
                Path cut = Files.writeString(folder.resolve("cut.pem"), text.substring(0, length) + "\n" + end);
                assertThatThrownBy(() -> Pem.privateKey(cut))
                        .as("%s cut at %d", name, length)
                        .hasMessageContaining("cut.pem");
            }
        }
    }

    private Path file(String name) throws IOException {
        Path file = folder.resolve(name);
        try (InputStream in = PemTest.class.getResourceAsStream(name)) {
            Files.write(file, in.readAllBytes());
        }
        return file;
    }
}
