package io.coplane.types.codec;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.util.HexFormat;

/** Errors of this package, with the texts of coprocessor.md 3.5, 3.6, 4. */
final class Corrupt {
    private static final int SHOWN_BYTES = 64;
    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    private Corrupt() {}

    static CoplaneException key(String text) {
        return new CoplaneException(ErrorCode.CORRUPT_KEY, text);
    }

    static CoplaneException datum(String text) {
        return new CoplaneException(ErrorCode.CORRUPT_DATUM, "invalid data type: " + text);
    }

    static CoplaneException row(String text) {
        return new CoplaneException(ErrorCode.CORRUPT_ROW, text);
    }

    static CoplaneException payload(String kind) {
        return datum("Failed to decode datum payload as " + kind);
    }

    static CoplaneException noFlag() {
        return datum("Failed to decode datum flag");
    }

    static CoplaneException tooShort(byte[] bytes, int at, int end) {
        return datum(hex(bytes, at, end) + " is too short");
    }

    /** The first bytes of {@code [at, end)} as hex digits. */
    static String hex(byte[] bytes, int at, int end) {
        int shown = Math.min(end, at + SHOWN_BYTES);
        return HEX.formatHex(bytes, at, Math.max(at, shown)) + (shown < end ? "…" : "");
    }
}
