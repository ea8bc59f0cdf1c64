package io.coplane.sst;

import io.coplane.nativecache.memory.Layouts;
import java.lang.foreign.MemorySegment;

/**
 * One decoded block and one of its entries (sst.md 3.3, 3.4). Hot: {@link #read} runs per entry. Borrows the body. One thread.
 *
 * <pre>
 * at         bytes  field          unit and bounds
 *  0             4  format         1
 *  4             4  entries n      at least 1
 *  8           4 n  offsets        in the entries area, ascending
 *  8 + 4 n       2  prefixLength p
 * 10 + 4 n       p  prefix         shared by all keys of the block
 * 10 + 4 n + p      entries        suffixLength (2), suffix, meta (1), version (8), old version (8, if meta has bit 2),
 *                                  userMetaLength (1), userMeta, value
 * </pre>
 */
final class BlockView {
    static final int COUNT_AT = 4;
    static final int OFFSETS_AT = COUNT_AT + Integer.BYTES;
    static final int LEAST_ENTRY_BYTES = Short.BYTES + Byte.BYTES + Long.BYTES + Byte.BYTES;

    /** Suffixes up to here are copied by longs: what may be read beyond a suffix is still its entry. */
    private static final int SHORT_SUFFIX_BYTES = 64;

    /** What {@link #copySuffix} may write behind the key. */
    static final int KEY_SLACK_BYTES = Long.BYTES;

    MemorySegment body = MemorySegment.NULL;
    int count;
    int prefixLength;
    private long prefixAt;
    private long offsetsAt;
    private long entriesAt;
    private int entriesLength;
    private boolean trimmed;
    private String file = "";
    private long fileOffset;

    // the entry read last
    private long suffixAt;
    int suffixLength;
    int meta;
    long version;
    long oldVersion;
    long userMetaAt;
    int userMetaLength;
    long valueAt;
    int valueLength;

    /**
     * Puts the view on a block body in {@code from .. to - 1} of {@code segment}, which are in bounds.
     *
     * @param ofOffset of the stored block, for messages
     */
    void wrap(MemorySegment segment, long from, long to, String ofFile, long ofOffset) {
        body = segment;
        file = ofFile;
        fileOffset = ofOffset;
        long left = to - from - OFFSETS_AT - Short.BYTES;
        if (left < 0 || to - from > Integer.MAX_VALUE) {
            throw FileErrors.format(file, fileOffset, "block body has a wrong length: bytes=" + (to - from));
        }
        if (segment.get(Layouts.LE_INT, from) != Formats.BLOCK_FORMAT) {
            throw FileErrors.format(file, fileOffset, "unknown block format " + segment.get(Layouts.LE_INT, from));
        }
        count = segment.get(Layouts.LE_INT, from + COUNT_AT);
        left -= 4L * count;
        if (count < 1 || left < 0) {
            throw FileErrors.format(
                    file, fileOffset, "block is too short for its entries: entries=" + Integer.toUnsignedString(count));
        }
        offsetsAt = from + OFFSETS_AT;
        long at = offsetsAt + 4L * count;
        prefixLength = segment.get(Layouts.LE_SHORT, at) & 0xFFFF;
        prefixAt = at + Short.BYTES;
        left -= prefixLength;
        if (left < 0) {
            throw FileErrors.format(
                    file, fileOffset, "block is too short for its key prefix: prefixBytes=" + prefixLength);
        }
        entriesAt = prefixAt + prefixLength;
        entriesLength = (int) left;
        trimmed = Bytes.hasKeyspace(segment, prefixAt, prefixLength);
        if (trimmed) {
            prefixAt += Bytes.KEYSPACE_PREFIX_BYTES;
            prefixLength -= Bytes.KEYSPACE_PREFIX_BYTES;
        }
    }

    /** Whether keys are stored with a keyspace prefix, as old files have them. */
    boolean isTrimmed() {
        return trimmed;
    }

