package io.coplane.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.Clock;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.tikvpb.TikvGrpc;
import io.coplane.proto.v1.DataPlaneGrpc;
import io.coplane.proto.v1.StatusRequest;
import io.coplane.testing.NoLeaks;
import io.coplane.worker.config.ConfigLoader;
import io.coplane.worker.config.Machine;
import io.coplane.worker.config.WorkerConfig;
import io.coplane.worker.grpc.GrpcChannels;
import io.coplane.worker.tls.TestAuthority;
import io.coplane.worker.tls.Tls;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.netty.handler.ssl.SslContext;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.math.BigInteger;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.security.cert.X509Certificate;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import javax.net.ssl.SSLHandshakeException;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** worker.md 16: TLS of HTTP and gRPC with certificates of an authority of our own. */
@ExtendWith(NoLeaks.class)
@Timeout(120)
final class SecureWorkerTest {
    private static final Machine MACHINE = new Machine(64L << 30, 2);

    @TempDir
    private static Path pki;

    private static TestAuthority authority;

    @TempDir
    private Path folder;

    private Worker worker;

    @BeforeAll
    static void issue() throws Exception {
        authority = new TestAuthority(pki);
        authority.issue("server", "tikv-worker", "RSA");
        authority.issue("client", "tikv-server", "EC");
    }

    @AfterEach
    void stop() {
        worker.close();
    }

    @Test
    void httpSpeaksHttp2AndHttp1AndWantsNoClientCertificate() throws Exception {
        start("server", "");
        try (HttpClient second = client(HttpClient.Version.HTTP_2);
                HttpClient first = client(HttpClient.Version.HTTP_1_1)) {
            HttpResponse<String> h2 = get(second, "/healthz");
            HttpResponse<String> h1 = get(first, "/healthz");

            assertThat(h2.version()).isEqualTo(HttpClient.Version.HTTP_2);
            assertThat(h2.body()).isEqualTo("ok");
            assertThat(h1.version()).isEqualTo(HttpClient.Version.HTTP_1_1);
            assertThat(h1.body()).isEqualTo("ok");
        }
    }

    @Test
    void aLongBodyOverHttp2IsReadWithinTheWindowAndAnswered() throws Exception {
        start("server", "");
        byte[] body = new byte[20 << 20]; // ten windows
        try (HttpClient client = client(HttpClient.Version.HTTP_2)) {
            for (int i = 0; i < 3; i++) {
                HttpResponse<String> answer = client.send(
                        HttpRequest.newBuilder(uri("/coprocessor"))
                                .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());

                assertThat(answer.version()).isEqualTo(HttpClient.Version.HTTP_2);
                assertThat(answer.statusCode()).isEqualTo(500);
                assertThat(answer.body()).isEqualTo("Other(\"failed to decode cop request\")");
            }
        }
        assertThat(worker.memory().usedBytes()).isZero();
    }

    @Test
    void aClientThatTrustsAnotherAuthorityGetsNoAnswer() throws Exception {
        start("server", "");
        try (HttpClient stranger = HttpClient.newHttpClient()) {
            assertThatThrownBy(() -> get(stranger, "/healthz")).isInstanceOf(SSLHandshakeException.class);
        }
    }

