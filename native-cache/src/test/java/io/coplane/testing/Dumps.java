package io.coplane.testing;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;

/** The notation of golden dumps ({@code testdata/golden/README.md}, "Conventions of all dumps"). */
public final class Dumps {
    /** Stands for none or absent. An empty field isn't: it is a value of no bytes. */
    public static final String NONE = "-";

    /** Stands for NULL in columnar dumps. */
    public static final String NULL = "~";

    private static final int MAX_HEX_BYTES = 200;
    private static final HexFormat HEX = HexFormat.of();

    private Dumps() {}

    /** Returns whether a field stands for none or absent. */
    public static boolean isNone(String field) {
        return field.equals(NONE);
    }

    /** Returns the bytes of a hex field; an empty one has none. Anything else, also {@code -}, is an error. */
    public static byte[] bytes(String field) {
        try {
            return HEX.parseHex(field);
        } catch (IllegalArgumentException e) {
            throw new AssertionError("no hex field of a dump: " + field, e);
        }
    }

    /** Returns the byte of a field of two hex digits, 0 .. 255. */
    public static int hexByte(String field) {
        byte[] one = bytes(field);
        if (one.length != 1) {
            throw new AssertionError("not two hex digits: " + field);
        }
        return one[0] & 0xFF;
    }

    /** Returns the lower-case hex digits of bytes. */
    public static String hex(byte[] bytes) {
        return HEX.formatHex(bytes);
    }

    /** Returns the lower-case hex digits of the bytes of a segment. */
    public static String hex(MemorySegment bytes) {
        return hex(bytes.toArray(ValueLayout.JAVA_BYTE));
    }

    /**
     * Returns the bytes of a key field, which is hex or {@code @i}, the i-th distinct key of an entries dump.
     *
     * @param distinctKeys from {@link GoldenCase#distinctKeys}
     */
    public static byte[] key(String field, List<byte[]> distinctKeys) {
        if (!field.startsWith("@")) {
            return bytes(field);
        }
        int index = Integer.parseInt(field.substring(1));
        if (index < 0 || index >= distinctKeys.size()) {
            throw new AssertionError("no such key: field=" + field + " keys=" + distinctKeys.size());
        }
        return distinctKeys.get(index).clone();
    }

    /** Returns how a dump writes a value: hex up to 200 bytes, else {@code #LEN:SHA256}. */
    public static String value(byte[] value) {
        return value.length <= MAX_HEX_BYTES ? hex(value) : "#" + value.length + ":" + sha256(value);
    }

    /** Returns how a dump writes a value: hex up to 200 bytes, else {@code #LEN:SHA256}. */
    public static String value(MemorySegment value) {
        return value(value.toArray(ValueLayout.JAVA_BYTE));
    }

    /** Returns whether a value field stands for these bytes. {@code -} and {@code ~} stand for no bytes at all. */
    public static boolean valueEquals(String field, byte[] value) {
        return field.equals(value(value));
    }

    /** Returns whether a value field stands for the bytes of a segment. */
    public static boolean valueEquals(String field, MemorySegment value) {
        return field.equals(value(value));
    }

    /** Returns the SHA-256 of bytes in lower-case hex. */
    public static String sha256(byte[] bytes) {
        try {
            return HEX.formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java has SHA-256", e);
        }
    }
}
