package io.coplane.worker.tls;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;

/** A certificate authority of a test, made by the JDK's keytool. */
public final class TestAuthority {
    private static final String PASSWORD = "changeit";

    private final Path folder;

    /** Makes the authority; {@code ca.pem} is its certificate. */
    public TestAuthority(Path folder) throws IOException, InterruptedException {
        this.folder = folder;
        keytool(
                null,
                "-genkeypair",
                "-alias",
                "ca",
                "-keyalg",
                "EC",
                "-groupname",
                "secp256r1",
                "-dname",
                "CN=ca",
                "-ext",
                "bc:c",
                "-keystore",
                "ca.p12");
        Files.write(
                folder.resolve("ca.pem"), keytool(null, "-exportcert", "-rfc", "-alias", "ca", "-keystore", "ca.p12"));
    }

    public Path ca() {
        return folder.resolve("ca.pem");
    }

    /** Issues a certificate for 127.0.0.1 and localhost: {@code file.crt} and {@code file.key}, which are replaced if they are there. */
    public void issue(String file, String commonName, String algorithm)
            throws IOException, InterruptedException, GeneralSecurityException {
        String store = file + "-" + System.nanoTime() + ".p12";
        List<String> generate = new ArrayList<>(List.of(
                "-genkeypair",
                "-alias",
                "leaf",
                "-keyalg",
                algorithm,
                "-dname",
                "CN=" + commonName,
                "-keystore",
                store));
        generate.addAll(algorithm.equals("EC") ? List.of("-groupname", "secp256r1") : List.of("-keysize", "2048"));
        keytool(null, generate.toArray(String[]::new));
        byte[] request = keytool(null, "-certreq", "-alias", "leaf", "-keystore", store);
        byte[] certificate = keytool(
                request,
                "-gencert",
                "-rfc",
                "-alias",
                "ca",
                "-ext",
                "san=ip:127.0.0.1,dns:localhost",
                "-keystore",
                "ca.p12");
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(folder.resolve(store))) {
            keys.load(in, PASSWORD.toCharArray());
        }
        String key = "-----BEGIN PRIVATE KEY-----\n"
                + Base64.getMimeEncoder()
                        .encodeToString(
                                keys.getKey("leaf", PASSWORD.toCharArray()).getEncoded())
                + "\n-----END PRIVATE KEY-----\n";
        Files.writeString(folder.resolve(file + ".key"), key);
        Files.write(folder.resolve(file + ".crt"), certificate);
    }

    /** {@code [security]} of a configuration with these files. */
    public String toml(String file) {
        return "[security]\nca-path = \"" + ca() + "\"\ncert-path = \"" + folder.resolve(file + ".crt")
                + "\"\nkey-path = \"" + folder.resolve(file + ".key") + "\"\n";
    }

    private byte[] keytool(byte[] input, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        command.addAll(Arrays.asList(arguments));
        command.addAll(List.of("-storepass", PASSWORD, "-validity", "30"));
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectError(folder.resolve("keytool.log").toFile())
                .start();
        if (input != null) {
            process.getOutputStream().write(input);
        }
        process.getOutputStream().close();
        ByteArrayOutputStream output = new ByteArrayOutputStream();
        process.getInputStream().transferTo(output);
        if (process.waitFor() != 0) {
            throw new IOException("keytool " + command + ": " + output.toString(StandardCharsets.UTF_8));
        }
        return output.toByteArray();
    }
}
