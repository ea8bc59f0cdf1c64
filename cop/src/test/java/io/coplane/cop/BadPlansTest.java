package io.coplane.cop;

import static io.coplane.cop.Plans.columnRef;
import static io.coplane.cop.Plans.constant;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import io.coplane.cop.expr.Signatures;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.proto.coprocessor.KeyRange;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.tipb.ColumnInfo;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.EncodeType;
import io.coplane.proto.tipb.ExecType;
import io.coplane.proto.tipb.Executor;
import io.coplane.proto.tipb.Expr;
import io.coplane.proto.tipb.ExprType;
import io.coplane.proto.tipb.FieldType;
import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.proto.tipb.SelectResponse;
import io.coplane.proto.tipb.TableScan;
import io.coplane.snapshot.DeadlineCheck;
import io.coplane.testing.ManualClock;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Plans and rows that nobody should send: a text of the reference or a typed error, never anything else. */
class BadPlansTest {
    private static final int[] TYPES = {
        8, 5, 0xf6, 15, 12, 11, 0xf5, 0xf7, 0xf8, 16, 13, 0xe1, 10, 7, 4, 0xfc, 6, 0, 0xff
    };
    /** One datum for each of {@link #TYPES}, then some that are broken or of another type. */
    private static final String[] DATUMS = {
        "038000000000000005",
        "05c000000000000000",
        "060502800c22",
        "020631323a",
        "0419a9b80000000000",
        "07800000e8d4a51000",
        "0a0c0161",
        "040000000000000001",
        "040000000000000002",
        "040000000000000005",
        "0380000000000007e4",
        "14010000000000803f",
        "041999000000000000",
        "041999000000000000",
        "05bff0000000000000",
        "0200",
        "00",
        "00",
        "00",
        "0aff",
        "0a01ffffffffffffffff",
        "06ff00",
        "0605",
        "02ff",
        "01",
        "09ff",
        "14ffffffff",
        "0419ffffffffffffff",
        "0b"
    };

    private static final List<ScalarFuncSig> SIGNATURES = Signatures.status().stream()
            .filter(Signatures.Status::supported)
            .map(Signatures.Status::sig)
            .filter(sig -> sig != ScalarFuncSig.Repeat && sig != ScalarFuncSig.Space)
            .toList();

    private Response execute(DAGRequest.Builder dag, MapSources sources, KeyRange... ranges) {
        return execute(Plans.request(dag, ranges).build(), sources);
    }

    private static Response execute(Request request, MapSources sources) {
        MemoryGuard guard = new MemoryLimiter(64 << 20).acquire(0);
        try {
            return Coprocessor.execute(request, sources, guard, 1 << 20, ManualClock.recorded(), DeadlineCheck.NONE)
                    .build();
        } finally {
            assertThat(guard.chargedBytes()).isZero();
            guard.close();
        }
    }

    private static MapSources oneRow() {
        return new MapSources().put(Plans.rowKey(1), Plans.rowValue(7L));
    }

    private String refusal(Executor... executors) {
        return execute(Plans.dag(executors).addOutputOffsets(0), oneRow(), Plans.allRows())
                .getOtherError();
    }

    @Test
    void parentsThatPointBackwardsOrOutside() {
        Executor limit = Plans.limit(1);

        assertThat(refusal(Plans.tableScan(1), limit.toBuilder().setParentIdx(1).build()))
                .isEqualTo("Invalid parent index: 1 for executor at index 1");
        assertThat(refusal(Plans.tableScan(1).toBuilder().setParentIdx(-1).build(), limit))
                .isEqualTo("Invalid parent index: 4294967295 for executor at index 0");
        assertThat(refusal(Plans.tableScan(1).toBuilder().setParentIdx(2).build(), limit, limit))
                .isEqualTo("Children not handled for executor: TypeLimit, index: 2");
    }

