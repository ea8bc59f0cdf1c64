package io.coplane.cop;

import com.google.protobuf.ByteString;
import io.coplane.cop.exec.RowSource;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.tipb.AnalyzeReq;
import io.coplane.snapshot.DeadlineCheck;

final class AnalyzeRun {
    private AnalyzeRun() {}

    static ByteString run(
            Request request,
            AnalyzeReq analyze,
            RowSource source,
            Clock clock,
            MemoryGuard guard,
            DeadlineCheck deadline) {
        throw new CoplaneException(ErrorCode.UNSUPPORTED, "Analyze of this kind not implemented");
    }
}
