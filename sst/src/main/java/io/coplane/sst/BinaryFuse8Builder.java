package io.coplane.sst;

import io.coplane.nativecache.MemoryGuard;
import java.util.Arrays;

/**
 * Builds the filter of a table (sst.md 4.4; layout in {@link BinaryFuse8}). Slots that no key needs get pseudo-random bytes, which keep the rate of
 * false positives at 2^-8; they differ from the reference's, whose bytes are not reproducible. One thread.
 */
final class BinaryFuse8Builder {
    private static final int MAX_ATTEMPTS = 1_000;
    private static final int MAX_SEGMENT_LENGTH = 262_144;
    private static final long GOLDEN_GAMMA = 0x9e3779b97f4a7c15L;
    private static final int WORK_BYTES_PER_SLOT = Long.BYTES + Integer.BYTES + Integer.BYTES;
    private static final int WORK_BYTES_PER_KEY = Long.BYTES + Integer.BYTES;

    private final int segmentLength;
    private final int countLength;
    private final int slots;
    private final long[] xors;
    private final int[] counts;
    private final int[] queue;
    private final long[] peeled;
    private final int[] peeledSlots;

    private BinaryFuse8Builder(int keys) {
        segmentLength = segmentLength(keys);
        int segments = segments(keys, segmentLength);
        countLength = segments * segmentLength;
        slots = (segments + 2) * segmentLength;
        xors = new long[slots];
        counts = new int[slots];
        queue = new int[slots];
        peeled = new long[keys];
        peeledSlots = new int[keys];
    }

    private static int segmentLength(int keys) {
        double exponent = Math.floor(Math.log(keys) / Math.log(3.33) + 2.25);
        return Math.min(MAX_SEGMENT_LENGTH, 1 << (int) exponent);
    }

    private static int segments(int keys, int segmentLength) {
        long capacity = 0;
        if (keys > 1) {
            double factor = Math.max(1.125, 0.875 + 0.25 * Math.log(1_000_000) / Math.log(keys));
            capacity = Math.round(keys * factor);
        }
        long proposed = (capacity + segmentLength - 1) / segmentLength;
        return proposed < 3 ? 1 : Math.toIntExact(proposed - 2);
    }

    /**
     * Appends the serialised filter.
     *
     * @param hashes key hashes from 0 to {@code count}; perhaps reordered
     * @param count  at least 1
     * @param filler whether unused slots get pseudo-random bytes rather than 0
     * @return false, with nothing appended, if no seed works
     */
    static boolean build(long[] hashes, int count, boolean filler, MemoryGuard guard, GrowableBytes to) {
        var builder = new BinaryFuse8Builder(count);
        long workBytes = (long) WORK_BYTES_PER_SLOT * builder.slots + (long) WORK_BYTES_PER_KEY * count;
        guard.charge(workBytes);
        try {
            return builder.build(hashes, count, filler, to);
        } finally {
            guard.release(workBytes);
        }
    }

    private boolean build(long[] hashes, int count, boolean filler, GrowableBytes to) {
        long state = 1;
        int distinct = count;
        for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
            state += GOLDEN_GAMMA;
            long seed = splitMix(state);
            if (peel(hashes, distinct, seed)) {
                write(distinct, seed, filler, to);
                return true;
            }
            if (attempt == 0) {
                // equal hashes never peel; there are hardly ever any
                Arrays.sort(hashes, 0, count);
                distinct = distinct(hashes, count);
                if (distinct < count && peel(hashes, distinct, seed)) {
                    write(distinct, seed, filler, to);
                    return true;
                }
            }
        }
        return false;
    }

    private static int distinct(long[] sorted, int count) {
        int kept = 1;
        for (int i = 1; i < count; i++) {
            if (sorted[i] != sorted[kept - 1]) {
                sorted[kept++] = sorted[i];
            }
        }
        return kept;
    }

    private boolean peel(long[] hashes, int count, long seed) {
        Arrays.fill(xors, 0);
        Arrays.fill(counts, 0);
        int mask = segmentLength - 1;
        for (int i = 0; i < count; i++) {
            long h = BinaryFuse8.mix(hashes[i] + seed);
            int h0 = BinaryFuse8.firstSlot(h, countLength);
            int h1 = (h0 + segmentLength) ^ ((int) (h >>> 18) & mask);
            int h2 = (h0 + 2 * segmentLength) ^ ((int) h & mask);
            xors[h0] ^= h;
            counts[h0]++;
            xors[h1] ^= h;
            counts[h1]++;
            xors[h2] ^= h;
            counts[h2]++;
        }
        int queued = 0;
        for (int slot = 0; slot < slots; slot++) {
            if (counts[slot] == 1) {
                queue[queued++] = slot;
            }
        }
        int done = 0;
        while (queued > 0) {
            int slot = queue[--queued];
            if (counts[slot] != 1) {
                continue;
            }
            long h = xors[slot];
            peeled[done] = h;
            peeledSlots[done] = slot;
            done++;
            int h0 = BinaryFuse8.firstSlot(h, countLength);
            int h1 = (h0 + segmentLength) ^ ((int) (h >>> 18) & mask);
            int h2 = (h0 + 2 * segmentLength) ^ ((int) h & mask);
            queued = remove(h0, h, slot, queued);
            queued = remove(h1, h, slot, queued);
            queued = remove(h2, h, slot, queued);
        }
        return done == count;
    }

    private int remove(int slot, long h, int from, int queued) {
        xors[slot] ^= h;
        if (--counts[slot] == 1 && slot != from) {
            queue[queued] = slot;
            return queued + 1;
        }
        return queued;
    }

    private void write(int count, long seed, boolean filler, GrowableBytes to) {
        to.reserve(BinaryFuse8.HEADER_BYTES + slots);
        to.putLong(seed);
        to.putInt(segmentLength);
        to.putInt(segmentLength - 1);
        to.putInt(countLength);
        int at = to.length;
        byte[] out = to.bytes;
        to.length += slots;
        long state = seed;
        for (int i = 0; i < slots; i++) {
            if (!filler) {
                out[at + i] = 0;
                continue;
            }
            state += GOLDEN_GAMMA;
            out[at + i] = (byte) splitMix(state);
        }
        int mask = segmentLength - 1;
        for (int i = count - 1; i >= 0; i--) {
            long h = peeled[i];
            int h0 = BinaryFuse8.firstSlot(h, countLength);
            int h1 = (h0 + segmentLength) ^ ((int) (h >>> 18) & mask);
            int h2 = (h0 + 2 * segmentLength) ^ ((int) h & mask);
            int slot = peeledSlots[i];
            // the key's own slot cancels out
            int fingerprint = BinaryFuse8.fingerprint(h) ^ out[at + h0] ^ out[at + h1] ^ out[at + h2] ^ out[at + slot];
            out[at + slot] = (byte) fingerprint;
        }
    }

    private static long splitMix(long state) {
        long z = state;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }
}
