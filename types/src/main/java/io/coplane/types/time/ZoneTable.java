package io.coplane.types.time;

import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneOffsetTransitionRule;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Offsets of a time zone as sorted transitions, so that conversions allocate nothing. Holds the transitions up to the year 2500; later times are
 * looked up 400 years earlier, where the calendar and the rules are the same. Zones whose rules changed since the reference's database was
 * compiled have its rules ({@link OldZones}). Immutable; one table per zone and process.
 */
public final class ZoneTable {
    /** No instant has this local time. */
    public static final long GAP = Long.MIN_VALUE;

    private static final int LAST_YEAR = 2500;
    private static final long CYCLE_SECONDS = 146_097L * 86_400;
    private static final ConcurrentHashMap<ZoneId, ZoneTable> TABLES = new ConcurrentHashMap<>();

    /** Instants of the transitions. */
    private final long[] instants;
    /** Offset before transition i; the last element is the offset after all. */
    private final int[] offsets;
    /** Local time at which offset i ends: its instant in the offset before. */
    private final long[] localEnds;

    private ZoneTable(ZoneRules rules) {
        List<ZoneOffsetTransition> transitions = new ArrayList<>(rules.getTransitions());
        if (!rules.getTransitionRules().isEmpty()) {
            int first = transitions.isEmpty()
                    ? 1970
                    : transitions.getLast().getDateTimeBefore().getYear() + 1;
            for (int year = first; year <= LAST_YEAR; year++) {
                for (ZoneOffsetTransitionRule rule : rules.getTransitionRules()) {
                    transitions.add(rule.createTransition(year));
                }
            }
            transitions.sort(null);
        }
        int count = transitions.size();
        instants = new long[count];
        offsets = new int[count + 1];
        localEnds = new long[count];
        offsets[0] = count == 0
                ? rules.getOffset(Instant.EPOCH).getTotalSeconds()
                : transitions.getFirst().getOffsetBefore().getTotalSeconds();
        for (int i = 0; i < count; i++) {
            ZoneOffsetTransition transition = transitions.get(i);
            instants[i] = transition.toEpochSecond();
            offsets[i + 1] = transition.getOffsetAfter().getTotalSeconds();
            localEnds[i] = instants[i] + offsets[i];
        }
    }

    private ZoneTable(int offsetSeconds) {
        instants = new long[0];
        offsets = new int[] {offsetSeconds};
        localEnds = new long[0];
    }

    /**
     * Table of a fixed offset.
     *
     * @param seconds east of UTC; less than a day either way, which is more than a {@link ZoneOffset} can be
     */
    public static ZoneTable ofOffset(int seconds) {
        return new ZoneTable(seconds);
    }

    /** The transitions of an older database; before 1970 those of the JDK. */
    private ZoneTable(ZoneRules rules, OldZones.Zone old) {
        List<ZoneOffsetTransition> before = new ArrayList<>();
        for (ZoneOffsetTransition transition : rules.getTransitions()) {
            if (transition.toEpochSecond() < 0) {
                before.add(transition);
            }
        }
        boolean joint = before.isEmpty() || before.getLast().getOffsetAfter().getTotalSeconds() != old.firstOffset();
        int start = before.size() + (joint ? 1 : 0);
        int count = start + old.instants().length;
        instants = new long[count];
        offsets = new int[count + 1];
        localEnds = new long[count];
        offsets[0] = before.isEmpty()
                ? old.firstOffset()
                : before.getFirst().getOffsetBefore().getTotalSeconds();
        for (int i = 0; i < count; i++) {
            if (i < before.size()) {
                instants[i] = before.get(i).toEpochSecond();
                offsets[i + 1] = before.get(i).getOffsetAfter().getTotalSeconds();
            } else if (i < start) {
                offsets[i + 1] = old.firstOffset(); // from the start of 1970 on
            } else {
                instants[i] = old.instants()[i - start];
                offsets[i + 1] = old.offsets()[i - start];
            }
            localEnds[i] = instants[i] + offsets[i];
        }
    }

    private static ZoneTable ofRegion(ZoneId zone) {
        OldZones.Zone old = OldZones.find(zone.getId());
        return old == null ? new ZoneTable(zone.getRules()) : new ZoneTable(zone.getRules(), old);
    }

    /** Table of a zone. */
    public static ZoneTable of(ZoneId zone) {
        ZoneTable table = TABLES.get(zone);
        if (table == null) {
            table = zone instanceof ZoneOffset offset
                    ? new ZoneTable(offset.getTotalSeconds()) // not kept: there are many
                    : TABLES.computeIfAbsent(zone, ZoneTable::ofRegion);
        }
        return table;
    }

    /** Offset in seconds at an instant. */
    public int offsetAt(long epochSecond) {
        if (instants.length == 0) {
            return offsets[0];
        }
        return offsets[after(instants, earlier(epochSecond))];
    }

    /** Earliest instant of a local time (seconds as if it were UTC), or {@link #GAP}. */
    public long instantOf(long localSecond) {
        if (instants.length == 0) {
            return localSecond - offsets[0];
        }
        long local = earlier(localSecond);
        int i = after(localEnds, local);
        long instant = local - offsets[i];
        if (i > 0 && instant < instants[i - 1]) {
            return GAP;
        }
        return instant + (localSecond - local);
    }

    /** First instant behind the gap that a local time lies in; only for local times of which {@link #instantOf} says GAP. */
    public long gapEnd(long localSecond) {
        long local = earlier(localSecond);
        return instants[after(localEnds, local) - 1] + (localSecond - local);
    }

    private long earlier(long second) {
        long last = instants[instants.length - 1];
        if (second <= last || last < CYCLE_SECONDS) {
            return second; // a zone whose last transition lies long ago keeps its offset
        }
        return second - Math.ceilDiv(second - last, CYCLE_SECONDS) * CYCLE_SECONDS;
    }

    /** Number of elements that are at most {@code key}. */
    private static int after(long[] sorted, long key) {
        int low = 0;
        int high = sorted.length;
        while (low < high) {
            int middle = low + high >>> 1;
            if (sorted[middle] <= key) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
