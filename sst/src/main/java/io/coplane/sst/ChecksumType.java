package io.coplane.sst;

import java.util.Locale;

/** Checksum of the sections of a file, by its number in the footer (sst.md 5.1). */
public enum ChecksumType {
    /** No checksum: the stored value is 0. */
    NONE("None"),
    /** CRC-32C, Castagnoli. */
    CRC32C("Crc32c"),
    /** CRC-32, IEEE. */
    CRC32("Crc32");

    private static final ChecksumType[] BY_NUMBER = values();

    private final String label;

    ChecksumType(String label) {
        this.label = label;
    }

    /** The number in the footer. */
    public int number() {
        return ordinal();
    }

    String label() {
        return label;
    }

    /** Name in configuration: {@code none}, {@code crc32c} or {@code crc32}. */
    public String configName() {
        return label.toLowerCase(Locale.ROOT);
    }

    static ChecksumType of(int number, String file, long offset) {
        if (number < 0 || number >= BY_NUMBER.length) {
            throw FileErrors.format(file, offset, "unknown checksum type " + number);
        }
        return BY_NUMBER[number];
    }
}
