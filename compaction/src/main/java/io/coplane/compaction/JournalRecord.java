package io.coplane.compaction;

import io.coplane.nativecache.FileKind;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/** One fact in the journal of a compaction; the bytes are those of docs/formats/compaction-journal.md. */
sealed interface JournalRecord {
    /** Ids that the allocator gave, in the order in which it gave them. */
    record Ids(long[] ids) implements JournalRecord {}

    /** An output is complete and its upload begins: from now on the store may hold it. */
    record Begun(JournalOutput output) implements JournalRecord {}

    /** The store has said that it holds an output. */
    record Stored(long fileId) implements JournalRecord {}

    /** A place to go on from. */
    record Point(ResumePoint point) implements JournalRecord {}

    /** An attempt begins behind the resume point of this number, counted from 0; -1: from the start. */
    record Run(int point) implements JournalRecord {}

    /** The compaction is complete. */
    record Done(byte[] changeSet, long inputEntries, long outputEntries) implements JournalRecord {}

    /** Somebody was given the answer. */
    record Delivered(long wallMillis) implements JournalRecord {}

    /** Type and payload. */
    default byte[] encode() {
        var bytes = new ByteArrayOutputStream();
        try (var out = new DataOutputStream(bytes)) {
            write(out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    private void write(DataOutputStream out) throws IOException {
        switch (this) {
            case Ids r -> {
                out.writeByte(1);
                out.writeInt(r.ids().length);
                for (long id : r.ids()) {
                    out.writeLong(id);
                }
            }
            case Begun(JournalOutput o) -> {
                out.writeByte(2);
                out.writeByte(o.kind() == FileKind.BLOB ? 1 : 0);
                out.writeLong(o.fileId());
                out.writeLong(o.byteSize());
                out.writeLong(o.metaOffset());
                out.writeInt(o.level());
                out.writeInt(o.cf());
                writeBytes(out, o.smallest());
                writeBytes(out, o.biggest());
            }
            case Stored(long fileId) -> {
                out.writeByte(3);
                out.writeLong(fileId);
            }
            case Point(ResumePoint p) -> {
                out.writeByte(4);
                out.writeInt(p.step());
                writeBytes(out, p.key());
                out.writeLong(p.tableId());
                out.writeLong(p.blobId());
                writeBytes(out, p.blobKey());
                out.writeLong(p.blobBytes());
                out.writeInt(p.idsTaken());
                out.writeInt(p.outputs());
                out.writeLong(p.inputEntries());
                out.writeLong(p.outputEntries());
                out.writeLong(p.inputBytesRead());
            }
            case Run(int point) -> {
                out.writeByte(5);
                out.writeInt(point);
            }
            case Done r -> {
                out.writeByte(6);
                writeBytes(out, r.changeSet());
                out.writeLong(r.inputEntries());
                out.writeLong(r.outputEntries());
            }
            case Delivered(long wallMillis) -> {
                out.writeByte(7);
                out.writeLong(wallMillis);
            }
        }
    }

    private static void writeBytes(DataOutputStream out, byte[] bytes) throws IOException {
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    /** @return null for what is no record of this version */
    static JournalRecord decode(byte[] bytes) {
        try (var in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            JournalRecord read = read(in);
            return in.available() == 0 ? read : null;
        } catch (IOException e) {
            return null; // ends too early: whoever reads the journal says where
        }
    }

    private static JournalRecord read(DataInputStream in) throws IOException {
        return switch (in.readByte()) {
            case 1 -> {
                int count = in.readInt();
                if (count < 0 || count > in.available() / Long.BYTES) {
                    throw new IOException("more ids than bytes");
                }
                long[] ids = new long[count];
                for (int i = 0; i < count; i++) {
                    ids[i] = in.readLong();
                }
                yield new Ids(ids);
            }
            case 2 ->
                new Begun(new JournalOutput(
                        in.readByte() == 1 ? FileKind.BLOB : FileKind.SST,
                        in.readLong(),
                        in.readLong(),
                        in.readLong(),
                        in.readInt(),
                        in.readInt(),
                        readBytes(in),
                        readBytes(in)));
            case 3 -> new Stored(in.readLong());
            case 4 ->
                new Point(new ResumePoint(
                        in.readInt(),
                        readBytes(in),
                        in.readLong(),
                        in.readLong(),
                        readBytes(in),
                        in.readLong(),
                        in.readInt(),
                        in.readInt(),
                        in.readLong(),
                        in.readLong(),
                        in.readLong()));
            case 5 -> new Run(in.readInt());
            case 6 -> new Done(readBytes(in), in.readLong(), in.readLong());
            case 7 -> new Delivered(in.readLong());
            default -> null;
        };
    }

    private static byte[] readBytes(DataInputStream in) throws IOException {
        int length = in.readInt();
        if (length < 0 || length > in.available()) {
            throw new IOException("longer than its record");
        }
        return in.readNBytes(length);
    }
}
