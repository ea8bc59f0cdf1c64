package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Walks the entries of a txn file that lie within its bounds, one way. Every key has one version. Key and value are valid until the next move. Moves
 * throw {@link CoplaneException} FILE_CHECKSUM, FILE_FORMAT, MEMORY_LIMIT. Borrows file and arena. One thread.
 */
public final class TxnFileCursor {
    private static final int MAX_VARINT_BYTES = 10;

    private final TxnFileReader file;
    private final boolean reverse;
    private final int skip;
    private final TxnChunkCursor[] cursors; // made when first needed
    private final NativeArena arena;

    private int chunk;
    private TxnChunkCursor at; // null: on no entry
    private byte[] lock = new byte[0];
    private int lockLength;

    TxnFileCursor(TxnFileReader file, boolean reverse, int skip, NativeArena arena) {
        this.file = file;
        this.reverse = reverse;
        this.skip = skip;
        this.arena = arena;
        this.cursors = new TxnChunkCursor[file.chunks.size()];
    }

    /** Moves to the first entry in the cursor's direction. @return whether there is one */
    public boolean rewind() {
        if (!reverse) {
            return seek(file.lower);
        }
        if (!seekChunks(file.upper)) {
            return false;
        }
        // the upper bound itself is not visible
        return at.compareKey(file.upper) == 0 ? next() : settle();
    }

    /** Moves to the first key no less than this one, in reverse to the last no greater one, within the bounds. @return whether there is one */
    public boolean seek(byte[] innerKey) {
        if (reverse && Arrays.compareUnsigned(innerKey, file.upper) >= 0) {
            return rewind();
        }
        byte[] from = !reverse && Arrays.compareUnsigned(innerKey, file.lower) < 0 ? file.lower : innerKey;
        return seekChunks(from) && settle();
    }

    /** Moves to exactly this key. @return whether it is there, visible, and not left out */
    public boolean find(byte[] innerKey) {
        at = null;
        boolean within =
                Arrays.compareUnsigned(innerKey, file.lower) >= 0 && Arrays.compareUnsigned(innerKey, file.upper) < 0;
        int candidate = within ? file.chunkAtOrAbove(innerKey) : cursors.length;
        if (candidate == cursors.length || !cursor(candidate).find(innerKey)) {
            return false;
        }
        chunk = candidate;
        at = cursors[candidate];
        if (isSkipped()) {
            at = null;
            return false;
        }
        lockLength = 0;
        return true;
    }

    private boolean seekChunks(byte[] from) {
        at = null;
        chunk = reverse ? file.chunkAtOrBelow(from) : file.chunkAtOrAbove(from);
        if (chunk < 0 || chunk >= cursors.length) {
            return false;
        }
        TxnChunkCursor cursor = cursor(chunk);
        boolean found = reverse ? cursor.seekFloor(from) : cursor.seekCeiling(from);
        at = found ? cursor : null;
        return found;
    }

    /** Moves on, in the cursor's direction; the cursor stands on an entry. @return whether there is one more */
    public boolean next() {
        if (at == null) {
            throw new CoplaneException(ErrorCode.INVARIANT_BROKEN, "cursor stands on no entry");
        }
        step();
        return settle();
    }

    private void step() {
        if (reverse ? at.previous() : at.next()) {
            return;
        }
        chunk += reverse ? -1 : 1;
        at = null;
        if (chunk >= 0 && chunk < cursors.length) {
            at = cursor(chunk);
            if (reverse) {
                at.last();
            } else {
                at.first();
            }
        }
    }

    /** Leaves out what is to be skipped; ends at the bounds. */
    private boolean settle() {
        lockLength = 0;
        while (at != null) {
            if (reverse ? at.compareKey(file.lower) < 0 : at.compareKey(file.upper) >= 0) {
                at = null;
                return false;
            }
            if (!isSkipped()) {
                return true;
            }
            step();
        }
        return false;
    }

    private boolean isSkipped() {
        int op = at.op();
        return op < Integer.SIZE && (skip >>> op & 1) != 0;
    }

    private TxnChunkCursor cursor(int i) {
        if (cursors[i] == null) {
            cursors[i] = file.chunks.get(i).cursor(arena);
        }
        return cursors[i];
    }

    /** Whether the cursor stands on an entry. */
    public boolean valid() {
        return at != null;
    }

    /** A copy of the inner key. */
    public byte[] copyKey() {
        return at.copyKey();
    }

    /** Scratch that holds the inner key from {@link #keyOffset} on. */
    public byte[] keyBytes() {
        return at.keyBytes();
    }

    /** Where the inner key begins. */
    public int keyOffset() {
        return at.keyOffset();
    }

    /** Bytes of the inner key. */
    public int keyLength() {
        return at.keyLength();
    }

    /** Kind of the mutation: an {@code OP} constant of {@link TxnChunkCursor}. */
    public int op() {
        return at.op();
    }

    /** Version of the entry. */
    public long version() {
        return file.version;
    }

    /** User meta of the entry, empty for locks; a copy. */
    public byte[] copyUserMeta() {
        return file.userMeta();
    }

    /** Where the value is. */
    public MemorySegment valueSegment() {
        return file.isLock() ? MemorySegment.ofArray(lock()) : at.valueSegment();
    }

    /** Offset of the value in its segment. */
    public long valueOffset() {
        return file.isLock() ? 0 : at.valueOffset();
    }

    /** Bytes of the value. */
    public int valueLength() {
        if (file.isLock()) {
            lock();
            return lockLength;
        }
        return at.op() == TxnChunkCursor.OP_DELETE ? 0 : at.valueLength();
    }

    /** A copy of the value. */
    public byte[] copyValue() {
        return valueSegment().asSlice(valueOffset(), valueLength()).toArray(Layouts.BYTE);
    }

    /** Puts the lock of the entry together, once. */
    private byte[] lock() {
        if (lockLength > 0) {
            return lock;
        }
        int prefix = file.lockPrefix.length;
        int valueLength = at.valueLength();
        int most = Math.addExact(prefix + Byte.BYTES + MAX_VARINT_BYTES, valueLength);
        if (lock.length < most) {
            lock = new byte[most];
        }
        System.arraycopy(file.lockPrefix, 0, lock, 0, prefix);
        lock[0] = type().mark();
        int to = prefix;
        lock[to++] = Lock.SHORT_VALUE;
        int left = valueLength;
        while (left > 0x7F) {
            lock[to++] = (byte) (left | 0x80);
            left >>>= 7;
        }
        lock[to++] = (byte) left;
        MemorySegment.copy(at.valueSegment(), Layouts.BYTE, at.valueOffset(), lock, to, valueLength);
        lockLength = to + valueLength;
        return lock;
    }

    private LockType type() {
        return switch (at.op()) {
            case TxnChunkCursor.OP_LOCK -> LockType.LOCK;
            case TxnChunkCursor.OP_DELETE -> LockType.DELETE;
            case TxnChunkCursor.OP_PUT, TxnChunkCursor.OP_INSERT, TxnChunkCursor.OP_CHECK_NOT_EXIST -> LockType.PUT;
            default ->
                throw new CoplaneException(
                        ErrorCode.FILE_FORMAT,
                        "unknown mutation in a txn chunk: op=" + at.op() + " file=" + file.chunks.get(chunk).file);
        };
    }
}
