package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * One lock of the lock column family (snapshot.md 6.5). Timestamps and counts are unsigned. Immutable by convention: arrays are neither copied nor
 * changed.
 *
 * <pre>
 * type (1)  primary (compact bytes)  startTs (varint)  ttl (varint)
 * then, each if it has a value, tag and field:
 *  'v'  shortValue           varint length, bytes
 *  'f'  forUpdateTs          8 bytes, big-endian
 *  't'  txnSize              8, big-endian
 *  'c'  minCommitTs          8, big-endian
 *  'a'  secondaries          varint count, compact bytes each
 *  'r'  rollbackTs           varint count, 8 big-endian each
 *  'l'  lastChangeTs (8, big-endian), lastChangeVersions (varint)
 *  's'  txnSource            varint
 *  'T'  txnFile              nothing more
 * compact bytes: length as a zig-zag varint, bytes; varint: 7 bits a byte, lowest first
 * </pre>
 *
 * @param primary            raw key
 * @param ttlMillis          how long the lock lives
 * @param shortValue         the whole value; null if there is none
 * @param secondaries        raw keys of an async commit; null unless it is one
 * @param rollbackTs         start timestamps of transactions rolled back meanwhile; perhaps none
 * @param lastChangeTs       commit of the newest change before; 0 if not known
 * @param lastChangeVersions versions to it
 * @param txnFile            whether the transaction's mutations are in txn chunks
 */
