package io.coplane.worker;

import io.coplane.compaction.CompactionProgress;
import io.coplane.nativecache.Clock;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Shows the progress of a compaction: a bar on a terminal, elsewhere a line every few seconds. Owns its thread until closed. */
final class CompactProgressBar implements AutoCloseable {
    private static final long BAR_MILLIS = 250;
    private static final long LINE_MILLIS = 5000;
    private static final int WIDTH = 30;
    private static final double MIB = 1 << 20;

    private final CountDownLatch ended = new CountDownLatch(1);
    private final Thread thread;

    private CompactProgressBar(CompactionProgress progress, PrintWriter out, Clock clock, boolean isTerminal) {
        long start = clock.nanoTime();
        thread = new Thread(
                () -> {
                    boolean shown = false;
                    while (!awaitEnd(isTerminal ? BAR_MILLIS : LINE_MILLIS)) {
                        String text = text(progress, clock.nanoTime() - start, isTerminal);
                        out.print(
                                isTerminal
                                        ? String.format(Locale.ROOT, "\r%-110s", text)
                                        : text + System.lineSeparator());
                        out.flush();
                        shown = true;
                    }
                    if (shown && isTerminal) {
                        out.println();
                        out.flush();
                    }
                },
                "coplane-progress");
        thread.setDaemon(true);
    }

    static CompactProgressBar start(CompactionProgress progress, PrintWriter out, Clock clock) {
        boolean isTerminal = System.console() != null && System.console().isTerminal();
        var bar = new CompactProgressBar(progress, out, clock, isTerminal);
        bar.thread.start();
        return bar;
    }

    private boolean awaitEnd(long millis) {
        try {
            return ended.await(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        }
    }

    /** What is shown; of the input at most all is counted as read. */
    static String text(CompactionProgress progress, long nanos, boolean withBar) {
        long all = progress.inputBytes();
        long read = Math.min(all, progress.inputBytesRead());
        int percent = all == 0 ? 0 : (int) (100 * (double) read / all);
        double seconds = Math.max(1e-3, (double) nanos / TimeUnit.SECONDS.toNanos(1));
        String eta = read == 0 ? "?" : Long.toString(Math.round(seconds * (all - read) / read));
        int filled = WIDTH * percent / 100;
        String bar = withBar ? "[" + "#".repeat(filled) + "-".repeat(WIDTH - filled) + "] " : "";
        return String.format(
                        Locale.ROOT,
                        "%s%3d %% of %.1f MiB, %.1f MiB/s, ETA %s s, %d files, %.1f MiB written ",
                        bar,
                        percent,
                        all / MIB,
                        read / MIB / seconds,
                        eta,
                        progress.outputs(),
                        progress.outputBytes() / MIB)
                .stripTrailing();
    }

    @Override
    public void close() {
        ended.countDown();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
