package io.coplane.worker.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import org.junit.jupiter.api.Test;

/** Names, numbers and what is left out (worker.md 5.1). */
final class TextMetricsTest {
    private final PrometheusRegistry registry = new PrometheusRegistry();

    @Test
    void countersKeepTheirNamesAndZerosAreLeftOut() {
        Counter plain =
                Counter.builder().name("a_counter").help("A \\ b\nc \"q\".").register(registry);
        Counter total = Counter.builder().name("b_total").help("B.").register(registry);
        Counter labelled = Counter.builder()
                .name("c_size")
                .help("C.")
                .labelNames("type", "x")
                .register(registry);
        Counter.builder().name("d_counter").help("D.").register(registry);
        plain.inc();
        total.inc(2.5);
        labelled.labelValues("t\"\\\n", "1").inc(1e15);
        labelled.labelValues("zero", "1").inc(0);

        assertThat(TextMetrics.write(registry.scrape())).isEqualTo("""
                # HELP a_counter A \\\\ b\\nc "q".
                # TYPE a_counter counter
                a_counter 1
                # HELP b_total B.
                # TYPE b_total counter
                b_total 2.5
                # HELP c_size C.
                # TYPE c_size counter
                c_size{type="t\\"\\\\\\n",x="1"} 1000000000000000
                """);
    }

    @Test
    void gaugesStayAtZero() {
        Gauge.builder().name("g_counter").help("G.").register(registry);
        Gauge.builder().name("h").help("H.").labelNames("l").register(registry);

        assertThat(TextMetrics.write(registry.scrape()))
                .isEqualTo("# HELP g_counter G.\n# TYPE g_counter gauge\ng_counter 0\n");
    }

    @Test
    void histogramsAreCumulativeAndEmptyOnesAreLeftOut() {
        Histogram histogram = Histogram.builder()
                .name("s_seconds")
                .help("S.")
                .classicOnly()
                .classicExponentialUpperBounds(0.0005, 2, 3)
                .register(registry);
        Histogram.builder().name("t_seconds").help("T.").classicOnly().register(registry);
        histogram.observe(0.0005);
        histogram.observe(0.0015);
        histogram.observe(7);

        assertThat(TextMetrics.write(registry.scrape())).isEqualTo("""
                # HELP s_seconds S.
                # TYPE s_seconds histogram
                s_seconds_bucket{le="0.0005"} 1
                s_seconds_bucket{le="0.001"} 1
                s_seconds_bucket{le="0.002"} 2
                s_seconds_bucket{le="+Inf"} 3
                s_seconds_sum 7.002
                s_seconds_count 3
                """);
    }
}
