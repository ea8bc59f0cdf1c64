package io.coplane.engine;

import io.coplane.cop.RegionAccessor;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * One remote coprocessor request.
 *
 * @param body bytes of format 1 (snapshot.md 1.1); borrowed until the answer is there
 * @param remoteCacheAddress {@code x-dfs-remote-cache-addr}, if it was there and not empty
 * @param isAbandoned true once nobody waits for the answer: work stops at its next deadline check. Called by any thread
 * @param regions where its index look-ups may read table rows
 */
public record CopRequest(
        MemorySegment body, Optional<String> remoteCacheAddress, BooleanSupplier isAbandoned, RegionAccessor regions) {
    /** A request as it comes over the network: its body holds no rows outside of its ranges, so index look-ups are disabled. */
    public CopRequest(MemorySegment body, Optional<String> remoteCacheAddress, BooleanSupplier isAbandoned) {
        this(body, remoteCacheAddress, isAbandoned, RegionAccessor.NONE);
    }

    /** A request that somebody waits for to the end. */
    public CopRequest(MemorySegment body, Optional<String> remoteCacheAddress) {
        this(body, remoteCacheAddress, () -> false);
    }
}
