package io.coplane.engine;

import java.lang.foreign.MemorySegment;
import java.util.OptionalInt;
import java.util.function.BooleanSupplier;

/**
 * One request for a txn chunk (worker.md 14.1).
 *
 * @param keyspaceId unsigned; empty if the request names none, or no u32
 * @param method what is asked
 * @param body entries and their checksum; borrowed until the answer is there
 * @param isAbandoned true once nobody waits for the answer: nothing is written then. Called by any thread
 */
public record TxnChunkRequest(OptionalInt keyspaceId, Method method, MemorySegment body, BooleanSupplier isAbandoned) {
    /** What a request asks for. */
    public enum Method {
        /** Whether chunks of the keyspace can be written. */
        GET,
        /** To write a chunk. */
        POST,
        /** Nothing that is known. */
        OTHER
    }
}