    @Test
    void lookUpsWithoutTheirParts() {
        Executor index = Plans.indexScan();

        assertThat(refusal(index, Plans.indexLookUp(1)))
                .isEqualTo("IndexLookUp should have one child executor, but got 0");
        assertThat(refusal(index.toBuilder().setParentIdx(2).build(), Plans.limit(1), Plans.indexLookUp(1)))
                .isEqualTo("IndexLookup's child should be TableScan, but got TypeLimit");
        assertThat(refusal(
                        index.toBuilder().setParentIdx(2).build(),
                        Plans.tableScan(1),
                        Plans.indexLookUp(1).toBuilder()
                                .setIndexLookup(Plans.indexLookUp(1).getIndexLookup().toBuilder()
                                        .setKeepOrder(true))
                                .build()))
                .isEqualTo("IndexLookupExecutor does not support keep order currently");
        assertThat(refusal(index.toBuilder().setParentIdx(2).build(), Plans.tableScan(1), Plans.indexLookUp(1)))
                .isEqualTo("IndexLookup should have exactly one intermediate output channel, but got 0, []");
        assertThat(refusal(index.toBuilder().setParentIdx(2).build(), Plans.tableScan(1), Plans.indexLookUp(7)))
                .isNotEmpty();
    }

    @Test
    void columnsThatAreNotThere() {
        assertThat(refusal(Plans.tableScan(2), Plans.selection(columnRef(2))))
                .isEqualTo("Invalid column offset (schema has 2 columns, access index 2)");
        assertThat(refusal(Plans.tableScan(2), Plans.selection(columnRef(-1))))
                .startsWith("Invalid column offset (schema has 2 columns, access index ");
        assertThat(refusal(
                        Plans.tableScan(2),
                        Plans.selection(Expr.newBuilder()
                                .setTp(ExprType.ColumnRef)
                                .setVal(ByteString.copyFrom(new byte[3]))
                                .build())))
                .isEqualTo("Unable to decode column reference offset from the request");
    }

    @ParameterizedTest
    @CsvSource({
        "TypeJoin",
        "TypeExchangeSender",
        "TypeExchangeReceiver",
        "TypeSort",
        "TypeWindow",
        "TypeExpand",
        "TypeExpand2",
        "TypeBroadcastQuery",
        "TypeCTESink",
        "TypeCTESource",
        "TypeKill",
        "TypePartitionTableScan"
    })
    void executorsOfAnotherEngine(ExecType type) {
        Executor other = Executor.newBuilder().setTp(type).build();

        assertThat(refusal(other)).isEqualTo("Unexpected first executor " + type.name());
        assertThat(refusal(Plans.tableScan(1), other)).isEqualTo("Unexpected non-first executor " + type.name());
    }

    @Test
    void functionsThatDoNotExist() {
        Expr.Builder unknown = Plans.call(ScalarFuncSig.PlusInt, constant(1), constant(2)).toBuilder()
                .clearSig();
        unknown.setUnknownFields(UnknownFieldSet.newBuilder()
                .addField(
                        4, UnknownFieldSet.Field.newBuilder().addVarint(99_999).build())
                .build());

        assertThat(refusal(Plans.tableScan(1), Plans.projection(unknown.build())))
                .isNotEmpty();
        assertThat(refusal(
                        Plans.tableScan(1),
                        Plans.aggregation(
                                ExecType.TypeAggregation,
                                List.of(Plans.aggregate(ExprType.GroupConcat, 15, columnRef(0))))))
                .isEqualTo("Aggregation function meet blacklist aggr function GroupConcat");
    }

    static List<ScalarFuncSig> signatures() {
        return SIGNATURES;
    }

    @ParameterizedTest
    @MethodSource("signatures")
    void wrongChildCountsAreRefusedOrAnswered(ScalarFuncSig sig) {
        for (int count : new int[] {0, 1, 2, 3, 17}) {
            Expr[] children = new Expr[count];
            for (int tp : new int[] {8, 15, 0xf5, 12}) {
                for (int i = 0; i < count; i++) {
                    children[i] = Expr.newBuilder()
                            .setTp(ExprType.Null)
                            .setFieldType(Plans.type(tp))
                            .build();
                }
                Response response = execute(
                        Plans.dag(Plans.tableScan(1), Plans.projection(Plans.call(sig, children)))
                                .addOutputOffsets(0),
                        oneRow(),
                        Plans.allRows());
                assertThat(response.hasRegionError()).isFalse();
            }
        }
    }

