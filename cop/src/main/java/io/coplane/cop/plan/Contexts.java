package io.coplane.cop.plan;

import io.coplane.nativecache.Clock;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.time.ZoneTable;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.Set;

/** Evaluation contexts of requests (coprocessor.md 3.1). */
public final class Contexts {
    private static final int UNKNOWN_ZONE = 1298;
    private static final long DAY_SECONDS = 86_400;
    private static final Set<String> ZONES =
            Set.copyOf(ZoneId.getAvailableZoneIds()); // asked once: each answer is a new set

    private Contexts() {}

    /**
     * The context of a DAG.
     *
     * @throws EvalException 1298 for a time zone that does not exist
     */
    public static EvalContext of(DAGRequest dag, Clock clock) {
        long maxWarnings = dag.hasMaxWarningCount() ? dag.getMaxWarningCount() : EvalContext.DEFAULT_MAX_WARNINGS;
        int increment = dag.hasDivPrecisionIncrement()
                ? dag.getDivPrecisionIncrement() & 0xff
                : EvalContext.DEFAULT_DIV_PRECISION_INCREMENT;
        return new EvalContext(
                dag.getFlags(),
                dag.getSqlMode(),
                zone(dag),
                (int) Math.min(Integer.MAX_VALUE, maxWarnings < 0 ? Long.MAX_VALUE : maxWarnings),
                increment,
                clock);
    }

    /** The context of analyze: UTC, no flags. */
    public static EvalContext plain(Clock clock) {
        return new EvalContext(
                0,
                0,
                ZoneOffset.UTC,
                EvalContext.DEFAULT_MAX_WARNINGS,
                EvalContext.DEFAULT_DIV_PRECISION_INCREMENT,
                clock);
    }

    private static ZoneTable zone(DAGRequest dag) {
        String name = dag.getTimeZoneName();
        if (!name.isEmpty()) {
            if (name.equalsIgnoreCase("system")) {
                return ZoneTable.of(ZoneId.systemDefault());
            }
            if (!ZONES.contains(name)) {
                throw unknown(name);
            }
            return ZoneTable.of(ZoneId.of(name));
        }
        long offset = dag.getTimeZoneOffset();
        if (offset <= -DAY_SECONDS || offset >= DAY_SECONDS) {
            throw unknown("offset " + offset + "s");
        }
        return ZoneTable.ofOffset((int) offset);
    }

    private static EvalException unknown(String zone) {
        return EvalException.coded(UNKNOWN_ZONE, "unknown or incorrect time zone: " + zone);
    }
}
