package io.coplane.testing;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/** Writes small tar archives, right and wrong ones. */
final class Tars {
    private Tars() {}

    /** Returns an archive of files, given as name, contents, name, contents ... A name that ends with a slash is a folder. */
    static byte[] of(String... namesAndContents) {
        var out = new ByteArrayOutputStream();
        for (int i = 0; i < namesAndContents.length; i += 2) {
            String name = namesAndContents[i];
            byte[] contents = bytes(namesAndContents[i + 1]);
            out.writeBytes(header(name, name.endsWith("/") ? '5' : '0', contents.length));
            out.writeBytes(Arrays.copyOf(contents, (contents.length + 511) & -512));
        }
        out.writeBytes(new byte[1024]);
        return out.toByteArray();
    }

    static byte[] header(String name, char type, int bytes) {
        byte[] header = new byte[512];
        put(header, 0, name);
        put(header, 100, "0000644");
        put(header, 124, String.format(Locale.ROOT, "%011o", bytes));
        put(header, 148, "        ");
        header[156] = (byte) type;
        put(header, 257, "ustar");
        put(header, 263, "00");
        int sum = 0;
        for (byte b : header) {
            sum += b & 0xFF;
        }
        put(header, 148, String.format(Locale.ROOT, "%06o\0 ", sum));
        return header;
    }

    static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void put(byte[] header, int at, String text) {
        byte[] field = bytes(text);
        System.arraycopy(field, 0, header, at, field.length);
    }
}
