package io.coplane.types.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.ByteSink;
import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.FieldType;
import io.coplane.types.number.RealText;
import io.coplane.types.vectors.Contexts;
import io.coplane.types.vectors.Vector;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The type.time and type.duration vectors. */
class TimeVectorsTest {
    private static final Pattern TIME =
            Pattern.compile("T:(\".*\")@(DATETIME|DATE|TIMESTAMP|AUTO)(?:\\((-?\\d+)(,cut)?\\))?", Pattern.DOTALL);
    private static final Pattern DURATION = Pattern.compile("N:(\".*\")@(\\d+)", Pattern.DOTALL);

    static Stream<Vector> fields() {
        return Vector.of(
                "type.time",
                "time.text",
                "time.hour",
                "time.minute",
                "time.second",
                "time.micro",
                "time.fsp",
                "time.get_time_type",
                "time.to_numeric_string");
    }

    static Stream<Vector> failures() {
        return Vector.of("type.time", "parse");
    }

    static Stream<Vector> packed() {
        return Vector.of("type.time", "time.from_packed_u64");
    }

    static Stream<Vector> numbers() {
        return Vector.of(
                "type.time",
                "time.parse_from_i64",
                "time.parse_from_i64_default",
                "time.parse_from_real",
                "time.parse_from_real_default",
                "time.parse_from_decimal");
    }

    static Stream<Vector> arithmetic() {
        return Vector.of(
                "type.time", "time.round_frac", "time.normalized", "time.add_sec_nanos", "time.timestamp_diff");
    }

    static Stream<Vector> formats() {
        return Vector.of("type.time", "time.date_format");
    }

    static Stream<Vector> durations() {
        return Vector.of(
                "type.duration",
                "duration.text",
                "duration.hours",
                "duration.minutes",
                "duration.secs",
                "duration.subsec_micros",
                "duration.to_numeric_string",
                "duration.parse_consider_overflow");
    }

