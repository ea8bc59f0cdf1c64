package io.coplane.worker.http;

import io.coplane.engine.RequestWork;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * One line a request (worker.md 6.2): tag, status, sizes, time by phase, counts; nothing of the data. Requests slower than a threshold are warnings.
 * Thread-safe.
 */
public final class RequestLog {
    private static final Logger LOG = LoggerFactory.getLogger(RequestLog.class);

    private final long slowNanos;

    /** @param slowThreshold slower requests are warnings; zero = none is */
    public RequestLog(Duration slowThreshold) {
        slowNanos = slowThreshold.isZero() ? Long.MAX_VALUE : slowThreshold.toNanos();
    }

    /**
     * What a line says of a request.
     *
     * @param route {@code coprocessor}, {@code compact}, or another name of what was asked
     * @param tag worker.md 6.6; empty where it is not known
     * @param status of HTTP or gRPC
     * @param bodyBytes of the request
     * @param answerBytes of the answer
     * @param bodyNanos from the request's head to the last byte of its body
     * @param nanos from the request's head to its answer
     * @param work of a coprocessor request
     * @param peer who asked
     * @param isGone true: nobody waited for the answer
     */
    public record Line(
            String route,
            String tag,
            int status,
            long bodyBytes,
            long answerBytes,
            long bodyNanos,
            long nanos,
            RequestWork work,
            String peer,
            boolean isGone) {}

    /** Writes the line. */
    public void write(Line line) {
        boolean isSlow = line.nanos >= slowNanos;
        RequestWork work = line.work;
        LoggingEventBuilder event = (isSlow ? LOG.atWarn() : LOG.atInfo())
                .addKeyValue("tag", line.tag)
                .addKeyValue("status", line.status)
                .addKeyValue("bodyBytes", line.bodyBytes)
                .addKeyValue("answerBytes", line.answerBytes)
                .addKeyValue("micros", micros(line.nanos))
                .addKeyValue("bodyMicros", micros(line.bodyNanos));
        if (!work.equals(RequestWork.NONE)) {
            event = event.addKeyValue("waitMicros", micros(work.waitNanos()))
                    .addKeyValue("snapshotMicros", micros(work.snapshotNanos()))
                    .addKeyValue("processMicros", micros(work.processNanos()))
                    .addKeyValue("files", work.files())
                    .addKeyValue("memDataBytes", work.memDataBytes())
                    .addKeyValue("scannedKeys", work.scannedKeys())
                    .addKeyValue("scannedBytes", work.scannedBytes());
        }
        if (!work.digest().isEmpty()) {
            event = event.addKeyValue("digest", work.digest());
        }
        event = event.addKeyValue("peer", line.peer);
        if (line.isGone) {
            event = event.addKeyValue("client", "gone");
        }
        event.log(isSlow ? "slow " + line.route : line.route);
    }

    private static long micros(long nanos) {
        return TimeUnit.NANOSECONDS.toMicros(nanos);
    }
}
