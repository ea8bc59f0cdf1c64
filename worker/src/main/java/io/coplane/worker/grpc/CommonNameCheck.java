package io.coplane.worker.grpc;

import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.security.cert.X509Certificate;
import java.util.Optional;
import java.util.Set;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;

/** Lets only peers in whose certificate has an allowed common name (worker.md 16). */
final class CommonNameCheck implements ServerInterceptor {
    private final Set<String> allowed;

    CommonNameCheck(Set<String> allowed) {
        this.allowed = allowed;
    }

    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
        Optional<String> name = commonName(call.getAttributes().get(Grpc.TRANSPORT_ATTR_SSL_SESSION));
        if (name.isPresent() && allowed.contains(name.get())) {
            return next.startCall(call, headers);
        }
        String reason =
                name.map(found -> "x509_common_name from peer is " + found).orElse("x509_common_name doesn't exist");
        call.close(
                Status.UNAUTHENTICATED.withDescription(
                        "Common name check fail, reason: " + reason + ", cert_allowed_cn: " + allowed),
                new Metadata());
        return new ServerCall.Listener<>() {};
    }

    private static Optional<String> commonName(SSLSession session) {
        if (session == null) {
            return Optional.empty();
        }
        try {
            if (session.getPeerCertificates()[0] instanceof X509Certificate peer) {
                for (Rdn part : new LdapName(peer.getSubjectX500Principal().getName()).getRdns()) {
                    if (part.getType().equalsIgnoreCase("CN")) {
                        return Optional.of(part.getValue().toString());
                    }
                }
            }
        } catch (SSLPeerUnverifiedException | InvalidNameException e) {
            return Optional.empty(); // nobody's name is allowed: refused above
        }
        return Optional.empty();
    }
}
