package io.coplane.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** worker.md 20.5, against a server that answers as it is told. */
@Timeout(60)
final class MetricsPushTest {
    private static final Duration SOON = Duration.ofMillis(20);
    private static final Map<String, String> POD = Map.of("HOSTNAME", "worker-0");

    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final BlockingQueue<String> taken = new LinkedBlockingQueue<>();
    private volatile int status = 200;
    private HttpServer gateway;
    private String address;

    @BeforeEach
    void start() throws IOException {
        gateway = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        gateway.createContext("/", exchange -> {
            taken.add(
                    exchange.getRequestMethod() + " " + exchange.getRequestURI().getRawPath() + " "
                            + exchange.getRequestHeaders().getFirst("Content-Type") + "\n"
                            + new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });
        gateway.start();
        address = "127.0.0.1:" + gateway.getAddress().getPort();
        Counter.builder()
                .name("tikv_worker_load_data_wru_cost_counter")
                .help("W.")
                .register(registry)
                .inc(3);
        Counter.builder().name("another_counter").help("A.").register(registry).inc();
    }

    @AfterEach
    void stop() {
        gateway.stop(0);
    }

    @Test
    void putsTheOneMetricOfTheReferenceUnderItsLabels() throws InterruptedException {
        try (MetricsPush push =
                MetricsPush.of(address, SOON, POD, registry, false).orElseThrow()) {
            assertThat(push).isNotNull();
            assertThat(taken.take()).isEqualTo("""
                    PUT /metrics/job/tikv-worker/pod/worker-0/container/tikv-worker text/plain; version=0.0.4
                    # HELP tikv_worker_load_data_wru_cost_counter W.
                    # TYPE tikv_worker_load_data_wru_cost_counter counter
                    tikv_worker_load_data_wru_cost_counter 3
                    """);
            assertThat(taken.take()).startsWith("PUT "); // and again
        }
    }

    @Test
    void putsEverythingIfToldTo() throws InterruptedException {
        Map<String, String> named = Map.of("HOSTNAME", "a b", "CONTAINER_NAME", "x/y");
        try (MetricsPush push =
                MetricsPush.of("http://" + address, SOON, named, registry, true).orElseThrow()) {
            assertThat(push).isNotNull();
            assertThat(taken.take())
                    .startsWith("PUT /metrics/job/tikv-worker/pod/a%20b/container@base64/eC95 ")
                    .contains("another_counter 1\n", "tikv_worker_load_data_wru_cost_counter 3\n");
        }
    }

    @Test
    void aGatewayThatFailsIsAskedAgain() throws InterruptedException {
        status = 500;
        try (MetricsPush push =
                MetricsPush.of(address, SOON, POD, registry, false).orElseThrow()) {
            assertThat(push).isNotNull();
            taken.take();
            taken.take();
            status = 202;
            assertThat(taken.take()).startsWith("PUT ");
        }
    }

    @Test
    void isOffWithoutAddressIntervalOrName() {
        assertThat(MetricsPush.of("", SOON, POD, registry, true)).isEmpty();
        assertThat(MetricsPush.of(address, Duration.ZERO, POD, registry, true)).isEmpty();
        assertThat(MetricsPush.of(address, SOON, Map.of(), registry, true)).isEmpty();
        assertThat(MetricsPush.of(address, SOON, Map.of("HOSTNAME", ""), registry, true))
                .isEmpty();
        assertThatThrownBy(() -> MetricsPush.of("no host", SOON, POD, registry, true))
                .hasMessageContaining("push-metrics-addr is no HOST:PORT");
    }
}
