package io.coplane.engine;

import io.coplane.cop.RegionAccessor;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * One remote coprocessor request.
 *
 * @param body bytes of format 1 (snapshot.md 1.1); borrowed until {@code bodyRead} is run or the answer is there
 * @param remoteCacheAddress {@code x-dfs-remote-cache-addr}, if it was there and not empty
 * @param isAbandoned true once nobody waits for the answer: work stops at its next deadline check. Called by any thread
 * @param regions where its index look-ups may read table rows
 * @param bodyRead run when the data plane has all it needs of {@code body}, which may be freed then: what it keeps is charged to its own limiter.
 *     Run at most once, by any thread; not run where the request fails before
 */
public record CopRequest(
        MemorySegment body,
        Optional<String> remoteCacheAddress,
        BooleanSupplier isAbandoned,
        RegionAccessor regions,
        Runnable bodyRead) {
    /** A request whose body lives until the answer. */
    public CopRequest(
            MemorySegment body,
            Optional<String> remoteCacheAddress,
            BooleanSupplier isAbandoned,
            RegionAccessor regions) {
        this(body, remoteCacheAddress, isAbandoned, regions, () -> {});
    }

    /** A request as it comes over the network: its body holds no rows outside of its ranges, so index look-ups are disabled. */
    public CopRequest(
            MemorySegment body, Optional<String> remoteCacheAddress, BooleanSupplier isAbandoned, Runnable bodyRead) {
        this(body, remoteCacheAddress, isAbandoned, RegionAccessor.NONE, bodyRead);
    }

    /** A request that somebody waits for to the end. */
    public CopRequest(MemorySegment body, Optional<String> remoteCacheAddress) {
        this(body, remoteCacheAddress, () -> false, RegionAccessor.NONE);
    }
}
