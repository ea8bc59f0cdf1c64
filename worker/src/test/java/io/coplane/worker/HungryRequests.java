package io.coplane.worker;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.coprocessor.KeyRange;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.enginepb.Snapshot;
import io.coplane.proto.kvrpcpb.Context;
import io.coplane.proto.metapb.Peer;
import io.coplane.proto.tipb.Aggregation;
import io.coplane.proto.tipb.ByItem;
import io.coplane.proto.tipb.ColumnInfo;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.ExecType;
import io.coplane.proto.tipb.Executor;
import io.coplane.proto.tipb.Expr;
import io.coplane.proto.tipb.ExprType;
import io.coplane.proto.tipb.FieldType;
import io.coplane.proto.tipb.Limit;
import io.coplane.proto.tipb.Projection;
import io.coplane.proto.tipb.TableScan;
import io.coplane.proto.tipb.TopN;
import io.coplane.snapshot.MemDataWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Small memtables, and requests on them whose execution holds many times as much. Table 1: column 1 is the handle, column 2 an integer or a string. */
final class HungryRequests {
    /** Rows of {@link #integers}. */
    static final int ROWS = 40_000;

    /** Rows of {@link #strings}. */
    static final int STRINGS = 1_000;

    private static final int STRING_BYTES = 4_000;
    private static final int COPIES = 100;
    private static final int SORT_KEYS = 16;
    private static final int LONG_LONG = 8;
    private static final int VAR_CHAR = 15;
    private static final int UTF8MB4_GENERAL_CI = -45;
    private static final int BINARY = -63;
    private static final byte[] ROW_PREFIX = HexFormat.of().parseHex("7480000000000000015f72");

    private HungryRequests() {}

    /** Some 2.5 MB: 40,000 rows with an integer each, all different. */
    static byte[] integers() {
        return memData(
                ROWS,
                handle -> ByteBuffer.allocate(11)
                        .put(new byte[] {8, 4, 3}) // column 2, a memcomparable integer
                        .putLong(handle ^ Long.MIN_VALUE)
                        .array());
    }

    /** Some 4 MB: 1,000 rows with a long string each. */
    static byte[] strings() {
        byte[] text = "a".repeat(STRING_BYTES).getBytes(StandardCharsets.US_ASCII);
        return memData(
                STRINGS,
                handle -> ByteBuffer.allocate(5 + STRING_BYTES)
                        .put(new byte[] {8, 4, 2}) // column 2, compact bytes
                        .put((byte) (2 * STRING_BYTES & 0x7f | 0x80)) // their length, zig-zag
                        .put((byte) (2 * STRING_BYTES >> 7))
                        .put(text)
                        .array());
    }

    /** A shard without files. */
    static byte[] emptyShard() {
        return ChangeSet.newBuilder()
                .setShardID(1)
                .setShardVer(1)
                .setSnapshot(Snapshot.newBuilder().setOuterEnd(ByteString.copyFrom(new byte[] {-1})))
                .build()
                .toByteArray();
    }

    /** A table of 40,000 groups with 100 states each. */
    static Request hashTable() {
        Aggregation.Builder groups = Aggregation.newBuilder().addGroupBy(integer(1));
        for (int i = 0; i < COPIES; i++) {
            groups.addAggFunc(Expr.newBuilder()
                    .setTp(ExprType.Count)
                    .setFieldType(type(LONG_LONG, BINARY))
                    .addChildren(integer(1)));
        }
        return request(
                0,
                scan(LONG_LONG, BINARY),
                Executor.newBuilder()
                        .setTp(ExecType.TypeAggregation)
                        .setAggregation(groups)
                        .build());
    }

    /** A heap of 40,000 rows of 100 columns. */
    static Request topN() {
        Projection.Builder wide = Projection.newBuilder();
        for (int i = 0; i < COPIES; i++) {
            wide.addExprs(integer(1));
        }
        return request(
                0,
                scan(LONG_LONG, BINARY),
                Executor.newBuilder()
                        .setTp(ExecType.TypeProjection)
                        .setProjection(wide)
                        .build(),
                topN(ROWS, integer(1)));
    }

