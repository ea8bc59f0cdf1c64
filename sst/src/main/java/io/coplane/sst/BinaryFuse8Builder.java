package io.coplane.sst;

import io.coplane.nativecache.memory.Layouts;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Builds the filter of a table (sst.md 4.4; layout in {@link BinaryFuse8}). Slots that no key needs get pseudo-random bytes, which keep the rate of
 * false positives at 2^-8; they differ from the reference's, whose bytes are not reproducible. Borrows its memory. One thread.
 *
 * <pre>
 * working memory
 * bytes        field
 * 12 a slot    xor of the hashes that have the slot (8), how many they are (4)
 * 12 a key     hash (8) and slot (4), in the order in which they were peeled
 *  4 a slot    slots with one hash, and one more
 * </pre>
 */
final class BinaryFuse8Builder {
    private static final int MAX_ATTEMPTS = 1_000;
    private static final int MAX_SEGMENT_LENGTH = 262_144;
    private static final long GOLDEN_GAMMA = 0x9e3779b97f4a7c15L;
    private static final int COUNT_AT = Long.BYTES;
    private static final long SLOT_BYTES = COUNT_AT + Integer.BYTES;
    private static final int PEELED_SLOT_AT = Long.BYTES;
    private static final long PEELED_BYTES = PEELED_SLOT_AT + Integer.BYTES;

    private final int segmentLength;
    private final int countLength;
    private final int slots;
    private final MemorySegment work;
    private final long peeledAt;
    private final long queueAt;

