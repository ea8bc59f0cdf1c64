package io.coplane.snapshot;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.sst.BlobFetcher;
import io.coplane.sst.BlobReader;
import io.coplane.sst.BlobRef;
import io.coplane.sst.ColumnFamily;
import io.coplane.sst.Fingerprint64;
import io.coplane.sst.L0Reader;
import io.coplane.sst.SstReader;
import io.coplane.sst.TableCursor;
import io.coplane.sst.TxnChunkCursor;
import io.coplane.sst.TxnChunkReader;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Reads files of the row store from end to end. */
final class FuzzFiles {
    private static final int FOOTER_BYTES = 28;
    private static final int CHECKSUM_TYPE_AT = 21;
    private static final int ADDRESS_BYTES = 16;
    private static final int CURRENT_OFFSET_AT = 12;
    private static final long FILE_ID = 9;

    private FuzzFiles() {}

    static void sst(byte[] bytes, NativeArena arena) {
        table(SstReader.open(FuzzTarget.copy(bytes, arena), FILE_ID, 1, null), arena);
    }

    static void l0(byte[] bytes, NativeArena arena) {
        L0Reader reader = L0Reader.open(FuzzTarget.copy(bytes, arena), FILE_ID, null);
        for (ColumnFamily family : ColumnFamily.values()) {
            if (reader.family(family) != null) {
                table(reader.family(family), arena);
            }
        }
    }

    private static void table(SstReader table, NativeArena arena) {
        TableCursor forward = table.cursor(false, arena);
        byte[] last = new byte[0];
        for (boolean more = forward.rewind(); more; more = forward.nextAllVersions()) {
            last = forward.copyKey();
            sum(forward.valueSegment(), forward.userMetaOffset(), forward.userMetaLength());
            sum(forward.valueSegment(), forward.valueOffset(), forward.valueLength());
        }
        TableCursor reverse = table.cursor(true, arena);
        for (boolean more = reverse.rewind(); more; more = reverse.next()) {
            reverse.seekVersion(reverse.version() / 2);
        }
        reverse.seek(last, 0, last.length);
        forward.seek(last, 0, last.length);
        forward.find(last, 0, last.length, Fingerprint64.hash(last), -1);
        table.overlaps(table.smallest(), last, true, arena);
    }

    private static long sum(MemorySegment bytes, long at, int length) {
        long sum = 0;
        for (int i = 0; i < length; i++) {
            sum += bytes.get(Layouts.BYTE, at + i);
        }
        return sum;
    }

    /** The records that the file begins with, and one wherever the last bytes say. */
    static void blob(byte[] bytes, NativeArena arena) {
        BlobReader reader = BlobReader.open(FuzzTarget.copy(bytes, arena), FILE_ID, null);
        var fetcher = new BlobFetcher(arena);
        ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        for (int at = 0, i = 0; i < 8 && at >= 0 && at <= bytes.length - 8; i++) {
            int length = in.getInt(at + 4);
            fetch(fetcher, reader, at, length, in.getInt(bytes.length - 4 - 4 * i));
            fetch(fetcher, reader, at, length, length);
            at += 8 + length;
        }
    }

    private static void fetch(BlobFetcher fetcher, BlobReader reader, int at, int length, int valueLength) {
        MemorySegment value;
        try {
            value = fetcher.fetch(reader, new BlobRef(FILE_ID, at, length, valueLength));
        } catch (CoplaneException e) {
            return; // other records may be sound
        }
        sum(value, 0, (int) value.byteSize());
    }

    static void txnChunk(byte[] bytes, NativeArena arena) {
        TxnChunkReader reader = TxnChunkReader.open(FuzzTarget.copy(bytes, arena), FILE_ID, null);
        TxnChunkCursor cursor = reader.cursor(arena);
        for (boolean more = cursor.seekCeiling(new byte[0]); more; more = cursor.next()) {
            sum(cursor.valueSegment(), cursor.valueOffset(), cursor.valueLength());
            cursor.copyKey();
        }
        for (boolean more = cursor.seekFloor(reader.biggest()); more; more = cursor.previous()) {
            cursor.op();
        }
    }

    /** The same table with checksum type none and the checksums that this asks for, as far as its offsets make sense. */
    static byte[] repair(byte[] bytes) {
        int footer = bytes.length - FOOTER_BYTES;
        if (footer < 0) {
            return bytes;
        }
        ByteBuffer out = ByteBuffer.wrap(bytes.clone()).order(ByteOrder.LITTLE_ENDIAN);
        out.put(footer + CHECKSUM_TYPE_AT, (byte) 0);
        for (int section = 1; section < 5; section++) {
            zero(out, out.getInt(footer + 4 * section));
        }
        for (int section = 1; section < 3; section++) {
            int index = out.getInt(footer + 4 * section);
            int count = index < 0 || index > footer - 12 ? 0 : out.getInt(index + 8);
            for (int i = 0; i < count && i < 1000; i++) {
                long address = index + 12L + 4L * count + (long) ADDRESS_BYTES * i + CURRENT_OFFSET_AT;
                if (address <= footer - 4) {
                    zero(out, out.getInt((int) address));
                }
            }
        }
        return out.array();
    }

    private static void zero(ByteBuffer out, int at) {
        if (at >= 0 && at <= out.capacity() - FOOTER_BYTES - 4) {
            out.putInt(at, 0);
        }
    }
}
