package io.coplane.testing;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Unpacks the tar archives of the golden files: POSIX ustar, files and folders only.
 *
 * <pre>
 * at   bytes  field
 *   0    100  name       up to the first NUL
 * 124     12  size       octal digits, then NUL or blank
 * 148      8  checksum   octal: sum of the header's bytes with this field blank
 * 156      1  type       '0' or NUL file, '5' folder; anything else is refused
 * 257      6  magic      "ustar" NUL
 * 345    155  prefix     of the name, parted by '/'; empty here, so anything is refused
 * </pre>
 *
 * Contents follow their header, filled up to 512 bytes. A header of zeros ends the archive.
 */
final class Untar {
    private static final int BLOCK_BYTES = 512;
    private static final int NAME_BYTES = 100;
    private static final int SIZE_AT = 124;
    private static final int CHECKSUM_AT = 148;
    private static final int TYPE_AT = 156;
    private static final int MAGIC_AT = 257;
    private static final int PREFIX_AT = 345;
    private static final long MAX_FILE_BYTES = 1L << 30;

    private Untar() {}

    /**
     * Unpacks into a new folder.
     *
     * @param folder made by this call
     * @param top    the one top-level folder that all entries are in
     * @param tar    read to its end marker, not closed
     * @throws IOException if the archive is cut or damaged, or names a path outside of {@code top}
     */
    static void into(Path folder, String top, InputStream tar) throws IOException {
        Files.createDirectories(folder);
        byte[] header = new byte[BLOCK_BYTES];
        while (true) {
            if (tar.readNBytes(header, 0, BLOCK_BYTES) < BLOCK_BYTES) {
                throw new EOFException("tar archive without an end");
            }
            if (isZero(header)) {
                return;
            }
            check(header);
            Path target = target(folder, top, text(header, 0, NAME_BYTES));
            long bytes = octal(header, SIZE_AT, 12);
            if (header[TYPE_AT] == '5') {
                Files.createDirectories(target);
            } else {
                Files.createDirectories(target.getParent());
                try (OutputStream out = Files.newOutputStream(target)) {
                    copy(tar, out, bytes);
                }
                tar.skipNBytes(-bytes & (BLOCK_BYTES - 1));
            }
        }
    }

    private static void check(byte[] header) throws IOException {
        int sum = 0;
        for (int i = 0; i < BLOCK_BYTES; i++) {
            sum += i >= CHECKSUM_AT && i < CHECKSUM_AT + 8 ? ' ' : header[i] & 0xFF;
        }
        if (sum != octal(header, CHECKSUM_AT, 8)) {
            throw new IOException("tar header checksum mismatch");
        }
        if (!text(header, MAGIC_AT, 6).equals("ustar") || header[PREFIX_AT] != 0) {
            throw new IOException("tar header of another kind than ustar without prefix");
        }
        byte type = header[TYPE_AT];
        if (type != '0' && type != 0 && type != '5') {
            throw new IOException("tar entry is neither file nor folder: type=" + type);
        }
    }

    private static Path target(Path folder, String top, String name) throws IOException {
        Path base = folder.resolve(top).normalize();
        Path target = folder.resolve(name).normalize();
        if (!target.startsWith(base)) {
            throw new IOException("tar entry outside of its folder: name=" + name + " folder=" + top);
        }
        return target;
    }

    private static void copy(InputStream tar, OutputStream out, long bytes) throws IOException {
        byte[] buffer = new byte[1 << 16];
        for (long left = bytes; left > 0; ) {
            int read = tar.read(buffer, 0, (int) Math.min(left, buffer.length));
            if (read < 0) {
                throw new EOFException("tar archive ends within a file");
            }
            out.write(buffer, 0, read);
            left -= read;
        }
    }

    private static long octal(byte[] header, int at, int bytes) throws IOException {
        long value = 0;
        for (int i = at; i < at + bytes && header[i] != 0 && header[i] != ' '; i++) {
            if (header[i] < '0' || header[i] > '7') {
                throw new IOException("tar header with a number that isn't octal: at=" + at);
            }
            value = value << 3 | header[i] - '0';
            if (value > MAX_FILE_BYTES) {
                throw new IOException("tar header with too large a number: at=" + at);
            }
        }
        return value;
    }

    private static String text(byte[] header, int at, int bytes) {
        int end = at;
        while (end < at + bytes && header[end] != 0) {
            end++;
        }
        return new String(header, at, end - at, StandardCharsets.UTF_8);
    }

    private static boolean isZero(byte[] block) {
        for (byte b : block) {
            if (b != 0) {
                return false;
            }
        }
        return true;
    }
}