    private static Expr nested(int depth) {
        Expr expr = columnRef(0);
        for (int i = 0; i < depth; i++) {
            expr = Plans.call(ScalarFuncSig.UnaryMinusInt, expr);
        }
        return expr;
    }

    /** Runs something with a stack of its own. */
    private static <T> T onStack(long bytes, Supplier<T> work) throws InterruptedException {
        AtomicReference<T> result = new AtomicReference<>();
        Thread thread = new Thread(null, () -> result.set(work.get()), "stack-" + bytes, bytes);
        thread.start();
        thread.join();
        return result.get();
    }

    private static Request deep(int depth) throws InterruptedException {
        return onStack(
                512L << 20, // only to write it down
                () -> Plans.request(
                                Plans.dag(Plans.tableScan(1), Plans.projection(nested(depth)))
                                        .addOutputOffsets(0),
                                Plans.allRows())
                        .build());
    }

    @Test
    void treesAreRefusedTooDeepAndExecutedDeep() throws Exception {
        Request tooDeep = deep(10_000);
        Request deepest = deep(900);

        Response refused = onStack(1 << 20, () -> execute(tooDeep, oneRow())); // as large as a worker's
        Response executed = onStack(1 << 20, () -> execute(deepest, oneRow()));

        assertThat(refused).as("a tree that is too deep").isNotNull();
        assertThat(refused.getOtherError()).startsWith("request does not parse: ");
        assertThat(executed).as("a deep tree").isNotNull();
        assertThat(Plans.longs(Plans.select(executed).getChunksList(), 1)).isEqualTo(List.of(List.of(1L)));
    }

    @ParameterizedTest
    @CsvSource({
        "MysqlDecimal, 0xf6, ff00", "MysqlDecimal, 0xf6, 0500", "MysqlDecimal, 0xf6, ''", "MysqlJson, 0xf5, ff",
        "MysqlJson, 0xf5, 01ffffffffffffffff", "MysqlTime, 12, 00", "MysqlDuration, 11, 0000", "Int64, 8, 00",
        "Uint64, 8, ''", "Float64, 5, 00", "MysqlEnum, 0xf7, 0000000000000009", "TiDBVectorFloat32, 0xe1, ff000000",
        "MysqlTime, 12, ffffffffffffffff"
    })
    void constantsThatDoNotDecode(ExprType tp, String type, String hex) {
        Expr constant = Expr.newBuilder()
                .setTp(tp)
                .setVal(ByteString.copyFrom(MapSources.hex(hex)))
                .setFieldType(Plans.type(Integer.decode(type)))
                .build();

        Response response = execute(
                Plans.dag(Plans.tableScan(1), Plans.projection(constant)).addOutputOffsets(0),
                oneRow(),
                Plans.allRows());

        assertThat(response.getOtherError().isEmpty() && response.getData().isEmpty())
                .isFalse();
    }

    @Test
    void aHugeConstantIsAnswered() throws Exception {
        Expr huge = Expr.newBuilder()
                .setTp(ExprType.String)
                .setVal(ByteString.copyFrom(new byte[8 << 20]))
                .setFieldType(Plans.type(15))
                .build();

        Response response = execute(
                Plans.dag(Plans.tableScan(1), Plans.projection(Plans.call(ScalarFuncSig.Length, huge)))
                        .addOutputOffsets(0),
                oneRow(),
                Plans.allRows());

        assertThat(Plans.longs(Plans.select(response).getChunksList(), 1)).isEqualTo(List.of(List.of(8L << 20)));
    }

    @Test
    void stringsThatAreNoUtf8DoNotGroup() throws Exception {
        ColumnInfo.Builder text = Plans.column(2, 15, 0).setCollation(-45);
        Executor scan = Executor.newBuilder()
                .setTp(ExecType.TypeTableScan)
                .setTblScan(TableScan.newBuilder().addColumns(Plans.handle(1)).addColumns(text))
                .build();
        Expr key = columnRef(1, 15).toBuilder()
                .setFieldType(Plans.type(15).toBuilder().setCollate(-45))
                .build();

        Response response = execute(
                Plans.dag(scan, Plans.aggregation(ExecType.TypeAggregation, List.of(), key))
                        .addOutputOffsets(0),
                new MapSources().put(Plans.rowKey(1), "08040204fffe"),
                Plans.allRows());

        SelectResponse select = SelectResponse.parseFrom(response.getData());
        assertThat(select.getError().getCode()).isEqualTo(10000);
        assertThat(select.getError().getMsg()).isEqualTo("encoding failed");
    }

