package io.coplane.engine;

import io.coplane.nativecache.ErrorCode;

/**
 * A failure as our own gRPC service tells it, by the engine's one table.
 *
 * @param grpcStatus number of the status code; never 0
 * @param code what it is, for good
 * @param text for people
 * @param isRetryable the same request may succeed later, or elsewhere
 * @param exceededBytes of MEMORY_LIMIT: by how much the cap was missed, if that is known; else 0
 */
public record ServiceError(int grpcStatus, ErrorCode code, String text, boolean isRetryable, long exceededBytes) {}
