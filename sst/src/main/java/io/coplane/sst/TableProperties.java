package io.coplane.sst;

import io.coplane.nativecache.memory.Layouts;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/**
 * Properties of one table (sst.md 3.7), as written by its builder; keys are inner keys.
 *
 * @param smallest           first key
 * @param biggest            last key
 * @param maxTs              newest version, unsigned; of locks a snap version
 * @param maxLockTs          newest start ts among locks, unsigned; the file id if the file doesn't say (older lock files)
 * @param entries            distinct keys
 * @param oldEntries         older versions
 * @param tombs              entries without a value
 * @param kvBytes            bytes of keys, user metas and values of the newest versions
 * @param inUseBlobBytes     stored bytes of the blobs referred to
 * @param encryptionVersion  version of the key that encrypts the blocks; 0 if none
 * @param encrypted          whether the file names a key version
 * @param snapVersion        snap version of a split L0 table, else 0
 */
public record TableProperties(
        byte[] smallest,
        byte[] biggest,
        long maxTs,
        long maxLockTs,
        int entries,
        int oldEntries,
        int tombs,
        long kvBytes,
        long inUseBlobBytes,
        int encryptionVersion,
        boolean encrypted,
        long snapVersion) {
    static final String SMALLEST = "smallest";
    static final String BIGGEST = "biggest";
    static final String MAX_TS = "max_ts";
    static final String MAX_LOCK_TS = "max_lock_ts";
    static final String ENTRIES = "entries";
    static final String OLD_ENTRIES = "old_entries";
    static final String TOMBS = "tombs";
    static final String KV_SIZE = "kv_size";
    static final String BLOB_SIZE = "in_use_total_blob_size";
    static final String ENCRYPTION_VERSION = "encryption_ver";
    static final String L0_VERSION = "l0_ver";

    private static final int LONGEST_NAME_BYTES = 64;

    /**
     * Reads a properties section whose checksum was verified.
     *
     * @param from   first byte after the checksum; in bounds
     * @param to     end of the section; in bounds
     * @param fileId default of the newest lock
     * @param tableBytes default of the key and value bytes
     */
    static TableProperties read(MemorySegment bytes, long from, long to, String file, long fileId, long tableBytes) {
        var p = new Parser(bytes, from, to, file);
        byte[] smallest = new byte[0];
        byte[] biggest = new byte[0];
        long maxTs = 0;
        long maxLockTs = 0;
        int entries = 0;
        int oldEntries = 0;
        int tombs = 0;
        long kvBytes = tableBytes;
        long blobBytes = 0;
        int encryptionVersion = 0;
        boolean encrypted = false;
        long snapVersion = 0;
        while (p.next()) {
            switch (p.name) {
                case SMALLEST -> smallest = Bytes.trim(p.keyValue());
                case BIGGEST -> biggest = Bytes.trim(p.keyValue());
                case MAX_TS -> maxTs = p.longValue();
                case MAX_LOCK_TS -> maxLockTs = p.longValue();
                case ENTRIES -> entries = p.intValue();
                case OLD_ENTRIES -> oldEntries = p.intValue();
                case TOMBS -> tombs = p.intValue();
                case KV_SIZE -> kvBytes = p.longValue();
                case BLOB_SIZE -> blobBytes = p.longValue();
                case ENCRYPTION_VERSION -> {
                    encryptionVersion = p.intValue();
                    encrypted = true;
                }
                case L0_VERSION -> snapVersion = p.longValue();
                default -> {
                    // names of later versions are skipped (sst.md 3.7)
                }
            }
        }
        return new TableProperties(
                smallest,
                biggest,
                maxTs,
                maxLockTs != 0 ? maxLockTs : fileId,
                entries,
                oldEntries,
                tombs,
                kvBytes,
                blobBytes,
                encryptionVersion,
                encrypted,
                snapVersion);
    }

    /** Walks name and value pairs. */
    static final class Parser {
        private final MemorySegment bytes;
        private final long to;
        private final String file;
        private long at;
        String name = "";
        private long valueAt;
        private long valueLength;

        Parser(MemorySegment bytes, long from, long to, String file) {
            this.bytes = bytes;
            this.at = from;
            this.to = to;
            this.file = file;
        }

        boolean next() {
            if (at == to) {
                return false;
            }
            long start = at;
            long left = to - at - Short.BYTES;
            int nameLength = left < 0 ? 0 : bytes.get(Layouts.LE_SHORT, at) & 0xFFFF;
            left -= nameLength + Integer.BYTES;
            if (left < 0) {
                throw FileErrors.format(file, start, "property is cut");
            }
            long nameAt = at + Short.BYTES;
            valueAt = nameAt + nameLength + Integer.BYTES;
            valueLength = bytes.get(Layouts.LE_INT, nameAt + nameLength) & 0xFFFF_FFFFL;
            if (valueLength > left) {
                throw FileErrors.format(file, start, "property value is cut: valueBytes=" + valueLength);
            }
            name = nameLength > LONGEST_NAME_BYTES
                    ? ""
                    : new String(bytes.asSlice(nameAt, nameLength).toArray(Layouts.BYTE), StandardCharsets.ISO_8859_1);
            at = valueAt + valueLength;
            return true;
        }

        /** The value of a property that holds a key, perhaps with its keyspace prefix. */
        byte[] keyValue() {
            if (valueLength > Formats.MAX_KEY_BYTES + Bytes.KEYSPACE_PREFIX_BYTES) {
                throw FileErrors.format(
                        file, valueAt, "property is longer than a key: name=" + name + " valueBytes=" + valueLength);
            }
            return bytes.asSlice(valueAt, valueLength).toArray(Layouts.BYTE);
        }

        long longValue() {
            requireLength(Long.BYTES);
            return bytes.get(Layouts.LE_LONG, valueAt);
        }

        int intValue() {
            requireLength(Integer.BYTES);
            return bytes.get(Layouts.LE_INT, valueAt);
        }

        private void requireLength(int length) {
            if (valueLength != length) {
                throw FileErrors.format(
                        file, valueAt, "property has a wrong length: name=" + name + " valueBytes=" + valueLength);
            }
        }
    }
}
