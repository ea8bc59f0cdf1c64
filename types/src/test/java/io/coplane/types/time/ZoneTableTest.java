package io.coplane.types.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class ZoneTableTest {
    private static final long YEAR_0 = LocalDateTime.of(0, 1, 1, 0, 0).toEpochSecond(ZoneOffset.UTC);
    private static final long YEAR_9999 = LocalDateTime.of(9999, 12, 31, 0, 0).toEpochSecond(ZoneOffset.UTC);

    @Test
    void agreesWithJavaTimeInEveryZone() {
        SplittableRandom random = new SplittableRandom(3);
        for (String id : new TreeSet<>(ZoneId.getAvailableZoneIds())) {
            if (OldZones.find(id) != null) {
                continue;
            }
            ZoneId zone = ZoneId.of(id);
            ZoneTable table = ZoneTable.of(zone);
            for (int i = 0; i < 200; i++) {
                long second = i % 2 == 0 ? random.nextLong(YEAR_0, YEAR_9999) : random.nextLong(0, Integer.MAX_VALUE);
                check(zone.getRules(), table, second, id);
            }
            for (ZoneOffsetTransition transition : zone.getRules().getTransitions()) {
                for (int near = -7200; near <= 7200; near += 1200) {
                    check(zone.getRules(), table, transition.toEpochSecond() + near, id);
                    check(
                            zone.getRules(),
                            table,
                            transition.getDateTimeBefore().toEpochSecond(ZoneOffset.UTC) + near,
                            id);
                }
            }
        }
    }

    @Test
    void tellsTheEndOfAGap() {
        ZoneTable table = ZoneTable.of(ZoneId.of("America/New_York"));
        long gap = LocalDateTime.of(2019, 3, 10, 2, 30).toEpochSecond(ZoneOffset.UTC);

        assertThat(table.instantOf(gap)).isEqualTo(ZoneTable.GAP);
        assertThat(table.gapEnd(gap))
                .isEqualTo(Instant.parse("2019-03-10T07:00:00Z").getEpochSecond());
        assertThat(ZoneTable.of(ZoneOffset.ofHours(8)).instantOf(gap)).isEqualTo(gap - 8 * 3600);
    }

    /** The recorded answers show summer time of Pacific/Apia after April 2021 (expressions.md 14, question 3). */
    @Test
    void keepsTheRulesThatTheReferenceHas() {
        ZoneTable apia = ZoneTable.of(ZoneId.of("Pacific/Apia"));
        long summer = Instant.parse("2024-03-01T00:29:59Z").getEpochSecond();
        long winter = Instant.parse("2024-05-01T00:00:00Z").getEpochSecond();

        assertThat(apia.offsetAt(summer)).isEqualTo(14 * 3600);
        assertThat(apia.offsetAt(winter)).isEqualTo(13 * 3600);
        assertThat(apia.instantOf(summer + 14 * 3600)).isEqualTo(summer);
        assertThat(apia.offsetAt(Instant.parse("1960-01-01T00:00:00Z").getEpochSecond()))
                .isEqualTo(-11 * 3600);
        assertThat(ZoneTable.of(ZoneId.of("Asia/Tehran"))
                        .offsetAt(Instant.parse("2030-07-01T00:00:00Z").getEpochSecond()))
                .isEqualTo(4 * 3600 + 1800);
    }

    private static void check(ZoneRules rules, ZoneTable table, long second, String id) {
        assertThat(table.offsetAt(second))
                .as("%s at %s", id, second)
                .isEqualTo(rules.getOffset(Instant.ofEpochSecond(second)).getTotalSeconds());
        LocalDateTime local = LocalDateTime.ofEpochSecond(second, 0, ZoneOffset.UTC);
        List<ZoneOffset> offsets = rules.getValidOffsets(local);
        long wanted = offsets.isEmpty() ? ZoneTable.GAP : local.toEpochSecond(offsets.getFirst());
        assertThat(table.instantOf(second)).as("%s of local %s", id, local).isEqualTo(wanted);
    }
}
