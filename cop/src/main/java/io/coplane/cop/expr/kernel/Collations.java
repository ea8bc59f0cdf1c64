package io.coplane.cop.expr.kernel;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;

/** Properties of collations by wire id (expressions.md 10.1). */
final class Collations {
    private Collations() {}

    /** True for the collations whose names end in _ci; fails for an id that is not known. */
    static boolean isCaseInsensitive(int id) {
        return switch (id) {
            case -33, -45, -224, -192, -255, -28, -248 -> true;
            case -46, -83, -65, -47, -63, -309, -87, -249 -> false;
            default -> {
                if (id < 0) {
                    throw new CoplaneException(ErrorCode.BAD_PLAN, "invalid schema: Unsupported collation code: " + id);
                }
                yield false;
            }
        };
    }
}
