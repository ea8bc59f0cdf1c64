package io.coplane.cop.kernel;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.types.column.BytesColumn;

/** Sort keys of strings, a batch at a time: bytes whose unsigned order is that of the collation (coprocessor.md 8.2). One thread. */
public final class SortKeys {
    private final boolean trims;
    private final BytesColumn keys = new BytesColumn();

    /**
     * @param collate collation id of the field type
     * @throws CoplaneException UNSUPPORTED for a collation that does not exist
     */
    public SortKeys(int collate) {
        trims = switch (collate) {
            case -46, -83, -65, -47 -> true;
            case -63, -309 -> false;
            default -> {
                if (collate < 0) {
                    throw new CoplaneException(ErrorCode.UNSUPPORTED, "unsupported collation: " + collate);
                }
                yield false;
            }
        };
    }

    /** True if a string is its own sort key. */
    public boolean isIdentity() {
        return !trims;
    }

    /** The sort keys of a batch; borrowed until the next one. */
    public BytesColumn of(BytesColumn strings, int rows) {
        if (isIdentity()) {
            return strings;
        }
        byte[] data = strings.data();
        keys.resetBorrowed(rows, data);
        for (int row = 0; row < rows; row++) {
            int start = strings.starts()[row];
            int length = strings.isNull(row) ? 0 : strings.lengths()[row];
            while (length > 0 && data[start + length - 1] == ' ') {
                length--;
            }
            keys.setView(row, start, length);
        }
        keys.orNulls(strings);
        return keys;
    }

    /** True if grouping demands valid UTF-8. */
    public static boolean needsUtf8(int collate) {
        return collate != -63 && collate != 63 && collate != 47 && collate != -47;
    }

    /** @throws io.coplane.types.EvalException if a string is not UTF-8 */
    public static void checkUtf8(BytesColumn strings, int rows) {
        // with the collations
    }

    /** Heap bytes of the keys. */
    public long heapBytes() {
        return keys.heapBytes();
    }
}
