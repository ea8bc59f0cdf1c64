package io.coplane.worker.replay;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.coplane.proto.coprocessor.KeyRange;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.tipb.AnalyzeColumnsResp;
import io.coplane.proto.tipb.AnalyzeIndexResp;
import io.coplane.proto.tipb.AnalyzeReq;
import io.coplane.proto.tipb.AnalyzeType;
import io.coplane.proto.tipb.ChecksumResponse;
import io.coplane.proto.tipb.Chunk;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.EncodeType;
import io.coplane.proto.tipb.Error;
import io.coplane.proto.tipb.SelectResponse;
import io.coplane.testing.TestData;
import io.coplane.types.FieldType;
import io.coplane.worker.replay.Corpus.Recorded;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A comparer that can't fail proves nothing: recorded answers with one thing changed must be reported, except where the rules leave it free. */
final class ComparerMutationTest {
    private static final String DATA_SETS =
            "{agg,smoke,scan_types,topn_limit,paging,mvcc,checksum_check,analyze,store_batch,cast_a}";
    private static final int ANSWERS_PER_DATA_SET = 60;
    private static final AnswerComparer COMPARER = new AnswerComparer();

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void reportsWhatWasChanged(long seed) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        int[] mutations = new int[Mutation.values().length];
        Corpus corpus = Corpus.open(TestData.root());
        List<String> names = corpus.names(DATA_SETS);
        String name = names.get(random.nextInt(names.size()));
        List<Recorded> requests = corpus.load(name).requests();
        for (int i = 0; i < ANSWERS_PER_DATA_SET; i++) {
            Recorded recorded = requests.get(random.nextInt(requests.size()));
            if (recorded.answer().getOtherError().startsWith("panic:")) {
                continue;
            }
            assertThat(COMPARER.compare(recorded, recorded.answer()))
                    .as(recorded.id())
                    .isEmpty();
            for (Mutation mutation : Mutation.values()) {
                Response changed = mutation.apply(recorded, random);
                if (changed != null) {
                    mutations[mutation.ordinal()]++;
                    assertThat(COMPARER.compare(recorded, changed))
                            .as("%s with another %s, seed %d", recorded.id(), mutation, seed)
                            .isNotEmpty();
                }
            }
        }

