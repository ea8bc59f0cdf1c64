package io.coplane.compaction;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.Failures;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.sst.BlobFetcher;
import io.coplane.sst.BlobReader;
import io.coplane.sst.BlobRef;
import io.coplane.sst.StreamedFiles;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * The blob tables that a major compaction replaces. References come in key order, and blob tables were written in that order, so each is read in
 * pieces from front to back; the pieces of a few are held. Owns them until closed. One thread.
 */
final class OldBlobs implements AutoCloseable {
    private static final long PIECE_BYTES = 256 << 10;
    private static final int MOST_PIECES = 8;

    private record Blob(StoreFile file, BlobReader reader) {}

    private record Piece(long start, MemorySegment bytes, NativeArena arena) {
        boolean holds(long from, long to) {
            return from >= start && to - start <= bytes.byteSize();
        }
    }

    private final Job job;
    private final Map<Long, Blob> blobs = new HashMap<>();
    private final LinkedHashMap<Long, Piece> pieces = new LinkedHashMap<>(16, 0.75f, true); // used last at the end
    private final BlobFetcher fetcher;

    OldBlobs(Job job, long[] fileIds) {
        this.job = job;
        this.fetcher = new BlobFetcher(job.arena);
        List<Blob> opened = Job.await(fileIds, this::open);
        for (Blob blob : opened) {
            blobs.put(blob.reader().fileId(), blob);
        }
    }

    private CompletableFuture<Blob> open(long fileId) {
        return find(job, fileId)
                .thenCompose(file -> job.files().openBlob(file, fileId).thenApply(reader -> new Blob(file, reader)));
    }

    /** A blob table has its own key; the reference looked for it under that of tables (compaction.md 9.4). */
    static CompletableFuture<StoreFile> find(Job job, long fileId) {
        return StoreFile.find(job.store, FileKind.BLOB, fileId, job.progress)
                .exceptionallyCompose(e -> isMissing(e)
                        ? StoreFile.find(job.store, FileKind.SST, fileId, job.progress)
                        : CompletableFuture.failedFuture(e));
    }

    static boolean isMissing(Throwable e) {
        return Failures.unwrap(e) instanceof CoplaneException typed && typed.code() == ErrorCode.FILE_NOT_FOUND;
    }

    /** The value of a reference; valid until the next call. */
    MemorySegment fetch(BlobRef ref) {
        Blob blob = blobs.get(ref.fileId());
        if (blob == null) {
            throw new CoplaneException(
                    ErrorCode.FILE_MISMATCH, "blob table not found, fid: " + Long.toUnsignedString(ref.fileId()));
        }
        long from = Integer.toUnsignedLong(ref.offset());
        long to = from + StreamedFiles.recordBytes(ref);
        if (to > blob.file().byteSize()) {
            throw new CoplaneException(
                    ErrorCode.FILE_FORMAT,
                    "blob is out of bounds: fileId=" + Long.toUnsignedString(ref.fileId()) + " offset=" + from + " end="
                            + to);
        }
        Piece piece = pieces.get(ref.fileId());
        if (piece == null || !piece.holds(from, to)) {
            piece = read(blob, from, to);
        }
        return fetcher.fetch(blob.reader(), ref, piece.bytes().asSlice(from - piece.start(), to - from));
    }

    private Piece read(Blob blob, long from, long to) {
        Piece before = pieces.remove(blob.reader().fileId());
        if (before == null && pieces.size() >= MOST_PIECES) {
            before = pieces.pollFirstEntry().getValue();
        }
        if (before != null) {
            before.arena().close();
        }
        long end = Math.min(blob.file().byteSize(), Math.max(to, from + PIECE_BYTES));
        var arena = new NativeArena(job.guard);
        try {
            MemorySegment bytes = blob.file().read(from, end, arena).join();
            if (bytes.byteSize() != end - from) {
                throw new CoplaneException(
                        ErrorCode.FILE_TRUNCATED,
                        "read another number of bytes: fileId="
                                + Long.toUnsignedString(blob.reader().fileId()) + " offset=" + from);
            }
            var piece = new Piece(from, bytes, arena);
            pieces.put(blob.reader().fileId(), piece);
            return piece;
        } catch (CompletionException e) {
            arena.close();
            throw Uploads.failure(e);
        } catch (RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    @Override
    public void close() {
        pieces.values().forEach(piece -> piece.arena().close());
        pieces.clear();
    }
}
