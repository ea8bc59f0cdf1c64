package io.coplane.engine;

import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * One remote coprocessor request.
 *
 * @param body bytes of format 1 (snapshot.md 1.1); borrowed until the answer is there
 * @param remoteCacheAddress {@code x-dfs-remote-cache-addr}, if it was there and not empty
 */
public record CopRequest(MemorySegment body, Optional<String> remoteCacheAddress) {}
