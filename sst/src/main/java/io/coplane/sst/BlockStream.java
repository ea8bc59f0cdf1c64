package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;

/**
 * The stored blocks of one kind of a table, read in pieces of whole blocks, one piece ahead of the reader. At most two pieces are held, and those
 * that {@link #keepFrom} keeps. What isn't kept leaves its memory to the next piece.
 *
 * <p>Owns the pieces until {@link #release}; may be used again afterwards. One thread, which waits for the store.
 */
final class BlockStream {
    private final FileParts parts;
    private final BlockIndex index;
    private final String file;
    private final int pieceBytes;
    private final MemoryGuard guard;
    private final BooleanSupplier relief;
    private final ArrayDeque<Piece> kept = new ArrayDeque<>(); // ascending, before the current one
    private int keptFrom = Integer.MAX_VALUE;
    private Piece current;
    private Piece ahead;
    private NativeArena spare; // null: none

    /**
     * A stream that has read nothing.
     *
     * @param pieceBytes least bytes of a piece if the blocks come to that; one block is read whole, whatever its size
     * @param relief     frees memory for a piece that is needed, and says whether it did
     */
    BlockStream(
            FileParts parts, BlockIndex index, String file, int pieceBytes, MemoryGuard guard, BooleanSupplier relief) {
        this.parts = parts;
        this.index = index;
        this.file = file;
        this.pieceBytes = pieceBytes;
        this.guard = guard;
        this.relief = relief;
    }

    /**
     * Keeps what is read from a block on, so that nobody who goes back no farther has it read again, unless memory runs out.
     *
     * @param block what lies before it is freed
     * @return whether anything was freed
     */
    boolean keepFrom(int block) {
        boolean any = false;
        keptFrom = block;
        while (!kept.isEmpty() && kept.getFirst().endBlock <= block) {
            kept.removeFirst().close();
            any = true;
        }
        return any;
    }

    /** Keeps nothing any more. @return whether anything was freed */
    boolean keepNothing() {
        return keepFrom(Integer.MAX_VALUE);
    }

    /** Exactly the bytes of a block; valid until the next call. */
    MemorySegment block(int block) {
        Piece piece = holder(block);
        if (piece == null) {
            move(block);
            piece = current;
        }
        long start = index.start(block);
        return piece.bytes.asSlice(start - piece.start, index.end(block) - start);
    }

    private Piece holder(int block) {
        if (current != null && current.holds(block)) {
            return current;
        }
        for (Piece piece : kept) {
            if (piece.holds(block)) {
                return piece;
            }
        }
        return null;
    }

    private void move(int block) {
        Piece wanted = ahead;
        ahead = null;
        Piece last = current;
        current = null;
        if (last != null && last.endBlock > keptFrom) {
            kept.addLast(last);
        } else if (last != null) {
            free(spare);
            spare = last.arena;
        }
        if (wanted != null && !wanted.holds(block)) {
            wanted.close();
            wanted = null;
        }
        if (wanted != null && !wanted.tryAwait()) {
            wanted = null; // there was no memory to read ahead; there may be some now
        }
        if (wanted == null) {
            wanted = read(block);
        }
        current = wanted;
        if (wanted.endBlock < index.count()) {
            ahead = new Piece(wanted.endBlock);
        } else {
            free(spare);
            spare = null;
        }
    }

    private static void free(NativeArena arena) {
        if (arena != null) {
            arena.close();
        }
    }

    private Piece read(int block) {
        while (true) {
            var piece = new Piece(block);
            try {
                piece.await();
                return piece;
            } catch (MemoryLimitException e) {
                if (!relief.getAsBoolean() && !freeKept()) {
                    throw e;
                }
            }
        }
    }

    private boolean freeKept() {
        boolean any = !kept.isEmpty();
        kept.forEach(Piece::close);
        kept.clear();
        return any;
    }

    /** Frees the pieces, waiting for reads under way. Idempotent. */
    void release() {
        Piece[] pieces = {current, ahead};
        current = null;
        ahead = null;
        keepNothing();
        free(spare);
        spare = null;
        for (Piece piece : pieces) {
            if (piece != null) {
                piece.close();
            }
        }
    }

    /** The last piece's arena if its memory is enough, else a new one. */
    private NativeArena takeSpare(long bytes) {
        NativeArena last = spare;
        spare = null;
        if (last != null && last.reuse(bytes)) {
            return last;
        }
        free(last);
        return new NativeArena(guard);
    }

    private final class Piece {
        private final int firstBlock;
        private final int endBlock;
        private final long start;
        private final long end;
        private final NativeArena arena;
        private final CompletableFuture<MemorySegment> reading;
        private MemorySegment bytes;

        Piece(int first) {
            firstBlock = first;
            start = index.start(first);
            int next = first + 1;
            while (next < index.count() && index.end(next) - start <= pieceBytes) {
                next++;
            }
            endBlock = next;
            end = index.end(next - 1);
            arena = takeSpare(end - start);
            CompletableFuture<MemorySegment> future;
            try {
                if (arena.ownedBytes() == 0 && endBlock < index.count()) {
                    arena.reserve(Math.max(pieceBytes, end - start)); // for the pieces behind it too
                }
                future = parts.read(start, end, arena);
            } catch (RuntimeException e) {
                future = CompletableFuture.failedFuture(e);
            }
            reading = future;
        }

        boolean holds(int block) {
            return block >= firstBlock && block < endBlock;
        }

        void await() {
            try {
                bytes = reading.join();
            } catch (CompletionException e) {
                arena.close();
                throw failure(e);
            }
            if (bytes.byteSize() != end - start) {
                long read = bytes.byteSize();
                arena.close();
                throw FileErrors.truncated(
                        file, start, "read another number of bytes: bytes=" + read + " wanted=" + (end - start));
            }
        }

        /** @return false if the memory limit refused; then it is closed */
        boolean tryAwait() {
            try {
                await();
                return true;
            } catch (CoplaneException e) {
                if (e.code() == ErrorCode.MEMORY_LIMIT) {
                    return false;
                }
                throw e;
            }
        }

        void close() {
            try {
                reading.join();
            } catch (CompletionException e) {
                // a piece that nobody asked for: its failure harms nobody
            } finally {
                arena.close();
            }
        }
    }

    /** The failure of a read as a typed error. */
    static CoplaneException failure(CompletionException e) {
        return e.getCause() instanceof CoplaneException typed
                ? typed
                : new CoplaneException(ErrorCode.STORE_UNAVAILABLE, "read failed: " + e.getCause(), e);
    }
}
