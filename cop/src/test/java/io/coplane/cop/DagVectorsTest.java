package io.coplane.cop;

import static io.coplane.cop.MapSources.hex;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.coprocessor.KeyRange;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.tipb.Aggregation;
import io.coplane.proto.tipb.Chunk;
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
import io.coplane.proto.tipb.SelectResponse;
import io.coplane.proto.tipb.TableScan;
import io.coplane.snapshot.DeadlineCheck;
import io.coplane.testing.ManualClock;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The vectors of coprocessor.md 3.6, 3.10, 9.1 and 9.2, and the refusals of 3.2. */
class DagVectorsTest {
    private static final String TABLE_1 = "748000000000000001";
    private static final String ROW_PREFIX = TABLE_1 + "5f72";
    private static final String ROW_1 = ROW_PREFIX + "8000000000000001";

    private final MemoryGuard guard = MemoryGuard.unlimited();

    private Response execute(Request request, MapSources sources) {
        Response response = Coprocessor.execute(
                        request, sources, guard, Long.MAX_VALUE, ManualClock.recorded(), DeadlineCheck.NONE)
                .build();
        assertThat(guard.chargedBytes()).isZero();
        return response;
    }

    private static KeyRange range(String start, String end) {
        return KeyRange.newBuilder()
                .setStart(ByteString.copyFrom(hex(start)))
                .setEnd(ByteString.copyFrom(hex(end)))
                .build();
    }

    private static Request.Builder request(DAGRequest.Builder dag, KeyRange... ranges) {
        return Request.newBuilder()
                .setTp(103)
                .setStartTs(10)
                .setData(dag.build().toByteString())
                .addAllRanges(List.of(ranges));
    }

    private static ColumnInfo column(long id, int tp, int collation, boolean handle) {
        return ColumnInfo.newBuilder()
                .setColumnId(id)
                .setTp(tp)
                .setCollation(collation)
                .setColumnLen(-1)
                .setDecimal(-1)
                .setPkHandle(handle)
                .build();
    }

    private static Executor tableScan() {
        return Executor.newBuilder()
                .setTp(ExecType.TypeTableScan)
                .setTblScan(TableScan.newBuilder()
                        .setTableId(1)
                        .addColumns(column(1, 8, -63, true).toBuilder().setFlag(1))
                        .addColumns(column(2, 15, -46, false)))
                .build();
    }

    private static String rows(Response response) throws Exception {
        assertThat(response.getOtherError()).isEmpty();
        SelectResponse select = SelectResponse.parseFrom(response.getData());
        assertThat(select.getError().getMsg()).isEmpty();
        StringBuilder rows = new StringBuilder();
        for (Chunk chunk : select.getChunksList()) {
            rows.append(HexFormat.of().formatHex(chunk.getRowsData().toByteArray()));
        }
        return rows.toString();
    }

    private static String plain(String spaced) {
        return spaced.replace(" ", "");
    }

    @ParameterizedTest
    @CsvSource({"0804 0206616263", "80 00 0100 0000 02 0300 616263"})
    void tableScanReadsBothRowFormats(String value) throws Exception {
        MapSources sources = new MapSources().put(ROW_1, value);
        DAGRequest.Builder dag = DAGRequest.newBuilder()
                .addExecutors(tableScan())
                .addOutputOffsets(0)
                .addOutputOffsets(1);
        KeyRange point = range(ROW_1, ROW_PREFIX + "8000000000000002");

        Response plainRows = execute(request(dag, point).build(), sources);
        Response chunkRows =
                execute(request(dag.setEncodeType(EncodeType.TypeChunk), point).build(), sources);

        assertThat(rows(plainRows)).isEqualTo(plain("038000000000000001 0206616263"));
        assertThat(rows(chunkRows))
                .isEqualTo(plain("01000000 00000000 0100000000000000"
                        + "01000000 00000000 0000000000000000 0300000000000000 616263"));
    }

    @Test
    void tableScanOfAnEmptyRowGivesNull() throws Exception {
        MapSources sources = new MapSources().put(ROW_1, "00");
        DAGRequest.Builder dag =
                DAGRequest.newBuilder().addExecutors(tableScan()).addOutputOffsets(1);
        KeyRange all = range(ROW_PREFIX, ROW_PREFIX + "ff");

        assertThat(rows(execute(request(dag, all).build(), sources))).isEqualTo("00");
        assertThat(rows(execute(
                        request(dag.setEncodeType(EncodeType.TypeChunk), all).build(), sources)))
                .isEqualTo(plain("01000000 01000000 00 0000000000000000 0000000000000000"));
    }

