package io.coplane.worker.replay;

import com.google.protobuf.ByteString;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.tipb.AnalyzeColumnsResp;
import io.coplane.proto.tipb.AnalyzeIndexResp;
import io.coplane.proto.tipb.AnalyzeMixedResp;
import io.coplane.proto.tipb.AnalyzeReq;
import io.coplane.proto.tipb.AnalyzeType;
import io.coplane.proto.tipb.CMSketch;
import io.coplane.proto.tipb.CMSketchTopN;
import io.coplane.proto.tipb.FMSketch;
import io.coplane.proto.tipb.Histogram;
import io.coplane.proto.tipb.RowSample;
import io.coplane.proto.tipb.RowSampleCollector;
import io.coplane.proto.tipb.SampleCollector;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** Statistics against statistics (corpus README, rule 7). */
final class AnalyzeComparer {
    private static final int MOST_SAMPLES = 1 << 20;
    /** A Bernoulli sample farther from its mean than this many standard deviations is wrong. */
    private static final double SIGMAS = 6;

    private final Rerun rerun;
    private final Request request;
    private final AnalyzeReq analyze;

    AnalyzeComparer(Rerun rerun, Request request) {
        this.rerun = rerun;
        this.request = request;
        analyze = Messages.parse(AnalyzeReq.parser(), request.getData());
    }

    void compare(ByteString ours, ByteString theirs, List<Difference> differences) {
        switch (analyze.getTp()) {
            case TypeIndex, TypeCommonHandle ->
                index(
                        Messages.parse(AnalyzeIndexResp.parser(), ours),
                        Messages.parse(AnalyzeIndexResp.parser(), theirs),
                        differences);
            case TypeColumn, TypeFullSampling ->
                columns(
                        Messages.parse(AnalyzeColumnsResp.parser(), ours),
                        Messages.parse(AnalyzeColumnsResp.parser(), theirs),
                        differences);
            case TypeMixed -> {
                var mine = Messages.parse(AnalyzeMixedResp.parser(), ours);
                var other = Messages.parse(AnalyzeMixedResp.parser(), theirs);
                columns(mine.getColumnsResp(), other.getColumnsResp(), differences);
                index(mine.getIndexResp(), other.getIndexResp(), differences);
            }
            case TypeSampleIndex -> AnswerComparer.same(ours, theirs, "analyze data", differences);
        }
    }

    private void index(AnalyzeIndexResp ours, AnalyzeIndexResp theirs, List<Difference> differences) {
        histogram(ours.getHist(), theirs.getHist(), "histogram", differences);
        sketch(ours.hasCms(), ours.getCms(), theirs.hasCms(), theirs.getCms(), "cms", differences);
        collector(ours.getCollector(), theirs.getCollector(), null, "collector", differences);
    }

    private void columns(AnalyzeColumnsResp ours, AnalyzeColumnsResp theirs, List<Difference> differences) {
        histogram(ours.getPkHist(), theirs.getPkHist(), "pk_hist", differences);
        if (ours.getCollectorsCount() != theirs.getCollectorsCount()) {
            differences.add(Difference.of("collectors", ours.getCollectorsCount(), theirs.getCollectorsCount()));
            return;
        }
        AnalyzeColumnsResp all = ours.equals(theirs) ? null : everySample();
        for (int i = 0; i < theirs.getCollectorsCount(); i++) {
            collector(
                    ours.getCollectors(i),
                    theirs.getCollectors(i),
                    all == null || i >= all.getCollectorsCount() ? null : all.getCollectors(i),
                    "collector " + i,
                    differences);
        }
        AnswerComparer.same(ours.hasRowCollector(), theirs.hasRowCollector(), "row_collector", differences);
        rows(ours.getRowCollector(), theirs.getRowCollector(), all, differences);
    }

    private static void histogram(Histogram ours, Histogram theirs, String part, List<Difference> differences) {
        AnswerComparer.same(ours.getNdv(), theirs.getNdv(), part + " ndv", differences);
        AnswerComparer.same(ours.getBucketsCount(), theirs.getBucketsCount(), part + " buckets", differences);
        for (int i = 0; i < Math.min(ours.getBucketsCount(), theirs.getBucketsCount()); i++) {
            var mine = ours.getBuckets(i);
            var other = theirs.getBuckets(i);
            boolean isSame = mine.getCount() == other.getCount()
                    && mine.getRepeats() == other.getRepeats()
                    && mine.getNdv() == other.getNdv()
                    && mine.getLowerBound().equals(other.getLowerBound())
                    && mine.getUpperBound().equals(other.getUpperBound());
            if (!isSame) {
                differences.add(new Difference(part, i, -1, oneLine(mine), oneLine(other), "bucket"));
                return;
            }
        }
    }

    private static String oneLine(Object message) {
        return message.toString().replace('\n', ' ');
    }

    private static void sketch(
            boolean weHave,
            CMSketch ours,
            boolean theyHave,
            CMSketch theirs,
            String part,
            List<Difference> differences) {
        AnswerComparer.same(weHave, theyHave, part + " presence", differences);
        AnswerComparer.same(ours.getRowsList(), theirs.getRowsList(), part + " rows", differences);
        AnswerComparer.same(ours.getDefaultValue(), theirs.getDefaultValue(), part + " default_value", differences);
        AnswerComparer.same(topN(ours), topN(theirs), part + " top_n", differences);
    }

