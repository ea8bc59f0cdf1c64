package io.coplane.cop.kernel;

import io.coplane.nativecache.MemoryGuard;
import io.coplane.types.ByteSink;
import io.coplane.types.EvalException;
import io.coplane.types.collation.Collation;
import io.coplane.types.collation.Collator;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.text.Utf8;

/** Sort keys of strings, a batch at a time: bytes whose unsigned order is that of the collation (coprocessor.md 8.2). One thread. */
public final class SortKeys {
    private final Collation collation;
    private final Collator collator;
    private final BytesColumn keys = new BytesColumn();
    /** Its owner accounts for it through {@link #heapBytes()}. */
    private final ByteSink bytes = new ByteSink(MemoryGuard.unlimited());

    /**
     * @param collate collation id of the field type
     * @throws io.coplane.nativecache.CoplaneException for a collation that does not exist or is not supported
     */
    public SortKeys(int collate) {
        collation = Collation.of(collate);
        collator = collation.collator();
    }

    /** True if a string is its own sort key. */
    public boolean isIdentity() {
        return collation.comparesBytes() && !collation.pads();
    }

    /** The sort keys of a batch; borrowed until the next one. */
    public BytesColumn of(BytesColumn strings, int rows) {
        if (isIdentity()) {
            return strings;
        }
        if (collation.comparesBytes()) {
            trim(strings, rows);
        } else {
            weigh(strings, rows);
        }
        keys.orNulls(strings);
        return keys;
    }

    private void trim(BytesColumn strings, int rows) {
        byte[] data = strings.data();
        int[] starts = strings.starts();
        int[] lengths = strings.lengths();
        keys.resetBorrowed(rows, data);
        for (int row = 0; row < rows; row++) {
            if (strings.isNull(row)) {
                keys.setEmpty(row);
            } else {
                keys.setView(row, starts[row], Collator.trimmedEnd(data, starts[row], lengths[row]) - starts[row]);
            }
        }
    }

    private void weigh(BytesColumn strings, int rows) {
        byte[] data = strings.data();
        int[] starts = strings.starts();
        int[] lengths = strings.lengths();
        bytes.truncate(0);
        keys.resetBorrowed(rows, bytes.bytes());
        for (int row = 0; row < rows; row++) {
            int start = bytes.length();
            if (!strings.isNull(row)) {
                collator.writeSortKey(data, starts[row], lengths[row], bytes);
            }
            keys.setView(row, start, bytes.length() - start);
        }
        keys.rebase(bytes.bytes());
    }

    /** True if grouping demands valid UTF-8. */
    public static boolean needsUtf8(int collate) {
        return Collation.of(collate).groupingNeedsUtf8();
    }

    /** @throws EvalException if a string is not UTF-8 */
    public static void checkUtf8(BytesColumn strings, int rows) {
        for (int row = 0; row < rows; row++) {
            if (!strings.isNull(row) && !Utf8.isValid(strings.data(), strings.starts()[row], strings.lengths()[row])) {
                throw EvalException.uncoded("encoding failed");
            }
        }
    }

    /** Heap bytes of the keys. */
    public long heapBytes() {
        return keys.heapBytes() + bytes.bytes().length;
    }
}