    /** Bytes of the decoded body. */
    long bodyBytes() {
        return entriesAt + entriesLength - offsetsAt + OFFSETS_AT;
    }

    /** Bytes of the decoded body, for dumps. */
    MemorySegment viewBody() {
        return body.asSlice(offsetsAt - OFFSETS_AT, entriesAt + entriesLength - offsetsAt + OFFSETS_AT);
    }

    /** Reads the fields of entry {@code i}; 0 .. count - 1. */
    void read(int i) {
        int start = body.get(Layouts.LE_INT, offsetsAt + 4L * i);
        int end = i + 1 < count ? body.get(Layouts.LE_INT, offsetsAt + 4L * (i + 1)) : entriesLength;
        if ((start | end) < 0 || end > entriesLength || end - start < LEAST_ENTRY_BYTES) {
            throw broken(i, "entry is out of bounds");
        }
        int left = end - start - LEAST_ENTRY_BYTES;
        long at = entriesAt + start;
        int suffix = body.get(Layouts.LE_SHORT, at) & 0xFFFF;
        left -= suffix;
        if (left < 0) {
            throw broken(i, "entry is too short for its key");
        }
        suffixAt = at + Short.BYTES;
        suffixLength = suffix;
        at = suffixAt + suffix;
        int bits = body.get(Layouts.BYTE, at) & 0xFF;
        meta = bits;
        version = body.get(Layouts.LE_LONG, at + Byte.BYTES);
        at += Byte.BYTES + Long.BYTES;
        long old = 0;
        if ((bits & ValueMeta.HAS_OLD_VERSION) != 0) {
            left -= Long.BYTES;
            if (left < 0) {
                throw broken(i, "entry is too short for its old version");
            }
            old = body.get(Layouts.LE_LONG, at);
            at += Long.BYTES;
        }
        oldVersion = old;
        int userMeta = body.get(Layouts.BYTE, at) & 0xFF;
        left -= userMeta;
        if (left < 0) {
            throw broken(i, "entry is too short for its user meta");
        }
        userMetaAt = at + Byte.BYTES;
        userMetaLength = userMeta;
        valueAt = userMetaAt + userMeta;
        valueLength = left;
    }

    /**
     * Checks that keys ascend from entry to entry; of older versions, which repeat their key, versions descend.
     *
     * @throws io.coplane.nativecache.CoplaneException of code FILE_FORMAT
     */
    void checkOrder(boolean repeatsKeys) {
        long beforeAt = 0;
        int beforeLength = 0;
        for (int i = 0; i < count; i++) {
            int start = body.get(Layouts.LE_INT, offsetsAt + 4L * i);
            if (start < 0 || start > entriesLength - LEAST_ENTRY_BYTES) {
                throw broken(i, "entry is out of bounds");
            }
            long at = entriesAt + start + Short.BYTES;
            int length = body.get(Layouts.LE_SHORT, at - Short.BYTES) & 0xFFFF;
            if (length > entriesLength - start - LEAST_ENTRY_BYTES) {
                throw broken(i, "entry is too short for its key");
            }
            if (i > 0) {
                int order = compareSuffixes(beforeAt, beforeLength, at, length);
                if (order > 0
                        || order == 0 && !(repeatsKeys && compareVersions(beforeAt, beforeLength, at, length) > 0)) {
                    throw broken(i, "entry is out of order");
                }
            }
            beforeAt = at;
            beforeLength = length;
        }
    }

    /** Order of two suffixes. What is read beyond a suffix is still its entry. */
    private int compareSuffixes(long a, int aLength, long b, int bLength) {
        int shared = Math.min(aLength, bLength);
        for (int i = 0; i < shared; i += Long.BYTES) {
            long x = body.get(Layouts.BE_LONG, a + i);
            long y = body.get(Layouts.BE_LONG, b + i);
            if (x != y) {
                int same = i + Long.numberOfLeadingZeros(x ^ y) / Byte.SIZE;
                return same < shared ? Long.compareUnsigned(x, y) : aLength - bLength;
            }
        }
        return aLength - bLength;
    }