public record Lock(
        LockType type,
        byte[] primary,
        long startTs,
        long ttlMillis,
        byte[] shortValue,
        long forUpdateTs,
        long txnSize,
        long minCommitTs,
        List<byte[]> secondaries,
        long[] rollbackTs,
        long lastChangeTs,
        long lastChangeVersions,
        long txnSource,
        boolean txnFile) {
    static final byte SHORT_VALUE = 'v';
    private static final byte FOR_UPDATE_TS = 'f';
    private static final byte TXN_SIZE = 't';
    private static final byte MIN_COMMIT_TS = 'c';
    private static final byte ASYNC_COMMIT = 'a';
    private static final byte ROLLBACKS = 'r';
    private static final byte LAST_CHANGE = 'l';
    private static final byte TXN_SOURCE = 's';
    private static final byte TXN_FILE = 'T';

    /** A lock with a primary, a start timestamp and a time to live; nothing else. */
    public static Lock of(LockType type, byte[] primary, long startTs, long ttlMillis) {
        return new Lock(type, primary, startTs, ttlMillis, null, 0, 0, 0, null, new long[0], 0, 0, 0, false);
    }

    /**
     * Parses a lock. Tagged parts may come in any order, the last of several counts; an unknown tag ends the lock.
     *
     * @throws CoplaneException of code CORRUPT_VALUE if it is no lock or is cut
     */
    public static Lock parse(byte[] bytes) {
        return new Parser(bytes).lock();
    }

    /** The serialised form, with its parts in the reference's order. */
    public byte[] encode() {
        var out = new ByteArrayOutputStream();
        out.write(type.mark());
        putCompact(out, primary);
        putVarint(out, startTs);
        putVarint(out, ttlMillis);
        if (shortValue != null) {
            out.write(SHORT_VALUE);
            putVarint(out, shortValue.length);
            out.writeBytes(shortValue);
        }
        putTagged(out, FOR_UPDATE_TS, forUpdateTs);
        putTagged(out, TXN_SIZE, txnSize);
        putTagged(out, MIN_COMMIT_TS, minCommitTs);
        if (secondaries != null) {
            out.write(ASYNC_COMMIT);
            putVarint(out, secondaries.size());
            secondaries.forEach(key -> putCompact(out, key));
        }
        if (rollbackTs.length > 0) {
            out.write(ROLLBACKS);
            putVarint(out, rollbackTs.length);
            for (long ts : rollbackTs) {
                putLong(out, ts);
            }
        }
        if (lastChangeTs != 0 || lastChangeVersions != 0) {
            out.write(LAST_CHANGE);
            putLong(out, lastChangeTs);
            putVarint(out, lastChangeVersions);
        }
        if (txnSource != 0) {
            out.write(TXN_SOURCE);
            putVarint(out, txnSource);
        }
        if (txnFile) {
            out.write(TXN_FILE);
        }
        return out.toByteArray();
    }

    private static void putTagged(ByteArrayOutputStream out, byte tag, long value) {
        if (value != 0) {
            out.write(tag);
            putLong(out, value);
        }
    }

    private static void putCompact(ByteArrayOutputStream out, byte[] bytes) {
        putVarint(out, 2L * bytes.length);
        out.writeBytes(bytes);
    }

    private static void putLong(ByteArrayOutputStream out, long value) {
        out.writeBytes(ByteBuffer.allocate(Long.BYTES).putLong(value).array());
    }

    private static void putVarint(ByteArrayOutputStream out, long value) {
        long left = value;
        while ((left & ~0x7FL) != 0) {
            out.write((int) (left & 0x7F) | 0x80);
            left >>>= 7;
        }
        out.write((int) left);
    }

    /** Reads one lock front to back. */
    private static final class Parser {
        private static final int MAX_VARINT_BYTES = 10;

        private final byte[] bytes;
        private int at;

        private byte[] shortValue;
        private long forUpdateTs;
        private long txnSize;
        private long minCommitTs;
        private List<byte[]> secondaries;
        private long[] rollbackTs = new long[0];
        private long lastChangeTs;
        private long lastChangeVersions;
        private long txnSource;
        private boolean txnFile;

        Parser(byte[] bytes) {
            this.bytes = bytes;
        }

        Lock lock() {
            LockType type = bytes.length == 0 ? null : LockType.of(bytes[0]);
            if (type == null) {
                throw bad("bad format lock data");
            }
            at = 1;
            byte[] primary = compact();
            long startTs = varint();
            long ttlMillis = at == bytes.length ? 0 : varint(); // old locks end here
            while (at < bytes.length && tagged()) {
                // each call reads one part
            }
            return new Lock(
                    type,
                    primary,
                    startTs,
                    ttlMillis,
                    shortValue,
                    forUpdateTs,
                    txnSize,
                    minCommitTs,
                    secondaries,
                    rollbackTs,
                    lastChangeTs,
                    lastChangeVersions,
                    txnSource,
                    txnFile);
        }

        /** @return false at an unknown tag, which ends the lock */
        private boolean tagged() {
            switch (bytes[at++]) {
                case SHORT_VALUE -> shortValue = take(varint());
                case FOR_UPDATE_TS -> forUpdateTs = fixed();
                case TXN_SIZE -> txnSize = fixed();
                case MIN_COMMIT_TS -> minCommitTs = fixed();
                case ASYNC_COMMIT -> {
                    int count = count(Byte.BYTES);
                    secondaries = new ArrayList<>();
                    for (int i = 0; i < count; i++) {
                        secondaries.add(compact());
                    }
                }
                case ROLLBACKS -> {
                    rollbackTs = new long[count(Long.BYTES)];
                    Arrays.setAll(rollbackTs, i -> fixed());
                }
                case LAST_CHANGE -> {
                    lastChangeTs = fixed();
                    lastChangeVersions = varint();
                }
                case TXN_SOURCE -> txnSource = varint();
                case TXN_FILE -> txnFile = true;
                default -> {
                    return false;
                }
            }
            return true;
        }

        private int count(int leastBytesEach) {
            long count = varint();
            if (count < 0 || count > (bytes.length - at) / leastBytesEach) {
                throw bad("lock is cut: count=" + Long.toUnsignedString(count));
            }
            return (int) count;
        }

        private byte[] compact() {
            long zigZag = varint();
            return take((zigZag >>> 1) ^ -(zigZag & 1));
        }

        private byte[] take(long length) {
            if (length < 0 || length > bytes.length - at) {
                throw bad("lock is cut: bytes=" + length);
            }
            byte[] taken = Arrays.copyOfRange(bytes, at, at + (int) length);
            at += (int) length;
            return taken;
        }

        private long fixed() {
            if (bytes.length - at < Long.BYTES) {
                throw bad("lock is cut: number");
            }
            long value = (long) Bytes.BE_LONG.get(bytes, at);
            at += Long.BYTES;
            return value;
        }

        private long varint() {
            long value = 0;
            for (int i = 0; i < MAX_VARINT_BYTES && at < bytes.length; i++) {
                byte b = bytes[at++];
                value |= (long) (b & 0x7F) << (7 * i);
                if (b >= 0) {
                    return value;
                }
            }
            throw bad("lock is cut: number");
        }

        private CoplaneException bad(String what) {
            return new CoplaneException(ErrorCode.CORRUPT_VALUE, what + ": offset=" + at + " bytes=" + bytes.length);
        }
    }
}
