package io.coplane.snapshot;

import io.coplane.nativecache.memory.NativeArena;
import io.coplane.sst.MemTable;
import io.coplane.sst.SstReader;
import io.coplane.sst.TableCursor;
import java.util.Arrays;
import java.util.List;

/**
 * One source of a read: the memtable, an L0 file, or a whole level. Sources of a snapshot are ordered newest first. Borrows its tables.
 * Immutable; thread-safe.
 */
final class TableSource {
    private final MemTable memTable; // or null, then:
    private final List<SstReader> tables;
    private final byte[] smallest;
    private final byte[] biggest;

    private TableSource(MemTable memTable, List<SstReader> tables, byte[] smallest, byte[] biggest) {
        this.memTable = memTable;
        this.tables = tables;
        this.smallest = smallest;
        this.biggest = biggest;
    }

    /** A level, or one L0 file. {@code tables}: at least one; ascending and disjoint. */
    static TableSource of(List<SstReader> tables) {
        return new TableSource(
                null,
                List.copyOf(tables),
                tables.getFirst().smallest(),
                tables.getLast().biggest());
    }

    /** A memtable or txn file that is not empty. */
    static TableSource of(MemTable memTable, byte[] smallest, byte[] biggest) {
        return new TableSource(memTable, List.of(), smallest, biggest);
    }

    /** A cursor over the source; {@code arena} owns its scratch memory. */
    TableCursor cursor(boolean reverse, NativeArena arena) {
        return memTable != null ? memTable.cursor(reverse, arena) : TableCursor.overLevel(tables, reverse, arena);
    }

    /** Whether the source is the memtable or one of its txn files, which form one source for point gets. */
    boolean isMemTable() {
        return memTable != null;
    }

    /** Whether the bounds of the source touch a range of inner keys, {@code upper} exclusive. */
    boolean touches(byte[] lower, byte[] upper) {
        return Arrays.compareUnsigned(smallest, upper) < 0 && Arrays.compareUnsigned(biggest, lower) >= 0;
    }

    /** Whether an inner key lies within the bounds of the source. */
    boolean spans(byte[] key) {
        return Arrays.compareUnsigned(smallest, key) <= 0 && Arrays.compareUnsigned(key, biggest) <= 0;
    }
}