    @Test
    void grpcRequiresAClientCertificate() throws Exception {
        start("server", "");
        SslContext trusting = io.grpc.netty.GrpcSslContexts.forClient()
                .trustManager(authority.ca().toFile())
                .build();

        assertThat(statusOf(() -> trusting).getCode()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(statusOf(tls("client")::grpcClient).getDescription()).contains("no pd.endpoints are configured");
    }

    /** More than the connection's window, so that it stops if what was refused is not given back. */
    @Test
    void aMessageForWhichThereIsNoRoomIsAnsweredOverGrpc() throws Exception {
        start("server", "[coplane]\nmax-inflight-body-bytes = \"1MiB\"\n");
        Request large = Request.newBuilder()
                .setTp(103)
                .setData(ByteString.copyFrom(new byte[3 << 20]))
                .build();
        try (GrpcChannels channels = new GrpcChannels(Optional.of(tls("client")::grpcClient), 1 << 20)) {
            TikvGrpc.TikvBlockingStub stub = TikvGrpc.newBlockingStub(
                            channels.to("127.0.0.1:" + worker.grpcAddress().getPort()))
                    .withDeadlineAfter(30, TimeUnit.SECONDS);
            for (int i = 0; i < 3; i++) {
                assertThat(stub.coprocessor(large).getRegionError().hasServerIsBusy())
                        .isTrue();
            }
        }
    }

    @Test
    void grpcRefusesCommonNamesThatAreNotAllowed() throws Exception {
        start("server", "cert-allowed-cn = [\"tidb\"]\n");

        Status status = statusOf(tls("client")::grpcClient);

        assertThat(status.getCode()).isEqualTo(Status.Code.UNAUTHENTICATED);
        assertThat(status.getDescription())
                .isEqualTo("Common name check fail, reason: x509_common_name from peer is tikv-server, "
                        + "cert_allowed_cn: [tidb]");
        assertThat(ownStatusOf(tls("client")::grpcClient)).isEqualTo(Status.Code.UNAUTHENTICATED);
        worker.close();

        start("server", "cert-allowed-cn = [\"tidb\", \"tikv-server\"]\n");
        assertThat(statusOf(tls("client")::grpcClient).getCode()).isEqualTo(Status.Code.INTERNAL);
        assertThat(ownStatusOf(tls("client")::grpcClient)).isEqualTo(Status.Code.OK);
    }

    @Test
    void aChangedCertificateIsServedWithoutARestartAndABrokenOneIsNot() throws Exception {
        authority.issue("changing", "one", "RSA");
        start("changing", "cert-reload-interval = \"0s\"\n");
        BigInteger before = serial();

        authority.issue("changing", "two", "EC");
        touch(1);
        BigInteger after = serial();
        Files.writeString(pki.resolve("changing.crt"), "broken");
        touch(2);
        BigInteger kept = serial();

        assertThat(after).isNotEqualTo(before);
        assertThat(kept).isEqualTo(after);
        try (HttpClient client = client(HttpClient.Version.HTTP_1_1)) {
            assertThat(get(client, "/metrics").body())
                    .contains("tikv_hyper_reload_cert_total{status=\"success\",type=\"Server\"} 1\n")
                    .contains("tikv_hyper_reload_cert_total{status=\"fail\",type=\"Server\"} ");
        }
    }

    private static void touch(int seconds) throws IOException {
        Files.setLastModifiedTime(
                pki.resolve("changing.crt"), FileTime.fromMillis(Clock.system().wallMillis() + seconds * 1000L));
    }

    private BigInteger serial() throws Exception {
        try (HttpClient client = client(HttpClient.Version.HTTP_1_1)) {
            X509Certificate served = (X509Certificate)
                    get(client, "/healthz").sslSession().orElseThrow().getPeerCertificates()[0];
            return served.getSerialNumber();
        }
    }

    private Status statusOf(Supplier<SslContext> tls) {
        try (GrpcChannels channels = new GrpcChannels(Optional.of(tls), 1 << 20)) {
            TikvGrpc.TikvBlockingStub stub = TikvGrpc.newBlockingStub(
                    channels.to("127.0.0.1:" + worker.grpcAddress().getPort()));
            return assertThatThrownBy(() ->
                            stub.coprocessor(Request.newBuilder().setTp(103).build()))
                    .asInstanceOf(InstanceOfAssertFactories.type(StatusRuntimeException.class))
                    .actual()
                    .getStatus();
        }
    }

    /** Of a call of our own service. */
    private Status.Code ownStatusOf(Supplier<SslContext> tls) {
        try (GrpcChannels channels = new GrpcChannels(Optional.of(tls), 1 << 20)) {
            DataPlaneGrpc.newBlockingStub(
                            channels.to("127.0.0.1:" + worker.grpcAddress().getPort()))
                    .status(StatusRequest.getDefaultInstance());
            return Status.Code.OK;
        } catch (StatusRuntimeException e) {
            return e.getStatus().getCode();
        }
    }

    private Tls tls(String file) throws IOException {
        return new Tls(config(file, "").security(), Clock.system(), new PrometheusRegistry());
    }

    private HttpClient client(HttpClient.Version version) throws IOException {
        return HttpClient.newBuilder()
                .version(version)
                .sslContext(tls("client").httpClient())
                .build();
    }

    private HttpResponse<String> get(HttpClient client, String path) throws IOException, InterruptedException {
        return client.send(HttpRequest.newBuilder(uri(path)).build(), HttpResponse.BodyHandlers.ofString());
    }

    private URI uri(String path) {
        return URI.create("https://127.0.0.1:" + worker.address().getPort() + path);
    }

    private void start(String file, String security) throws IOException {
        worker = Worker.start(config(file, security), MACHINE);
    }

    private WorkerConfig config(String file, String security) throws IOException {
        String toml = "addr = \"127.0.0.1:0\"\ncop-addr = \"127.0.0.1:0\"\ndfs.backend = \"local\"\ndfs.local-dir = \""
                + folder + "\"\n" + authority.toml(file) + security;
        Path written = Files.writeString(folder.resolve("worker.toml"), toml);
        return ConfigLoader.load(Optional.of(written), Map.of(), Map.of());
    }
}