    /** Order of the versions behind two suffixes. */
    private int compareVersions(long a, int aLength, long b, int bLength) {
        return Long.compareUnsigned(
                body.get(Layouts.LE_LONG, a + aLength + Byte.BYTES),
                body.get(Layouts.LE_LONG, b + bLength + Byte.BYTES));
    }

    /** Copies the key suffix of the entry read last; {@code key} has {@link #KEY_SLACK_BYTES} more than the key. */
    void copySuffix(byte[] key, int at) {
        int length = suffixLength;
        if (length > SHORT_SUFFIX_BYTES) {
            MemorySegment.copy(body, Layouts.BYTE, suffixAt, key, at, length);
            return;
        }
        for (int i = 0; i < length; i += Long.BYTES) {
            Bytes.LE_LONG.set(key, at + i, body.get(Layouts.LE_LONG, suffixAt + i));
        }
    }

    void copyPrefix(byte[] key) {
        MemorySegment.copy(body, Layouts.BYTE, prefixAt, key, 0, prefixLength);
    }

    /** Key of entry {@code i}. */
    byte[] copyKey(int i) {
        read(i);
        byte[] key = new byte[prefixLength + suffixLength];
        copyPrefix(key);
        MemorySegment.copy(body, Layouts.BYTE, suffixAt, key, prefixLength, suffixLength);
        return key;
    }

    /** Order of a key and the key of entry {@code i}, given that the key begins with the block's prefix. */
    private int compareSuffix(byte[] key, int offset, int length, int i) {
        int start = body.get(Layouts.LE_INT, offsetsAt + 4L * i);
        if (start < 0 || start > entriesLength - LEAST_ENTRY_BYTES) {
            throw broken(i, "entry is out of bounds");
        }
        long at = entriesAt + start;
        int suffix = body.get(Layouts.LE_SHORT, at) & 0xFFFF;
        if (suffix > entriesLength - start - LEAST_ENTRY_BYTES) {
            throw broken(i, "entry is too short for its key");
        }
        return Bytes.compare(key, offset + prefixLength, length - prefixLength, body, at + Short.BYTES, suffix);
    }

    /** Order of a key and the block's prefix: below all keys, above all, or 0 if it begins with the prefix. */
    private int comparePrefix(byte[] key, int offset, int length) {
        return Bytes.compare(key, offset, Math.min(prefixLength, length), body, prefixAt, prefixLength);
    }

    /** Order of a key and the key of entry {@code i}. */
    int compareKey(byte[] key, int offset, int length, int i) {
        int order = comparePrefix(key, offset, length);
        return order != 0 ? order : compareSuffix(key, offset, length, i);
    }

    /** First entry whose key is no less than this one; {@code count} if there is none. */
    int lowerBound(byte[] key, int offset, int length) {
        int order = comparePrefix(key, offset, length);
        if (order != 0) {
            return order < 0 ? 0 : count;
        }
        return search(key, offset, length, 0, count);
    }

    /** As {@link #lowerBound}, when it is known to be no less than {@code from} and likely near. */
    int lowerBoundFrom(int from, byte[] key, int offset, int length) {
        int order = comparePrefix(key, offset, length);
        if (order != 0) {
            return order < 0 ? from : count;
        }
        int low = from;
        int step = 1;
        while (low + step < count && compareSuffix(key, offset, length, low + step) > 0) {
            low += step;
            step <<= 1;
        }
        return search(key, offset, length, low, Math.min(count, low + step + 1));
    }

    private int search(byte[] key, int offset, int length, int from, int to) {
        int low = from; // entries below are less than the key
        int high = to;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (compareSuffix(key, offset, length, middle) > 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    private RuntimeException broken(int i, String what) {
        return FileErrors.format(file, fileOffset, what + ": entry=" + i);
    }
}