    private static List<String> topN(CMSketch sketch) {
        return sketch.getTopNList().stream().map(AnalyzeComparer::text).sorted().toList();
    }

    private static String text(CMSketchTopN top) {
        return HexFormat.of().formatHex(top.getData().toByteArray()) + " x " + Long.toUnsignedString(top.getCount());
    }

    private static void sketch(FMSketch ours, FMSketch theirs, String part, List<Difference> differences) {
        AnswerComparer.same(ours.getMask(), theirs.getMask(), part + " mask", differences);
        AnswerComparer.same(
                ours.getHashsetList().stream().sorted().toList(),
                theirs.getHashsetList().stream().sorted().toList(),
                part + " hashset",
                differences);
    }

    /** @param all the collector with every value as a sample; null: samples are only counted */
    private static void collector(
            SampleCollector ours,
            SampleCollector theirs,
            SampleCollector all,
            String part,
            List<Difference> differences) {
        AnswerComparer.same(ours.getNullCount(), theirs.getNullCount(), part + " null_count", differences);
        AnswerComparer.same(ours.getCount(), theirs.getCount(), part + " count", differences);
        AnswerComparer.same(ours.getTotalSize(), theirs.getTotalSize(), part + " total_size", differences);
        sketch(ours.getFmSketch(), theirs.getFmSketch(), part + " fm_sketch", differences);
        sketch(
                ours.hasCmSketch(),
                ours.getCmSketch(),
                theirs.hasCmSketch(),
                theirs.getCmSketch(),
                part + " cm_sketch",
                differences);
        AnswerComparer.same(ours.getSamplesCount(), theirs.getSamplesCount(), part + " samples", differences);
        if (all != null) {
            drawn(ours.getSamplesList(), all.getSamplesList(), "ours of " + part, differences);
            drawn(theirs.getSamplesList(), all.getSamplesList(), "recorded of " + part, differences);
        }
    }

    private void rows(
            RowSampleCollector ours, RowSampleCollector theirs, AnalyzeColumnsResp all, List<Difference> differences) {
        AnswerComparer.same(ours.getNullCountsList(), theirs.getNullCountsList(), "null_counts", differences);
        AnswerComparer.same(ours.getCount(), theirs.getCount(), "count", differences);
        AnswerComparer.same(ours.getTotalSizeList(), theirs.getTotalSizeList(), "total_size", differences);
        AnswerComparer.same(ours.getFmSketchCount(), theirs.getFmSketchCount(), "fm_sketches", differences);
        for (int i = 0; i < Math.min(ours.getFmSketchCount(), theirs.getFmSketchCount()); i++) {
            sketch(ours.getFmSketch(i), theirs.getFmSketch(i), "fm_sketch " + i, differences);
        }
        double rate = analyze.getColReq().getSampleSize() > 0
                ? 1
                : analyze.getColReq().getSampleRate();
        if (rate >= 1 || rate <= 0) {
            AnswerComparer.same(ours.getSamplesCount(), theirs.getSamplesCount(), "samples", differences);
        } else {
            double mean = theirs.getCount() * rate;
            double deviation = Math.sqrt(mean * (1 - rate));
            if (Math.abs(ours.getSamplesCount() - mean) > SIGMAS * deviation + 1) {
                differences.add(Difference.of("samples", ours.getSamplesCount(), mean + " by its rate"));
            }
        }
        if (all != null) {
            List<List<ByteString>> every = rows(all.getRowCollector());
            drawn(rows(ours), every, "ours", differences);
            drawn(rows(theirs), every, "recorded", differences);
        }
    }

    private static List<List<ByteString>> rows(RowSampleCollector collector) {
        return collector.getSamplesList().stream().map(RowSample::getRowList).toList();
    }

    /** Each sample is a value that is there, and as often at most. */
    private static <T> void drawn(List<T> samples, List<T> all, String whose, List<Difference> differences) {
        Map<T, Integer> left = new HashMap<>();
        all.forEach(value -> left.merge(value, 1, Integer::sum));
        for (int i = 0; i < samples.size(); i++) {
            if (left.merge(samples.get(i), -1, Integer::sum) < 0) {
                differences.add(new Difference(whose, i, -1, samples.get(i).toString(), "none", "sample"));
                return;
            }
        }
    }

    /** The answer to the same request with every row as a sample; null if there is none. */
    private AnalyzeColumnsResp everySample() {
        if (rerun == null) {
            return null;
        }
        AnalyzeReq.Builder every = analyze.toBuilder();
        every.getColReqBuilder().setSampleSize(MOST_SAMPLES).clearSampleRate();
        Response response = rerun.run(request.toBuilder()
                .clearTasks()
                .setData(every.build().toByteString())
                .build());
        return analyze.getTp() == AnalyzeType.TypeMixed
                ? Messages.parse(AnalyzeMixedResp.parser(), response.getData()).getColumnsResp()
                : Messages.parse(AnalyzeColumnsResp.parser(), response.getData());
    }
}
