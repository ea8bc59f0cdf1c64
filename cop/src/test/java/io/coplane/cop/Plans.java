package io.coplane.cop;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.coplane.proto.coprocessor.KeyRange;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.tipb.Aggregation;
import io.coplane.proto.tipb.ByItem;
import io.coplane.proto.tipb.Chunk;
import io.coplane.proto.tipb.ColumnInfo;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.ExecType;
import io.coplane.proto.tipb.Executor;
import io.coplane.proto.tipb.Expr;
import io.coplane.proto.tipb.ExprType;
import io.coplane.proto.tipb.FieldType;
import io.coplane.proto.tipb.IndexLookUp;
import io.coplane.proto.tipb.IndexScan;
import io.coplane.proto.tipb.Limit;
import io.coplane.proto.tipb.Projection;
import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.proto.tipb.SelectResponse;
import io.coplane.proto.tipb.Selection;
import io.coplane.proto.tipb.TableScan;
import io.coplane.proto.tipb.TopN;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/** Short words for plans in tests. Table 1 has its rows under {@link #ROWS}, its index 2 under {@link #INDEX}. */
final class Plans {
    static final int LONG_LONG = 8;
    static final int VAR_CHAR = 15;
    static final int UTF8MB4_BIN = -46;
    static final int BINARY = -63;

    static final String TABLE = "748000000000000001";
    static final String ROWS = TABLE + "5f72";
    static final String INDEX = TABLE + "5f698000000000000002";

    private static final long SIGN = Long.MIN_VALUE;

    private Plans() {}

    /** An integer as keys and datums have it, without the datum's flag. */
    static String word(long value) {
        return HexFormat.of().toHexDigits(value ^ SIGN);
    }

    static String rowKey(long handle) {
        return ROWS + word(handle);
    }

    /** Key of an entry of a non-unique index over one integer. */
    static String indexKey(long value, long handle) {
        return INDEX + "03" + word(value) + "03" + word(handle);
    }

    static KeyRange range(String start, String end) {
        return KeyRange.newBuilder()
                .setStart(ByteString.copyFrom(MapSources.hex(start)))
                .setEnd(ByteString.copyFrom(MapSources.hex(end)))
                .build();
    }

    static KeyRange allRows() {
        return range(ROWS, ROWS + "ff");
    }

    static KeyRange wholeIndex() {
        return range(INDEX, INDEX + "ff");
    }

    static Request.Builder request(DAGRequest.Builder dag, KeyRange... ranges) {
        return Request.newBuilder()
                .setTp(103)
                .setStartTs(10)
                .setData(dag.build().toByteString())
                .addAllRanges(List.of(ranges));
    }

    static DAGRequest.Builder dag(Executor... executors) {
        return DAGRequest.newBuilder().addAllExecutors(List.of(executors));
    }

    static ColumnInfo.Builder column(long id, int tp, int flag) {
        return ColumnInfo.newBuilder()
                .setColumnId(id)
                .setTp(tp)
                .setFlag(flag)
                .setCollation(BINARY)
                .setColumnLen(-1)
                .setDecimal(-1);
    }

    static ColumnInfo handle(long id) {
        return column(id, LONG_LONG, 1).setPkHandle(true).build();
    }

    /** A scan of table 1: column 1 is the handle, columns 2, 3 ... are nullable integers. */
    static Executor tableScan(int columns) {
        TableScan.Builder scan = TableScan.newBuilder().setTableId(1).addColumns(handle(1));
        for (int id = 2; id <= columns; id++) {
            scan.addColumns(column(id, LONG_LONG, 0));
        }
        return Executor.newBuilder()
                .setTp(ExecType.TypeTableScan)
                .setTblScan(scan)
                .build();
    }

    /** A scan of index 2 of table 1: an integer and the handle. */
    static Executor indexScan() {
        return Executor.newBuilder()
                .setTp(ExecType.TypeIndexScan)
                .setIdxScan(IndexScan.newBuilder()
                        .setTableId(1)
                        .setIndexId(2)
                        .addColumns(column(2, LONG_LONG, 0))
                        .addColumns(handle(1)))
                .build();
    }

    static Executor indexLookUp(int handleOffset) {
        return Executor.newBuilder()
                .setTp(ExecType.TypeIndexLookUp)
                .setIndexLookup(IndexLookUp.newBuilder().addIndexHandleOffsets(handleOffset))
                .build();
    }

