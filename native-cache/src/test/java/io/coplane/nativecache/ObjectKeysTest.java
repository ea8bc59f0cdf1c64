package io.coplane.nativecache;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Vectors of snapshot.md 8.5 and ia.md 14.2. */
final class ObjectKeysTest {
    @ParameterizedTest
    @CsvSource({
        "0, 14397a23417af284, prefix/84/0000000000000000.sst",
        "1, 523be90bb03b5a61, prefix/61/0000000000000001.sst",
        "42, d8606f799f5834b6, prefix/b6/000000000000002a.sst",
        "4294967296, 5e715472c20710c2, prefix/c2/0000000100000000.sst",
        "459999999999999999, 7d80f4bfbce68ace, prefix/ce/06623f9014adffff.sst",
        "-1, 2fffe7a41fb59155, prefix/55/ffffffffffffffff.sst"
    })
    void spellsSstKeys(long fileId, String fingerprint, String key) {
        assertThat(ObjectKeys.fingerprint64(fileId)).isEqualTo(Long.parseUnsignedLong(fingerprint, 16));
        assertThat(ObjectKeys.key("prefix", FileKind.SST, fileId)).isEqualTo(key);
    }

    @ParameterizedTest
    @CsvSource({
        "COLUMNAR, 42, default/col/b6/000000000000002a.col",
        "TXN_CHUNK, 155, default/txn/cf/000000000000009b.txn",
        "SCHEMA, 321, default/schema/d4/0000000000000141.schema",
        "BLOB, 1234, default/blob/06/00000000000004d2.blob",
        "VECTOR_INDEX, 0, default/vec/84/0000000000000000.vec",
        "FTS_PACKED, 2, default/fts/89/0000000000000002.ftspack",
        "SST, 450000000000000001, default/6c/063eb89da4ed0001.sst"
    })
    void putsEachKindInItsFolder(FileKind kind, long fileId, String key) {
        assertThat(ObjectKeys.key("", kind, fileId)).isEqualTo(key);
    }

    @Test
    void namesAreSixteenDigits() {
        assertThat(ObjectKeys.fileName(FileKind.BLOB, 255)).isEqualTo("00000000000000ff.blob");
    }

    @Test
    void parsesItsOwnKeysAndNoOthers() {
        for (FileKind kind : FileKind.values()) {
            assertThat(ObjectKeys.parse(ObjectKeys.key("a/b", kind, 42))).contains(new ObjectKeys.File(kind, 42));
        }
        assertThat(ObjectKeys.parse("61/0000000000000001.sst")).contains(new ObjectKeys.File(FileKind.SST, 1));
        assertThat(ObjectKeys.parse("p/62/0000000000000001.sst")).isEmpty(); // wrong folder
        assertThat(ObjectKeys.parse("p/61/000000000000000G.sst")).isEmpty();
        assertThat(ObjectKeys.parse("p/b6/000000000000002A.sst")).isEmpty(); // upper case
        assertThat(ObjectKeys.parse("p/61/0000000000000001.sst.1.tmp")).isEmpty();
        assertThat(ObjectKeys.parse("p/col/61/0000000000000001.vec")).isEmpty();
        assertThat(ObjectKeys.parse("backup/1")).isEmpty();
        assertThat(ObjectKeys.parse("")).isEmpty();
    }
}
