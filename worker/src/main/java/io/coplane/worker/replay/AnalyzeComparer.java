package io.coplane.worker.replay;

import com.google.protobuf.ByteString;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.tipb.AnalyzeColumnsResp;
import io.coplane.proto.tipb.AnalyzeIndexResp;
import io.coplane.proto.tipb.AnalyzeMixedResp;
import io.coplane.proto.tipb.AnalyzeReq;
import io.coplane.proto.tipb.AnalyzeType;
import io.coplane.proto.tipb.CMSketch;
import io.coplane.proto.tipb.FMSketch;
import io.coplane.proto.tipb.RowSampleCollector;
import io.coplane.proto.tipb.SampleCollector;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.TreeMap;

/** Compares statistics (corpus README, rule 7): histograms, counts and CM sketches exactly, FM sketches as sets, samples by their number. */
final class AnalyzeComparer {
    private AnalyzeComparer() {}

    static void compare(Request request, ByteString ours, ByteString theirs, List<Difference> differences)
            throws IOException {
        AnalyzeType type = AnalyzeReq.parseFrom(Corpus.input(request.getData().toByteArray()))
                .getTp();
        switch (type) {
            case TypeIndex, TypeCommonHandle ->
                index(AnalyzeIndexResp.parseFrom(ours), AnalyzeIndexResp.parseFrom(theirs), differences);
            case TypeColumn, TypeFullSampling ->
                columns(AnalyzeColumnsResp.parseFrom(ours), AnalyzeColumnsResp.parseFrom(theirs), differences);
            case TypeMixed -> {
                AnalyzeMixedResp left = AnalyzeMixedResp.parseFrom(ours);
                AnalyzeMixedResp right = AnalyzeMixedResp.parseFrom(theirs);
                columns(left.getColumnsResp(), right.getColumnsResp(), differences);
                index(left.getIndexResp(), right.getIndexResp(), differences);
            }
            case TypeSampleIndex ->
                differences.add(new Difference("data", ours.size() + " bytes", theirs.size() + " bytes"));
        }
    }

    private static void index(AnalyzeIndexResp ours, AnalyzeIndexResp theirs, List<Difference> differences) {
        text("histogram", ours.getHist(), theirs.getHist(), differences);
        sketch("CM sketch", ours.getCms(), theirs.getCms(), differences);
        collector("collector", ours.getCollector(), theirs.getCollector(), differences);
    }

    private static void columns(AnalyzeColumnsResp ours, AnalyzeColumnsResp theirs, List<Difference> differences) {
        text("handle histogram", ours.getPkHist(), theirs.getPkHist(), differences);
        text("collectors", ours.getCollectorsCount(), theirs.getCollectorsCount(), differences);
        for (int i = 0; i < Math.min(ours.getCollectorsCount(), theirs.getCollectorsCount()); i++) {
            collector("collector " + i, ours.getCollectors(i), theirs.getCollectors(i), differences);
        }
        rows(ours.getRowCollector(), theirs.getRowCollector(), differences);
    }

    private static void rows(RowSampleCollector ours, RowSampleCollector theirs, List<Difference> differences) {
        text("row collector count", ours.getCount(), theirs.getCount(), differences);
        text("row collector null counts", ours.getNullCountsList(), theirs.getNullCountsList(), differences);
        text("row collector total sizes", ours.getTotalSizeList(), theirs.getTotalSizeList(), differences);
        text("row collector samples", ours.getSamplesCount(), theirs.getSamplesCount(), differences);
        text("row collector FM sketches", ours.getFmSketchCount(), theirs.getFmSketchCount(), differences);
        for (int i = 0; i < Math.min(ours.getFmSketchCount(), theirs.getFmSketchCount()); i++) {
            fm("row collector FM sketch " + i, ours.getFmSketch(i), theirs.getFmSketch(i), differences);
        }
    }

    private static void collector(
            String what, SampleCollector ours, SampleCollector theirs, List<Difference> differences) {
        text(what + " null count", ours.getNullCount(), theirs.getNullCount(), differences);
        text(what + " count", ours.getCount(), theirs.getCount(), differences);
        text(what + " total size", ours.getTotalSize(), theirs.getTotalSize(), differences);
        text(what + " samples", ours.getSamplesCount(), theirs.getSamplesCount(), differences);
        fm(what + " FM sketch", ours.getFmSketch(), theirs.getFmSketch(), differences);
        sketch(what + " CM sketch", ours.getCmSketch(), theirs.getCmSketch(), differences);
    }

    private static void fm(String what, FMSketch ours, FMSketch theirs, List<Difference> differences) {
        text(what + " mask", ours.getMask(), theirs.getMask(), differences);
        if (!new HashSet<>(ours.getHashsetList()).equals(new HashSet<>(theirs.getHashsetList()))) {
            differences.add(new Difference(
                    what, ours.getHashsetCount() + " hashes", theirs.getHashsetCount() + " hashes, not the same"));
        }
    }

    private static void sketch(String what, CMSketch ours, CMSketch theirs, List<Difference> differences) {
        text(what + " rows", ours.getRowsList(), theirs.getRowsList(), differences);
        text(what + " TopN", topN(ours), topN(theirs), differences);
    }

    private static TreeMap<String, Long> topN(CMSketch sketch) {
        TreeMap<String, Long> counts = new TreeMap<>();
        sketch.getTopNList()
                .forEach(entry -> counts.put(
                        java.util.HexFormat.of().formatHex(entry.getData().toByteArray()), entry.getCount()));
        return counts;
    }

    private static void text(String what, Object ours, Object theirs, List<Difference> differences) {
        if (!ours.equals(theirs)) {
            AnswerComparer.compareText(
                    what, ours.toString().replace('\n', ' '), theirs.toString().replace('\n', ' '), differences);
        }
    }
}
