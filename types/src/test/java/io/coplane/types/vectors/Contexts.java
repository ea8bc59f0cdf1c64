package io.coplane.types.vectors;

import io.coplane.testing.ManualClock;
import io.coplane.types.EvalContext;
import java.time.ZoneId;
import java.time.ZoneOffset;

/** Evaluation contexts as the context column of a vector tells. */
public final class Contexts {
    private Contexts() {}

    /** Flags, sql_mode and zone of a vector. */
    public static EvalContext of(Vector vector) {
        String zone = vector.setting("tz");
        return context(flags(vector.setting("flags")), modes(vector.setting("sql_mode")), zone);
    }

    /** A context with flags, in UTC. */
    public static EvalContext flags(long flags) {
        return context(flags, 0, null);
    }

    private static EvalContext context(long flags, long modes, String zone) {
        ZoneId id = zone == null ? ZoneOffset.UTC : ZoneId.of(zone);
        return new EvalContext(flags, modes, id, 64, 4, ManualClock.recorded());
    }

    private static long flags(String names) {
        long flags = 0;
        for (String name : names == null ? new String[0] : names.split("\\|", -1)) {
            flags |= switch (name) {
                case "IGNORE_TRUNCATE" -> EvalContext.IGNORE_TRUNCATE;
                case "TRUNCATE_AS_WARNING" -> EvalContext.TRUNCATE_AS_WARNING;
                case "IN_INSERT_STMT" -> EvalContext.IN_INSERT_STMT;
                case "IN_UPDATE_OR_DELETE_STMT" -> EvalContext.IN_UPDATE_OR_DELETE_STMT;
                case "IN_SELECT_STMT" -> EvalContext.IN_SELECT_STMT;
                case "OVERFLOW_AS_WARNING" -> EvalContext.OVERFLOW_AS_WARNING;
                case "DIVIDED_BY_ZERO_AS_WARNING" -> EvalContext.DIVIDED_BY_ZERO_AS_WARNING;
                case "IN_LOAD_DATA_STMT" -> EvalContext.IN_LOAD_DATA_STMT;
                default -> throw new IllegalArgumentException(name);
            };
        }
        return flags;
    }

    private static long modes(String names) {
        long modes = 0;
        for (String name : names == null ? new String[0] : names.split("\\|", -1)) {
            modes |= switch (name) {
                case "STRICT_TRANS_TABLES" -> EvalContext.MODE_STRICT_TRANS_TABLES;
                case "STRICT_ALL_TABLES" -> EvalContext.MODE_STRICT_ALL_TABLES;
                case "NO_ZERO_IN_DATE" -> EvalContext.MODE_NO_ZERO_IN_DATE;
                case "NO_ZERO_DATE" -> EvalContext.MODE_NO_ZERO_DATE;
                case "INVALID_DATES" -> EvalContext.MODE_INVALID_DATES;
                case "ERROR_FOR_DIVISION_BY_ZERO" -> EvalContext.MODE_ERROR_FOR_DIVISION_BY_ZERO;
                default -> throw new IllegalArgumentException(name);
            };
        }
        return modes;
    }
}
