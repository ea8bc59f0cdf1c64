package io.coplane.cop;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.coplane.cop.plan.DagPlan;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.tipb.Chunk;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.EncodeType;
import io.coplane.proto.tipb.ExecType;
import io.coplane.proto.tipb.Executor;
import io.coplane.proto.tipb.ExecutorExecutionSummary;
import io.coplane.proto.tipb.SelectResponse;
import io.coplane.testing.ManualClock;
import io.coplane.types.FieldType;
import io.coplane.types.codec.Datums;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * Compares an answer with the recorded one by the rules of testdata/corpus/README.md, for DAG and checksum requests. Stricter than the rules where
 * it costs nothing; for TopN ties and hash aggregations cut by a limit it only compares what the rules fix for sure.
 */
final class AnswerComparer {
    private final RecordedData data;

    AnswerComparer(RecordedData data) {
        this.data = data;
    }

    /** What differs; null if nothing does. */
    String difference(Request request, Response ours, Response theirs) throws InvalidProtocolBufferException {
        if (theirs.getOtherError().startsWith("panic:")) {
            return null;
        }
        if (ours.getOtherError().isEmpty() != theirs.getOtherError().isEmpty()) {
            return "other_error: ours=" + ours.getOtherError() + " theirs=" + theirs.getOtherError();
        }
        if (!theirs.getOtherError().isEmpty()) {
            return null;
        }
        if (!ours.getRange().equals(theirs.getRange()) || ours.hasRange() != theirs.hasRange()) {
            return "range: ours=" + ours.getRange() + " theirs=" + theirs.getRange();
        }
        if (ours.getBatchResponsesCount() != theirs.getBatchResponsesCount()) {
            return "batch responses: ours=" + ours.getBatchResponsesCount() + " theirs="
                    + theirs.getBatchResponsesCount();
        }
        for (int i = 0; i < theirs.getBatchResponsesCount(); i++) {
            var mine = ours.getBatchResponses(i);
            var other = theirs.getBatchResponses(i);
            if (mine.getTaskId() != other.getTaskId()
                    || mine.getOtherError().isEmpty() != other.getOtherError().isEmpty()) {
                return "batch response " + i + ": ours=" + mine + " theirs=" + other;
            }
            String difference = data(request, mine.getData(), other.getData());
            if (difference != null) {
                return "batch response " + i + ": " + difference;
            }
        }
        return data(request, ours.getData(), theirs.getData());
    }

    private String data(Request request, ByteString ours, ByteString theirs) throws InvalidProtocolBufferException {
        if (request.getTp() == 104) {
            return AnalyzeComparer.difference(request, ours, theirs);
        }
        if (request.getTp() != 103) {
            return ours.equals(theirs) ? null : "data differs";
        }
        SelectResponse mine = SelectResponse.parseFrom(ours);
        SelectResponse other = SelectResponse.parseFrom(theirs);
        if (mine.hasError() != other.hasError()
                || mine.getError().getCode() != other.getError().getCode()
                || !text(mine.getError().getMsg()).equals(text(other.getError().getMsg()))) {
            return "error: ours=" + mine.getError() + " theirs=" + other.getError();
        }
        if (mine.getEncodeType() != other.getEncodeType()) {
            return "encode_type: ours=" + mine.getEncodeType() + " theirs=" + other.getEncodeType();
        }
        if (!mine.getOutputCountsList().equals(other.getOutputCountsList())) {
            return "output_counts: ours=" + mine.getOutputCountsList() + " theirs=" + other.getOutputCountsList();
        }
        if (mine.getWarningCount() != other.getWarningCount() || !warnings(mine).equals(warnings(other))) {
            return "warnings: " + mine.getWarningCount() + " for " + other.getWarningCount() + " ours=" + warnings(mine)
                    + " theirs=" + warnings(other);
        }
        if (!summaries(mine).equals(summaries(other))) {
            return "summaries: ours=" + summaries(mine) + " theirs=" + summaries(other);
        }
        DAGRequest dag = DAGRequest.parseFrom(request.getData());
        List<FieldType> types = outputTypes(request, dag);
        return rows(dag, types, mine, other);
    }

    private static String text(String text) {
        return text.replaceAll("\\[[^\\]]*:\\d+\\]: ", "");
    }

    private static List<String> warnings(SelectResponse response) {
        return response.getWarningsList().stream()
                .map(w -> w.getCode() + " " + text(w.getMsg()))
                .sorted()
                .toList();
    }