    @ParameterizedTest
    @MethodSource("fields")
    void readsTimesAsTheReference(Vector vector) {
        EvalContext context = Contexts.of(vector);
        if (vector.expect().startsWith("ERR")) {
            assertThat(time(vector.args().get(0), context)).isEqualTo(Times.NONE);
            return;
        }
        long core = time(vector.args().get(0), context);
        assertThat(core).as("failure word").isNotEqualTo(Times.NONE);
        String actual = switch (vector.operation()) {
            case "time.text" -> Times.text(core);
            case "time.hour" -> Integer.toString(Times.hour(core));
            case "time.minute" -> Integer.toString(Times.minute(core));
            case "time.second" -> Integer.toString(Times.second(core));
            case "time.micro" -> Integer.toString(Times.micros(core));
            case "time.fsp" -> Integer.toString(Times.fsp(core));
            case "time.to_numeric_string" -> numeric(core);
            default -> FieldType.name(Times.type(core));
        };
        assertThat(actual).isEqualTo(plain(vector.expect()));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void refusesWhatTheReferenceRefuses(Vector vector) {
        EvalContext context = Contexts.of(vector);
        Matcher matcher = TIME.matcher(vector.args().get(0));
        assertThat(matcher.lookingAt()).isTrue();
        int fsp = matcher.group(3) == null ? 0 : Integer.parseInt(matcher.group(3));
        if (fsp > 6) {
            return; // refused before: fsp is checked by the caller
        }

        assertThat(time(vector.args().get(0), context)).isEqualTo(Times.NONE);
    }

    @ParameterizedTest
    @MethodSource("packed")
    void packsAndUnpacks(Vector vector) {
        EvalContext context = Contexts.of(vector);
        String literal = vector.args().get(0).replace(".to_packed_u64()", "");
        long core = time(literal, context);
        int fsp = Math.max(0, Integer.parseInt(vector.args().get(2)));

        long back = TimeCore.fromPacked(
                TimeCore.toPacked(core, context), type(vector.args().get(1)), fsp, context);

        assertThat(Times.text(back)).isEqualTo(Times.text(time(vector.expect(), context)));
        assertThat(Times.type(back)).isEqualTo(type(vector.args().get(1)));
    }

    @ParameterizedTest
    @MethodSource("numbers")
    void readsNumbersAsTheReference(Vector vector) {
        EvalContext context = Contexts.of(vector);
        TimeParser parser = new TimeParser();
        String number = vector.args().get(0).replaceAll("^[DRB]:|\"", "");
        int type = vector.args().size() > 1 ? type(vector.args().get(1)) : 0;
        int fsp = vector.args().size() > 2 ? Integer.parseInt(vector.args().get(2)) : 0;
        String plain =
                vector.operation().equals("time.parse_from_real") ? RealText.of(Double.parseDouble(number)) : number;
        byte[] text = plain.getBytes(StandardCharsets.UTF_8);

        long core = switch (vector.operation()) {
            case "time.parse_from_i64" -> parser.fromInt(context, Long.parseLong(number), type, fsp);
            case "time.parse_from_i64_default" -> parser.fromIntDefault(context, Long.parseLong(number));
            case "time.parse_from_real_default" -> parser.fromRealDefault(context, Double.parseDouble(number));
            default -> parser.fromFloatText(context, text, 0, text.length, type, fsp, true);
        };

        if (vector.expect().startsWith("ERR")) {
            assertThat(core).isEqualTo(Times.NONE);
        } else {
            assertThat(Times.text(core)).isEqualTo(plain(vector.expect()));
        }
    }

    @ParameterizedTest
    @MethodSource("arithmetic")
    void calculatesAsTheReference(Vector vector) {
        EvalContext context = Contexts.of(vector);
        TimeMath math = new TimeMath();
        long core = time(vector.args().get(0), context);
        if (vector.expect().startsWith("ERR")) {
            assertThatThrownBy(() -> run(vector, context, math, core)).isInstanceOf(EvalException.class);
            return;
        }
        assertThat(run(vector, context, math, core)).isEqualTo(plain(vector.expect()));
    }

    private static String run(Vector vector, EvalContext context, TimeMath math, long core) {
        return switch (vector.operation()) {
            case "time.round_frac" ->
                Times.text(math.roundFrac(
                        context, core, Integer.parseInt(vector.args().get(1))));
            case "time.normalized" -> Times.text(math.normalized(context, core));
            case "time.add_sec_nanos" ->
                Times.text(math.addSecNanos(
                        context,
                        core,
                        Long.parseLong(vector.args().get(1)),
                        Long.parseLong(vector.args().get(2))));
            default -> {
                long other = time(vector.args().get(1), context);
                TimeMath.Unit unit = TimeMath.Unit.valueOf(vector.args().get(2).toUpperCase(Locale.ROOT));
                yield Long.toString(TimeMath.difference(unit, core, other));
            }
        };
    }

    @ParameterizedTest
    @MethodSource("formats")
    void formatsAsTheReference(Vector vector) {
        EvalContext context = Contexts.of(vector);
        long core = time(vector.args().get(0), context);
        byte[] format = Vector.bytes(vector.args().get(1));
        try (ByteSink out = new ByteSink(MemoryGuard.unlimited())) {
            if (vector.expect().startsWith("ERR")) {
                assertThatThrownBy(() -> TimeFormat.format(out, core, format, 0, format.length))
                        .isInstanceOf(EvalException.class);
            } else {
                TimeFormat.format(out, core, format, 0, format.length);
                assertThat(new String(out.copyBytes(), StandardCharsets.UTF_8)).isEqualTo(Vector.text(vector.expect()));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("durations")
    void readsDurationsAsTheReference(Vector vector) {
        EvalContext context = Contexts.of(vector);
        String literal = vector.args().get(0);
        boolean considersOverflow = vector.operation().equals("duration.parse_consider_overflow");
        byte[] text = Vector.bytes(literal);
        int fsp;
        if (considersOverflow) {
            fsp = Integer.parseInt(vector.args().get(1));
        } else {
            Matcher matcher = DURATION.matcher(literal);
            assertThat(matcher.lookingAt()).as(literal).isTrue();
            fsp = Integer.parseInt(matcher.group(2));
        }
        if (fsp > 6) {
            return; // refused before: fsp is checked by the caller
        }
        DurationParser parser = new DurationParser();
        boolean overflowAsNull =
                considersOverflow && Boolean.parseBoolean(vector.args().get(2));
        boolean parsed = parser.parse(context, text, 0, text.length, fsp, true, overflowAsNull);

        assertThat(parsed).isEqualTo(!vector.expect().startsWith("ERR"));
        if (!parsed) {
            return;
        }
        long nanos = parser.nanos();
        String actual = switch (vector.operation()) {
            case "duration.hours" -> Integer.toString(Durations.hours(nanos));
            case "duration.minutes" -> Integer.toString(Durations.minutes(nanos));
            case "duration.secs" -> Integer.toString(Durations.seconds(nanos));
            case "duration.subsec_micros" -> Integer.toString(Durations.micros(nanos));
            case "duration.to_numeric_string" -> {
                byte[] out = new byte[Durations.MAX_TEXT_BYTES];
                int end = Durations.putNumericText(nanos, fsp, out, 0);
                yield new String(out, 0, end, StandardCharsets.ISO_8859_1);
            }
            default -> Durations.text(nanos, fsp);
        };
        assertThat(actual).isEqualTo(plain(vector.expect()));
    }

    @ParameterizedTest
    @CsvSource({"0,0,0,0", "1,1,1,366", "9999,12,31,3652424", "2006,12,16,733026", "2008,2,20,733457"})
    void numbersDays(int year, int month, int day, int number) {
        long core = (long) year << 50 | (long) month << 46 | (long) day << 41 | 0b1110;

        assertThat(TimeMath.dayNumber(core)).isEqualTo(number);
    }

    @Test
    void ordersTimesByTheirFields() {
        EvalContext context = Contexts.flags(0);
        long early = time("T:\"2019-09-16 1:2:3\"@DATETIME(6)", context);
        long late = time("T:\"2019-10-01 1:2:1\"@DATE", context);

        assertThat(Long.compareUnsigned(early >>> 4, late >>> 4)).isNegative();
    }

    private static long time(String literal, EvalContext context) {
        Matcher matcher = TIME.matcher(literal);
        assertThat(matcher.lookingAt()).as(literal).isTrue();
        byte[] text = Vector.bytes(matcher.group(1));
        int fsp = matcher.group(3) == null ? 0 : Math.max(0, Integer.parseInt(matcher.group(3)));
        int type = switch (matcher.group(2)) {
            case "DATE" -> FieldType.DATE;
            case "DATETIME" -> FieldType.DATE_TIME;
            case "TIMESTAMP" -> FieldType.TIMESTAMP;
            default -> TimeParser.ANY_TYPE;
        };
        return new TimeParser().parse(context, text, 0, text.length, type, fsp, matcher.group(4) == null);
    }

    private static String numeric(long core) {
        byte[] out = new byte[Times.MAX_TEXT_BYTES];
        return new String(out, 0, Times.putNumericText(core, out, 0), StandardCharsets.ISO_8859_1);
    }

    private static int type(String name) {
        return switch (name) {
            case "Date" -> FieldType.DATE;
            case "DateTime" -> FieldType.DATE_TIME;
            default -> FieldType.TIMESTAMP;
        };
    }

    /** The text of a {@code B:"..."} literal, or a bare value. */
    private static String plain(String expect) {
        return expect.startsWith("B:") ? Vector.text(expect) : expect.replaceAll(" /text$", "");
    }
}
