package io.coplane.worker;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.worker.http.TextMetrics;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts metrics to a pushgateway, again and again (worker.md 20.5). A gateway that fails, or is not there, costs a line of the log. Owns a thread; borrows
 * the registry.
 */
@SuppressWarnings("FutureReturnValueIgnored") // of the schedule: it ends with the loop
final class MetricsPush implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(MetricsPush.class);
    private static final String JOB = "tikv-worker";

    /** The one that the reference pushes. */
    private static final String WRITE_RU = "tikv_worker_load_data_wru_cost_counter";

    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int SUCCESS = 200;
    private static final int REDIRECT = 300;

    private final URI target;
    private final PrometheusRegistry registry;
    private final Predicate<String> isPushed;
    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(PATIENCE)
            .build();
    private final ScheduledExecutorService loop = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("coplane-push").daemon().factory());

    private MetricsPush(URI target, Duration interval, PrometheusRegistry registry, Predicate<String> isPushed) {
        this.target = target;
        this.registry = registry;
        this.isPushed = isPushed;
        long micros = TimeUnit.NANOSECONDS.toMicros(interval.toNanos());
        loop.scheduleWithFixedDelay(this::push, micros, micros, TimeUnit.MICROSECONDS);
    }

    /**
     * Starts pushing, where the configuration says so.
     *
     * @param address {@code host:port}, or a URL; empty = off
     * @param interval zero = off
     * @param environment {@code HOSTNAME} and {@code CONTAINER_NAME} become labels; without the first nothing is pushed
     * @param isAll false: only what the reference pushes, the write RU of load data
     * @throws CoplaneException BAD_CONFIG if the address makes no URL
     */
    static Optional<MetricsPush> of(
            String address,
            Duration interval,
            Map<String, String> environment,
            PrometheusRegistry registry,
            boolean isAll) {
        requireAddress(address);
        String pod = environment.getOrDefault("HOSTNAME", "");
        if (address.isEmpty() || interval.isZero()) {
            return Optional.empty();
        }
        if (pod.isEmpty()) {
            LOG.info("metrics are not pushed: HOSTNAME is not set");
            return Optional.empty();
        }
        String container = environment.getOrDefault("CONTAINER_NAME", "");
        String path =
                "/metrics/job/" + JOB + label("pod", pod) + label("container", container.isEmpty() ? JOB : container);
        URI target = URI.create(base(address) + path);
        LOG.info("metrics are pushed: target={} interval={} all={}", target, interval, isAll);
        return Optional.of(new MetricsPush(target, interval, registry, name -> isAll || name.equals(WRITE_RU)));
    }

    /** @throws CoplaneException BAD_CONFIG if the address, which may be empty, makes no URL */
    static void requireAddress(String address) {
        if (address.isEmpty()) {
            return;
        }
        try {
            if (URI.create(base(address)).getHost() == null) {
                throw new CoplaneException(ErrorCode.BAD_CONFIG, "push-metrics-addr is no HOST:PORT: value=" + address);
            }
        } catch (IllegalArgumentException e) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, "push-metrics-addr is no HOST:PORT: value=" + address, e);
        }
    }

    private static String base(String address) {
        return address.contains("://") ? address : "http://" + address;
    }

    /** A grouping label as part of a path; a value that can't be part of one is base64, as the gateway has it. */
    private static String label(String name, String value) {
        if (value.indexOf('/') >= 0) {
            byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
            return "/" + name + "@base64/"
                    + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
        }
        return "/" + name + "/"
                + URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private void push() {
        try {
            String text = TextMetrics.write(registry.scrape(isPushed));
            if (text.isEmpty()) {
                return;
            }
            HttpRequest request = HttpRequest.newBuilder(target)
                    .timeout(PATIENCE)
                    .header("Content-Type", "text/plain; version=0.0.4")
                    .PUT(HttpRequest.BodyPublishers.ofString(text))
                    .build();
            HttpResponse<Void> answer = http.send(request, HttpResponse.BodyHandlers.discarding());
            if (answer.statusCode() < SUCCESS || answer.statusCode() >= REDIRECT) {
                LOG.warn("the pushgateway did not take the metrics: target={} status={}", target, answer.statusCode());
            }
        } catch (IOException e) {
            LOG.warn("can't push metrics: target={} cause={}", target, e.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) { // a schedule would end with it
            LOG.error("can't push metrics by a bug: target={}", target, e);
        }
    }

    @Override
    public void close() {
        loop.shutdownNow();
        http.shutdownNow();
    }
}