    @Test
    void rowsWithFewerAndMoreColumnsThanTheSchema() throws Exception {
        MapSources sources = new MapSources()
                .put(Plans.rowKey(1), "00")
                .put(Plans.rowKey(2), Plans.rowValue(1L, 2L, 3L, 4L))
                .put(Plans.rowKey(3), Plans.rowValue(5L));

        Response response = execute(
                Plans.dag(Plans.tableScan(3)).addOutputOffsets(1).addOutputOffsets(2), sources, Plans.allRows());

        assertThat(Plans.longs(Plans.select(response).getChunksList(), 2).toString())
                .isEqualTo("[[null, null], [1, 2], [5, null]]");
    }

    @Test
    void rangesReversedEmptyAndOverlapping() throws Exception {
        DAGRequest.Builder scan = Plans.dag(Plans.tableScan(1)).addOutputOffsets(0);
        MapSources sources = new MapSources().put(Plans.rowKey(1), "00").put(Plans.rowKey(2), "00");
        String invalid = "invalid range,range.start should be smaller than range.end, but got ";

        assertThat(execute(scan, sources, Plans.range(Plans.rowKey(2), Plans.rowKey(1)))
                        .getOtherError())
                .startsWith(invalid);
        assertThat(execute(scan, sources, Plans.range(Plans.rowKey(1), Plans.rowKey(1)))
                        .getOtherError())
                .startsWith(invalid);
        assertThat(execute(scan, sources, Plans.range("7480", "7481")).getOtherError())
                .isNotEmpty();
        assertThat(Plans.longs(
                        Plans.select(execute(scan, sources, Plans.allRows(), Plans.allRows()))
                                .getChunksList(),
                        1))
                .isEqualTo(List.of(List.of(1L), List.of(2L), List.of(1L), List.of(2L)));
        assertThat(Plans.select(execute(scan, sources)).getChunksList()).isEmpty();
    }

    /** Random trees of all functions over columns of all types, whose rows hold values of any type and broken ones. */
    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void randomPlansOverRandomRowsEndInAnAnswerOrATypedError(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        int rounds = Integer.getInteger("coplane.plans", 1_000);
        for (int round = 0; round < rounds; round++) {
            TableScan.Builder scan = TableScan.newBuilder().setTableId(1).addColumns(Plans.handle(1));
            int[] types = new int[6];
            types[0] = 8;
            for (int i = 1; i < types.length; i++) {
                types[i] = TYPES[random.nextInt(TYPES.length)];
                scan.addColumns(column(i + 1, types[i], random));
            }
            MapSources sources = new MapSources();
            for (int row = 1; row <= 4; row++) {
                StringBuilder value = new StringBuilder();
                for (int i = 1; i < types.length; i++) {
                    value.append("08").append(HexFormat.of().toHexDigits((byte) (2 * (i + 1))));
                    int at = indexOf(types[i]);
                    value.append(DATUMS[random.nextInt(12) == 0 ? random.nextInt(DATUMS.length) : at]);
                }
                sources.put(Plans.rowKey(row), value.toString());
            }
            DAGRequest.Builder dag = Plans.dag(
                            Executor.newBuilder()
                                    .setTp(ExecType.TypeTableScan)
                                    .setTblScan(scan)
                                    .build(),
                            above(random, types))
                    .addOutputOffsets(0)
                    .setFlags(random.nextInt(2048))
                    .setEncodeType(random.nextBoolean() ? EncodeType.TypeChunk : EncodeType.TypeDefault);
            run(dag, sources, seed, round);
        }
    }

