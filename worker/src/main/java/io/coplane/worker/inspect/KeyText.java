package io.coplane.worker.inspect;

import io.coplane.types.codec.Memcomparable;
import io.coplane.types.codec.TableKeys;
import java.util.HexFormat;
import java.util.Map;

/** What TiDB means by an inner key (snapshot.md 5.4). */
final class KeyText {
    private static final HexFormat HEX = HexFormat.of();

    private KeyText() {}

    /** Adds the parts of a key that has the form of a row or an index entry; of others nothing. */
    static void describe(byte[] key, Map<String, Object> into) {
        int length = key.length;
        if (TableKeys.isRecordKey(key, 0, length)) {
            into.put("table", TableKeys.tableId(key, 0, length));
            if (length == TableKeys.ROW_KEY_BYTES) {
                into.put("handle", TableKeys.intHandle(key, 0, length));
            } else {
                into.put("common_handle", HEX.formatHex(key, TableKeys.HANDLE_AT, length));
            }
        } else if (TableKeys.isIndexKey(key, 0, length) && length >= TableKeys.INDEX_DATUMS_AT) {
            into.put("table", TableKeys.tableId(key, 0, length));
            into.put("index", Memcomparable.getLong(key, TableKeys.INDEX_ID_AT));
            into.put("index_values", HEX.formatHex(key, TableKeys.INDEX_DATUMS_AT, length));
        }
    }
}
