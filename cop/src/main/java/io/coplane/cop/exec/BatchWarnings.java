package io.coplane.cop.exec;

import io.coplane.types.EvalContext;

/**
 * The count of warnings as selections and projections report it: with every batch all that the executor has seen so far, so that
 * {@code warning_count} grows faster than the warnings come (recorded answers show it; the warnings themselves come once). One thread.
 */
final class BatchWarnings {
    private long seen;

    /** @param before the context's count before this executor evaluated the batch */
    void endBatch(EvalContext context, long before) {
        context.repeatWarnings(seen);
        seen += context.warningCount() - seen - before;
    }
}