        assertThat(Arrays.stream(mutations).sum())
                .as("mutations tried on " + name)
                .isGreaterThan(ANSWERS_PER_DATA_SET);
    }

    @Test
    void everyMutationIsTriedSomewhere() throws IOException {
        SplittableRandom random = new SplittableRandom(7);
        int[] tried = new int[Mutation.values().length];
        Corpus corpus = Corpus.open(TestData.root());
        for (String name : corpus.names(DATA_SETS)) {
            for (Recorded recorded :
                    corpus.load(name).requests().stream().limit(400).toList()) {
                for (Mutation mutation : Mutation.values()) {
                    tried[mutation.ordinal()] += mutation.apply(recorded, random) == null ? 0 : 1;
                }
            }
        }

        for (Mutation mutation : Mutation.values()) {
            assertThat(tried[mutation.ordinal()]).as(mutation.name()).isPositive();
        }
    }

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void leavesFreeWhatTheRulesLeaveFree(long seed) throws IOException {
        Random random = new Random(seed);
        int checked = 0;
        for (Recorded recorded : Corpus.open(TestData.root()).load("agg").requests().stream()
                .limit(300)
                .toList()) {
            Answer answer = Answer.of(recorded);
            if (answer == null) {
                continue;
            }
            List<byte[][]> rows = answer.rows();
            if (answer.shape.order() == PlanShape.Order.MULTISET) {
                Collections.shuffle(rows, random);
                checked++;
            }
            Response again = answer.with(rows, 1 + random.nextInt(3));
            assertThat(COMPARER.compare(recorded, again)).as(recorded.id()).isEmpty();
        }

        assertThat(checked).isGreaterThan(20);
    }

    /** One change of an answer; null where the answer has no such thing. */
    private enum Mutation {
        VALUE {
            @Override
            Response apply(Recorded recorded, SplittableRandom random) throws IOException {
                Answer answer = Answer.of(recorded);
                if (answer == null
                        || answer.shape.outputs().isEmpty()
                        || answer.decoded.rows().size() == 0
                        || answer.isCut()) {
                    return null;
                }
                List<byte[][]> rows = answer.rows();
                int row = random.nextInt(rows.size());
                int column = random.nextInt(rows.get(row).length);
                byte[] old = rows.get(row)[column];
                boolean variable = answer.encodeType == EncodeType.TypeDefault || answer.width(column) == 0;
                byte[] changed = old == null ? new byte[] {} : old.clone();
                if (variable && answer.encodeType != EncodeType.TypeDefault) {
                    changed = Arrays.copyOf(changed, changed.length + 1);
                } else if (answer.encodeType == EncodeType.TypeDefault) {
                    changed = new byte[] {2, 6, 'x', 'y', 'z'};
                } else if (old == null) {
                    changed = new byte[answer.width(column)];
                } else {
                    changed[changed.length - 1] ^= 0x40;
                }
                rows.get(row)[column] = changed;
                return Arrays.equals(old, changed) ? null : answer.with(rows, 1);
            }
        },
        ROW {
            @Override
            Response apply(Recorded recorded, SplittableRandom random) throws IOException {
                Answer answer = Answer.of(recorded);
                if (answer == null || answer.decoded.rows().size() == 0) {
                    return null;
                }
                List<byte[][]> rows = answer.rows();
                rows.remove(random.nextInt(rows.size()));
                return answer.with(rows, 1);
            }
        },
        ORDER {
            @Override
            Response apply(Recorded recorded, SplittableRandom random) throws IOException {
                Answer answer = Answer.of(recorded);
                if (answer == null
                        || answer.shape.order() != PlanShape.Order.SEQUENCE
                        || answer.decoded.rows().size() < 2) {
                    return null;
                }
                List<byte[][]> rows = answer.rows();
                int row = random.nextInt(rows.size() - 1);
                Collections.swap(rows, row, row + 1);
                return Arrays.deepEquals(rows.get(row), rows.get(row + 1)) ? null : answer.with(rows, 1);
            }
        },
        WARNING {
            @Override
            Response apply(Recorded recorded, SplittableRandom random) throws IOException {
                SelectResponse select = select(recorded);
                if (select == null) {
                    return null;
                }
                SelectResponse.Builder changed = select.toBuilder();
                if (select.getWarningsCount() > 0 && random.nextBoolean()) {
                    changed.removeWarnings(random.nextInt(select.getWarningsCount()));
                } else {
                    changed.addWarnings(Error.newBuilder().setCode(1292).setMsg("evaluation failed: other"));
                }
                return with(recorded, changed.build());
            }
        },
        WARNING_COUNT {
            @Override
            Response apply(Recorded recorded, SplittableRandom random) throws IOException {
                SelectResponse select = select(recorded);
                return select == null
                        ? null
                        : with(
                                recorded,
                                select.toBuilder()
                                        .setWarningCount(select.getWarningCount() + 1)
                                        .build());
            }
        },
        OUTPUT_COUNT {
            @Override
            Response apply(Recorded recorded, SplittableRandom random) throws IOException {
                SelectResponse select = select(recorded);
                if (select == null || select.getOutputCountsCount() == 0) {
                    return null;
                }
                int index = random.nextInt(select.getOutputCountsCount());
                return with(
                        recorded,
                        select.toBuilder()
                                .setOutputCounts(index, select.getOutputCounts(index) + 1)
                                .build());
            }
        },
        PRODUCED_ROWS {
            @Override
            Response apply(Recorded recorded, SplittableRandom random) throws IOException {
                SelectResponse select = select(recorded);
                if (select == null || select.getExecutionSummariesCount() == 0) {
                    return null;
                }
                int index = random.nextInt(select.getExecutionSummariesCount());
                SelectResponse.Builder changed = select.toBuilder();
                changed.getExecutionSummariesBuilder(index)
                        .setNumProducedRows(select.getExecutionSummaries(index).getNumProducedRows() + 1);
                return with(recorded, changed.build());
            }
        },
        ENCODE_TYPE {
            @Override
            Response apply(Recorded recorded, SplittableRandom random) throws IOException {
                SelectResponse select = select(recorded);
                EncodeType other = select != null && select.getEncodeType() == EncodeType.TypeChunk
                        ? EncodeType.TypeDefault
                        : EncodeType.TypeChunk;
                return select == null
                        ? null
                        : with(recorded, select.toBuilder().setEncodeType(other).build());
            }
        },
        RANGE {
            @Override
            Response apply(Recorded recorded, SplittableRandom random) {
                Response answer = recorded.answer();
                if (!answer.hasRange()) {
                    return answer.toBuilder()
                            .setRange(KeyRange.getDefaultInstance())
                            .build();
                }
                KeyRange range = answer.getRange();
                ByteString more = ByteString.copyFrom(new byte[1]);
                return answer.toBuilder()
                        .setRange(
                                random.nextBoolean()
                                        ? range.toBuilder()
                                                .setEnd(range.getEnd().concat(more))
                                        : range.toBuilder()
                                                .setStart(range.getStart().concat(more)))
                        .build();
            }
        },
        OTHER_ERROR {
            @Override
            Response apply(Recorded recorded, SplittableRandom random) {
                return recorded.otherError().isPresent()
                        ? recorded.answer().toBuilder().clearOtherError().build()
                        : recorded.answer().toBuilder()
                                .setOtherError("unexpected")
                                .build();
            }
        },
        BATCH_TASK {
            @Override
            Response apply(Recorded recorded, SplittableRandom random) {
                int tasks = recorded.answer().getBatchResponsesCount();
                return tasks == 0
                        ? null
                        : recorded.answer().toBuilder()
                                .removeBatchResponses(random.nextInt(tasks))
                                .build();
            }
        },
        CHECKSUM {
            @Override
            Response apply(Recorded recorded, SplittableRandom random) throws IOException {
                if (recorded.request().getTp() != 105
                        || recorded.answer().getData().isEmpty()) {
                    return null;
                }
                ChecksumResponse checksum =
                        ChecksumResponse.parseFrom(recorded.answer().getData());
                return data(
                        recorded,
                        checksum.toBuilder()
                                .setTotalKvs(checksum.getTotalKvs() + 1)
                                .build()
                                .toByteString());
            }
        },
        HISTOGRAM {
            @Override
            Response apply(Recorded recorded, SplittableRandom random) throws IOException {
                if (analyzeType(recorded) != AnalyzeType.TypeIndex) {
                    return null;
                }
                AnalyzeIndexResp index =
                        AnalyzeIndexResp.parseFrom(recorded.answer().getData());
                if (index.getHist().getBucketsCount() == 0) {
                    return null;
                }
                AnalyzeIndexResp.Builder changed = index.toBuilder();
                int bucket = random.nextInt(index.getHist().getBucketsCount());
                changed.getHistBuilder()
                        .getBucketsBuilder(bucket)
                        .setRepeats(index.getHist().getBuckets(bucket).getRepeats() + 1);
                return data(recorded, changed.build().toByteString());
            }
        },
        FM_SKETCH {
            @Override
            Response apply(Recorded recorded, SplittableRandom random) throws IOException {
                if (analyzeType(recorded) != AnalyzeType.TypeFullSampling) {
                    return null;
                }
                AnalyzeColumnsResp columns =
                        AnalyzeColumnsResp.parseFrom(recorded.answer().getData());
                if (columns.getRowCollector().getFmSketchCount() == 0) {
                    return null;
                }
                AnalyzeColumnsResp.Builder changed = columns.toBuilder();
                changed.getRowCollectorBuilder().getFmSketchBuilder(0).addHashset(random.nextLong());
                return data(recorded, changed.build().toByteString());
            }
        },
        NULL_COUNT {
            @Override
            Response apply(Recorded recorded, SplittableRandom random) throws IOException {
                if (analyzeType(recorded) != AnalyzeType.TypeFullSampling) {
                    return null;
                }
                AnalyzeColumnsResp columns =
                        AnalyzeColumnsResp.parseFrom(recorded.answer().getData());
                if (columns.getRowCollector().getNullCountsCount() == 0) {
                    return null;
                }
                AnalyzeColumnsResp.Builder changed = columns.toBuilder();
                changed.getRowCollectorBuilder()
                        .setNullCounts(0, columns.getRowCollector().getNullCounts(0) + 1);
                return data(recorded, changed.build().toByteString());
            }
        };

        abstract Response apply(Recorded recorded, SplittableRandom random) throws IOException;

        private static AnalyzeType analyzeType(Recorded recorded) throws IOException {
            boolean isAnalyze = recorded.request().getTp() == 104
                    && !recorded.answer().getData().isEmpty();
            return isAnalyze
                    ? AnalyzeReq.parseFrom(recorded.request().getData()).getTp()
                    : null;
        }

        static SelectResponse select(Recorded recorded) throws IOException {
            if (recorded.request().getTp() != 103 || recorded.answer().getData().isEmpty()) {
                return null;
            }
            SelectResponse select = SelectResponse.parseFrom(recorded.answer().getData());
            return select.hasError() ? null : select;
        }

        static Response with(Recorded recorded, SelectResponse select) {
            return data(recorded, select.toByteString());
        }

        static Response data(Recorded recorded, ByteString data) {
            return recorded.answer().toBuilder().setData(data).build();
        }
    }

    /** A recorded DAG answer taken apart. */
    private static final class Answer {
        private final Recorded recorded;
        private final SelectResponse select;
        private final PlanShape shape;
        private final RowTable decoded;
        private final EncodeType encodeType;

        private Answer(Recorded recorded, SelectResponse select, PlanShape shape) {
            this.recorded = recorded;
            this.select = select;
            this.shape = shape;
            encodeType = select.getEncodeType();
            decoded = RowTable.decode(select.getChunksList(), shape.outputs(), encodeType != EncodeType.TypeDefault);
        }

        static Answer of(Recorded recorded) throws IOException {
            SelectResponse select = Mutation.select(recorded);
            if (select == null) {
                return null;
            }
            PlanShape shape = PlanShape.of(
                    Messages.parse(DAGRequest.parser(), recorded.request().getData()),
                    recorded.request().getPagingSize());
            return new Answer(recorded, select, shape);
        }

        /** True where rows at a TopN's cut may be others. */
        boolean isCut() {
            return shape.order() == PlanShape.Order.TIES;
        }

        List<byte[][]> rows() {
            List<byte[][]> rows = new ArrayList<>();
            for (int i = 0; i < decoded.rows().size(); i++) {
                rows.add(decoded.rows().get(i).clone());
            }
            return rows;
        }

        int width(int column) {
            return switch (shape.outputs().get(column).tp()) {
                case FieldType.FLOAT -> 4;
                case FieldType.NEW_DECIMAL -> 40;
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
                default -> 0;
            };
        }

        /** The answer with other rows, cut into so many chunks. */
        Response with(List<byte[][]> rows, int chunks) {
            SelectResponse.Builder changed = select.toBuilder().clearChunks();
            int perChunk = Math.max(1, (rows.size() + chunks - 1) / chunks);
            for (int from = 0; from < rows.size(); from += perChunk) {
                List<byte[][]> part = rows.subList(from, Math.min(rows.size(), from + perChunk));
                changed.addChunks(Chunk.newBuilder().setRowsData(encode(part)));
            }
            return Mutation.with(recorded, changed.build());
        }

        private ByteString encode(List<byte[][]> rows) {
            ByteString.Output out = ByteString.newOutput();
            if (encodeType == EncodeType.TypeDefault) {
                rows.forEach(row -> Arrays.stream(row).forEach(cell -> out.write(cell, 0, cell.length)));
                return out.toByteString();
            }
            for (int column = 0; column < shape.outputs().size(); column++) {
                encodeColumn(out, rows, column);
            }
            return out.toByteString();
        }

        private void encodeColumn(ByteString.Output out, List<byte[][]> rows, int column) {
            byte[] present = new byte[(rows.size() + 7) / 8];
            int nulls = 0;
            for (int i = 0; i < rows.size(); i++) {
                if (rows.get(i)[column] == null) {
                    nulls++;
                } else {
                    present[i >> 3] |= (byte) (1 << (i & 7));
                }
            }
            putLe(out, rows.size(), 4);
            putLe(out, nulls, 4);
            if (nulls > 0) {
                out.write(present, 0, present.length);
            }
            int width = width(column);
            long offset = 0;
            for (int i = 0; width == 0 && i <= rows.size(); i++) {
                putLe(out, offset, 8);
                offset += i < rows.size() && rows.get(i)[column] != null ? rows.get(i)[column].length : 0;
            }
            for (byte[][] row : rows) {
                byte[] cell = row[column] == null ? new byte[width] : row[column];
                out.write(cell, 0, cell.length);
            }
        }

        private static void putLe(ByteString.Output out, long value, int bytes) {
            for (int i = 0; i < bytes; i++) {
                out.write((int) (value >>> 8 * i));
            }
        }
    }
}