    @Test
    void countGivesNoRowWithoutInput() throws Exception {
        Expr one = Expr.newBuilder()
                .setTp(ExprType.Int64)
                .setVal(ByteString.copyFrom(hex("8000000000000001")))
                .setFieldType(FieldType.newBuilder().setTp(8))
                .build();
        Executor count = Executor.newBuilder()
                .setTp(ExecType.TypeAggregation)
                .setAggregation(Aggregation.newBuilder()
                        .addAggFunc(Expr.newBuilder()
                                .setTp(ExprType.Count)
                                .addChildren(one)
                                .setFieldType(FieldType.newBuilder().setTp(8))))
                .build();
        DAGRequest.Builder dag = DAGRequest.newBuilder()
                .addExecutors(tableScan())
                .addExecutors(count)
                .addOutputOffsets(0);
        KeyRange all = range(ROW_PREFIX, ROW_PREFIX + "ff");

        assertThat(rows(execute(request(dag, all).build(), new MapSources()))).isEmpty();
        assertThat(rows(execute(request(dag, all).build(), new MapSources().put(ROW_1, "00"))))
                .isEqualTo("040000000000000001");
    }

    private static MapSources manyRows(int count) {
        MapSources sources = new MapSources();
        for (int i = 0; i < count; i++) {
            sources.put(ROW_PREFIX + HexFormat.of().toHexDigits((long) i ^ Long.MIN_VALUE), "00");
        }
        return sources;
    }

    private static List<Integer> chunkRows(Response response) throws Exception {
        List<Integer> sizes = new ArrayList<>();
        for (Chunk chunk : SelectResponse.parseFrom(response.getData()).getChunksList()) {
            sizes.add(chunk.getRowsData().size() / 9);
        }
        return sizes;
    }

    @Test
    void batchesDoubleUpTo1024Rows() throws Exception {
        DAGRequest.Builder dag =
                DAGRequest.newBuilder().addExecutors(tableScan()).addOutputOffsets(0);
        KeyRange all = range(ROW_PREFIX, ROW_PREFIX + "ff");

        Response response = execute(request(dag, all).build(), manyRows(5000));

        assertThat(chunkRows(response)).containsExactly(32, 64, 128, 256, 512, 1024, 1024, 1024, 936);
        assertThat(response.hasRange()).isFalse();
    }

    @Test
    void pageEndsBehindTheBatchThatFillsIt() throws Exception {
        DAGRequest.Builder dag =
                DAGRequest.newBuilder().addExecutors(tableScan()).addOutputOffsets(0);
        KeyRange all = range(ROW_PREFIX, ROW_PREFIX + "ff");

        Response response = execute(request(dag, all).setPagingSize(100).build(), manyRows(5000));

        assertThat(chunkRows(response)).containsExactly(32, 64, 128);
        assertThat(response.getRange()).isEqualTo(range(ROW_PREFIX, ROW_PREFIX + "80000000000000df" + "00"));
    }

    @Test
    void limitReadsNoMoreThanItNeedsAndForgivesTheNextRow() throws Exception {
        MapSources sources = manyRows(10).put(ROW_PREFIX + "800000000000000a", "07");
        DAGRequest.Builder dag = DAGRequest.newBuilder()
                .addExecutors(tableScan())
                .addExecutors(Executor.newBuilder()
                        .setTp(ExecType.TypeLimit)
                        .setLimit(Limit.newBuilder().setLimit(10)))
                .addOutputOffsets(0);
        KeyRange all = range(ROW_PREFIX, ROW_PREFIX + "ff");

        Response response = execute(request(dag, all).build(), sources);

        assertThat(chunkRows(response)).containsExactly(10);
        assertThat(SelectResponse.parseFrom(response.getData()).getOutputCountsList())
                .containsExactly(10L);
    }

    @Test
    void badRowFailsTheRequestWithItsText() throws Exception {
        MapSources sources = new MapSources().put(ROW_1, "0704");
        DAGRequest.Builder dag =
                DAGRequest.newBuilder().addExecutors(tableScan()).addOutputOffsets(1);

        Response response =
                execute(request(dag, range(ROW_PREFIX, ROW_PREFIX + "ff")).build(), sources);

        SelectResponse select = SelectResponse.parseFrom(response.getData());
        assertThat(select.getError().getCode()).isEqualTo(10000);
        assertThat(select.getError().getMsg()).isEqualTo("Unable to decode row: column id must be VAR_INT");
        assertThat(select.getChunksList()).isEmpty();
    }

    @Test
    void plansThatCannotBeBuiltAreOtherErrors() {
        KeyRange all = range(ROW_PREFIX, ROW_PREFIX + "ff");
        Executor limit = Executor.newBuilder().setTp(ExecType.TypeLimit).build();
        Executor window = Executor.newBuilder().setTp(ExecType.TypeWindow).build();

        assertThat(otherError(DAGRequest.newBuilder(), all)).isEqualTo("No executors");
        assertThat(otherError(DAGRequest.newBuilder().addExecutors(limit), all))
                .isEqualTo("Unexpected first executor TypeLimit");
        assertThat(otherError(DAGRequest.newBuilder().addExecutors(tableScan()).addExecutors(window), all))
                .isEqualTo("Unexpected non-first executor TypeWindow");
        assertThat(otherError(DAGRequest.newBuilder().addExecutors(tableScan()).addOutputOffsets(2), all))
                .isEqualTo("Invalid output offset (schema has 2 columns, access index 2)");
        assertThat(otherError(DAGRequest.newBuilder().addExecutors(tableScan()).setTimeZoneName("Mars/X"), all))
                .isEqualTo("evaluation failed: unknown or incorrect time zone: Mars/X");
        assertThat(otherError(
                        DAGRequest.newBuilder()
                                .addExecutors(tableScan().toBuilder().setParentIdx(3))
                                .addExecutors(limit),
                        all))
                .isEqualTo("Invalid parent index: 3 for executor at index 0");
        assertThat(otherError(DAGRequest.newBuilder().addExecutors(tableScan()), range(TABLE_1 + "5f73", ROW_PREFIX)))
                .startsWith("invalid range,range.start should be smaller than range.end, but got ");
    }

