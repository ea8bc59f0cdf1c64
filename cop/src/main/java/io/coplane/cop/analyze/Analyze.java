package io.coplane.cop.analyze;

import com.google.protobuf.ByteString;
import io.coplane.cop.exec.ExecutionSummary;
import io.coplane.cop.exec.RangesReader;
import io.coplane.cop.exec.RowSource;
import io.coplane.cop.exec.ScanColumn;
import io.coplane.cop.exec.ScanRange;
import io.coplane.cop.exec.TableScan;
import io.coplane.cop.plan.Contexts;
import io.coplane.cop.plan.Ranges;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.tipb.AnalyzeColumnsReq;
import io.coplane.proto.tipb.AnalyzeMixedResp;
import io.coplane.proto.tipb.AnalyzeReq;
import io.coplane.proto.tipb.AnalyzeType;
import io.coplane.snapshot.DeadlineCheck;
import io.coplane.types.EvalContext;
import java.util.List;

/** Runs analyze requests (coprocessor.md 6). */
public final class Analyze {
    private Analyze() {}

    /**
     * Runs one.
     *
     * @param source borrowed
     * @param guard borrowed; charged for what is held meanwhile
     * @return the serialised answer
     * @throws CoplaneException with the text for {@code other_error}
     */
    public static ByteString run(
            Request request,
            AnalyzeReq analyze,
            RowSource source,
            Clock clock,
            MemoryGuard guard,
            DeadlineCheck deadline) {
        List<ScanRange> ranges = Ranges.of(request.getRangesList());
        int prefixBytes = Ranges.prefixBytes(request.getContext());
        AnalyzeType type = analyze.getTp();
        if (type == AnalyzeType.TypeSampleIndex) {
            throw new CoplaneException(ErrorCode.UNSUPPORTED, "Analyze of this kind not implemented");
        }
        Ranges.checkTables(ranges, prefixBytes);
        RangesReader reader = new RangesReader(source, ranges, false, false);
        if (type == AnalyzeType.TypeIndex || type == AnalyzeType.TypeCommonHandle) {
            boolean commonHandle = type == AnalyzeType.TypeCommonHandle;
            return new IndexAnalyze(analyze.getIdxReq(), commonHandle, prefixBytes)
                    .run(reader, guard, deadline)
                    .toByteString();
        }
        AnalyzeColumnsReq columnsRequest = analyze.getColReq();
        List<ScanColumn> columns = ScanColumn.of(columnsRequest.getColumnsInfoList());
        if (columns.isEmpty()) {
            throw new CoplaneException(ErrorCode.BAD_PLAN, "empty columns_info");
        }
        EvalContext context = Contexts.plain(clock);
        try (TableScan scan = new TableScan(
                columns,
                columnsRequest.getPrimaryColumnIdsList(),
                columnsRequest.getPrimaryPrefixColumnIdsList(),
                prefixBytes,
                reader,
                new ExecutionSummary(clock),
                context,
                guard)) {
            if (type == AnalyzeType.TypeFullSampling) {
                try (FullSampling sampling =
                        new FullSampling(columnsRequest, columns, request.getStartTs(), context, guard)) {
                    sampling.run(scan, deadline);
                    return sampling.response().toByteString();
                }
            }
            boolean mixed = type == AnalyzeType.TypeMixed;
            try (ColumnAnalyze work =
                    new ColumnAnalyze(columnsRequest, columns, mixed, request.getStartTs(), context, guard)) {
                work.run(scan, mixed, deadline);
                if (!mixed) {
                    return work.columns().toByteString();
                }
                return AnalyzeMixedResp.newBuilder()
                        .setColumnsResp(work.columns())
                        .setIndexResp(work.index())
                        .build()
                        .toByteString();
            }
        }
    }
}
