package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.memory.NativeArena;
import java.util.Arrays;
import java.util.List;

/**
 * One large transaction in a shard: txn chunks in key order, seen as committed writes or as locks, at one version and within bounds
 * (snapshot.md 7.6). Borrows its chunks. Immutable, thread-safe; cursors are for one thread each.
 *
 * <p>What an entry is:
 *
 * <pre>
 *            writes                                 locks
 * user meta  the file's                             none
 * value      the mutation's; of a delete empty      lock prefix, its first byte replaced by the type of the lock; 'v';
 *                                                   varint length of the mutation's value; that value
 * type                                              op 2: lock; op 1: delete; any other: put
 * </pre>
 */
public final class TxnFileReader {
    /** Mutations that scans of writes leave out: those that only lock or check. */
    public static final int SKIP_LOCKS_AND_CHECKS =
            1 << TxnChunkCursor.OP_LOCK | 1 << TxnChunkCursor.OP_CHECK_NOT_EXIST;

    /** Mutations that scans of locks leave out: those that only check. */
    public static final int SKIP_CHECKS = 1 << TxnChunkCursor.OP_CHECK_NOT_EXIST;

    /** Leaves out nothing. */
    public static final int SKIP_NOTHING = 0;

    final List<TxnChunkReader> chunks;
    final byte[] userMeta;
    final byte[] lockPrefix;
    final long version;
    final byte[] lower;
    final byte[] upper;
    private final byte[][] smallest;
    private final byte[][] biggest;

    /**
     * Puts a transaction together.
     *
     * @param chunks     all its chunks, in key order; those beyond the bounds are left out
     * @param userMeta   of every write; empty for locks
     * @param lockPrefix serialised lock without a value; empty for writes
     * @param version    of every entry
     * @param lower      inclusive inner key
     * @param upper      exclusive inner key
     * @throws CoplaneException of code FILE_MISMATCH if chunks within the bounds overlap or are out of order
     */
    public TxnFileReader(
            List<TxnChunkReader> chunks, byte[] userMeta, byte[] lockPrefix, long version, byte[] lower, byte[] upper) {
        this.chunks =
                chunks.stream().filter(chunk -> chunk.touches(lower, upper)).toList();
        this.userMeta = userMeta.clone();
        this.lockPrefix = lockPrefix.clone();
        this.version = version;
        this.lower = lower.clone();
        this.upper = upper.clone();
        int count = this.chunks.size();
        smallest = new byte[count][];
        biggest = new byte[count][];
        for (int i = 0; i < count; i++) {
            TxnChunkReader chunk = this.chunks.get(i);
            smallest[i] = chunk.smallest();
            biggest[i] = chunk.biggest();
            boolean ordered = Arrays.compareUnsigned(smallest[i], biggest[i]) <= 0
                    && (i == 0 || Arrays.compareUnsigned(biggest[i - 1], smallest[i]) < 0);
            if (!ordered) {
                throw new CoplaneException(
                        ErrorCode.FILE_MISMATCH,
                        "chunks of a txn file overlap: file=" + chunk.file + " offset=0 index=" + i);
            }
        }
    }

    /** Whether the entries are locks rather than writes. */
    public boolean isLock() {
        return lockPrefix.length > 0;
    }

    /** Version of every entry. */
    public long version() {
        return version;
    }

    /** User meta of every entry; a copy. */
    public byte[] userMeta() {
        return isLock() ? new byte[0] : userMeta.clone();
    }

    /** First inner key that is visible; a copy. */
    public byte[] lower() {
        return lower.clone();
    }

    /** First inner key that is not visible any more; a copy. */
    public byte[] upper() {
        return upper.clone();
    }

    /** Ids of the chunks that reach into the bounds, in key order. */
    public List<Long> chunkIds() {
        return chunks.stream().map(TxnChunkReader::chunkId).toList();
    }

    /** Mutations that insert, in whole chunks. */
    public long insertCount() {
        return chunks.stream().mapToLong(TxnChunkReader::insertCount).sum();
    }

    /** Mutations that only check, in whole chunks. */
    public long checkNotExistCount() {
        return chunks.stream().mapToLong(TxnChunkReader::checkNotExistCount).sum();
    }

    /** About how many bytes of the chunks lie within the bounds: whole blocks of average size, for statistics. */
    public long estimatedBytes() {
        long bytes = 0;
        long blocks = 0;
        for (TxnChunkReader chunk : chunks) {
            bytes += chunk.bytes.byteSize();
            blocks += chunk.blocks();
        }
        if (blocks == 0) {
            return 0;
        }
        long end = chunkAtOrAbove(upper) == chunks.size() ? blocks : blocksBelow(upper) + 1;
        return bytes / blocks * Math.max(0, end - blocksBelow(lower));
    }

    private long blocksBelow(byte[] innerKey) {
        int of = chunkAtOrAbove(innerKey);
        long below = of < chunks.size() ? chunks.get(of).blockOf(innerKey) : 0;
        for (int i = 0; i < of; i++) {
            below += chunks.get(i).blocks();
        }
        return below;
    }

    /** Mutations that scans of this kind of file leave out. */
    public int skippedInScans() {
        return isLock() ? SKIP_CHECKS : SKIP_LOCKS_AND_CHECKS;
    }

    /** Mutations that gets from this kind of file leave out. */
    public int skippedInGets() {
        return isLock() ? SKIP_NOTHING : SKIP_LOCKS_AND_CHECKS;
    }

    /**
     * A cursor over the entries, on none yet.
     *
     * @param reverse whether it walks by key descending
     * @param skip    bit {@code 1 << op} of each mutation to leave out
     * @param arena   owns the cursor's scratch memory; borrowed
     */
    public TxnFileCursor cursor(boolean reverse, int skip, NativeArena arena) {
        return new TxnFileCursor(this, reverse, skip, arena);
    }

    /** First chunk with a key no less than this one; the number of chunks if there is none. */
    int chunkAtOrAbove(byte[] innerKey) {
        int i = 0;
        while (i < biggest.length && Arrays.compareUnsigned(biggest[i], innerKey) < 0) {
            i++;
        }
        return i;
    }

    /** Last chunk with a key no greater than this one; -1 if there is none. */
    int chunkAtOrBelow(byte[] innerKey) {
        int i = smallest.length - 1;
        while (i >= 0 && Arrays.compareUnsigned(smallest[i], innerKey) > 0) {
            i--;
        }
        return i;
    }
}
