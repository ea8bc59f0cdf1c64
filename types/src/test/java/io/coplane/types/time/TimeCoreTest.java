package io.coplane.types.time;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.testing.ManualClock;
import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.FieldType;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TimeCoreTest {
    @Test
    void packsTheExamplesOfTheSpecification() {
        EvalContext context = context("UTC", 0);

        assertThat(TimeCore.fromPacked(0x19a420a2cc01b198L, FieldType.DATE_TIME, 3, context))
                .isEqualTo(0x1f8e60a2cc1b1986L);
        assertThat(TimeCore.fromPacked(0x19a420a2cc01b198L, FieldType.TIMESTAMP, 3, context))
                .isEqualTo(0x1f8e60a2cc1b1987L);
        assertThat(TimeCore.fromPacked(0x19a4fe0000000000L, FieldType.DATE, 0, context))
                .isEqualTo(0x1f8f3e000000000eL);
        assertThat(TimeCore.toPacked(0x1f8844310500006cL, context)).isEqualTo(0x199ec43105000006L);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"UTC", "Asia/Shanghai", "America/New_York", "Australia/Lord_Howe", "+05:30", "Europe/Dublin"})
    void timestampsGoThroughTheZoneAsJavaTimeTakesThem(String zone) {
        EvalContext context = context(zone, 0);
        DateTimeFormatter format = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSS", Locale.ROOT);
        SplittableRandom random = new SplittableRandom(17);
        for (int i = 0; i < 20_000; i++) {
            Instant instant = Instant.ofEpochSecond(
                    random.nextLong(100_000, Integer.MAX_VALUE), random.nextInt(1_000_000) * 1000L);
            LocalDateTime local = LocalDateTime.ofInstant(instant, ZoneId.of(zone));
            LocalDateTime earliest = LocalDateTime.ofInstant(
                    local.atZone(ZoneId.of(zone)).withEarlierOffsetAtOverlap().toInstant(), ZoneOffset.UTC);

            long core = TimeCore.fromPacked(
                    packed(LocalDateTime.ofInstant(instant, ZoneOffset.UTC)), FieldType.TIMESTAMP, 6, context);

            assertThat(Times.text(core)).isEqualTo(format.format(local));
            assertThat(TimeCore.toPacked(core, context)).isEqualTo(packed(earliest));
        }
    }

    @Test
    void refusesTimestampsThatAreNone() {
        EvalContext context = context("UTC", 0);
        long february30 = (2019L * 13 + 2) << 46 | 30L << 41;
        long year1969 = packed(LocalDateTime.of(1969, 12, 31, 23, 59, 59));

        assertThatThrownBy(() -> TimeCore.fromPacked(february30, FieldType.TIMESTAMP, 0, context))
                .isInstanceOf(EvalException.class);
        assertThatThrownBy(() -> TimeCore.fromPacked(year1969, FieldType.TIMESTAMP, 0, context))
                .isInstanceOf(EvalException.class);
        assertThat(Times.isZero(TimeCore.fromPacked(
                        year1969, FieldType.TIMESTAMP, 0, context("UTC", EvalContext.MODE_INVALID_DATES))))
                .isTrue();
    }

    @Test
    void refusesLocalTimesInAGap() {
        EvalContext context = context("America/New_York", 0);
        long gap = 2019L << 50 | 3L << 46 | 10L << 41 | 2L << 36 | 30L << 30 | 1;

        assertThatThrownBy(() -> TimeCore.toPacked(gap, context)).hasMessage("Data Truncated");
    }

    private static long packed(LocalDateTime time) {
        return (time.getYear() * 13L + time.getMonthValue()) << 46
                | (long) time.getDayOfMonth() << 41
                | (long) time.getHour() << 36
                | (long) time.getMinute() << 30
                | (long) time.getSecond() << 24
                | time.getNano() / 1000;
    }

    private static EvalContext context(String zone, long modes) {
        return new EvalContext(0, modes, ZoneId.of(zone), 64, 4, ManualClock.recorded());
    }
}
