package io.coplane.worker.replay;

import java.io.PrintWriter;
import java.util.Locale;

/** A progress bar on a terminal; a line a data set elsewhere. Thread-safe. */
final class Progress {
    private static final int WIDTH = 30;

    private final PrintWriter out;
    private final int dataSets;
    private final boolean isTerminal =
            System.console() != null && System.console().isTerminal();
    private int dataSet;
    private String name = "";
    private int requests;
    private int shownPercent = -1;

    Progress(PrintWriter out, int dataSets) {
        this.out = out;
        this.dataSets = dataSets;
    }

    synchronized void start(String dataSetName, int requestCount) {
        dataSet++;
        name = dataSetName;
        requests = requestCount;
        shownPercent = -1;
        if (!isTerminal) {
            out.printf(Locale.ROOT, "[%d/%d] %s: %d requests%n", dataSet, dataSets, name, requests);
            out.flush();
        }
    }

    synchronized void done(int count) {
        int percent = requests == 0 ? 100 : (int) (100L * count / requests);
        if (!isTerminal || percent == shownPercent) {
            return;
        }
        shownPercent = percent;
        int filled = WIDTH * percent / 100;
        out.printf(
                Locale.ROOT,
                "\r[%d/%d] %-20s [%s%s] %d/%d ",
                dataSet,
                dataSets,
                name,
                "#".repeat(filled),
                "-".repeat(WIDTH - filled),
                count,
                requests);
        out.flush();
    }

    synchronized void end() {
        if (isTerminal) {
            out.println();
        }
    }
}
