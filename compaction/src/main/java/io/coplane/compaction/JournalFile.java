package io.coplane.compaction;

import io.coplane.nativecache.memory.Layouts;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HexFormat;
import java.util.zip.CRC32C;
import net.openhft.chronicle.bytes.MappedBytes;

/**
 * The file of one compaction's journal, mapped: what is appended survives the end of the process, whatever ends it, without a system call.
 *
 * <pre>
 * file header, 64 bytes; all integers big-endian
 * at  bytes  field           unit and bounds
 *  0      8  magic           0x4350_4A52_4E4C_0A1A
 *  8      4  version         1
 * 12      8  createdMillis   since 1970
 * 20     32  identity        SHA-256 of the request's body
 * 52      8  reserved        0
 * 60      4  crc32c          of bytes 0 .. 59
 *
 * then records, without gaps; zeros behind the last one
 *  0      4  crc32c          of the 4 bytes of the checksum before it, and of bytes 4 .. 7 + length
 *  4      4  length n        1 .. 64 MiB
 *  8      n  type, payload   {@link JournalRecord}
 * </pre>
 *
 * <p>Space is written, not only reserved, before it is mapped: a full disk is an error of a write, never a fault of an access to memory.
 * Owns its mapping until closed. One thread at a time.
 */
final class JournalFile implements AutoCloseable {
    static final int HEADER_BYTES = 64;
    static final long MOST_BYTES = 64L << 20;
    private static final long MAGIC = 0x4350_4A52_4E4C_0A1AL;
    private static final int VERSION = 1;
    private static final int IDENTITY_BYTES = 32;
    private static final int HEADER_CRC_AT = 60;
    private static final int RECORD_HEADER_BYTES = 8;
    private static final int LEAST_CAPACITY = 4 << 10;
    private static final int ZEROS = 64 << 10;

    /**
     * What a file holds.
     *
     * @param state     of its sound records
     * @param byteSize  where they end
     * @param lastCrc   of the last one, or of the header
     * @param createdMillis since 1970
     * @param identity  hex
     */
    record Content(JournalState state, long byteSize, int lastCrc, long createdMillis, String identity) {}

    private final Path file;
    private MappedBytes bytes;
    private long capacity;
    private long at;
    private int lastCrc;

    private JournalFile(Path file, long at, int lastCrc) {
        this.file = file;
        this.at = at;
        this.lastCrc = lastCrc;
    }

