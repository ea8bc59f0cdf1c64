package io.coplane.cop;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.tipb.AnalyzeColumnsResp;
import io.coplane.proto.tipb.AnalyzeIndexResp;
import io.coplane.proto.tipb.AnalyzeMixedResp;
import io.coplane.proto.tipb.AnalyzeReq;
import io.coplane.proto.tipb.CMSketch;
import io.coplane.proto.tipb.CMSketchTopN;
import io.coplane.proto.tipb.FMSketch;
import io.coplane.proto.tipb.RowSampleCollector;
import io.coplane.proto.tipb.SampleCollector;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Compares analyze answers: sets are ordered, samples are reduced to their number. */
final class AnalyzeComparer {
    private AnalyzeComparer() {}

    static String difference(Request request, ByteString ours, ByteString theirs)
            throws InvalidProtocolBufferException {
        AnalyzeReq analyze = AnalyzeReq.parseFrom(request.getData());
        String mine = text(analyze, ours);
        String other = text(analyze, theirs);
        if (mine.equals(other)) {
            return null;
        }
        int at = 0;
        while (at < Math.min(mine.length(), other.length()) && mine.charAt(at) == other.charAt(at)) {
            at++;
        }
        int from = Math.max(0, at - 120);
        return "analyze " + analyze.getTp() + " differs\n   ours="
                + mine.substring(from, Math.min(mine.length(), at + 150)) + "\n theirs="
                + other.substring(from, Math.min(other.length(), at + 150));
    }

    private static String text(AnalyzeReq analyze, ByteString data) throws InvalidProtocolBufferException {
        return switch (analyze.getTp()) {
            case TypeIndex, TypeCommonHandle ->
                index(AnalyzeIndexResp.parseFrom(data)).toString();
            case TypeColumn, TypeFullSampling, TypeSampleIndex ->
                columns(AnalyzeColumnsResp.parseFrom(data)).toString();
            case TypeMixed -> {
                AnalyzeMixedResp mixed = AnalyzeMixedResp.parseFrom(data);
                yield mixed.toBuilder()
                        .setColumnsResp(columns(mixed.getColumnsResp()))
                        .setIndexResp(index(mixed.getIndexResp()))
                        .build()
                        .toString();
            }
        };
    }

    private static AnalyzeIndexResp index(AnalyzeIndexResp response) {
        AnalyzeIndexResp.Builder builder = response.toBuilder();
        if (response.hasCms()) {
            builder.setCms(cm(response.getCms()));
        }
        if (response.hasCollector()) {
            builder.setCollector(collector(response.getCollector()));
        }
        return builder.build();
    }

    private static AnalyzeColumnsResp columns(AnalyzeColumnsResp response) {
        AnalyzeColumnsResp.Builder builder = response.toBuilder().clearCollectors();
        response.getCollectorsList().forEach(c -> builder.addCollectors(collector(c)));
        if (response.hasRowCollector()) {
            RowSampleCollector rows = response.getRowCollector();
            RowSampleCollector.Builder collector =
                    rows.toBuilder().clearFmSketch().clearSamples();
            rows.getFmSketchList().forEach(f -> collector.addFmSketch(fm(f)));
            collector.setSketchSampleCount(rows.getSamplesCount());
            builder.setRowCollector(collector);
        }
        return builder.build();
    }

    private static SampleCollector collector(SampleCollector collector) {
        SampleCollector.Builder builder = collector.toBuilder().clearSamples();
        for (int i = 0; i < collector.getSamplesCount(); i++) {
            builder.addSamples(ByteString.EMPTY);
        }
        if (collector.hasFmSketch()) {
            builder.setFmSketch(fm(collector.getFmSketch()));
        }
        if (collector.hasCmSketch()) {
            builder.setCmSketch(cm(collector.getCmSketch()));
        }
        return builder.build();
    }

    private static FMSketch fm(FMSketch sketch) {
        List<Long> hashes = new ArrayList<>(sketch.getHashsetList());
        hashes.sort(Long::compareUnsigned);
        return sketch.toBuilder().clearHashset().addAllHashset(hashes).build();
    }

    private static CMSketch cm(CMSketch sketch) {
        List<CMSketchTopN> top = new ArrayList<>(sketch.getTopNList());
        top.sort(Comparator.comparing(t -> t.getData().toStringUtf8() + t.getCount()));
        return sketch.toBuilder().clearTopN().addAllTopN(top).build();
    }
}
