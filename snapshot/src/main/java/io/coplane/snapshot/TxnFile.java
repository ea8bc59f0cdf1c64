package io.coplane.snapshot;

import com.google.protobuf.InvalidProtocolBufferException;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.proto.enginepb.TxnFileRef;
import io.coplane.proto.enginepb.TxnFileRefs;
import io.coplane.sst.MemTableBuilder;
import io.coplane.sst.TxnChunkCursor;
import io.coplane.sst.TxnChunkReader;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongFunction;

/**
 * The writes of one large transaction: txn chunks in key order, seen at one version within bounds (snapshot.md 3.5, 7.6). Immutable.
 *
 * @param chunkIds in key order
 * @param userMeta of every entry (snapshot.md 6.3)
 * @param version commit timestamp of every entry
 * @param lower inclusive inner key
 * @param upper exclusive inner key
 */
record TxnFile(List<Long> chunkIds, byte[] userMeta, long version, byte[] lower, byte[] upper) {
    /**
     * Reads the references of {@code mem_data}.
     *
     * @param refs serialised {@code TxnFileRefs}, may be empty
     * @return newest version first
     * @throws CoplaneException BAD_MEM_DATA if they are malformed; UNSUPPORTED for a lock file, which senders keep to themselves
     */
    static List<TxnFile> parse(MemorySegment refs) {
        TxnFileRefs message;
        try {
            message = TxnFileRefs.parseFrom(refs.asByteBuffer());
        } catch (InvalidProtocolBufferException e) {
            throw new CoplaneException(
                    ErrorCode.BAD_MEM_DATA, "references to txn files do not parse: " + e.getMessage(), e);
        }
        var files = new ArrayList<TxnFile>();
        for (TxnFileRef ref : message.getTxnFileRefsList()) {
            files.add(of(ref));
        }
        files.sort((left, right) -> Long.compareUnsigned(right.version, left.version));
        return files;
    }

    private static TxnFile of(TxnFileRef ref) {
        if (!ref.getLockValPrefix().isEmpty()) {
            throw new CoplaneException(
                    ErrorCode.UNSUPPORTED,
                    "txn file of locks among writes: startTs=" + Long.toUnsignedString(ref.getStartTs()));
        }
        byte[] userMeta = ref.getUserMeta().toByteArray();
        if (userMeta.length > 0
                && (userMeta.length != MemTables.USER_META_BYTES || userMeta[0] != MemTables.USER_META_FORMAT)) {
            throw new CoplaneException(
                    ErrorCode.BAD_MEM_DATA,
                    "user meta of a txn file has another format: bytes=" + userMeta.length + " startTs="
                            + Long.toUnsignedString(ref.getStartTs()));
        }
        long version = userMeta.length == 0
                ? ref.getVersion()
                : MemorySegment.ofArray(userMeta).get(Layouts.LE_LONG, MemTables.COMMIT_TS_AT);
        return new TxnFile(
                List.copyOf(ref.getChunkIdsList()),
                userMeta,
                version,
                InnerKeys.trim(ref.getInnerLowerBound().toByteArray()),
                InnerKeys.innerEnd(ref.getInnerUpperBound().toByteArray()));
    }

    /**
     * Copies the writes within the bounds to a table of their own.
     *
     * @param chunks an opened chunk by id
     * @param arena owns the table
     * @return the table, or nothing if no write lies within the bounds
     * @throws CoplaneException what reading chunks raises; BAD_MEM_DATA if the chunks are not in key order
     */
    List<TableSource> load(LongFunction<TxnChunkReader> chunks, MemoryGuard guard, NativeArena arena) {
        byte[] first = null;
        byte[] last = null;
        try (var scratch = new NativeArena(guard);
                var builder = new MemTableBuilder(guard)) {
            for (long chunkId : chunkIds) {
                TxnChunkReader chunk = chunks.apply(chunkId);
                if (!chunk.touches(lower, upper)) {
                    continue;
                }
                TxnChunkCursor cursor = chunk.cursor(scratch);
                for (boolean more = cursor.seekCeiling(lower);
                        more && cursor.compareKey(upper) < 0;
                        more = cursor.next()) {
                    if (addWrite(cursor, builder, chunkId)) {
                        first = first == null ? cursor.copyKey() : first;
                        last = cursor.copyKey();
                    }
                }
            }
            return first == null ? List.of() : List.of(TableSource.of(builder.finish(arena), first, last));
        }
    }

    private boolean addWrite(TxnChunkCursor cursor, MemTableBuilder builder, long chunkId) {
        int valueLength = switch (cursor.op()) {
            case TxnChunkCursor.OP_PUT, TxnChunkCursor.OP_INSERT -> cursor.valueLength();
            case TxnChunkCursor.OP_DELETE -> 0;
            case TxnChunkCursor.OP_LOCK, TxnChunkCursor.OP_CHECK_NOT_EXIST -> -1;
            default ->
                throw new CoplaneException(
                        ErrorCode.FILE_FORMAT,
                        "unknown mutation in a txn chunk: op=" + cursor.op() + " chunk="
                                + Long.toUnsignedString(chunkId) + " key=" + Arrays.toString(cursor.copyKey()));
        };
        if (valueLength < 0) {
            return false;
        }
        builder.add(
                cursor.keyBytes(),
                cursor.keyOffset(),
                cursor.keyLength(),
                version,
                0,
                MemorySegment.ofArray(userMeta),
                0,
                userMeta.length,
                cursor.valueSegment(),
                cursor.valueOffset(),
                valueLength);
        return true;
    }
}
