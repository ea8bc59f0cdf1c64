package io.coplane.types.decimal;

/** How {@link Decimal#round} treats digits that are cut. All modes look at the magnitude only. */
public enum RoundMode {
    /** Up if the first digit cut is 5 or more; MySQL calls it half even. */
    HALF_UP,
    /** Never up. */
    TRUNCATE,
    /** Up if any digit cut is not zero. */
    CEILING
}