    private BinaryFuse8Builder(int keys, NativeBytes memory) {
        segmentLength = segmentLength(keys);
        int segments = segments(keys, segmentLength);
        countLength = segments * segmentLength;
        slots = (segments + 2) * segmentLength;
        peeledAt = SLOT_BYTES * slots;
        queueAt = peeledAt + PEELED_BYTES * keys;
        long bytes = queueAt + Integer.BYTES * (slots + 1L);
        if (bytes > memory.capacity()) {
            memory.reserveAll(bytes + bytes / 4);
        }
        work = memory.segment;
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
     * @param hashes key hashes, 8 bytes each; perhaps reordered
     * @param filler whether unused slots get pseudo-random bytes rather than 0
     * @param work   working memory; kept as it is between files
     * @return false, with nothing appended, if no seed works
     */
    static boolean build(NativeBytes hashes, boolean filler, NativeBytes work, NativeBytes to) {
        int count = hashes.length / Long.BYTES;
        return new BinaryFuse8Builder(count, work).build(hashes.segment, count, filler, to);
    }

    private boolean build(MemorySegment hashes, int count, boolean filler, NativeBytes to) {
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
                distinct = distinct(hashes, count);
                if (distinct < count && peel(hashes, distinct, seed)) {
                    write(distinct, seed, filler, to);
                    return true;
                }
            }
        }
        return false;
    }

    /** Sorts the hashes and drops repeated ones. @return how many are left */
    private static int distinct(MemorySegment hashes, int count) {
        long[] sorted = hashes.asSlice(0, (long) Long.BYTES * count).toArray(Layouts.LE_LONG);
        Arrays.sort(sorted);
        int kept = 1;
        for (int i = 1; i < count; i++) {
            if (sorted[i] != sorted[kept - 1]) {
                sorted[kept++] = sorted[i];
            }
        }
        MemorySegment.copy(sorted, 0, hashes, Layouts.LE_LONG, 0, kept);
        return kept;
    }

    private boolean peel(MemorySegment hashes, int count, long seed) {
        spread(hashes, count, seed);
        int queued = 0;
        for (int slot = 0; slot < slots; slot++) {
            queued = queueIfOne(slot, work.get(Layouts.LE_INT, SLOT_BYTES * slot + COUNT_AT), queued);
        }
        return peelQueued(queued) == count;
    }

    private void spread(MemorySegment hashes, int count, long seed) {
        work.asSlice(0, SLOT_BYTES * slots).fill((byte) 0);
        int mask = segmentLength - 1;
        for (int i = 0; i < count; i++) {
            long h = BinaryFuse8.mix(hashes.get(Layouts.LE_LONG, (long) Long.BYTES * i) + seed);
            int h0 = BinaryFuse8.firstSlot(h, countLength);
            int h1 = (h0 + segmentLength) ^ ((int) (h >>> 18) & mask);
            int h2 = (h0 + 2 * segmentLength) ^ ((int) h & mask);
            add(h0, h);
            add(h1, h);
            add(h2, h);
        }
    }

    /** Peels until no slot has one hash. @return hashes peeled */
    private int peelQueued(int first) {
        int queued = first;
        int done = 0;
        int mask = segmentLength - 1;
        while (queued > 0) {
            int slot = work.get(Layouts.LE_INT, queueAt + (long) Integer.BYTES * --queued);
            if (work.get(Layouts.LE_INT, SLOT_BYTES * slot + COUNT_AT) != 1) {
                continue;
            }
            long h = work.get(Layouts.LE_LONG, SLOT_BYTES * slot);
            work.set(Layouts.LE_LONG, peeledAt + PEELED_BYTES * done, h);
            work.set(Layouts.LE_INT, peeledAt + PEELED_BYTES * done + PEELED_SLOT_AT, slot);
            done++;
            int h0 = BinaryFuse8.firstSlot(h, countLength);
            int h1 = (h0 + segmentLength) ^ ((int) (h >>> 18) & mask);
            int h2 = (h0 + 2 * segmentLength) ^ ((int) h & mask);
            queued = remove(h0, h, queued); // one of them is the slot, which has no hash then
            queued = remove(h1, h, queued);
            queued = remove(h2, h, queued);
        }
        return done;
    }

    private void add(int slot, long h) {
        long at = SLOT_BYTES * slot;
        work.set(Layouts.LE_LONG, at, work.get(Layouts.LE_LONG, at) ^ h);
        work.set(Layouts.LE_INT, at + COUNT_AT, work.get(Layouts.LE_INT, at + COUNT_AT) + 1);
    }

    private int remove(int slot, long h, int queued) {
        long at = SLOT_BYTES * slot;
        work.set(Layouts.LE_LONG, at, work.get(Layouts.LE_LONG, at) ^ h);
        int count = work.get(Layouts.LE_INT, at + COUNT_AT) - 1;
        work.set(Layouts.LE_INT, at + COUNT_AT, count);
        return queueIfOne(slot, count, queued);
    }

    /** Queues a slot with one hash. Without a branch, which would be guessed wrong a third of the time: others are written too, and overwritten. */
    private int queueIfOne(int slot, int count, int queued) {
        work.set(Layouts.LE_INT, queueAt + (long) Integer.BYTES * queued, slot);
        int others = count - 1;
        return queued + ((others | -others) >>> Integer.SIZE - 1 ^ 1);
    }

    private void write(int count, long seed, boolean filler, NativeBytes to) {
        to.reserve(BinaryFuse8.HEADER_BYTES + slots);
        to.putLong(seed);
        to.putInt(segmentLength);
        to.putInt(segmentLength - 1);
        to.putInt(countLength);
        MemorySegment out = to.segment.asSlice(to.length, slots);
        to.length += slots;
        fill(out, seed, filler);
        int mask = segmentLength - 1;
        for (int i = count - 1; i >= 0; i--) {
            long h = work.get(Layouts.LE_LONG, peeledAt + PEELED_BYTES * i);
            int h0 = BinaryFuse8.firstSlot(h, countLength);
            int h1 = (h0 + segmentLength) ^ ((int) (h >>> 18) & mask);
            int h2 = (h0 + 2 * segmentLength) ^ ((int) h & mask);
            int slot = work.get(Layouts.LE_INT, peeledAt + PEELED_BYTES * i + PEELED_SLOT_AT);
            // the key's own slot cancels out
            int fingerprint = BinaryFuse8.fingerprint(h)
                    ^ out.get(Layouts.BYTE, h0)
                    ^ out.get(Layouts.BYTE, h1)
                    ^ out.get(Layouts.BYTE, h2)
                    ^ out.get(Layouts.BYTE, slot);
            out.set(Layouts.BYTE, slot, (byte) fingerprint);
        }
    }

    /** Bytes that a key doesn't set later: pseudo-random ones. */
    private static void fill(MemorySegment out, long seed, boolean filler) {
        if (!filler) {
            out.fill((byte) 0);
            return;
        }
        long state = seed;
        long slots = out.byteSize();
        long i = 0;
        for (; i <= slots - Long.BYTES; i += Long.BYTES) {
            state += GOLDEN_GAMMA;
            out.set(Layouts.LE_LONG, i, splitMix(state));
        }
        for (; i < slots; i++) {
            state += GOLDEN_GAMMA;
            out.set(Layouts.BYTE, i, (byte) splitMix(state));
        }
    }

    private static long splitMix(long state) {
        long z = state;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }
}
