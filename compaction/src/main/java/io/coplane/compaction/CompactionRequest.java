package io.coplane.compaction;

/**
 * A request of a store to {@code /compact} (compaction.md 1.4). Absent fields have their zero value. Arrays are not copied: whoever holds a request
 * doesn't write to them.
 *
 * @param engineId         store id, for logs
 * @param shardId          shard
 * @param shardVersion     version of the shard
 * @param start            outer start key, inclusive
 * @param end              outer end key, exclusive
 * @param innerKeyOffset   bytes of the keyspace prefix: 0 or 4
 * @param fileIds          ids for outputs, used from the end
 * @param type             what to do
 * @param compactorVersion version of the request; only {@link Admission#COMPACTOR_VERSION} is executed
 * @param safeTs           GC safe point of the keyspace, unsigned; of in-place, columnar and full text work
 * @param exportedKey      wrapped data key; empty: no encryption
 * @param inputBytes       what the store says its input files come to, unsigned
 */
public record CompactionRequest(
        long engineId,
        long shardId,
        long shardVersion,
        byte[] start,
        byte[] end,
        int innerKeyOffset,
        long[] fileIds,
        CompactionType type,
        long compactorVersion,
        long safeTs,
        byte[] exportedKey,
        long inputBytes) {
    /**
     * Parses a request body.
     *
     * @throws io.coplane.nativecache.CoplaneException of code BAD_REQUEST_BODY, with the message for the store: an answer of 400
     */
    public static CompactionRequest parse(byte[] json) {
        return RequestJson.parse(json);
    }
}
