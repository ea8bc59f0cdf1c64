package io.coplane.bench;

import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.tipb.Chunk;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.EncodeType;
import io.coplane.proto.tipb.SelectResponse;
import io.coplane.types.codec.Datums;
import io.coplane.types.codec.Memcomparable;
import io.coplane.types.codec.Varints;
import io.coplane.types.column.DecimalColumn;
import io.coplane.types.decimal.DecimalReader;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** The fact table of data set {@code analytic} as Java values, read through the coprocessor: what DuckDB is loaded with. */
final class LineItems {
    private static final int COLUMNS = 17;
    private static final int FIRST_TIME = 10;
    private static final int LAST_TIME = 12;
    private static final int DECIMAL_HEAD = 3;

    private LineItems() {}

    /**
     * Reads all rows.
     *
     * @param scanned a recorded request whose first executor scans all columns of the table
     */
    static List<Object[]> read(Request scanned, Function<Request, Response> execute) throws IOException {
        DAGRequest.Builder dag = DAGRequest.parseFrom(scanned.getData()).toBuilder();
        while (dag.getExecutorsCount() > 1) {
            dag.removeExecutors(dag.getExecutorsCount() - 1);
        }
        dag.clearOutputOffsets().clearChunkMemoryLayout().setEncodeType(EncodeType.TypeDefault);
        for (int i = 0; i < COLUMNS; i++) {
            dag.addOutputOffsets(i);
        }
        Request request = scanned.toBuilder()
                .setData(dag.build().toByteString())
                .setPagingSize(0)
                .build();
        SelectResponse answer = SelectResponse.parseFrom(execute.apply(request).getData());
        List<Object[]> rows = new ArrayList<>();
        int[] starts = new int[COLUMNS];
        int[] lengths = new int[COLUMNS];
        for (Chunk chunk : answer.getChunksList()) {
            byte[] bytes = chunk.getRowsData().toByteArray();
            for (int at = 0; at < bytes.length; ) {
                at = Datums.split(bytes, at, bytes.length, starts, lengths, COLUMNS);
                Object[] row = new Object[COLUMNS];
                for (int i = 0; i < COLUMNS; i++) {
                    row[i] = value(bytes, starts[i], starts[i] + lengths[i], i >= FIRST_TIME && i <= LAST_TIME);
                }
                rows.add(row);
            }
        }
        return rows;
    }

    /** Long, BigDecimal, String, LocalDateTime, Double or null. */
    private static Object value(byte[] bytes, int at, int end, boolean isTime) {
        int payload = at + 1;
        ByteBuffer word = ByteBuffer.wrap(bytes);
        return switch (bytes[at]) {
            case Datums.NIL -> null;
            case Datums.INT -> word.getLong(payload) ^ Long.MIN_VALUE;
            case Datums.VAR_INT -> Varints.getInt(bytes, payload, end - payload);
            case Datums.VAR_UINT -> Varints.getUint(bytes, payload, end - payload);
            case Datums.UINT -> isTime ? time(word.getLong(payload)) : (Object) word.getLong(payload);
            case Datums.FLOAT -> Memcomparable.getDouble(bytes, payload);
            case Datums.DECIMAL -> decimal(bytes, payload, end);
            case Datums.COMPACT_BYTES -> {
                int prefix = Varints.length(bytes, payload, end);
                yield new String(bytes, payload + prefix, end - payload - prefix, StandardCharsets.UTF_8);
            }
            default -> throw new IllegalStateException("datum of flag " + bytes[at]);
        };
    }

    private static LocalDateTime time(long packed) {
        long ymdhms = packed >>> 24;
        int micros = (int) (packed & 0xff_ffff);
        int ymd = (int) (ymdhms >>> 17);
        int hms = (int) (ymdhms & 0x1_ffff);
        return LocalDateTime.of(
                (ymd >> 5) / 13, (ymd >> 5) % 13, ymd & 31, hms >> 12, hms >> 6 & 63, hms & 63, micros * 1_000);
    }

    private static BigDecimal decimal(byte[] bytes, int at, int end) {
        DecimalColumn column = new DecimalColumn();
        column.reset(1);
        new DecimalReader().read(bytes, at, end, column, 0);
        int header = column.headers()[0];
        if ((header & DecimalColumn.FLAT) == 0 || end - at < DECIMAL_HEAD) {
            throw new IllegalStateException("decimal too long for the benchmark");
        }
        return BigDecimal.valueOf(column.unscaled()[0], header >>> 8 & 0xff);
    }
}