    static Executor selection(Expr... conditions) {
        return Executor.newBuilder()
                .setTp(ExecType.TypeSelection)
                .setSelection(Selection.newBuilder().addAllConditions(List.of(conditions)))
                .build();
    }

    static Executor projection(Expr... exprs) {
        return Executor.newBuilder()
                .setTp(ExecType.TypeProjection)
                .setProjection(Projection.newBuilder().addAllExprs(List.of(exprs)))
                .build();
    }

    static Executor limit(long rows) {
        return Executor.newBuilder()
                .setTp(ExecType.TypeLimit)
                .setLimit(Limit.newBuilder().setLimit(rows))
                .build();
    }

    static Executor topN(long rows, Expr... keys) {
        TopN.Builder topN = TopN.newBuilder().setLimit(rows);
        for (Expr key : keys) {
            topN.addOrderBy(ByItem.newBuilder().setExpr(key));
        }
        return Executor.newBuilder().setTp(ExecType.TypeTopN).setTopN(topN).build();
    }

    /** An aggregation; {@code TypeAggregation} or {@code TypeStreamAgg}. */
    static Executor aggregation(ExecType type, List<Expr> functions, Expr... groupBy) {
        return Executor.newBuilder()
                .setTp(type)
                .setAggregation(
                        Aggregation.newBuilder().addAllAggFunc(functions).addAllGroupBy(List.of(groupBy)))
                .build();
    }

    static FieldType type(int tp) {
        return FieldType.newBuilder()
                .setTp(tp)
                .setCollate(BINARY)
                .setFlen(-1)
                .setDecimal(-1)
                .build();
    }

    static Expr columnRef(int offset, int tp) {
        return Expr.newBuilder()
                .setTp(ExprType.ColumnRef)
                .setVal(memcmp(offset))
                .setFieldType(type(tp))
                .build();
    }

    static Expr columnRef(int offset) {
        return columnRef(offset, LONG_LONG);
    }

    static Expr constant(long value) {
        return Expr.newBuilder()
                .setTp(ExprType.Int64)
                .setVal(memcmp(value))
                .setFieldType(type(LONG_LONG))
                .build();
    }

    static Expr call(ScalarFuncSig signature, Expr... children) {
        return Expr.newBuilder()
                .setTp(ExprType.ScalarFunc)
                .setSig(signature)
                .setFieldType(type(LONG_LONG))
                .addAllChildren(List.of(children))
                .build();
    }

    static Expr aggregate(ExprType function, int tp, Expr... children) {
        return Expr.newBuilder()
                .setTp(function)
                .setFieldType(type(tp))
                .addAllChildren(List.of(children))
                .build();
    }

    static ByteString memcmp(long value) {
        return ByteString.copyFrom(
                ByteBuffer.allocate(Long.BYTES).putLong(value ^ SIGN).array());
    }

    /** The value of a row with integers in columns 2, 3 ..., in format 1; null is NULL. */
    static String rowValue(Long... values) {
        StringBuilder row = new StringBuilder();
        for (int i = 0; i < values.length; i++) {
            row.append("08").append(HexFormat.of().toHexDigits((byte) (2 * (i + 2))));
            row.append(values[i] == null ? "00" : "03" + word(values[i]));
        }
        return row.isEmpty() ? "00" : row.toString();
    }

    /** What a DAG answered; fails on errors. */
    static SelectResponse select(Response response) throws Exception {
        assertThat(response.getOtherError()).isEmpty();
        assertThat(response.hasRegionError()).isFalse();
        SelectResponse select = SelectResponse.parseFrom(response.getData());
        assertThat(select.getError().getMsg()).isEmpty();
        return select;
    }

    /** Rows of signed, not null integers in default encoding. */
    static List<List<Long>> longs(List<Chunk> chunks, int columns) {
        List<List<Long>> rows = new ArrayList<>();
        for (Chunk chunk : chunks) {
            ByteBuffer data = chunk.getRowsData().asReadOnlyByteBuffer();
            while (data.hasRemaining()) {
                Long[] row = new Long[columns];
                for (int i = 0; i < columns; i++) {
                    byte flag = data.get();
                    if (flag != 0) {
                        assertThat(flag).isIn((byte) 3, (byte) 4);
                        row[i] = data.getLong() ^ (flag == 3 ? SIGN : 0);
                    }
                }
                rows.add(Arrays.asList(row));
            }
        }
        return rows;
    }
}
