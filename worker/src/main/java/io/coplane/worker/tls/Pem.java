package io.coplane.worker.tls;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/** Reads certificates and private keys from PEM text. Keys: PKCS#8, PKCS#1 (RSA) and SEC1 (EC); the first in the file is taken (worker.md 16). */
final class Pem {
    private static final String BEGIN = "-----BEGIN ";
    private static final String END = "-----END ";
    private static final String DASHES = "-----";
    private static final List<String> KEY_ALGORITHMS = List.of("RSA", "EC", "EdDSA");

    private static final byte SEQUENCE = 0x30;
    private static final byte OCTET_STRING = 0x04;
    private static final byte OBJECT_ID = 0x06;
    private static final byte CURVE = (byte) 0xa0;
    private static final byte[] VERSION_0 = {2, 1, 0};

    /** AlgorithmIdentifier of RSA: 1.2.840.113549.1.1.1 and NULL. */
    private static final byte[] RSA = {0x30, 13, 6, 9, 42, (byte) 0x86, 72, (byte) 0x86, (byte) 0xf7, 13, 1, 1, 1, 5, 0
    };

    /** 1.2.840.10045.2.1. */
    private static final byte[] EC_OID = {6, 7, 42, (byte) 0x86, 72, (byte) 0xce, 61, 2, 1};

    private Pem() {}

    private record Item(String type, byte[] der) {}

    /**
     * All certificates of a file, in its order.
     *
     * @throws CoplaneException BAD_CONFIG naming the file
     */
    static List<X509Certificate> certificates(Path file) {
        try {
            CertificateFactory factory = CertificateFactory.getInstance("X.509");
            List<X509Certificate> found = new ArrayList<>();
            for (Item item : items(file)) {
                if (item.type().equals("CERTIFICATE")) {
                    found.add((X509Certificate) factory.generateCertificate(new ByteArrayInputStream(item.der())));
                }
            }
            if (found.isEmpty()) {
                throw bad(file, "holds no certificate", null);
            }
            return found;
        } catch (GeneralSecurityException e) {
            throw bad(file, "holds a broken certificate", e);
        }
    }

    /**
     * The first private key of a file.
     *
     * @throws CoplaneException BAD_CONFIG naming the file
     */
    static PrivateKey privateKey(Path file) {
        for (Item item : items(file)) {
            switch (item.type()) {
                case "PRIVATE KEY" -> {
                    return pkcs8(file, item.der());
                }
                case "RSA PRIVATE KEY" -> {
                    return pkcs8(file, der(SEQUENCE, VERSION_0, RSA, der(OCTET_STRING, item.der())));
                }
                case "EC PRIVATE KEY" -> {
                    byte[] algorithm = der(SEQUENCE, EC_OID, curve(file, item.der()));
                    return pkcs8(file, der(SEQUENCE, VERSION_0, algorithm, der(OCTET_STRING, item.der())));
                }
                default -> {
                    // certificates, parameters: not the key
                }
            }
        }
        throw bad(file, "holds no private key (PKCS#8, RSA or EC)", null);
    }

    private static PrivateKey pkcs8(Path file, byte[] der) {
        for (String algorithm : KEY_ALGORITHMS) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(der));
            } catch (InvalidKeySpecException e) {
                continue; // of another algorithm
            } catch (GeneralSecurityException e) {
                throw bad(file, "can't be read by this JVM", e);
            }
        }
        throw bad(file, "holds a private key that is broken or of an unknown algorithm", null);
    }

    /** The curve's OID: content of field [0] of a SEC1 key. */
    private static byte[] curve(Path file, byte[] der) {
        for (int at = contentStart(der, 0); at > 0 && at + 1 < der.length; ) {
            int start = contentStart(der, at);
            int length = contentLength(der, at);
            if (start < 0 || length < 0 || start + length > der.length) {
                break;
            }
            if (der[at] == CURVE && length > 0 && der[start] == OBJECT_ID) {
                byte[] oid = new byte[length];
                System.arraycopy(der, start, oid, 0, length);
                return oid;
            }
            at = start + length;
        }
        throw bad(file, "holds an EC key that does not name its curve", null);
    }

    private static int contentStart(byte[] der, int at) {
        if (at + 1 >= der.length) {
            return -1;
        }
        int first = der[at + 1] & 0xff;
        return at + 2 + (first < 0x80 ? 0 : first & 0x7f);
    }

    private static int contentLength(byte[] der, int at) {
        int first = der[at + 1] & 0xff;
        if (first < 0x80) {
            return first;
        }
        int bytes = first & 0x7f;
        if (bytes > 3 || at + 2 + bytes > der.length) {
            return -1;
        }
        int length = 0;
        for (int i = 0; i < bytes; i++) {
            length = length << 8 | der[at + 2 + i] & 0xff;
        }
        return length;
    }

    private static byte[] der(byte tag, byte[]... parts) {
        int length = 0;
        for (byte[] part : parts) {
            length += part.length;
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream(length + 5);
        out.write(tag);
        if (length < 0x80) {
            out.write(length);
        } else {
            out.write(0x83);
            out.write(length >>> 16);
            out.write(length >>> 8);
            out.write(length);
        }
        for (byte[] part : parts) {
            out.writeBytes(part);
        }
        return out.toByteArray();
    }

    private static List<Item> items(Path file) {
        List<Item> items = new ArrayList<>();
        String type = null;
        StringBuilder base64 = new StringBuilder();
        for (String line : text(file).split("\\R", -1)) {
            if (line.startsWith(BEGIN) && line.strip().endsWith(DASHES)) {
                type = line.strip().substring(BEGIN.length(), line.strip().length() - DASHES.length());
                base64.setLength(0);
            } else if (line.startsWith(END) && type != null) {
                try {
                    items.add(new Item(type, Base64.getMimeDecoder().decode(base64.toString())));
                } catch (IllegalArgumentException e) {
                    throw bad(file, "holds text that is no base64", e);
                }
                type = null;
            } else if (type != null) {
                base64.append(line.strip());
            }
        }
        return items;
    }

    private static String text(Path file) {
        try {
            return Files.readString(file, StandardCharsets.US_ASCII);
        } catch (IOException e) {
            throw bad(file, "can't be read", e);
        }
    }

    private static CoplaneException bad(Path file, String what, Exception cause) {
        return new CoplaneException(ErrorCode.BAD_CONFIG, "PEM file " + what + ": file=" + file, cause);
    }
}