    /** Begins a file anew. */
    static JournalFile create(Path file, String identity, long createdMillis) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES);
        header.putLong(MAGIC)
                .putInt(VERSION)
                .putLong(createdMillis)
                .put(HexFormat.of().parseHex(identity))
                .putLong(0);
        int crc = crc(0, header.array(), 0, HEADER_CRC_AT, false);
        header.putInt(crc);
        try (FileChannel channel = FileChannel.open(
                file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
            writeAll(channel, header.flip(), 0);
        }
        return open(file, HEADER_BYTES, crc);
    }

    /** Goes on behind the sound records of a file; what follows them is dropped. */
    static JournalFile append(Path file, Content content) throws IOException {
        return open(file, content.byteSize(), content.lastCrc());
    }

    private static JournalFile open(Path file, long at, int lastCrc) throws IOException {
        var journal = new JournalFile(file, at, lastCrc);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(at);
        }
        journal.map(at + RECORD_HEADER_BYTES);
        return journal;
    }

    /** Maps the file with room for so many bytes at least. */
    private void map(long needed) throws IOException {
        long most = capacity;
        capacity = Math.max(LEAST_CAPACITY, Long.highestOneBit(2 * needed - 1) * 2);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            ByteBuffer zeros = ByteBuffer.allocate((int) Math.min(ZEROS, capacity));
            for (long from = Math.max(at, most); from < capacity; from += zeros.limit()) {
                zeros.clear().limit((int) Math.min(zeros.capacity(), capacity - from));
                writeAll(channel, zeros, from);
            }
        }
        bytes = MappedBytes.singleMappedBytes(file.toFile(), capacity);
        bytes.singleThreadedCheckDisabled(true);
    }

    private static void writeAll(FileChannel channel, ByteBuffer from, long offset) throws IOException {
        long to = offset;
        while (from.hasRemaining()) {
            to += channel.write(from, to);
        }
    }

    /** Appends a record. @throws IOException if there is no room; the records before it stay sound */
    void append(byte[] payload) throws IOException {
        long end = at + RECORD_HEADER_BYTES + payload.length;
        if (end > MOST_BYTES) {
            throw new IOException("journal is full: bytes=" + end);
        }
        if (end + RECORD_HEADER_BYTES > capacity) {
            unmap();
            map(end + RECORD_HEADER_BYTES);
        }
        byte[] record = new byte[RECORD_HEADER_BYTES + payload.length];
        MemorySegment segment = MemorySegment.ofArray(record);
        segment.set(Layouts.BE_INT, Integer.BYTES, payload.length);
        System.arraycopy(payload, 0, record, RECORD_HEADER_BYTES, payload.length);
        int crc = crc(lastCrc, record, Integer.BYTES, record.length - Integer.BYTES, true);
        segment.set(Layouts.BE_INT, 0, crc);
        bytes.write(at, record, 0, record.length);
        at = end;
        lastCrc = crc;
    }

    private static int crc(int before, byte[] from, int offset, int length, boolean chained) {
        var crc = new CRC32C();
        if (chained) {
            crc.update(ByteBuffer.allocate(Integer.BYTES).putInt(before).flip());
        }
        crc.update(from, offset, length);
        return (int) crc.getValue();
    }

    private void unmap() {
        if (bytes != null) {
            bytes.releaseLast();
            bytes = null;
        }
    }

    /** Unmaps the file and cuts the room that wasn't used. Idempotent. */
    @Override
    public void close() throws IOException {
        if (bytes == null) {
            return;
        }
        unmap();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(at);
        }
    }

    /**
     * Reads a file up to where it stops being sound.
     *
     * @return null if it is none of ours, or of another version
     */
    static Content read(Path file) throws IOException {
        try (InputStream stream = Files.newInputStream(file);
                var in = new DataInputStream(new BufferedInputStream(stream, ZEROS))) {
            byte[] header = in.readNBytes(HEADER_BYTES);
            if (header.length < HEADER_BYTES) {
                return null;
            }
            ByteBuffer fields = ByteBuffer.wrap(header);
            int crc = fields.getInt(HEADER_CRC_AT);
            if (crc != crc(0, header, 0, HEADER_CRC_AT, false)
                    || fields.getLong() != MAGIC
                    || fields.getInt() != VERSION) {
                return null;
            }
            long created = fields.getLong();
            byte[] identity = new byte[IDENTITY_BYTES];
            fields.get(identity);
            return records(in, crc, created, HexFormat.of().formatHex(identity));
        }
    }

    private static Content records(DataInputStream in, int headerCrc, long created, String identity)
            throws IOException {
        var state = new JournalState();
        long at = HEADER_BYTES;
        int lastCrc = headerCrc;
        try {
            while (true) {
                int crc = in.readInt();
                int length = in.readInt();
                if (length < 1 || at + RECORD_HEADER_BYTES + length > MOST_BYTES) {
                    break;
                }
                // grows with what is there, so that a length that lies costs no more than the file is long
                byte[] payload = in.readNBytes(length);
                if (payload.length < length) {
                    break;
                }
                byte[] record = new byte[Integer.BYTES + length];
                ByteBuffer.wrap(record).putInt(length);
                System.arraycopy(payload, 0, record, Integer.BYTES, length);
                if (crc(lastCrc, record, 0, record.length, true) != crc) {
                    break;
                }
                JournalRecord decoded = JournalRecord.decode(payload);
                if (decoded == null || !state.apply(decoded)) {
                    break;
                }
                lastCrc = crc;
                at += RECORD_HEADER_BYTES + length;
            }
        } catch (EOFException e) {
            return new Content(state, at, lastCrc, created, identity); // a record's head is cut
        }
        return new Content(state, at, lastCrc, created, identity);
    }
}
