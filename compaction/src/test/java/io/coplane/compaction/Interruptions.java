package io.coplane.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.SplittableRandom;

/** Runs jobs that a store, or whoever stops them, interrupts; each attempt goes on by the journal of the one before. One thread. */
final class Interruptions {
    private final Path folder;
    private final CompactionJournals journals;
    private long jobs;
    long resumed; // attempts that went on
    long rebuilt; // those among them that built a blob table again

    Interruptions(Path folder, CompactionJournals journals) {
        this.folder = folder;
        this.journals = journals;
    }

    static Interruptions in(Path folder) {
        return new Interruptions(
                folder, CompactionJournals.open(folder, Clock.system(), CompactionJournals.Limits.DEFAULT));
    }

    CompactionResult run(
            CompactionRequest request,
            CompactionConfig config,
            byte[] masterKey,
            MemoryStore store,
            MemoryLimiter limiter,
            SplittableRandom random,
            FileIdAllocator ids) {
        String identity = CompactionJournals.identity(MemorySegment.ofArray(
                ByteBuffer.allocate(Long.BYTES).putLong(jobs++).array()));
        for (int left = random.nextInt(6); left > 0; left--) {
            count(read(identity));
            long stopAt = random.nextInt(3) == 0 ? Long.MAX_VALUE : random.nextInt(200);
            long[] asked = {0};
            try (var faulty = new FaultyStore(store, random.split(), random.nextInt(4, 400));
                    JobJournal journal = journals.begin(identity);
                    MemoryGuard guard = limiter.acquire(0)) {
                new Compactor(config, faulty, masterKey)
                        .compact(request, ids, guard, () -> asked[0]++ >= stopAt, new CompactionProgress(), journal);
            } catch (CoplaneException e) {
                assertThat(e.code())
                        .isIn(ErrorCode.STORE_UNAVAILABLE, ErrorCode.FILE_TRUNCATED, ErrorCode.SHUTTING_DOWN);
            }
            assertThat(limiter.usedBytes()).isZero();
        }
        JournalState before = read(identity);
        count(before);
        long putsBefore = store.puts.get();
        CompactionResult result;
        try (JobJournal journal = journals.begin(identity);
                MemoryGuard guard = limiter.acquire(0)) {
            result = new Compactor(config, store, masterKey)
                    .compact(request, ids, guard, () -> false, new CompactionProgress(), journal);
            journal.delivered(0);
        }
        nothingIsRepeated(before, result, store.puts.get() - putsBefore);
        return result;
    }

    private void nothingIsRepeated(JournalState before, CompactionResult result, long puts) {
        assertThat(puts).isEqualTo(result.outputFiles() - result.resumedFiles());
        if (before == null) {
            assertThat(result.resumedFiles()).isZero();
        } else if (before.done != null) {
            assertThat(puts).isZero();
        } else if (before.lastUsablePoint() >= 0) {
            ResumePoint point = before.points.get(before.lastUsablePoint());
            assertThat(result.resumedEntries()).isEqualTo(point.inputEntries());
            assertThat(result.resumedFiles()).isEqualTo(point.outputs());
        }
    }

    /** Counts how the next attempt begins. */
    private void count(JournalState before) {
        if (before != null && before.done == null && before.lastUsablePoint() >= 0) {
            ResumePoint point = before.points.get(before.lastUsablePoint());
            resumed += point.inputEntries() > 0 ? 1 : 0;
            rebuilt += point.hasOpenBlobs() ? 1 : 0;
        }
    }

    private JournalState read(String identity) {
        try {
            Path file = folder.resolve(identity + ".journal");
            return file.toFile().exists() ? JournalFile.read(file).state() : null;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
