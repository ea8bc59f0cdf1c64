package io.coplane.cop;

import com.google.protobuf.ByteString;
import io.coplane.proto.coprocessor.KeyRange;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.tipb.Aggregation;
import io.coplane.proto.tipb.ByItem;
import io.coplane.proto.tipb.ColumnInfo;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.EncodeType;
import io.coplane.proto.tipb.ExecType;
import io.coplane.proto.tipb.Executor;
import io.coplane.proto.tipb.Expr;
import io.coplane.proto.tipb.ExprType;
import io.coplane.proto.tipb.FieldType;
import io.coplane.proto.tipb.IndexScan;
import io.coplane.proto.tipb.Limit;
import io.coplane.proto.tipb.Projection;
import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.proto.tipb.Selection;
import io.coplane.proto.tipb.TableScan;
import io.coplane.proto.tipb.TopN;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * A table of {@link #ROWS} rows with an index, and a request for each executor above its scan.
 *
 * <pre>
 * id  column
 *  1  handle, 0 .. ROWS - 1
 *  2  uniform in 0 .. 99: what selections compare with 1, 50, 99
 *  3  uniform in 0 .. 9: few groups
 *  4  uniform in 0 .. ROWS / 2: many groups
 *  5  16 letters
 *  6  ascending, 10 values: few adjacent groups
 *  7  ascending, ROWS / 2 values: many adjacent groups
 * </pre>
 */
final class SyntheticRows {
    static final int ROWS = 100_000;

    private static final long TABLE_ID = 1;
    private static final long INDEX_ID = 1;
    private static final int LONG_LONG = 8;
    private static final int VARCHAR = 15;
    private static final int NEW_DECIMAL = 246;
    private static final int UTF8MB4_BIN = -46;
    private static final int HANDLE_DATUM = 3;
    private static final int DAG = 103;
    private static final int TEXT_BYTES = 16;
    private static final int STORED = 6;

    private final long[][] values = new long[8][ROWS]; // by column id; 5 is unused
    private final byte[][] keys = new byte[2 * ROWS][];
    private final byte[][] stored = new byte[2 * ROWS][];

    SyntheticRows(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        byte[] text = new byte[TEXT_BYTES];
        for (int row = 0; row < ROWS; row++) {
            values[1][row] = row;
            values[2][row] = random.nextInt(100);
            values[3][row] = random.nextInt(10);
            values[4][row] = random.nextInt(ROWS / 2);
            values[6][row] = row / (ROWS / 10);
            values[7][row] = row / 2;
            for (int i = 0; i < TEXT_BYTES; i++) {
                text[i] = (byte) ('a' + random.nextInt(26));
            }
            keys[ROWS + row] = rowKey(row);
            stored[ROWS + row] = rowV2(row, text);
        }
        Integer[] order = new Integer[ROWS];
        Arrays.setAll(order, i -> i);
        Arrays.sort(order, (a, b) -> Long.compare(values[2][a], values[2][b])); // stable: by handle then
        for (int i = 0; i < ROWS; i++) {
            int row = order[i];
            keys[i] = ByteBuffer.allocate(37)
                    .put(prefix('i'))
                    .putLong(INDEX_ID ^ Long.MIN_VALUE)
                    .put((byte) HANDLE_DATUM)
                    .putLong(values[2][row] ^ Long.MIN_VALUE)
                    .put((byte) HANDLE_DATUM)
                    .putLong(row ^ Long.MIN_VALUE)
                    .array();
            stored[i] = new byte[] {'0'};
        }
    }

    DecodedRows rows() {
        return DecodedRows.of(keys, stored);
    }

    long value(int columnId, int row) {
        return values[columnId][row];
    }

    private static byte[] prefix(char kind) {
        return ByteBuffer.allocate(11)
                .put((byte) 't')
                .putLong(TABLE_ID ^ Long.MIN_VALUE)
                .put((byte) '_')
                .put((byte) kind)
                .array();
    }

    private static byte[] rowKey(long handle) {
        return ByteBuffer.allocate(19)
                .put(prefix('r'))
                .putLong(handle ^ Long.MIN_VALUE)
                .array();
    }

    /** Row format v2 (coprocessor.md 4.6): columns 2 to 7, none NULL. */
    private byte[] rowV2(int row, byte[] text) {
        ByteBuffer cells = ByteBuffer.allocate(128).order(ByteOrder.LITTLE_ENDIAN);
        ByteBuffer out = ByteBuffer.allocate(160).order(ByteOrder.LITTLE_ENDIAN);
        out.put((byte) 0x80).put((byte) 0).putShort((short) STORED).putShort((short) 0);
        for (int id = 2; id <= 7; id++) {
            out.put((byte) id);
        }
        for (int id = 2; id <= 7; id++) {
            if (id == 5) {
                cells.put(text);
            } else {
                integer(values[id][row], cells);
            }
            out.putShort((short) cells.position());
        }
        out.put(cells.array(), 0, cells.position());
        return Arrays.copyOf(out.array(), out.position());
    }

    private static void integer(long value, ByteBuffer out) {
        if (value == (byte) value) {
            out.put((byte) value);
        } else if (value == (short) value) {
            out.putShort((short) value);
        } else {
            out.putInt((int) value);
        }
    }

    /** A request for executors above a scan of the whole table, or of the whole index (columns 2 and 1). */
    static Request request(boolean index, int outputColumns, Executor... above) {
        DAGRequest.Builder dag =
                DAGRequest.newBuilder().setCollectExecutionSummaries(true).setEncodeType(EncodeType.TypeDefault);
        dag.addExecutors(index ? indexScan() : tableScan());
        for (Executor executor : above) {
            dag.addExecutors(executor);
        }
        for (int i = 0; i < outputColumns; i++) {
            dag.addOutputOffsets(i);
        }
        byte[] to = prefix(index ? 'i' : 'r');
        byte[] from = Arrays.copyOf(to, to.length + 1); // without the last byte the range would be that of a single key
        to[to.length - 1]++;
        return Request.newBuilder()
                .setTp(DAG)
                .setStartTs(1)
                .setData(dag.build().toByteString())
                .addRanges(KeyRange.newBuilder()
                        .setStart(ByteString.copyFrom(from))
                        .setEnd(ByteString.copyFrom(to)))
                .build();
    }

    private static Executor tableScan() {
        TableScan.Builder scan = TableScan.newBuilder().setTableId(TABLE_ID);
        for (int id = 1; id <= 7; id++) {
            scan.addColumns(column(id));
        }
        return Executor.newBuilder()
                .setTp(ExecType.TypeTableScan)
                .setTblScan(scan)
                .build();
    }

    private static Executor indexScan() {
        return Executor.newBuilder()
                .setTp(ExecType.TypeIndexScan)
                .setIdxScan(IndexScan.newBuilder()
                        .setTableId(TABLE_ID)
                        .setIndexId(INDEX_ID)
                        .addColumns(column(2))
                        .addColumns(column(1)))
                .build();
    }

    private static ColumnInfo column(int id) {
        ColumnInfo.Builder column = ColumnInfo.newBuilder().setColumnId(id).setTp(id == 5 ? VARCHAR : LONG_LONG);
        if (id == 1) {
            column.setPkHandle(true);
        }
        return column.setCollation(id == 5 ? UTF8MB4_BIN : -63).build();
    }

    /** Column at an offset of a table scan: id - 1. */
    static Expr reference(int offset) {
        return Expr.newBuilder()
                .setTp(ExprType.ColumnRef)
                .setVal(word(offset))
                .setFieldType(type(LONG_LONG))
                .build();
    }

    private static ByteString word(long value) {
        return ByteString.copyFrom(
                ByteBuffer.allocate(Long.BYTES).putLong(value ^ Long.MIN_VALUE).array());
    }

    private static FieldType type(int tp) {
        return FieldType.newBuilder().setTp(tp).setCollate(-63).build();
    }

    private static Expr constant(long value) {
        return Expr.newBuilder()
                .setTp(ExprType.Int64)
                .setVal(word(value))
                .setFieldType(type(LONG_LONG))
                .build();
    }

    private static Expr call(ScalarFuncSig sig, Expr left, Expr right) {
        return Expr.newBuilder()
                .setTp(ExprType.ScalarFunc)
                .setSig(sig)
                .addChildren(left)
                .addChildren(right)
                .setFieldType(type(LONG_LONG))
                .build();
    }

    /** Keeps rows whose column 2 is below a bound: that many percent. */
    static Executor selection(int percent) {
        return Executor.newBuilder()
                .setTp(ExecType.TypeSelection)
                .setSelection(Selection.newBuilder()
                        .addConditions(call(ScalarFuncSig.LTInt, reference(1), constant(percent))))
                .build();
    }

    /** Column 2 + 1, column 4 + column 3. */
    static Executor projection() {
        return Executor.newBuilder()
                .setTp(ExecType.TypeProjection)
                .setProjection(Projection.newBuilder()
                        .addExprs(call(ScalarFuncSig.PlusInt, reference(1), constant(1)))
                        .addExprs(call(ScalarFuncSig.PlusInt, reference(3), reference(2))))
                .build();
    }

    /** Count, sum and maximum of column 2, by columns at the given offsets. */
    static Executor aggregation(boolean stream, int... groupBy) {
        Aggregation.Builder aggregation = Aggregation.newBuilder()
                .addAggFunc(function(ExprType.Count, constant(1), LONG_LONG))
                .addAggFunc(function(ExprType.Sum, reference(1), NEW_DECIMAL))
                .addAggFunc(function(ExprType.Max, reference(1), LONG_LONG));
        for (int offset : groupBy) {
            aggregation.addGroupBy(reference(offset));
        }
        return Executor.newBuilder()
                .setTp(stream ? ExecType.TypeStreamAgg : ExecType.TypeAggregation)
                .setAggregation(aggregation)
                .build();
    }

    private static Expr function(ExprType tp, Expr argument, int resultType) {
        return Expr.newBuilder()
                .setTp(tp)
                .addChildren(argument)
                .setFieldType(type(resultType))
                .build();
    }

    /** Greatest of column 4, then least of column 2. */
    static Executor topN(long limit) {
        return Executor.newBuilder()
                .setTp(ExecType.TypeTopN)
                .setTopN(TopN.newBuilder()
                        .addOrderBy(ByItem.newBuilder().setExpr(reference(3)).setDesc(true))
                        .addOrderBy(ByItem.newBuilder().setExpr(reference(1)))
                        .setLimit(limit))
                .build();
    }

    static Executor limit(long rows) {
        return Executor.newBuilder()
                .setTp(ExecType.TypeLimit)
                .setLimit(Limit.newBuilder().setLimit(rows))
                .build();
    }
}
