package io.coplane.types.collation;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;

/** The collations that ids on the wire stand for (expressions.md 10.1). */
public enum Collation {
    BINARY(false, false),
    UTF8MB4_BIN(true, false),
    UTF8MB4_BIN_NO_PADDING(false, false),
    UTF8MB4_GENERAL_CI(true, true),
    UTF8MB4_UNICODE_CI(true, true),
    UTF8MB4_0900_AI_CI(false, true),
    UTF8MB4_0900_BIN(false, false),
    LATIN1_BIN(true, false),
    GBK_BIN(true, false),
    GBK_CHINESE_CI(true, true),
    GB18030_BIN(true, false),
    /** Known, but its weights are not public: {@link #collator()} refuses it. */
    GB18030_CHINESE_CI(true, true);

    private final boolean pads;
    private final boolean caseInsensitive;

    Collation(boolean pads, boolean caseInsensitive) {
        this.pads = pads;
        this.caseInsensitive = caseInsensitive;
    }

    /**
     * Collation of an id on the wire. Ids from 0 on are the old framework: bytes without padding.
     *
     * @throws CoplaneException BAD_PLAN for a negative id that is not known
     */
    public static Collation of(int id) {
        return switch (id) {
            case -33, -45 -> UTF8MB4_GENERAL_CI;
            case -46, -83, -65 -> UTF8MB4_BIN;
            case -47 -> LATIN1_BIN;
            case -63, 63, 47 -> BINARY;
            case -224, -192 -> UTF8MB4_UNICODE_CI;
            case -255 -> UTF8MB4_0900_AI_CI;
            case -309 -> UTF8MB4_0900_BIN;
            case -87 -> GBK_BIN;
            case -28 -> GBK_CHINESE_CI;
            case -249 -> GB18030_BIN;
            case -248 -> GB18030_CHINESE_CI;
            default -> {
                if (id < 0) {
                    throw new CoplaneException(ErrorCode.BAD_PLAN, "invalid schema: Unsupported collation code: " + id);
                }
                yield UTF8MB4_BIN_NO_PADDING;
            }
        };
    }

    /** True if trailing spaces don't count. */
    public boolean pads() {
        return pads;
    }

    /** True for the collations whose names end in _ci. */
    public boolean isCaseInsensitive() {
        return caseInsensitive;
    }

    /** True where one byte is one character; else text is UTF-8. */
    public boolean decodesBytes() {
        return this == BINARY || this == LATIN1_BIN;
    }

    /** True where grouping refuses strings that are not UTF-8 (coprocessor.md 8.2). */
    public boolean groupingNeedsUtf8() {
        return !decodesBytes();
    }

    /** True where the sort key is the bytes, without trailing spaces if it {@linkplain #pads() pads}. */
    public boolean comparesBytes() {
        return switch (this) {
            case BINARY, UTF8MB4_BIN, UTF8MB4_BIN_NO_PADDING, UTF8MB4_0900_BIN, LATIN1_BIN -> true;
            case UTF8MB4_GENERAL_CI,
                    UTF8MB4_UNICODE_CI,
                    UTF8MB4_0900_AI_CI,
                    GBK_BIN,
                    GBK_CHINESE_CI,
                    GB18030_BIN,
                    GB18030_CHINESE_CI -> false;
        };
    }

    /**
     * What compares, hashes and writes sort keys; shared.
     *
     * @throws CoplaneException UNSUPPORTED for {@link #GB18030_CHINESE_CI}
     */
    public Collator collator() {
        return switch (this) {
            case BINARY, UTF8MB4_BIN_NO_PADDING, UTF8MB4_0900_BIN -> BytesCollator.NO_PADDING;
            case UTF8MB4_BIN, LATIN1_BIN -> BytesCollator.PADDING;
            case UTF8MB4_GENERAL_CI -> WeightCollator.GeneralCi.INSTANCE;
            case UTF8MB4_UNICODE_CI -> UcaCollator.Uca0400.INSTANCE;
            case UTF8MB4_0900_AI_CI -> UcaCollator.Uca0900.INSTANCE;
            case GBK_BIN -> WeightCollator.GbkBin.INSTANCE;
            case GBK_CHINESE_CI -> WeightCollator.GbkChineseCi.INSTANCE;
            case GB18030_BIN -> WeightCollator.Gb18030Bin.INSTANCE;
            case GB18030_CHINESE_CI ->
                throw new CoplaneException(ErrorCode.UNSUPPORTED, "collation gb18030_chinese_ci is not supported");
        };
    }
}
