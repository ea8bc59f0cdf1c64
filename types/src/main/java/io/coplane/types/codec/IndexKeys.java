package io.coplane.types.codec;

/** What stands behind the index columns in an index key: partition id of a global index, then the handle (coprocessor.md 3.6). */
public final class IndexKeys {
    private static final int PARTITION_FLAG = 0x7e;
    private static final int DATUM_BYTES = 1 + Long.BYTES;

    private IndexKeys() {}

    /** True if a partition id stands at {@code at}. */
    public static boolean hasPartitionId(byte[] key, int at, int end) {
        return at < end && key[at] == PARTITION_FLAG;
    }

    /** The partition id at {@code at}; the handle follows 9 bytes later. @throws io.coplane.nativecache.CoplaneException CORRUPT_KEY */
    public static long partitionId(byte[] key, int at, int end) {
        if (end - at < DATUM_BYTES) {
            throw Corrupt.key("partition id in index key is too short: key=" + Corrupt.hex(key, at, end));
        }
        return Memcomparable.getLong(key, at + 1);
    }

    /** Where the handle starts: behind the partition id if there is one. @throws io.coplane.nativecache.CoplaneException CORRUPT_KEY */
    public static int skipPartitionId(byte[] key, int at, int end) {
        if (!hasPartitionId(key, at, end)) {
            return at;
        }
        if (end - at < DATUM_BYTES) {
            throw Corrupt.key("partition id in index key is too short: key=" + Corrupt.hex(key, at, end));
        }
        return at + DATUM_BYTES;
    }

    /**
     * The int handle in an index key: an INT or UINT datum.
     *
     * @param at behind the index columns and the partition id
     * @throws io.coplane.nativecache.CoplaneException CORRUPT_KEY for another flag or missing bytes
     */
    public static long intHandle(byte[] key, int at, int end) {
        if (at >= end) {
            throw Corrupt.key("index key has no handle");
        }
        int flag = key[at] & 0xff;
        if (flag != Datums.INT && flag != Datums.UINT) {
            throw Corrupt.key("Unexpected handle flag " + flag);
        }
        if (end - at < DATUM_BYTES) {
            throw Corrupt.key("handle in index key is too short: key=" + Corrupt.hex(key, at, end));
        }
        return flag == Datums.INT ? Memcomparable.getLong(key, at + 1) : Memcomparable.getUlong(key, at + 1);
    }
}
