package io.coplane.testing;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A key management service in this process, over HTTP and the JSON protocol of AWS's, of which it knows {@code Decrypt} alone. Its cipher turns every
 * bit. A request must be signed by {@link #KEY_ID}. Thread-safe.
 */
public final class KmsServer implements AutoCloseable {
    /** The access key id that it knows; the signature itself is not looked at. */
    public static final String KEY_ID = "kms-user";

    private static final String TARGET = "TrentService.Decrypt";
    private static final Pattern CIPHER_TEXT = Pattern.compile("\"CiphertextBlob\"\\s*:\\s*\"([^\"]*)\"");

    private final HttpServer server;
    private final List<String> bodies = new CopyOnWriteArrayList<>();
    private final Set<String> calls = ConcurrentHashMap.newKeySet(); // by the id that clients give them
    private volatile String refusal = "";
    private final AtomicInteger failuresToCome = new AtomicInteger();
    private final CountDownLatch asked = new CountDownLatch(1);
    private volatile CountDownLatch answering = new CountDownLatch(0);

    /** Starts a server on a port of its own. */
    public KmsServer() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", this::answer);
        server.start();
    }

    /** URL of the service. */
    public String endpoint() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** What must be sent so that {@code plain} comes back. */
    public static byte[] encrypt(byte[] plain) {
        byte[] turned = plain.clone();
        for (int i = 0; i < turned.length; i++) {
            turned[i] = (byte) ~turned[i];
        }
        return turned;
    }

    /** Bodies of the requests so far; a client that waited too long for an answer may have sent one again. */
    public List<String> bodies() {
        return List.copyOf(bodies);
    }

    /** Calls so far, each of one request or more, which say that they belong together. */
    public int calls() {
        return calls.size();
    }

    /** From now on every request is refused by this name of an error, with status 400. */
    public void refuse(String error) {
        refusal = error;
    }

    /** So many requests to come are answered with status 500. */
    public void fail(int requests) {
        failuresToCome.set(requests);
    }

    /** From now on no request is answered until {@link #letGo}. */
    public void stall() {
        answering = new CountDownLatch(1);
    }

    /** Answers what waits, and what comes. */
    public void letGo() {
        answering.countDown();
    }

    /** Waits for the first request. */
    public void awaitRequest() {
        await(asked);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        bodies.add(body);
        calls.add(String.valueOf(exchange.getRequestHeaders().getFirst("amz-sdk-invocation-id")));
        asked.countDown();
        await(answering);
        Matcher cipherText = CIPHER_TEXT.matcher(body);
        String signer = String.valueOf(exchange.getRequestHeaders().getFirst("Authorization"));
        if (failuresToCome.getAndUpdate(left -> Math.max(0, left - 1)) > 0) {
            send(exchange, 500, "{\"__type\":\"KMSInternalException\"}");
        } else if (!refusal.isEmpty()) {
            send(exchange, 400, "{\"__type\":\"" + refusal + "\",\"message\":\"refused\"}");
        } else if (!TARGET.equals(exchange.getRequestHeaders().getFirst("X-Amz-Target"))
                || !signer.contains("Credential=" + KEY_ID + "/")
                || !signer.contains("/kms/aws4_request")
                || !cipherText.find()) {
            send(exchange, 400, "{\"__type\":\"ValidationException\",\"message\":\"no such request\"}");
        } else {
            byte[] plain = encrypt(Base64.getDecoder().decode(cipherText.group(1)));
            send(
                    exchange,
                    200,
                    "{\"KeyId\":\"k\",\"Plaintext\":\"" + Base64.getEncoder().encodeToString(plain) + "\"}");
        }
    }

    private static void send(HttpExchange exchange, int status, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/x-amz-json-1.1");
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    @Override
    public void close() {
        letGo();
        server.stop(0);
    }
}
