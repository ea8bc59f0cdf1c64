package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32;

/**
 * Mutations as a client sends them, to be made into a txn chunk (worker.md 14.1). All integers little-endian.
 *
 * <pre>
 * entries, one behind the other        bytes  field
 *                                          2  keyLength
 *                                             key          outer or inner; ascending, without duplicates
 *                                          1  op           an OP constant of {@link TxnChunkCursor}
 *                                          4  valueLength
 *                                             value
 * the last 4 bytes                            CRC-32 (IEEE) of all before
 * </pre>
 */
public final class TxnChunkBody {
    private static final int LEAST_ENTRY_BYTES = Short.BYTES + Byte.BYTES + Integer.BYTES;

    private TxnChunkBody() {}

    /**
     * Makes a chunk of a body.
     *
     * @param body       in native memory; borrowed
     * @param chunkId    of the file
     * @param blockBytes size by which blocks are cut
     * @param key        of the shard; null if it has none
     * @param guard      charged while the file is built; borrowed
     * @param arena      owns the file; borrowed
     * @throws CoplaneException of code BAD_REQUEST_BODY: {@code body is invalid} if it is shorter than its checksum, {@code checksum mismatch}, or what
     *     is wrong with an entry
     */
    public static SstFile build(
            MemorySegment body, long chunkId, int blockBytes, ShardKey key, MemoryGuard guard, NativeArena arena) {
        long end = body.byteSize() - Integer.BYTES;
        if (end < 0) {
            throw new CoplaneException(ErrorCode.BAD_REQUEST_BODY, "body is invalid");
        }
        if (Formats.compute(body, 0, end, new CRC32()) != body.get(Layouts.LE_INT, end)) {
            throw new CoplaneException(ErrorCode.BAD_REQUEST_BODY, "checksum mismatch");
        }
        try (var builder = new TxnChunkBuilder(chunkId, blockBytes, key, guard)) {
            byte[] scratch = new byte[Formats.MAX_KEY_BYTES];
            for (long at = 0; at < end; ) {
                at = add(body, at, end, scratch, builder);
            }
            if (builder.isEmpty()) {
                throw new CoplaneException(ErrorCode.BAD_REQUEST_BODY, "body has no entries");
            }
            return builder.finish(arena);
        } catch (CoplaneException e) {
            throw e.code() == ErrorCode.BAD_ARGUMENT
                    ? new CoplaneException(ErrorCode.BAD_REQUEST_BODY, e.getMessage(), e)
                    : e;
        }
    }

    /** @return offset of the next entry */
    private static long add(MemorySegment body, long at, long end, byte[] scratch, TxnChunkBuilder builder) {
        long left = end - at - LEAST_ENTRY_BYTES;
        int keyLength = left < 0 ? 0 : body.get(Layouts.LE_SHORT, at) & 0xFFFF;
        long opAt = at + Short.BYTES + keyLength;
        left -= keyLength;
        long valueLength = left < 0 ? 0 : body.get(Layouts.LE_INT, opAt + Byte.BYTES) & 0xFFFF_FFFFL;
        left -= valueLength;
        if (left < 0 || valueLength > Integer.MAX_VALUE) {
            throw new CoplaneException(ErrorCode.BAD_REQUEST_BODY, "entry is cut: offset=" + at);
        }
        MemorySegment.copy(body, Layouts.BYTE, at + Short.BYTES, scratch, 0, keyLength);
        int trimmed = Bytes.hasKeyspace(scratch, 0, keyLength) ? Bytes.KEYSPACE_PREFIX_BYTES : 0;
        long valueAt = opAt + Byte.BYTES + Integer.BYTES;
        int op = body.get(Layouts.BYTE, opAt) & 0xFF;
        builder.add(scratch, trimmed, keyLength - trimmed, op, body, valueAt, (int) valueLength);
        return valueAt + valueLength;
    }
}
