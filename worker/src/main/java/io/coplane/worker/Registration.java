package io.coplane.worker;

import io.coplane.proto.metapb.Store;
import io.coplane.worker.pd.PdClient;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells all stores, again and again, that this worker compacts (worker.md 13). Owns a thread; borrows the client of PD. */
@SuppressWarnings("FutureReturnValueIgnored") // of the schedule: it ends with the loop
final class Registration implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Registration.class);
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int OK = 200;

    private final PdClient pd;
    private final String scheme;
    private final String compactUrl;
    private final HttpClient http;
    private final ScheduledExecutorService loop = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("coplane-register").daemon().factory());

    /** @param addr the configured {@code addr} as stores are to reach it */
    Registration(PdClient pd, String addr, Optional<SSLContext> tls, Duration interval) {
        this.pd = pd;
        scheme = tls.isPresent() ? "https" : "http";
        compactUrl = scheme + "://" + addr + "/compact";
        HttpClient.Builder builder =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(PATIENCE);
        tls.ifPresent(builder::sslContext);
        http = builder.build();
        loop.scheduleWithFixedDelay(this::registerAtAll, 0, Math.max(1, interval.toMillis()), TimeUnit.MILLISECONDS);
    }

    private void registerAtAll() {
        List<Store> stores;
        try {
            stores = pd.stores().join();
        } catch (CompletionException e) {
            LOG.warn("can't list stores to register at: cause={}", e.getCause().getMessage());
            return;
        }
        for (Store store : stores) {
            if (!isTiFlash(store)) {
                register(store);
            }
        }
    }

    private static boolean isTiFlash(Store store) {
        return store.getLabelsList().stream()
                .anyMatch(label -> label.getKey().toLowerCase(Locale.ROOT).equals("engine")
                        && label.getValue().startsWith("tiflash"));
    }

    private void register(Store store) {
        try {
            HttpRequest request = HttpRequest.newBuilder(
                            URI.create(scheme + "://" + store.getStatusAddress() + "/kvengine/compactor"))
                    .timeout(PATIENCE)
                    .POST(HttpRequest.BodyPublishers.ofString(compactUrl))
                    .build();
            HttpResponse<Void> answer = http.send(request, HttpResponse.BodyHandlers.discarding());
            if (answer.statusCode() != OK) {
                LOG.warn("store did not take the registration: store={} status={}", store.getId(), answer.statusCode());
            }
        } catch (IOException | IllegalArgumentException e) {
            LOG.warn("can't register at a store: store={} cause={}", store.getId(), e.toString());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        loop.shutdownNow();
        http.shutdownNow();
    }
}
