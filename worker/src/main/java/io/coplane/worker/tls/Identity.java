package io.coplane.worker.tls;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.KeyStore;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * What the three PEM files held at one time.
 *
 * @param alias name of this generation
 * @param chain our certificate, then its issuers; not to be modified
 * @param key of the certificate
 * @param trust verifies peers against the CA bundle
 */
record Identity(String alias, X509Certificate[] chain, PrivateKey key, X509ExtendedTrustManager trust) {
    /** @throws CoplaneException BAD_CONFIG naming the file */
    static Identity load(int generation, Path ca, Path certificate, Path privateKey) {
        List<X509Certificate> chain = Pem.certificates(certificate);
        PrivateKey key = Pem.privateKey(privateKey);
        if (!belongTogether(key, chain.getFirst())) {
            throw new CoplaneException(
                    ErrorCode.BAD_CONFIG,
                    "the private key is not the certificate's: key-path=" + privateKey + " cert-path=" + certificate);
        }
        return new Identity(
                "generation-" + generation, chain.toArray(X509Certificate[]::new), key, trust(Pem.certificates(ca)));
    }

    /** Two files can't be changed at one time: whoever reads between the two changes has halves of two identities. */
    private static boolean belongTogether(PrivateKey key, X509Certificate certificate) {
        String algorithm = switch (key.getAlgorithm()) {
            case "EC" -> "SHA256withECDSA";
            case "RSA" -> "SHA256withRSA";
            default -> key.getAlgorithm(); // EdDSA
        };
        byte[] message = {1, 2, 3};
        try {
            Signature signature = Signature.getInstance(algorithm);
            signature.initSign(key);
            signature.update(message);
            byte[] signed = signature.sign();
            signature.initVerify(certificate.getPublicKey());
            signature.update(message);
            return signature.verify(signed);
        } catch (InvalidKeyException | SignatureException e) {
            return false; // keys of two kinds
        } catch (NoSuchAlgorithmException e) {
            throw new CoplaneException(
                    ErrorCode.BAD_CONFIG, "this JVM can't sign with the private key: algorithm=" + algorithm, e);
        }
    }

    private static X509ExtendedTrustManager trust(List<X509Certificate> authorities) {
        try {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            for (int i = 0; i < authorities.size(); i++) {
                store.setCertificateEntry("ca-" + i, authorities.get(i));
            }
            TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            factory.init(store);
            for (TrustManager manager : factory.getTrustManagers()) {
                if (manager instanceof X509ExtendedTrustManager found) {
                    return found;
                }
            }
        } catch (GeneralSecurityException | IOException e) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, "can't use the CA bundle: cause=" + e.getMessage(), e);
        }
        throw new CoplaneException(ErrorCode.BAD_CONFIG, "this JVM has no X.509 trust manager");
    }
}
