package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A local file of tiny metas that speeds up a start: it is appended to, and rewritten when much of it is out of date (sst.md 10). Later records of a
 * table replace earlier ones.
 *
 * <pre>
 * at  bytes  field         unit and bounds
 *  0      4  headerLength  little-endian
 *  4          header        protobuf MetaPackHeader; field 1, version: 1
 *  .          records       {@link TinyMetaRecord}, one behind the other
 * </pre>
 *
 * <p>Owns the open file; of the records it keeps only where they are. One thread.
 */
public final class MetaPack implements AutoCloseable {
    /** Written bytes from which on a rewrite is thought of. */
    static final long COMPACT_THRESHOLD_BYTES = 1 << 20;

    /** Written bytes at which the pack is rewritten in any case. */
    static final long COMPACT_FORCED_BYTES = 100 << 20;

    /** How many times larger than its live records a pack may be. */
    private static final double COMPACT_RATIO = 4;

    private static final byte[] HEADER = {2, 0, 0, 0, 8, 1};
    private static final int VERSION = 1;
    private static final int VERSION_TAG = 8;
    private static final int MAX_HEADER_BYTES = 1 << 10;
    private static final int MAX_VARINT_BYTES = 10;
    private static final String SIDE_SUFFIX = ".compact";

    /** Where a live record is. */
    private record Place(long offset, long length) {}

    private final Path path;
    private FileChannel channel;
    private final Map<Long, Place> live = new LinkedHashMap<>();
    private long liveBytes;
    private long end;
    private long writtenBytes; // since the last rewrite

    private MetaPack(Path path, FileChannel channel) {
        this.path = path;
        this.channel = channel;
    }

    /**
     * Opens a pack to append to it; makes it if it isn't there. A broken header makes it empty, a record that is cut at its end is cut off.
     *
     * @throws CoplaneException of code FILE_FORMAT if it is of another version, STORE_UNAVAILABLE if it can't be read or written
     */
    public static MetaPack open(Path path) {
        FileChannel channel = null;
        try {
            channel = FileChannel.open(
                    path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
            var pack = new MetaPack(path, channel);
            pack.load();
            return pack;
        } catch (IOException e) {
            closeQuietly(channel, e);
            throw failed(path, e);
        } catch (RuntimeException e) {
            closeQuietly(channel, e);
            throw e;
        }
    }

    private static void closeQuietly(FileChannel channel, Exception cause) {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }

    private void load() throws IOException {
        var from = new ChannelSource(channel, channel.size(), path);
        try {
            readHeader(from);
        } catch (CoplaneException e) {
            if (e.code() == ErrorCode.UNSUPPORTED) {
                throw new CoplaneException(ErrorCode.FILE_FORMAT, e.getMessage(), e);
            }
            channel.truncate(0);
            write(ByteBuffer.wrap(HEADER), 0);
            end = HEADER.length;
            return;
        }
        end = from.at;
        while (from.left() > 0) {
            TinyMetaRecord record;
            try {
                record = TinyMetaRecord.read(from);
            } catch (CoplaneException e) {
                if (e.code() != ErrorCode.FILE_TRUNCATED) {
                    throw e;
                }
                channel.truncate(end); // cut while it was being written
                return;
            }
            note(record.fileId(), new Place(end, from.at - end));
            end = from.at;
        }
    }

    /**
     * Reads a pack without changing it.
     *
     * @param records gets each record, also those that later ones replace
     * @throws CoplaneException of code FILE_FORMAT, FILE_TRUNCATED if the pack is broken, STORE_UNAVAILABLE if it can't be read
     */
    public static void read(Path path, Consumer<TinyMetaRecord> records) {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            var from = new ChannelSource(channel, channel.size(), path);
            try {
                readHeader(from);
            } catch (CoplaneException e) {
                throw e.code() == ErrorCode.UNSUPPORTED
                        ? new CoplaneException(ErrorCode.FILE_FORMAT, e.getMessage(), e)
                        : e;
            }
            while (from.left() > 0) {
                records.accept(TinyMetaRecord.read(from));
            }
        } catch (IOException e) {
            throw failed(path, e);
        }
    }

    /** @throws CoplaneException of code UNSUPPORTED for another version, FILE_TRUNCATED for a broken header */
    private static void readHeader(ChannelSource from) {
        if (from.left() < Integer.BYTES) {
            throw corrupted("header length mismatch: " + from.left() + " < " + Integer.BYTES, from.place());
        }
        long length = (int) Bytes.LE_INT.get(from.take(Integer.BYTES), 0) & 0xFFFF_FFFFL;
        if (from.left() < length || length > MAX_HEADER_BYTES) {
            throw corrupted("header data length mismatch: " + from.left() + " < " + length, from.place());
        }
        byte[] header = from.take((int) length);
        // the only field so far; what later versions add, they add behind it
        long version = header.length == 0 || header[0] != VERSION_TAG ? 0 : varint(header, from);
        if (version != VERSION) {
            throw new CoplaneException(
                    ErrorCode.UNSUPPORTED,
                    "Corrupted meta pack: unsupported meta pack version: " + Long.toUnsignedString(version) + ": "
                            + from.place());
        }
    }

    private static long varint(byte[] header, ChannelSource from) {
        long value = 0;
        for (int i = 0; i < MAX_VARINT_BYTES && i + 1 < header.length; i++) {
            value |= (long) (header[i + 1] & 0x7F) << (7 * i);
            if (header[i + 1] >= 0) {
                return value;
            }
        }
        throw corrupted("header data length mismatch: " + header.length + " < " + (header.length + 1), from.place());
    }

