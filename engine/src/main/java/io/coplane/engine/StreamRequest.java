package io.coplane.engine;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.coprocessor.Request;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * A coprocessor request whose answer is streamed.
 *
 * @param requestId chosen by the client; empty = none
 * @param request what is asked
 * @param memData rows of the memtable; borrowed until the stream ends
 * @param changeSet a serialised ChangeSet; borrowed until the stream ends
 * @param charge what the two and their message hold of the data plane's limiter; the stream closes it, whatever becomes of it
 * @param pageBytes rows of a page; 0 = 1 MiB; used within 1 .. the data plane's largest response
 * @param remoteCacheAddress as {@link CopRequest#remoteCacheAddress()}
 * @param takesPermits true: each page waits for the permits that requests over HTTP take
 * @param idleNanos a receiver that asks for nothing for so long is given up
 */
public record StreamRequest(
        String requestId,
        Request request,
        MemorySegment memData,
        MemorySegment changeSet,
        MemoryGuard charge,
        long pageBytes,
        Optional<String> remoteCacheAddress,
        boolean takesPermits,
        long idleNanos) {}
