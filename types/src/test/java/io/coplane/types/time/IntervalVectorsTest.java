package io.coplane.types.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.decimal.Decimal;
import io.coplane.types.vectors.Contexts;
import io.coplane.types.vectors.Vector;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The type.interval vectors. */
class IntervalVectorsTest {
    static Stream<Vector> readings() {
        return Vector.of("type.interval", "interval.parse_from_str");
    }

    static Stream<Vector> durations() {
        return Vector.of("type.interval", "interval.extract_duration");
    }

    static Stream<Vector> texts() {
        return Vector.of("type.interval", "str.to_interval_string", "decimal.to_interval_string");
    }

    static Stream<Vector> clocks() {
        return Vector.of("type.interval", ".is_clock_unit");
    }

    @ParameterizedTest
    @MethodSource("readings")
    void readsAsTheReference(Vector vector) {
        Intervals interval = new Intervals();
        String text = Vector.text(vector.args().get(1));

        boolean read =
                interval.readForDate(Contexts.of(vector), unit(vector.args().get(0)), text);

        if (vector.expect().equals("NULL")) {
            assertThat(read).isFalse();
        } else {
            String actual = String.format(
                    Locale.ROOT,
                    "Interval{month: %d, sec: %d, nano: %d, fsp: %d}",
                    interval.months(),
                    interval.seconds(),
                    interval.nanos(),
                    interval.fsp());
            assertThat(actual).isEqualTo(vector.expect());
        }
    }

    @ParameterizedTest
    @MethodSource("durations")
    void becomesADurationAsTheReference(Vector vector) {
        if (vector.expect().equals("ERR")) {
            assertThatThrownBy(() -> duration(vector, new Intervals())).isInstanceOf(EvalException.class);
            return;
        }
        Intervals interval = new Intervals();
        long nanos = duration(vector, interval);

        assertThat("N:nanos " + nanos + "@" + interval.fsp()).isEqualTo(vector.expect());
    }

    @ParameterizedTest
    @MethodSource("texts")
    void makesTextAsTheReference(Vector vector) {
        if (vector.expect().equals("ERR")) {
            assertThatThrownBy(() -> text(vector)).isInstanceOf(EvalException.class);
        } else {
            assertThat(text(vector)).isEqualTo(Vector.text(vector.expect()));
        }
    }

    @ParameterizedTest
    @MethodSource("clocks")
    void knowsUnits(Vector vector) {
        Intervals.Unit unit = Intervals.Unit.of(Vector.text(vector.args().get(0)));

        assertThat(Boolean.toString(unit.isClock())).isEqualTo(vector.expect());
    }

    private static long duration(Vector vector, Intervals interval) {
        Intervals.Unit unit = unit(vector.args().get(0));
        interval.readForDuration(
                Contexts.of(vector), unit, Vector.text(vector.args().get(1)));
        return interval.toDuration(unit);
    }

    private static String text(Vector vector) {
        EvalContext context = Contexts.of(vector);
        Intervals.Unit unit = unit(vector.args().get(1));
        if (vector.operation().startsWith("decimal")) {
            byte[] digits = vector.args().get(0).substring(2).getBytes(StandardCharsets.UTF_8);
            Decimal value = new Decimal();
            value.parse(digits, 0, digits.length);
            return Intervals.text(context, unit, value);
        }
        byte[] text = Vector.bytes(vector.args().get(0));
        return new Intervals().text(context, unit, text, 0, text.length);
    }

    /** {@code DayMicrosecond} is DAY_MICROSECOND. */
    private static Intervals.Unit unit(String name) {
        return Intervals.Unit.valueOf(
                name.replaceAll("(?<=[a-z])(?=[A-Z])", "_").toUpperCase(Locale.ROOT));
    }
}