    /** The newest record of a table; null if there is none. */
    public TinyMetaRecord get(long fileId) {
        Place place = live.get(fileId);
        if (place == null) {
            return null;
        }
        return TinyMetaRecord.read(new ChannelSource(channel, place.offset, place.offset + place.length, path));
    }

    /** Tables that have a record. */
    public int count() {
        return live.size();
    }

    /** Bytes of the file. */
    public long byteSize() {
        return end;
    }

    /** Appends a record; it replaces an earlier one of the same table. */
    public void append(TinyMetaRecord record) {
        byte[] bytes = record.encode();
        try {
            write(ByteBuffer.wrap(bytes), end);
        } catch (IOException e) {
            throw failed(path, e);
        }
        note(record.fileId(), new Place(end, bytes.length));
        end += bytes.length;
        writtenBytes += bytes.length;
    }

    private void note(long fileId, Place place) {
        Place before = live.remove(fileId); // so that the order is that of the newest records
        liveBytes += place.length - (before == null ? 0 : before.length);
        live.put(fileId, place);
    }

    /** Forgets a table; its record goes with the next rewrite. */
    public void remove(long fileId) {
        Place before = live.remove(fileId);
        liveBytes -= before == null ? 0 : before.length;
    }

    /** Makes what was appended survive a crash. */
    public void sync() {
        try {
            channel.force(false);
        } catch (IOException e) {
            throw failed(path, e);
        }
    }

    /** Rewrites the pack if that is worth it. @return whether it was */
    public boolean compactIfWorthIt() {
        boolean large = writtenBytes >= COMPACT_THRESHOLD_BYTES && end > COMPACT_RATIO * (HEADER.length + liveBytes);
        if (!large && writtenBytes < COMPACT_FORCED_BYTES) {
            return false;
        }
        compact();
        return true;
    }

    /** Rewrites the pack with its live records only: beside the old one, which it then replaces at once. */
    public void compact() {
        Path side = path.resolveSibling(path.getFileName() + SIDE_SUFFIX);
        var places = new LinkedHashMap<Long, Place>();
        try {
            Files.deleteIfExists(side);
            FileChannel fresh = FileChannel.open(
                    side, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
            long to;
            try {
                to = copyLive(fresh, places);
                fresh.force(true);
                Files.move(side, path, StandardCopyOption.ATOMIC_MOVE);
            } catch (IOException | RuntimeException e) {
                closeQuietly(fresh, e);
                Files.deleteIfExists(side);
                throw e;
            }
            FileChannel before = channel;
            channel = fresh;
            live.clear();
            live.putAll(places);
            end = to;
            writtenBytes = 0;
            before.close();
        } catch (IOException e) {
            throw failed(path, e);
        }
    }

    private long copyLive(FileChannel fresh, Map<Long, Place> places) throws IOException {
        writeAll(fresh, ByteBuffer.wrap(HEADER), 0);
        long to = HEADER.length;
        for (Map.Entry<Long, Place> entry : live.entrySet()) {
            Place place = entry.getValue();
            var from = new ChannelSource(channel, place.offset, place.offset + place.length, path);
            writeAll(fresh, ByteBuffer.wrap(from.take((int) place.length)), to);
            places.put(entry.getKey(), new Place(to, place.length));
            to += place.length;
        }
        return to;
    }

    private void write(ByteBuffer bytes, long at) throws IOException {
        writeAll(channel, bytes, at);
    }

    private static void writeAll(FileChannel channel, ByteBuffer bytes, long at) throws IOException {
        long to = at;
        while (bytes.hasRemaining()) {
            to += channel.write(bytes, to);
        }
    }

    static CoplaneException corrupted(String what, String place) {
        return new CoplaneException(ErrorCode.FILE_TRUNCATED, "Corrupted meta pack: " + what + ": " + place);
    }

    private static CoplaneException failed(Path path, IOException e) {
        return new CoplaneException(
                ErrorCode.STORE_UNAVAILABLE, "IO error: " + e.getMessage() + ": file=" + path.getFileName(), e);
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw failed(path, e);
        }
    }

    /** A range of a file, read front to back through a small window. */
    private static final class ChannelSource implements TinyMetaRecord.Source {
        private static final int WINDOW_BYTES = 64 << 10;

        private final FileChannel channel;
        private final long end;
        private final Path path;
        private final byte[] window = new byte[WINDOW_BYTES];
        private long windowAt;
        private int windowLength;
        private long at;

        ChannelSource(FileChannel channel, long end, Path path) {
            this(channel, 0, end, path);
        }

        ChannelSource(FileChannel channel, long start, long end, Path path) {
            this.channel = channel;
            this.at = start;
            this.end = end;
            this.path = path;
        }

        @Override
        public long left() {
            return end - at;
        }

        @Override
        public String place() {
            return "file=" + path.getFileName() + " offset=" + at;
        }

        @Override
        public byte[] take(int count) {
            byte[] taken = new byte[count];
            int done = 0;
            while (done < count) {
                if (at < windowAt || at >= windowAt + windowLength) {
                    fill();
                }
                int from = (int) (at - windowAt);
                int chunk = Math.min(count - done, windowLength - from);
                System.arraycopy(window, from, taken, done, chunk);
                done += chunk;
                at += chunk;
            }
            return taken;
        }

        private void fill() {
            try {
                int read = channel.read(ByteBuffer.wrap(window), at);
                if (read <= 0) {
                    throw corrupted("length mismatch: 0 < 1", place());
                }
                windowAt = at;
                windowLength = read;
            } catch (IOException e) {
                throw failed(path, e);
            }
        }
    }
}
