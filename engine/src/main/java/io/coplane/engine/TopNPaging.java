package io.coplane.engine;

import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.ExecType;
import io.coplane.proto.tipb.Executor;

/** Turns a request with a very large TopN into a paged one, which the TopN passes through unsorted (worker.md 8). */
final class TopNPaging {
    /** {@code paging_size} that means "page by bytes only". */
    static final long BY_BYTES_ONLY = 0xffff_ffffL;

    private TopNPaging() {}

    /** The request, with a finite page where a TopN without partitions asks for more than {@code maxRows} rows; the same object otherwise. */
    static Request rewrite(Request request, DAGRequest dag, long maxRows) {
        if (maxRows == 0 || request.getPagingSize() != BY_BYTES_ONLY) {
            return request;
        }
        for (Executor executor : dag.getExecutorsList()) {
            boolean plainTopN =
                    executor.getTp() == ExecType.TypeTopN && executor.getTopN().getPartitionByCount() == 0;
            long limit = executor.getTopN().getLimit();
            if (plainTopN && Long.compareUnsigned(limit, maxRows) > 0) {
                return request.toBuilder().setPagingSize(limit - 1).build();
            }
        }
        return request;
    }
}
