package io.coplane.cop;

import io.coplane.cop.exec.RowAccessor;
import io.coplane.cop.exec.RowSource;
import io.coplane.snapshot.RowBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Function;

/** A few rows in memory, the same at every timestamp; notes what is read. */
final class MapSources implements Coprocessor.Sources {
    private final NavigableMap<byte[], byte[]> rows = new TreeMap<>(Arrays::compareUnsigned);
    private final List<String> reads = new ArrayList<>();
    private Function<String, MapSources> regions;
    private long dataVersion;
    private boolean metNewer;

    /** Gives the data a version and says whether newer versions are met. */
    MapSources version(long version, boolean meetsNewer) {
        dataVersion = version;
        metNewer = meetsNewer;
        return this;
    }

    @Override
    public boolean metNewer() {
        return metNewer;
    }

    @Override
    public long dataVersion() {
        return dataVersion;
    }

    /** Intervals scanned, as {@code start..end}, and keys looked up, in hexadecimal. */
    List<String> reads() {
        return reads;
    }

    /** Lets look-ups read in what the function gives for a row key in hexadecimal. */
    MapSources reaching(Function<String, MapSources> regionOf) {
        regions = regionOf;
        return this;
    }

    /** Adds a row given in hexadecimal; spaces don't count. */
    MapSources put(String key, String value) {
        rows.put(hex(key), hex(value));
        return this;
    }

    static byte[] hex(String text) {
        return HexFormat.of().parseHex(text.replace(" ", ""));
    }

    @Override
    public RowAccessor accessor(long readTs) {
        if (regions == null) {
            return null;
        }
        Map<MapSources, RowAccessor.Region> known = new HashMap<>();
        return key -> {
            MapSources region = regions.apply(HexFormat.of().formatHex(key));
            return region == null ? null : known.computeIfAbsent(region, found -> () -> found.at(readTs));
        };
    }

    @Override
    public RowSource at(long readTs) {
        return new RowSource() {
            private Iterator<Map.Entry<byte[], byte[]>> entries;

            @Override
            public void setRange(boolean reverse, byte[] lower, byte[] upper) {
                reads.add(
                        HexFormat.of().formatHex(lower) + ".." + HexFormat.of().formatHex(upper));
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
                reads.add(HexFormat.of().formatHex(key));
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
