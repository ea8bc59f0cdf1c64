package io.coplane.compaction;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Prefixes whose keys are to go (compaction.md 3.7), marshalled as repeated length (2 bytes, little-endian) and outer key. Immutable. */
final class DeletePrefixes {
    private final byte[][] inner; // ascending, none covered by another

    private DeletePrefixes(byte[][] inner) {
        this.inner = inner;
    }

    /**
     * Reads a marshalled list.
     *
     * @param keyspaceBytes of the prefixes that are no part of inner keys: 0 or 4. A prefix of no more bytes covers every key
     * @throws CoplaneException of code BAD_ARGUMENT if it is cut
     */
    static DeletePrefixes parse(byte[] marshalled, int keyspaceBytes) {
        var prefixes = new ArrayList<byte[]>();
        for (int at = 0; at < marshalled.length; ) {
            int length = at + Short.BYTES > marshalled.length
                    ? Integer.MAX_VALUE
                    : marshalled[at] & 0xFF | (marshalled[at + 1] & 0xFF) << Byte.SIZE;
            at += Short.BYTES;
            if (length > marshalled.length - at) {
                throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "list of prefixes is cut: offset=" + at);
            }
            prefixes.add(Arrays.copyOfRange(marshalled, at + Math.min(keyspaceBytes, length), at + length));
            at += length;
        }
        return new DeletePrefixes(reduce(prefixes));
    }

    /** Without those that another one covers: then only the greatest prefix that is no greater than a key can cover it. */
    private static byte[][] reduce(List<byte[]> prefixes) {
        prefixes.sort(Arrays::compareUnsigned);
        var kept = new ArrayList<byte[]>();
        for (byte[] prefix : prefixes) {
            if (kept.isEmpty() || !isPrefix(kept.getLast(), prefix, prefix.length)) {
                kept.add(prefix);
            }
        }
        return kept.toArray(byte[][]::new);
    }

    /** Whether a prefix covers an inner key. */
    boolean covers(byte[] key, int length) {
        int low = 0;
        int high = inner.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (Arrays.compareUnsigned(inner[middle], 0, inner[middle].length, key, 0, length) <= 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low > 0 && isPrefix(inner[low - 1], key, length);
    }

    private static boolean isPrefix(byte[] prefix, byte[] key, int length) {
        return prefix.length <= length && Arrays.equals(prefix, 0, prefix.length, key, 0, prefix.length);
    }
}
