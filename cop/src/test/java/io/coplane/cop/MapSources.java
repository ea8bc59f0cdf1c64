package io.coplane.cop;

import io.coplane.cop.exec.RowSource;
import io.coplane.snapshot.RowBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** A few rows in memory, the same at every timestamp. */
final class MapSources implements Coprocessor.Sources {
    private final NavigableMap<byte[], byte[]> rows = new TreeMap<>(Arrays::compareUnsigned);

    /** Adds a row given in hexadecimal; spaces don't count. */
    MapSources put(String key, String value) {
        rows.put(hex(key), hex(value));
        return this;
    }

    static byte[] hex(String text) {
        return HexFormat.of().parseHex(text.replace(" ", ""));
    }

    @Override
    public boolean reaches(byte[] rowKey) {
        return false;
    }

    @Override
    public RowSource at(long readTs) {
        return new RowSource() {
            private Iterator<Map.Entry<byte[], byte[]>> entries;

            @Override
            public void setRange(boolean reverse, byte[] lower, byte[] upper) {
                var range = rows.subMap(lower, true, upper, false);
                entries = (reverse ? range.descendingMap() : range).entrySet().iterator();
            }

            @Override
            public int fill(RowBuffer buffer, int maxRows) {
                int filled = 0;
                for (; filled < maxRows && entries.hasNext(); filled++) {
                    var entry = entries.next();
                    buffer.append(entry.getKey(), entry.getValue(), 1);
                }
                return filled;
            }

            @Override
            public boolean get(byte[] key, RowBuffer buffer) {
                byte[] value = rows.get(key);
                if (value != null) {
                    buffer.append(key, value, 1);
                }
                return value != null;
            }

            @Override
            public void close() {}
        };
    }
}
