package io.coplane.nativecache;

/** Kinds of immutable files and their place in the object store (ia.md 14.1). */
public enum FileKind {
    SST("sst", ""),
    TXN_CHUNK("txn", "txn/"),
    SCHEMA("schema", "schema/"),
    COLUMNAR("col", "col/"),
    BLOB("blob", "blob/"),
    VECTOR_INDEX("vec", "vec/"),
    FTS_PACKED("ftspack", "fts/"),
    FTS_DEDICATED("ftsded", "fts/"),
    /** Encryption metadata of a keyspace (worker.md 14.3). */
    ENCRYPTION("dict", "encryption/");

    private final String suffix;
    private final String folder;

    FileKind(String suffix, String folder) {
        this.suffix = suffix;
        this.folder = folder;
    }

    /** File name ending without the dot. */
    public String suffix() {
        return suffix;
    }

    /** Folder below the prefix, empty or with a trailing slash. */
    public String folder() {
        return folder;
    }
}
