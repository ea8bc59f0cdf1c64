package io.coplane.types.codec;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.ByteSink;
import io.coplane.types.EvalContext;
import io.coplane.types.FieldType;
import io.coplane.types.column.Column;
import io.coplane.types.decimal.Decimal;
import io.coplane.types.decimal.DecimalBinary;
import java.time.ZoneOffset;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What does a value cost from v2 cell to column, and from column to output? Expected: no allocation per row. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 10, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Fork(1)
@OperationsPerInvocation(ColumnCodecBenchmark.ROWS)
public class ColumnCodecBenchmark {
    static final int ROWS = 1024;

    /** Field types that a scan meets most. */
    public enum Kind {
        INT(FieldType.LONG),
        DECIMAL(FieldType.NEW_DECIMAL),
        STRING(FieldType.VAR_CHAR),
        DATE_TIME(FieldType.DATE_TIME);

        private final int tp;

        Kind(int tp) {
            this.tp = tp;
        }
    }

    /** Type of the column. */
    @Param
    Kind kind;

    private final EvalContext context = new EvalContext(0, 0, ZoneOffset.UTC, 64, 4, Clock.system());
    private final RawColumn raw = new RawColumn();
    private final ByteSink out = new ByteSink(MemoryGuard.unlimited());
    private final ChunkEncoder chunks = new ChunkEncoder(context);
    private FieldType type;
    private Column column;
    private DatumRowEncoder rows;

    /** Makes the cells and decodes them. */
    @Setup
    public void setUp() {
        type = FieldType.of(kind.tp);
        column = ColumnDecoder.newColumn(type.evalType());
        rows = new DatumRowEncoder(List.of(type), context);
        var random = new SplittableRandom(1);
        var cell = new ByteSink(MemoryGuard.unlimited());
        raw.resetOwned(ROWS + 1);
        for (int row = 0; row < ROWS; row++) {
            cell.truncate(0);
            switch (kind) {
                case INT -> cell.putIntLe(random.nextInt());
                case DECIMAL -> {
                    var value = new Decimal();
                    value.parse(random.nextInt(100_000) + ".25");
                    cell.putByte(15);
                    cell.putByte(2);
                    DecimalBinary.write(value, 15, 2, cell);
                }
                case STRING -> cell.putZeros(random.nextInt(5, 25));
                case DATE_TIME -> cell.putLongLe(0x19a4_20a2_cc01_b198L);
            }
            raw.copyCell(cell.bytes(), 0, cell.length());
        }
        raw.copyCell(new byte[Long.BYTES], 0, Long.BYTES); // as in a batch, other bytes follow the last cell
        raw.truncate(ROWS);
        decode();
        rows.bind(0, column);
    }

    /** Cells to column. */
    @Benchmark
    public Column decode() {
        ColumnDecoder.decode(raw, type, context, column);
        return column;
    }

    /** Column to rows in default encoding. */
    @Benchmark
    public int encodeDefault() {
        out.truncate(0);
        rows.encode(0, ROWS, out);
        return out.length();
    }

    /** Column to chunk encoding. */
    @Benchmark
    public int encodeChunk() {
        out.truncate(0);
        chunks.encode(column, type, out);
        return out.length();
    }
}
