package io.coplane.cop.expr.kernel;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.ByteSink;
import io.coplane.types.decimal.Decimal;
import io.coplane.types.time.DurationParser;
import io.coplane.types.time.Intervals;
import io.coplane.types.time.StrToDate;
import io.coplane.types.time.TimeMath;
import io.coplane.types.time.TimeParser;
import io.coplane.types.time.Times;

/** Working memory of a node that computes with times. */
final class TimeScratch {
    final TimeParser parser = new TimeParser();
    final TimeMath math = new TimeMath();
    final DurationParser durations = new DurationParser();
    final Intervals intervals = new Intervals();
    final StrToDate strToDate = new StrToDate();
    final byte[] text = new byte[512];
    private ByteSink sink;

    private TimeScratch() {}

    static TimeScratch of(KernelContext ctx) {
        if (ctx.scratch() == null) {
            ctx.scratch(new TimeScratch());
        }
        return (TimeScratch) ctx.scratch();
    }

    /** An empty sink. */
    ByteSink sink() {
        if (sink == null) {
            sink = new ByteSink(MemoryGuard.unlimited());
        }
        sink.truncate(0);
        return sink;
    }

    /** A time as the decimal of its numeric text; 0 for the zero time. */
    void toDecimal(long core, Decimal out) {
        if (Times.isZero(core)) {
            out.setLong(0); // nine integer digits, as converted integers have
        } else {
            out.parse(text, 0, Times.putNumericText(core, text, 0)).orThrow();
        }
    }
}
