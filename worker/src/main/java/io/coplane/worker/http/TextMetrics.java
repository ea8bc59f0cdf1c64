package io.coplane.worker.http;

import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.math.BigDecimal;

/**
 * Metrics in Prometheus text format 0.0.4, as the reference shows them (worker.md 5.1): under the very names they were registered with (the
 * client library's own writer adds {@code _total} to counters), without counters of value 0, histograms of count 0 and families left empty.
 */
public final class TextMetrics {
    private static final double MOST_EXACT = 1L << 53;

    private final StringBuilder out = new StringBuilder(4096);

    private TextMetrics() {}

    /** The text of a scrape. */
    public static String write(MetricSnapshots snapshots) {
        TextMetrics writer = new TextMetrics();
        for (MetricSnapshot snapshot : snapshots) {
            writer.family(snapshot);
        }
        return writer.out.toString();
    }

    private void family(MetricSnapshot snapshot) {
        String name = snapshot.getMetadata().getOriginalName();
        int start = out.length();
        switch (snapshot) {
            case CounterSnapshot counter -> {
                head(name, counter.getMetadata(), "counter");
                int samples = out.length();
                for (CounterDataPointSnapshot point : counter.getDataPoints()) {
                    if (point.getValue() != 0) {
                        sample(name, "", point.getLabels(), null, point.getValue());
                    }
                }
                dropIfEmpty(start, samples);
            }
            case GaugeSnapshot gauge -> {
                head(name, gauge.getMetadata(), "gauge");
                int samples = out.length();
                for (GaugeDataPointSnapshot point : gauge.getDataPoints()) {
                    sample(name, "", point.getLabels(), null, point.getValue());
                }
                dropIfEmpty(start, samples);
            }
            case HistogramSnapshot histogram -> {
                head(name, histogram.getMetadata(), "histogram");
                int samples = out.length();
                for (HistogramDataPointSnapshot point : histogram.getDataPoints()) {
                    histogram(name, point);
                }
                dropIfEmpty(start, samples);
            }
            default -> throw new IllegalStateException("kind of metric that nothing registers: name=" + name);
        }
    }

    private void dropIfEmpty(int start, int samples) {
        if (out.length() == samples) {
            out.setLength(start);
        }
    }

    private void histogram(String name, HistogramDataPointSnapshot point) {
        ClassicHistogramBuckets buckets = point.getClassicBuckets();
        long count = 0;
        for (int i = 0; i < buckets.size(); i++) {
            count += buckets.getCount(i);
        }
        if (count == 0) {
            return;
        }
        long below = 0;
        for (int i = 0; i < buckets.size(); i++) {
            below += buckets.getCount(i);
            sample(name, "_bucket", point.getLabels(), number(buckets.getUpperBound(i)), (double) below);
        }
        sample(name, "_sum", point.getLabels(), null, point.getSum());
        sample(name, "_count", point.getLabels(), null, (double) count);
    }

    private void head(String name, MetricMetadata metadata, String type) {
        String help = metadata.getHelp();
        if (help != null && !help.isEmpty()) {
            out.append("# HELP ").append(name).append(' ');
            escape(help, false);
            out.append('\n');
        }
        out.append("# TYPE ").append(name).append(' ').append(type).append('\n');
    }

    private void sample(String name, String suffix, Labels labels, String upperBound, double value) {
        out.append(name).append(suffix);
        String separator = "{";
        for (int i = 0; i < labels.size(); i++) {
            out.append(separator).append(labels.getPrometheusName(i)).append("=\"");
            escape(labels.getValue(i), true);
            out.append('"');
            separator = ",";
        }
        if (upperBound != null) {
            out.append(separator).append("le=\"").append(upperBound).append('"');
            separator = ",";
        }
        if (separator.equals(",")) {
            out.append('}');
        }
        out.append(' ').append(number(value)).append('\n');
    }

    private void escape(String text, boolean quotes) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\\') {
                out.append("\\\\");
            } else if (c == '\n') {
                out.append("\\n");
            } else if (c == '"' && quotes) {
                out.append("\\\"");
            } else {
                out.append(c);
            }
        }
    }

    private static String number(double value) {
        if (value == Double.POSITIVE_INFINITY) {
            return "+Inf";
        }
        if (value == Double.NEGATIVE_INFINITY) {
            return "-Inf";
        }
        if (value == Math.rint(value) && Math.abs(value) <= MOST_EXACT) {
            return Long.toString((long) value);
        }
        String text = Double.toString(value);
        return text.indexOf('E') < 0
                ? text
                : new BigDecimal(text).stripTrailingZeros().toPlainString();
    }
}