    private static void run(DAGRequest.Builder dag, MapSources sources, long seed, int round) {
        try {
            Response response = execute(Plans.request(dag, Plans.allRows()).build(), sources);
            assertThat(response.getOtherError()).doesNotStartWith("java.");
        } catch (CoplaneException e) {
            assertThat(e.code()).isNotNull();
        } catch (RuntimeException | StackOverflowError e) {
            throw new AssertionError("seed=" + seed + " round=" + round + "\n" + dag.getExecutors(1), e);
        }
    }

    private static int indexOf(int tp) {
        for (int i = 0; i < TYPES.length; i++) {
            if (TYPES[i] == tp) {
                return i;
            }
        }
        throw new AssertionError("no such type: " + tp);
    }

    private static ColumnInfo column(int id, int tp, SplittableRandom random) {
        return Plans.column(id, tp, random.nextBoolean() ? 32 : 0)
                .setCollation(new int[] {-63, -46, -45, -224, -255, -309, -47, -28, -87, 63, 0}[random.nextInt(11)])
                .setDecimal(random.nextInt(8) - 1)
                .setColumnLen(random.nextInt(70) - 1)
                .addElems(ByteString.copyFromUtf8("a"))
                .addElems(ByteString.copyFromUtf8("b"))
                .build();
    }

    private static Executor above(SplittableRandom random, int[] types) {
        Expr expr = tree(random, types, 3);
        return switch (random.nextInt(6)) {
            case 0 -> Plans.selection(expr);
            case 1 -> Plans.topN(2, expr);
            case 2 ->
                Plans.aggregation(
                        random.nextBoolean() ? ExecType.TypeAggregation : ExecType.TypeStreamAgg,
                        List.of(Plans.aggregate(
                                ExprType.forNumber(3001 + random.nextInt(20)),
                                TYPES[random.nextInt(TYPES.length)],
                                expr)),
                        tree(random, types, 1));
            case 3 ->
                Plans.aggregation(
                        ExecType.TypeAggregation,
                        List.of(Plans.aggregate(
                                ExprType.forNumber(3001 + random.nextInt(20)),
                                expr.getFieldType().getTp(),
                                expr)));
            default -> Plans.projection(expr);
        };
    }

    private static Expr tree(SplittableRandom random, int[] types, int depth) {
        int kind = depth == 0 ? random.nextInt(2) : random.nextInt(5);
        if (kind == 0) {
            int column = random.nextInt(types.length);
            return columnRef(column, types[column]);
        }
        if (kind == 1) {
            return switch (random.nextInt(4)) {
                case 0 -> constant(random.nextInt(4) == 0 ? random.nextLong() : random.nextInt(5) - 1);
                case 1 ->
                    Expr.newBuilder()
                            .setTp(ExprType.String)
                            .setVal(ByteString.copyFromUtf8(
                                    new String[] {"", "a", "%", "$.a", "2020-01-01", "1:2:3", "[1]", "(", "DAY"}
                                            [random.nextInt(9)]))
                            .setFieldType(Plans.type(15))
                            .build();
                case 2 ->
                    Expr.newBuilder()
                            .setTp(ExprType.Null)
                            .setFieldType(Plans.type(TYPES[random.nextInt(TYPES.length)]))
                            .build();
                default ->
                    Expr.newBuilder()
                            .setTp(ExprType.Float64)
                            .setVal(ByteString.copyFrom(MapSources.hex("bff8000000000000")))
                            .setFieldType(Plans.type(5))
                            .build();
            };
        }
        ScalarFuncSig sig = SIGNATURES.get(random.nextInt(SIGNATURES.size()));
        int count = random.nextInt(8) == 0 ? random.nextInt(6) : 1 + random.nextInt(3);
        Expr[] children = new Expr[count];
        for (int i = 0; i < count; i++) {
            children[i] = tree(random, types, depth - 1);
        }
        FieldType type = Plans.type(TYPES[random.nextInt(TYPES.length)]).toBuilder()
                .setFlag(random.nextBoolean() ? 32 : 0)
                .setFlen(random.nextInt(40) - 1)
                .setDecimal(random.nextInt(8) - 1)
                .build();
        return Plans.call(sig, children).toBuilder().setFieldType(type).build();
    }
}