    private static List<Long> summaries(SelectResponse response) {
        return response.getExecutionSummariesList().stream()
                .map(ExecutorExecutionSummary::getNumProducedRows)
                .toList();
    }

    private List<FieldType> outputTypes(Request request, DAGRequest dag) {
        try (DagPlan plan = DagPlan.build(
                dag,
                data.at(0),
                io.coplane.cop.plan.Ranges.of(request.getRangesList()),
                0,
                request.getPagingSize(),
                null,
                ManualClock.recorded(),
                MemoryGuard.unlimited())) {
            return dag.getOutputOffsetsList().stream()
                    .map(plan.root().schema()::get)
                    .toList();
        }
    }

    private static String rows(DAGRequest dag, List<FieldType> types, SelectResponse mine, SelectResponse other) {
        List<String> ours = rows(mine, types);
        List<String> theirs = rows(other, types);
        if (ours.equals(theirs)) {
            return null;
        }
        boolean anyOrder = false;
        boolean approximate = false;
        for (Executor executor : dag.getExecutorsList()) {
            anyOrder |= executor.getTp() == ExecType.TypeAggregation || executor.getTp() == ExecType.TypeTopN;
            approximate |= executor.getTp() == ExecType.TypeAggregation;
        }
        if (anyOrder) {
            List<String> a = ours.stream().sorted().toList();
            List<String> b = theirs.stream().sorted().toList();
            if (a.equals(b)) {
                return null;
            }
            ours = a;
            theirs = b;
        }
        int at = 0;
        while (at < Math.min(ours.size(), theirs.size()) && ours.get(at).equals(theirs.get(at))) {
            at++;
        }
        return "rows: ours=" + ours.size() + " theirs=" + theirs.size() + (approximate ? " agg" : "") + " first at "
                + at + "\n   ours=" + (at < ours.size() ? ours.get(at) : "-") + "\n theirs="
                + (at < theirs.size() ? theirs.get(at) : "-");
    }

    private static List<String> rows(SelectResponse response, List<FieldType> types) {
        List<String> rows = new ArrayList<>();
        for (Chunk chunk : response.getChunksList()) {
            byte[] bytes = chunk.getRowsData().toByteArray();
            if (response.getEncodeType() == EncodeType.TypeDefault) {
                defaultRows(bytes, types.size(), rows);
            } else {
                chunkRows(bytes, types, rows);
            }
        }
        return rows;
    }

    private static void defaultRows(byte[] bytes, int columns, List<String> rows) {
        int at = 0;
        while (at < bytes.length) {
            StringBuilder row = new StringBuilder();
            for (int i = 0; i < columns; i++) {
                int end = Datums.skip(bytes, at, bytes.length);
                row.append(HexFormat.of().formatHex(bytes, at, end)).append(' ');
                at = end;
            }
            rows.add(row.toString());
        }
    }

    private static void chunkRows(byte[] bytes, List<FieldType> types, List<String> rows) {
        ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        List<StringBuilder> cells = new ArrayList<>();
        for (FieldType type : types) {
            int count = in.getInt();
            int nulls = in.getInt();
            byte[] bitmap = new byte[nulls > 0 ? (count + 7) / 8 : 0];
            in.get(bitmap);
            int fixed = fixedBytes(type);
            long[] offsets = new long[count + 1];
            if (fixed < 0) {
                for (int i = 0; i <= count; i++) {
                    offsets[i] = in.getLong();
                }
            }
            for (int i = 0; i < count; i++) {
                if (cells.size() <= i) {
                    cells.add(new StringBuilder());
                }
                byte[] cell = new byte[fixed < 0 ? (int) (offsets[i + 1] - offsets[i]) : fixed];
                in.get(cell);
                boolean isNull = nulls > 0 && (bitmap[i / 8] >> i % 8 & 1) == 0;
                cells.get(i)
                        .append(isNull ? "-" : HexFormat.of().formatHex(cell))
                        .append(' ');
            }
        }
        cells.forEach(cell -> rows.add(cell.toString()));
    }

    private static int fixedBytes(FieldType type) {
        return switch (type.tp()) {
            case FieldType.FLOAT -> 4;
            case FieldType.TINY,
                    FieldType.SHORT,
                    FieldType.INT24,
                    FieldType.LONG,
                    FieldType.LONG_LONG,
                    FieldType.YEAR,
                    FieldType.DOUBLE,
                    FieldType.DATE,
                    FieldType.DATE_TIME,
                    FieldType.TIMESTAMP,
                    FieldType.DURATION -> 8;
            case FieldType.NEW_DECIMAL -> 40;
            default -> -1;
        };
    }
}