    /** The first row by 16 keys, each twice as long as its string. */
    static Request sortKeys() {
        TopN.Builder first = TopN.newBuilder().setLimit(1);
        for (int i = 0; i < SORT_KEYS; i++) {
            first.addOrderBy(ByItem.newBuilder().setExpr(string()));
        }
        return request(
                0,
                scan(VAR_CHAR, UTF8MB4_GENERAL_CI),
                Executor.newBuilder().setTp(ExecType.TypeTopN).setTopN(first).build());
    }

    /** A response of 40,000 rows of 100 values. */
    static Request response() {
        return request(COPIES - 1, scan(LONG_LONG, BINARY));
    }

    /** All 40,000 rows of ten values: an answer of 3.6 MB. */
    static Request rows() {
        return request(9, scan(LONG_LONG, BINARY));
    }

    /** The first row: holds next to nothing. */
    static Request modest() {
        return request(
                0,
                scan(LONG_LONG, BINARY),
                Executor.newBuilder()
                        .setTp(ExecType.TypeLimit)
                        .setLimit(Limit.newBuilder().setLimit(1))
                        .build());
    }

    private static Executor topN(int rows, Expr by) {
        return Executor.newBuilder()
                .setTp(ExecType.TypeTopN)
                .setTopN(TopN.newBuilder()
                        .setLimit(rows)
                        .addOrderBy(ByItem.newBuilder().setExpr(by)))
                .build();
    }

    private interface Value {
        byte[] of(long handle);
    }

    private static byte[] memData(int rows, Value value) {
        try (MemoryGuard guard = MemoryGuard.unlimited();
                MemDataWriter writer = new MemDataWriter(guard)) {
            for (long handle = 1; handle <= rows; handle++) {
                byte[] key = ByteBuffer.allocate(ROW_PREFIX.length + Long.BYTES)
                        .put(ROW_PREFIX)
                        .putLong(handle ^ Long.MIN_VALUE)
                        .array();
                writer.add(key, 1, 2, value.of(handle));
            }
            return writer.copyV2(new byte[0]);
        }
    }

    private static Request request(int moreOutputs, Executor... executors) {
        ByteString start = ByteString.copyFrom(ROW_PREFIX);
        DAGRequest.Builder dag =
                DAGRequest.newBuilder().addAllExecutors(Stream.of(executors).toList());
        dag.addOutputOffsets(0)
                .addAllOutputOffsets(
                        IntStream.range(0, moreOutputs).map(i -> 0).boxed().toList());
        return Request.newBuilder()
                .setTp(103)
                .setStartTs(10)
                .setContext(Context.newBuilder().setPeer(Peer.newBuilder().setStoreId(5)))
                .setData(dag.build().toByteString())
                .addRanges(KeyRange.newBuilder().setStart(start).setEnd(start.concat(ByteString.copyFrom(new byte[] {-1
                }))))
                .build();
    }

    private static Executor scan(int tp, int collation) {
        return Executor.newBuilder()
                .setTp(ExecType.TypeTableScan)
                .setTblScan(TableScan.newBuilder()
                        .setTableId(1)
                        .addColumns(
                                column(1, LONG_LONG, BINARY).setPkHandle(true).setFlag(1))
                        .addColumns(column(2, tp, collation)))
                .build();
    }

    private static ColumnInfo.Builder column(long id, int tp, int collation) {
        return ColumnInfo.newBuilder()
                .setColumnId(id)
                .setTp(tp)
                .setCollation(collation)
                .setColumnLen(-1)
                .setDecimal(-1);
    }

    private static Expr integer(int offset) {
        return reference(offset, type(LONG_LONG, BINARY));
    }

    private static Expr string() {
        return reference(1, type(VAR_CHAR, UTF8MB4_GENERAL_CI));
    }

    private static Expr reference(long offset, FieldType type) {
        return Expr.newBuilder()
                .setTp(ExprType.ColumnRef)
                .setVal(ByteString.copyFrom(ByteBuffer.allocate(Long.BYTES)
                        .putLong(offset ^ Long.MIN_VALUE)
                        .array()))
                .setFieldType(type)
                .build();
    }

    private static FieldType type(int tp, int collation) {
        return FieldType.newBuilder()
                .setTp(tp)
                .setCollate(collation)
                .setFlen(-1)
                .setDecimal(-1)
                .build();
    }
}
