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
import io.coplane.sst.TxnChunkReader;
import io.coplane.sst.TxnFileCursor;
import io.coplane.sst.TxnFileReader;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongFunction;

/**
 * What a request or a shard says of one large transaction: its chunks, and how their mutations are seen (snapshot.md 3.5, 7.6). Immutable.
 *
 * @param chunkIds in key order
 * @param userMeta of every write (snapshot.md 6.3); empty for locks
 * @param lockPrefix serialised lock without a value; empty for writes
 * @param version commit timestamp of every write; of locks a data sequence
 * @param lower inclusive inner key
 * @param upper exclusive inner key
 */
record TxnFile(List<Long> chunkIds, byte[] userMeta, byte[] lockPrefix, long version, byte[] lower, byte[] upper) {
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
            if (!ref.getLockValPrefix().isEmpty()) {
                throw new CoplaneException(
                        ErrorCode.UNSUPPORTED,
                        "txn file of locks among writes: startTs=" + Long.toUnsignedString(ref.getStartTs()));
            }
            files.add(of(ref));
        }
        files.sort((left, right) -> Long.compareUnsigned(right.version, left.version));
        return files;
    }

    /** One reference, to writes or to locks. @throws CoplaneException BAD_MEM_DATA if its user meta is malformed */
    static TxnFile of(TxnFileRef ref) {
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
                ref.getLockValPrefix().toByteArray(),
                version,
                InnerKeys.trim(ref.getInnerLowerBound().toByteArray()),
                InnerKeys.innerEnd(ref.getInnerUpperBound().toByteArray()));
    }

    /**
     * The transaction's entries over its chunks.
     *
     * @param chunks an opened chunk by id
     * @throws CoplaneException FILE_MISMATCH if the chunks overlap or are not in key order
     */
    TxnFileReader open(LongFunction<TxnChunkReader> chunks) {
        return new TxnFileReader(
                chunkIds.stream().map(chunks::apply).toList(), userMeta, lockPrefix, version, lower, upper);
    }

    /**
     * Copies the writes within the bounds to a table of their own.
     *
     * @param chunks an opened chunk by id
     * @param arena owns the table
     * @return the table, or nothing if no write lies within the bounds
     * @throws CoplaneException what reading chunks raises; FILE_MISMATCH if the chunks are not in key order
     */
    List<TableSource> load(LongFunction<TxnChunkReader> chunks, MemoryGuard guard, NativeArena arena) {
        byte[] first = null;
        byte[] last = new byte[64];
        int lastLength = 0;
        MemorySegment userMetaSegment = MemorySegment.ofArray(userMeta);
        try (var scratch = NativeArena.ofThread(guard);
                var builder = new MemTableBuilder(guard)) {
            TxnFileReader file = open(chunks);
            TxnFileCursor cursor = file.cursor(false, file.skippedInScans(), scratch);
            for (boolean more = cursor.rewind(); more; more = cursor.next()) {
                builder.add(
                        cursor.keyBytes(),
                        cursor.keyOffset(),
                        cursor.keyLength(),
                        version,
                        0,
                        userMetaSegment,
                        0,
                        userMeta.length,
                        cursor.valueSegment(),
                        cursor.valueOffset(),
                        cursor.valueLength());
                first = first == null ? cursor.copyKey() : first;
                lastLength = cursor.keyLength();
                if (last.length < lastLength) {
                    last = new byte[2 * lastLength];
                }
                System.arraycopy(cursor.keyBytes(), cursor.keyOffset(), last, 0, lastLength);
            }
            byte[] biggest = Arrays.copyOf(last, lastLength);
            return first == null ? List.of() : List.of(TableSource.of(builder.finish(arena), first, biggest));
        }
    }
}