    private String otherError(DAGRequest.Builder dag, KeyRange range) {
        return execute(request(dag, range).build(), new MapSources()).getOtherError();
    }

    /** Columns as {@code id:tp:collation[:h]}, payload behind the 19 bytes of the index prefix, value, expected datums. */
    @ParameterizedTest
    @CsvSource({
        "1:8:-63 9:8:-63:h, , 038000000000000001 038000000000000001, 30, 038000000000000001 038000000000000001",
        "1:8:-63 9:8:-63:h, , 038000000000000001, 0000000000000001, 038000000000000001 038000000000000001",
        "2:254:-46 9:8:-63:h, , 016100000000000000f8 038000000000000001, 30, 016100000000000000f8 038000000000000001",
        "3:254:-224 9:8:-63:h, , 010e33000000000000f9 038000000000000001, 00 80 00 0100 0000 03 0100 41, 020241 038000000000000001",
        "3:254:-224 9:8:-63:h, , 010e33000000000000f9, 08 80 00 0100 0000 03 0100 41 0000000000000001, 020241 038000000000000001",
        "2:15:-46 9:8:-63:h, , 016100000000000000f8 038000000000000001, 00 80 00 0100 0000 02 0200 6120, 02046120 038000000000000001",
        "1:8:-63 1:8:-63 2:254:-46 3:254:-224 4:15:-46 5:15:-224, 1 2 3 4 5, 038000000000000001 038000000000000001 016100000000000000f8 010e33000000000000f9 016100000000000000f8 010041000000000000f9, 00 7d 01 80 00 0300 0000 030405 0100 0200 0400 41 01 4120, 038000000000000001 038000000000000001 016100000000000000f8 020241 02046120 02044120",
        "4:15:-46 1:8:-63 2:254:-46 3:254:-224 4:15:-46 5:15:-224, 1 2 3 4 5, 016100000000000000f8, 00 7d 01 7f 0031 038000000000000001 016100000000000000f8 010e33000000000000f9 016100000000000000f8 010041000000000000f9 80 00 0300 0000 030405 0100 0200 0400 41 01 4120, 02046120 038000000000000001 016100000000000000f8 020241 02046120 02044120",
        "1:8:-63 9:8:-63:h -2:8:-63 -3:8:-63, , 038000000000000005, 08 7e 800000000000005c 0000000000000001, 038000000000000005 038000000000000001 03800000000000005c 03800000000000005c",
        "1:8:-63 -1:8:-63:h -2:8:-63 -3:8:-63, , 038000000000000032 7e8000000000000064 0380000000000003e7, 00 7e 8000000000000064, 038000000000000032 0380000000000003e7 038000000000000064 038000000000000064",
        "1:8:-63 -1:8:-63:h -2:8:-63 -3:8:-63, , 038000000000000032 7e8000000000000064 0380000000000003e7, 00, 038000000000000032 0380000000000003e7 038000000000000064 038000000000000064",
        "1:8:-63 -1:8:-63:h -3:8:-63, , 038000000000000007 7e800000000000002a 03800000000000007b, 00 7d 01 80 00 0000 0100 01, 038000000000000007 03800000000000007b 03800000000000002a"
    })
    void indexScanReadsAllForms(String columns, String primary, String payload, String value, String expected)
            throws Exception {
        String prefix = TABLE_1 + "5f69" + "8000000000000002";
        MapSources sources = new MapSources().put(prefix + payload, value);
        IndexScan.Builder scan = IndexScan.newBuilder().setTableId(1).setIndexId(2);
        DAGRequest.Builder dag = DAGRequest.newBuilder();
        for (String column : columns.split(" ", -1)) {
            String[] parts = column.split(":", -1);
            dag.addOutputOffsets(scan.getColumnsCount());
            scan.addColumns(column(
                    Long.parseLong(parts[0]),
                    Integer.parseInt(parts[1]),
                    Integer.parseInt(parts[2]),
                    parts.length > 3));
        }
        if (primary != null) {
            for (String id : primary.split(" ", -1)) {
                scan.addPrimaryColumnIds(Long.parseLong(id));
            }
        }
        dag.addExecutors(Executor.newBuilder().setTp(ExecType.TypeIndexScan).setIdxScan(scan));

        Response response = execute(
                request(dag, range(prefix, TABLE_1 + "5f698000000000000003")).build(), sources);

        assertThat(rows(response)).isEqualTo(plain(expected));
    }
}
