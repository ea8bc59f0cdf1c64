package io.coplane.compaction;

import com.google.protobuf.InvalidProtocolBufferException;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.proto.enginepb.ChangeSet;
import java.io.IOException;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one compaction notes of itself while it runs, so that the same request goes on behind its last resume point after a crash, and gets the same
 * answer after a lost reply. A journal that can't be written any more is given up with a warning: the compaction goes on without.
 *
 * <p>Got from {@link CompactionJournals#begin}; closed when the answer was delivered or is known to be lost. Thread-safe.
 */
public final class JobJournal implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(JobJournal.class);

    /** Told of the end of a journal. */
    interface Owner {
        void closed(JobJournal journal);
    }

    private final String identity;
    private final long createdMillis;
    private final JournalState state;
    private final Owner owner;
    private JournalFile file; // null: nothing is noted
    private int batchesUsed;
    private boolean closed;

    JobJournal(String identity, long createdMillis, JournalState state, JournalFile file, Owner owner) {
        this.identity = identity;
        this.createdMillis = createdMillis;
        this.state = state;
        this.file = file;
        this.owner = owner;
    }

    /** A journal that notes nothing. */
    public static JobJournal off() {
        return new JobJournal("", 0, new JournalState(), null, journal -> {});
    }

    String identity() {
        return identity;
    }

    long createdMillis() {
        return createdMillis;
    }

    /** The result of an attempt that completed; null if there is none. Whether the store still holds its files is another matter. */
    synchronized CompactionResult finished() {
        if (state.done == null) {
            return null;
        }
        try {
            return new CompactionResult(
                    ChangeSet.parseFrom(state.done.changeSet()),
                    state.done.inputEntries(),
                    state.done.outputEntries(),
                    state.outputs.size(),
                    bytes(state.outputs),
                    0,
                    state.done.inputEntries(),
                    state.outputs.size(),
                    bytes(state.outputs));
        } catch (InvalidProtocolBufferException e) {
            LOG.warn("journal holds no ChangeSet: identity={}", identity, e);
            return null;
        }
    }

    /** Outputs of the attempt so far; a copy. */
    synchronized List<JournalOutput> outputs() {
        return List.copyOf(state.outputs);
    }

    /** Outputs that an attempt would keep: all of a finished one, else those before {@link #lastPoint}. */
    synchronized List<JournalOutput> keptOutputs(boolean finished) {
        if (finished) {
            return List.copyOf(state.outputs);
        }
        ResumePoint point = lastPoint();
        return point == null ? List.of() : List.copyOf(state.outputs.subList(0, point.outputs()));
    }

    /** Where an attempt may go on; null: from the start. */
    synchronized ResumePoint lastPoint() {
        int last = state.lastUsablePoint();
        return last < 0 ? null : state.points.get(last);
    }

    /** An attempt begins at {@link #lastPoint}, or from the start. */
    synchronized void begin(boolean fromStart) {
        batchesUsed = 0;
        note(new JournalRecord.Run(fromStart ? -1 : state.lastUsablePoint()));
    }

    /** The ids that an earlier attempt got, in order; then new ones, which are noted before anybody uses them. */
    FileIdAllocator replaying(FileIdAllocator allocator) {
        return count -> {
            synchronized (this) {
                if (batchesUsed < state.batches.size()) {
                    long[] noted = state.batches.get(batchesUsed++);
                    if (noted.length != count) {
                        throw new CoplaneException(
                                ErrorCode.INVARIANT_BROKEN,
                                "journal has another number of ids: count=" + noted.length + " wanted=" + count);
                    }
                    return noted.clone();
                }
            }
            long[] fresh = allocator.allocate(count);
            synchronized (this) {
                batchesUsed++;
                note(new JournalRecord.Ids(fresh.clone()));
            }
            return fresh;
        };
    }

    synchronized void begun(JournalOutput output) {
        note(new JournalRecord.Begun(output));
    }

    synchronized void stored(long fileId) {
        note(new JournalRecord.Stored(fileId));
    }

    synchronized int outputCount() {
        return state.outputs.size();
    }

    synchronized void point(ResumePoint point) {
        note(new JournalRecord.Point(point));
    }

    synchronized void done(CompactionResult result) {
        note(new JournalRecord.Done(result.changeSet().toByteArray(), result.inputEntries(), result.outputEntries()));
    }

    /** Notes that somebody got the answer: its outputs are no orphans. */
    public synchronized void delivered(long wallMillis) {
        if (state.done != null) {
            note(new JournalRecord.Delivered(wallMillis));
        }
    }

    synchronized boolean isDelivered() {
        return state.deliveredMillis >= 0;
    }

    synchronized long deliveredMillis() {
        return state.deliveredMillis;
    }

    /** The state is right without a file too: the attempt itself asks it. */
    private void note(JournalRecord record) {
        if (!state.apply(record)) {
            throw new CoplaneException(ErrorCode.INVARIANT_BROKEN, "record doesn't fit the journal: " + record);
        }
        if (file == null) {
            return;
        }
        try {
            file.append(record.encode());
        } catch (IOException | RuntimeException e) {
            LOG.warn("journal is given up: identity={}", identity, e);
            closeFile();
        }
    }

    private void closeFile() {
        JournalFile closing = file;
        file = null;
        if (closing != null) {
            try {
                closing.close();
            } catch (IOException | RuntimeException e) {
                LOG.warn("can't close a journal: identity={}", identity, e);
            }
        }
    }

    /** Lets another request of the same identity have the journal. Idempotent. */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            closeFile();
        }
        owner.closed(this);
    }

    private static long bytes(List<JournalOutput> outputs) {
        return outputs.stream().mapToLong(JournalOutput::byteSize).sum();
    }
}
