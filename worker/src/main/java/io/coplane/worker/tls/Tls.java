package io.coplane.worker.tls;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.worker.config.SecurityConfig;
import io.grpc.netty.GrpcSslContexts;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.GeneralSecurityException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * TLS contexts over the configured PEM files (worker.md 16). Contexts are made once: what changes underneath is read anew by handshakes, at most once
 * per reload interval, when the certificate file has another modification time. A change that does not load is logged, counted, and the old
 * identity stays. Thread-safe.
 */
public final class Tls {
    private static final Logger LOG = LoggerFactory.getLogger(Tls.class);

    /** A handshake names its identity first and takes its key later; it may see so many changes between. */
    private static final int IDENTITIES_KEPT = 16;

    private final Path ca;
    private final Path certificate;
    private final Path privateKey;
    private final long reloadIntervalNanos;
    private final Clock clock;
    private final Counter reloads;
    private final AtomicLong nextLookNanos;
    private volatile Loaded loaded;

    /**
     * @param known identities: the last one is for new handshakes, the others for those that began before a change
     * @param modified time of the certificate file
     */
    private record Loaded(List<Identity> known, FileTime modified, int generation) {
        Identity current() {
            return known.getLast();
        }
    }

    /**
     * Loads the files.
     *
     * @param security with TLS on
     * @throws CoplaneException BAD_CONFIG naming the file
     */
    public Tls(SecurityConfig security, Clock clock, PrometheusRegistry registry) {
        ca = Path.of(security.caPath());
        certificate = Path.of(security.certPath());
        privateKey = Path.of(security.keyPath());
        reloadIntervalNanos = security.certReloadInterval().toNanos();
        this.clock = clock;
        reloads = Counter.builder()
                .name("tikv_hyper_reload_cert_total")
                .help("Certificates that were reloaded.")
                .labelNames("status", "type")
                .register(registry);
        loaded = new Loaded(List.of(Identity.load(1, ca, certificate, privateKey)), modified(), 1);
        nextLookNanos = new AtomicLong(clock.nanoTime() + reloadIntervalNanos);
    }

    /** For the HTTP server: client certificates are optional; HTTP/2 or HTTP/1.1 by ALPN. */
    public SslContext httpServer() {
        return built(() -> server(ClientAuth.OPTIONAL)
                .applicationProtocolConfig(new ApplicationProtocolConfig(
                        Protocol.ALPN,
                        SelectorFailureBehavior.NO_ADVERTISE,
                        SelectedListenerFailureBehavior.ACCEPT,
                        ApplicationProtocolNames.HTTP_2,
                        ApplicationProtocolNames.HTTP_1_1))
                .build());
    }

    /** For the gRPC server: client certificates are required. */
    public SslContext grpcServer() {
        return built(() -> GrpcSslContexts.configure(server(ClientAuth.REQUIRE), SslProvider.JDK)
                .build());
    }

    /** For gRPC clients. */
    public SslContext grpcClient() {
        return built(() -> GrpcSslContexts.configure(
                        SslContextBuilder.forClient()
                                .keyManager(new Keys("Client"))
                                .trustManager(new Trust("Client")),
                        SslProvider.JDK)
                .build());
    }

