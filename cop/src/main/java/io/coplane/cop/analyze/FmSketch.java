package io.coplane.cop.analyze;

import io.coplane.cop.kernel.Murmur3;
import io.coplane.proto.tipb.FMSketch;
import java.util.Arrays;

/** Flajolet-Martin sketch: the distinct hashes that pass a mask, which grows when there are too many (coprocessor.md 6.1). One thread. */
final class FmSketch {
    private final long maxHashes;
    private long mask;
    /** Open addressing; 0 = free, so the hash 0 is kept aside. */
    private long[] slots = new long[64];

    private boolean hasZero;
    private int count;

    /** @param maxHashes hashes kept at most; below 1 keeps none for long */
    FmSketch(long maxHashes) {
        this.maxHashes = maxHashes;
    }

    /** Takes the first half of a hash. */
    void insert(long hash) {
        if ((hash & mask) != 0 || !add(hash)) {
            return;
        }
        if (count > maxHashes) {
            mask = mask * 2 + 1;
            long[] old = slots;
            boolean zero = hasZero;
            slots = new long[old.length];
            count = 0;
            hasZero = false;
            if (zero) {
                add(0);
            }
            for (long kept : old) {
                if (kept != 0 && (kept & mask) == 0) {
                    add(kept);
                }
            }
        }
    }

    /** Hashes bytes and takes them. */
    void insert(Murmur3 murmur, byte[] bytes, int offset, int length) {
        murmur.hash(bytes, offset, length);
        insert(murmur.first());
    }

    private boolean add(long hash) {
        if (hash == 0) {
            boolean added = !hasZero;
            hasZero = true;
            count += added ? 1 : 0;
            return added;
        }
        int slotMask = slots.length - 1;
        int slot = (int) (hash >>> 32 ^ hash >>> 50) & slotMask;
        while (slots[slot] != 0) {
            if (slots[slot] == hash) {
                return false;
            }
            slot = slot + 1 & slotMask;
        }
        slots[slot] = hash;
        count++;
        if (2 * count > slots.length) {
            grow();
        }
        return true;
    }

    private void grow() {
        long[] old = slots;
        slots = new long[2 * old.length];
        int slotMask = slots.length - 1;
        for (long hash : old) {
            if (hash != 0) {
                int slot = (int) (hash >>> 32 ^ hash >>> 50) & slotMask;
                while (slots[slot] != 0) {
                    slot = slot + 1 & slotMask;
                }
                slots[slot] = hash;
            }
        }
    }

    /** Estimate of the number of distinct values. */
    long ndv() {
        return (mask + 1) * count;
    }

    FMSketch message() {
        FMSketch.Builder message = FMSketch.newBuilder().setMask(mask);
        if (hasZero) {
            message.addHashset(0);
        }
        Arrays.stream(slots).filter(hash -> hash != 0).forEach(message::addHashset);
        return message.build();
    }

    long heapBytes() {
        return (long) slots.length * Long.BYTES;
    }
}
