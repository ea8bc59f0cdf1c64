package io.coplane.nativecache;

import java.util.List;
import java.util.Optional;

/**
 * A part of a store's contents, in the order of the keys' bytes (ia.md 16.6).
 *
 * @param entries objects, with keys below the store's prefix
 * @param next where to go on: {@code after} of the next call; empty when this was the last part
 */
public record ObjectListing(List<Entry> entries, Optional<String> next) {
    /**
     * One object.
     *
     * @param key without the store's prefix and the slash behind it
     * @param byteSize at least 0
     */
    public record Entry(String key, long byteSize) {}
}