    /** For HTTP clients. */
    public SSLContext httpClient() {
        try {
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(new KeyManager[] {new Keys("Client")}, new TrustManager[] {new Trust("Client")}, null);
            return context;
        } catch (GeneralSecurityException e) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, "this JVM has no TLS: cause=" + e.getMessage(), e);
        }
    }

    private SslContextBuilder server(ClientAuth auth) {
        return SslContextBuilder.forServer(new Keys("Server"))
                .sslProvider(SslProvider.JDK)
                .trustManager(new Trust("Server"))
                .clientAuth(auth);
    }

    private interface Build {
        SslContext get() throws SSLException;
    }

    private static SslContext built(Build build) {
        try {
            return build.get();
        } catch (SSLException e) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, "TLS can't be set up: cause=" + e.getMessage(), e);
        }
    }

    private FileTime modified() {
        try {
            return Files.getLastModifiedTime(certificate);
        } catch (IOException e) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, "can't look at the certificate: file=" + certificate, e);
        }
    }

    /** The identity for a handshake that begins now. One thread looks at the file; the others go on with what is there. */
    private Identity current(String type) {
        long now = clock.nanoTime();
        long due = nextLookNanos.get();
        if (now - due >= 0 && nextLookNanos.compareAndSet(due, now + reloadIntervalNanos)) {
            reload(type);
        }
        return loaded.current();
    }

    private synchronized void reload(String type) {
        Loaded before = loaded;
        try {
            FileTime modified = modified();
            if (modified.equals(before.modified())) {
                return;
            }
            int generation = before.generation() + 1;
            Identity next = Identity.load(generation, ca, certificate, privateKey);
            List<Identity> known = new ArrayList<>(before.known());
            if (known.size() == IDENTITIES_KEPT) {
                known.removeFirst();
            }
            known.add(next);
            loaded = new Loaded(List.copyOf(known), modified, generation);
            reloads.labelValues("success", type).inc();
            LOG.info("certificate reloaded: file={}", certificate);
        } catch (CoplaneException e) {
            reloads.labelValues("fail", type).inc();
            LOG.warn("certificate can't be reloaded, the old one stays: file={} cause={}", certificate, e.getMessage());
        }
    }

    private Identity named(String alias) {
        for (Identity identity : loaded.known()) {
            if (identity.alias().equals(alias)) {
                return identity;
            }
        }
        return null;
    }

    /** Our certificate and key, as they are when a handshake begins. */
    private final class Keys extends X509ExtendedKeyManager {
        private final String type;

        private Keys(String type) {
            this.type = type;
        }

        private String alias(String keyType) {
            Identity identity = current(type);
            int end = keyType.indexOf('_'); // EC_RSA: an EC key that an RSA key signed
            String algorithm = end < 0 ? keyType : keyType.substring(0, end);
            return identity.key().getAlgorithm().equals(algorithm) ? identity.alias() : null;
        }

        @Override
        public String chooseEngineServerAlias(String keyType, Principal[] issuers, SSLEngine engine) {
            return alias(keyType);
        }

        @Override
        public String chooseServerAlias(String keyType, Principal[] issuers, Socket socket) {
            return alias(keyType);
        }

        @Override
        public String chooseEngineClientAlias(String[] keyTypes, Principal[] issuers, SSLEngine engine) {
            for (String keyType : keyTypes) {
                String alias = alias(keyType);
                if (alias != null) {
                    return alias;
                }
            }
            return null;
        }

        @Override
        public String chooseClientAlias(String[] keyTypes, Principal[] issuers, Socket socket) {
            return chooseEngineClientAlias(keyTypes, issuers, null);
        }

        @Override
        public String[] getServerAliases(String keyType, Principal[] issuers) {
            String alias = alias(keyType);
            return alias == null ? null : new String[] {alias};
        }

        @Override
        public String[] getClientAliases(String keyType, Principal[] issuers) {
            return getServerAliases(keyType, issuers);
        }

        @Override
        public X509Certificate[] getCertificateChain(String alias) {
            Identity identity = named(alias);
            return identity == null ? null : identity.chain().clone();
        }

        @Override
        public PrivateKey getPrivateKey(String alias) {
            Identity identity = named(alias);
            return identity == null ? null : identity.key();
        }
    }

    /** Verifies peers against the CA bundle as it is when a handshake comes so far. */
    private final class Trust extends X509ExtendedTrustManager {
        private final String type;

        private Trust(String type) {
            this.type = type;
        }

        private X509ExtendedTrustManager now() {
            return current(type).trust();
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
                throws CertificateException {
            now().checkClientTrusted(chain, authType, socket);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
                throws CertificateException {
            now().checkServerTrusted(chain, authType, socket);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
                throws CertificateException {
            now().checkClientTrusted(chain, authType, engine);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
                throws CertificateException {
            now().checkServerTrusted(chain, authType, engine);
        }

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType) throws CertificateException {
            now().checkClientTrusted(chain, authType);
        }

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType) throws CertificateException {
            now().checkServerTrusted(chain, authType);
        }

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return now().getAcceptedIssuers();
        }
    }
}
