package io.coplane.snapshot;

/** Which files of a shard a snapshot loads (snapshot.md 4.4). */
public enum PrepareType {
    /** L0 files, SSTs and blob files: what workers do by default. */
    SST_ONLY(true, false),
    /** Row and columnar files: {@code read-columnar}. */
    ALL(true, true),
    /** Columnar files and the L0 files not yet converted to them. */
    COLUMNAR_ONLY(false, true);

    private final boolean rows;
    private final boolean columnar;

    PrepareType(boolean rows, boolean columnar) {
        this.rows = rows;
        this.columnar = columnar;
    }

    /** SSTs and blob files are loaded. */
    boolean rows() {
        return rows;
    }

    /** Columnar, vector index, full text and schema files are loaded. */
    boolean columnar() {
        return columnar;
    }
}
