package io.coplane.types;

import io.coplane.nativecache.Clock;
import io.coplane.types.time.ZoneTable;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;

/**
 * What evaluation depends on besides its operands: flags, sql_mode, time zone, clock; and the warnings it leaves (coprocessor.md 3.1,
 * expressions.md 4). One request, one thread.
 */
public final class EvalContext {
    public static final long IGNORE_TRUNCATE = 1;
    public static final long TRUNCATE_AS_WARNING = 1 << 1;
    public static final long IN_INSERT_STMT = 1 << 3;
    public static final long IN_UPDATE_OR_DELETE_STMT = 1 << 4;
    public static final long IN_SELECT_STMT = 1 << 5;
    public static final long OVERFLOW_AS_WARNING = 1 << 6;
    public static final long DIVIDED_BY_ZERO_AS_WARNING = 1 << 8;
    public static final long IN_LOAD_DATA_STMT = 1 << 10;

    public static final long MODE_STRICT_TRANS_TABLES = 1L << 21;
    public static final long MODE_STRICT_ALL_TABLES = 1L << 22;
    public static final long MODE_NO_ZERO_IN_DATE = 1L << 23;
    public static final long MODE_NO_ZERO_DATE = 1L << 24;
    public static final long MODE_INVALID_DATES = 1L << 25;
    public static final long MODE_ERROR_FOR_DIVISION_BY_ZERO = 1L << 26;

    public static final int DEFAULT_MAX_WARNINGS = 64;
    public static final int DEFAULT_DIV_PRECISION_INCREMENT = 4;

    private static final long WORK_PER_CHECK = 1 << 20;
    private static final int DIVISION_BY_ZERO = 1365;
    private static final int DATA_TRUNCATED = 1265;

    private final long flags;
    private final long sqlMode;
    private final int maxWarnings;
    private final int divPrecisionIncrement;
    private final Clock clock;
    private final List<EvalException> warnings = new ArrayList<>();
    private final ZoneTable zoneTable;
    private long warningCount;
    private Runnable deadline = () -> {};
    private long spent;

    /**
     * @param flags {@code DAGRequest.flags}; unknown bits have no effect
     * @param sqlMode {@code DAGRequest.sql_mode}, 0 when absent
     * @param zoneTable of the session's time zone
     * @param maxWarnings warnings kept; more are only counted; at least 0
     * @param divPrecisionIncrement fraction digits that a division adds; 0 .. 255
     */
    public EvalContext(
            long flags, long sqlMode, ZoneTable zoneTable, int maxWarnings, int divPrecisionIncrement, Clock clock) {
        this.flags = flags;
        this.sqlMode = sqlMode;
        this.zoneTable = zoneTable;
        this.maxWarnings = maxWarnings;
        this.divPrecisionIncrement = divPrecisionIncrement;
        this.clock = clock;
    }

    /** A context in a zone with a name or with an offset of at most 18 hours. */
    public EvalContext(long flags, long sqlMode, ZoneId zone, int maxWarnings, int divPrecisionIncrement, Clock clock) {
        this(flags, sqlMode, ZoneTable.of(zone), maxWarnings, divPrecisionIncrement, clock);
    }

    /** @param check fails once the time of the request is over; asked by kernels whose rows may be costly, see {@link #spend} */
    public void setDeadline(Runnable check) {
        deadline = check;
    }

    /**
     * Counts work of a kernel whose cost does not follow from the number of rows, and asks the deadline now and then.
     *
     * @param work steps, roughly a nanosecond each; at least 0
     */
    public void spend(long work) {
        spent += work;
        if (spent >= WORK_PER_CHECK) {
            spent = 0;
            deadline.run();
        }
    }

    /** True if any of the flag bits is set. */
    public boolean hasFlag(long bits) {
        return (flags & bits) != 0;
    }

    /** True if any of the sql_mode bits is set. */
    public boolean hasMode(long bits) {
        return (sqlMode & bits) != 0;
    }

    /** The offsets of the session's time zone. */
    public ZoneTable zoneTable() {
        return zoneTable;
    }

    /** The injected clock. */
    public Clock clock() {
        return clock;
    }

    /** Fraction digits that a division adds. */
    public int divPrecisionIncrement() {
        return divPrecisionIncrement;
    }

    /** IGNORE_TRUNCATE: nothing; TRUNCATE_AS_WARNING: a warning; else fails with {@code e}. */
    public void truncated(EvalException e) {
        if (hasFlag(IGNORE_TRUNCATE)) {
            return;
        }
        if (!hasFlag(TRUNCATE_AS_WARNING)) {
            throw e;
        }
        warn(e);
    }

    /** {@link #truncated(EvalException)} with 1265. */
    public void truncated() {
        truncated(EvalException.coded(DATA_TRUNCATED, "Data Truncated"));
    }

    /** OVERFLOW_AS_WARNING: a warning; else fails with {@code e}. */
    public void overflow(EvalException e) {
        if (!hasFlag(OVERFLOW_AS_WARNING)) {
            throw e;
        }
        warn(e);
    }

    /** Division by zero (expressions.md 4.3, div0); the caller's result is NULL. */
    public void divisionByZero() {
        EvalException e = EvalException.coded(DIVISION_BY_ZERO, "Division by 0");
        if (isDml()) {
            if (!hasMode(MODE_ERROR_FOR_DIVISION_BY_ZERO)) {
                return;
            }
            if (isStrict() && !hasFlag(DIVIDED_BY_ZERO_AS_WARNING)) {
                throw e;
            }
        }
        warn(e);
    }

    /** Invalid time (expressions.md 4.3, badtime); the caller's result is NULL. */
    public void invalidTime(EvalException e) {
        if (isStrict() && isDml()) {
            throw e;
        }
        warn(e);
    }

    /** True where a negative value cast to unsigned becomes 0. */
    public boolean clipsToZero() {
        return hasFlag(IN_INSERT_STMT | IN_LOAD_DATA_STMT);
    }

    /** Either STRICT bit. */
    public boolean isStrict() {
        return hasMode(MODE_STRICT_TRANS_TABLES | MODE_STRICT_ALL_TABLES);
    }

    /** Appends a warning. */
    public void warn(EvalException e) {
        warningCount++;
        if (warnings.size() < maxWarnings) {
            warnings.add(e);
        }
    }

    /** Counts warnings again that came before: the reference's executors report theirs with every batch anew. */
    public void repeatWarnings(long count) {
        warningCount += count;
    }

    /** Warnings kept, in the order they came. */
    public List<EvalException> warnings() {
        return List.copyOf(warnings);
    }

    /** Warnings that came, kept or not. */
    public long warningCount() {
        return warningCount;
    }

    /** Forgets the warnings. */
    public void clearWarnings() {
        warnings.clear();
        warningCount = 0;
    }

    private boolean isDml() {
        return hasFlag(IN_INSERT_STMT | IN_UPDATE_OR_DELETE_STMT);
    }
}
