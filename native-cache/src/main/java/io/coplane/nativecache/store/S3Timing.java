package io.coplane.nativecache.store;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.Require;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * How long an S3 request may take, phase by phase, and how it is repeated: table {@code dfs.conn-options} (worker.md 4.6, ia.md 16.4, 16.5).
 *
 * @param maxRetries retries after the first attempt; 0 .. 30
 * @param retrySleep pause before retry n is 2^n times this
 * @param connect until the connection stands
 * @param dispatch from the start of an attempt to the response's head
 * @param writePerMib added to {@code dispatch} for each whole MiB of a put, which together limit the whole attempt
 * @param readBody between two pieces of a response's body
 * @param keepAlive TCP keep-alive
 * @param poolIdle an idle connection is closed after this time
 */
public record S3Timing(
        int maxRetries,
        Duration retrySleep,
        Duration connect,
        Duration dispatch,
        Duration writePerMib,
        Duration readBody,
        Duration keepAlive,
        Duration poolIdle) {
    private static final int MOST_RETRIES = 30;
    private static final Duration MOST = Duration.ofDays(1);
    private static final int MIB_SHIFT = 20;

    /** The reference's. */
    public static final S3Timing DEFAULTS = new S3Timing(
            9,
            Duration.ofMillis(500),
            Duration.ofSeconds(5),
            Duration.ofSeconds(10),
            Duration.ofMillis(100),
            Duration.ofSeconds(10),
            Duration.ofSeconds(20),
            Duration.ofSeconds(30));

    /** Checks bounds: times are at most a day, and those that limit something at least a millisecond. */
    public S3Timing {
        Require.range("max-retry-count", maxRetries, 0, MOST_RETRIES);
        check("retry-sleep-interval", retrySleep, Duration.ZERO);
        check("conn-timeout", connect, Duration.ofMillis(1));
        check("dispatch-timeout", dispatch, Duration.ofMillis(1));
        check("write-timeout-per-mb", writePerMib, Duration.ZERO);
        check("read-body-timeout", readBody, Duration.ofMillis(1));
        check("keep-alive-duration", keepAlive, Duration.ZERO);
        check("pool-idle-timeout", poolIdle, Duration.ZERO);
    }

    /** Pause before a retry. @param number 1 for the first one */
    long pauseNanos(int number) {
        long nanos = retrySleep.toNanos();
        return nanos > Long.MAX_VALUE >> number ? Long.MAX_VALUE : nanos << number;
    }

    /** Limit of one attempt of a put, in nanoseconds. */
    long putNanos(long bodyBytes) {
        return dispatch.toNanos()
                + Math.min(TimeUnit.DAYS.toNanos(1), writePerMib.toNanos() * (bodyBytes >> MIB_SHIFT));
    }

    private static void check(String name, Duration value, Duration least) {
        if (value.compareTo(least) < 0 || value.compareTo(MOST) > 0) {
            throw new CoplaneException(
                    ErrorCode.BAD_CONFIG,
                    name + " is out of bounds: value=" + value + " min=" + least + " max=" + MOST);
        }
    }
}
