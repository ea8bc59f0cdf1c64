package io.coplane.types.codec;

import io.coplane.types.FieldType;

/** Which index columns lose information in a key and are kept in the value (coprocessor.md 3.6, needRestoredData). */
public final class RestoredData {
    private static final int BINARY = 63;
    private static final int LATIN1_BIN = 47;
    private static final int UTF8MB4_BIN = 46;
    private static final int UTF8_BIN = 83;
    private static final int ASCII_BIN = 65;
    private static final int UTF8MB4_0900_BIN = 309;

    private RestoredData() {}

    /** True if the value of a column can't be made from its key datum alone. */
    public static boolean isNeeded(FieldType type) {
        boolean varChar = type.tp() == FieldType.VAR_CHAR || type.tp() == FieldType.VAR_STRING;
        return (varChar || isOtherString(type.tp()))
                && !isBinary(type.collate())
                && (varChar || !isBin(type.collate()))
                && isKnown(type.collate())
                && type.collate() != -UTF8MB4_0900_BIN;
    }

    private static boolean isOtherString(int tp) {
        return switch (tp) {
            case FieldType.STRING, FieldType.TINY_BLOB, FieldType.MEDIUM_BLOB, FieldType.LONG_BLOB, FieldType.BLOB ->
                true;
            default -> false;
        };
    }

    private static boolean isBinary(int collate) {
        return Math.abs(collate) == BINARY || collate == LATIN1_BIN;
    }

    /** True for collations whose sort key is the value without trailing spaces: the restored data is the number of spaces. */
    public static boolean isBin(int collate) {
        return collate == -UTF8MB4_BIN || collate == -UTF8_BIN || collate == -ASCII_BIN || collate == -LATIN1_BIN;
    }

    private static boolean isKnown(int collate) {
        return switch (collate) {
            case -33, -45, -46, -83, -65, -47, -63, -224, -192, -255, -309, -87, -28, -249, -248 -> true;
            default -> collate >= 0;
        };
    }
}
