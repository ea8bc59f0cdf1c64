package io.coplane.types.time;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;

/**
 * Zones of the time zone database of 2020d where the JDK's newer one has other offsets between 1970 and 2037. The reference compiles a database
 * of about that age in (expressions.md 14, question 3; the recorded answers show summer time of Pacific/Apia after April 2021). Immutable.
 */
final class OldZones {
    private static final String FILE = "zones-2020d.tsv";
    private static final Map<String, Zone> ZONES = load();

    /**
     * A zone from the start of 1970 on.
     *
     * @param firstOffset offset at that start, in seconds
     * @param instants of the transitions, ascending, in seconds since 1970
     * @param offsets after the transitions, in seconds
     */
    record Zone(int firstOffset, long[] instants, int[] offsets) {}

    private OldZones() {}

    /** A zone by its name; null if the JDK's rules are the same. */
    static Zone find(String name) {
        return ZONES.get(name);
    }

    private static Map<String, Zone> load() {
        Map<String, Zone> zones = new HashMap<>();
        for (String line : read().split("\n", -1)) {
            if (!line.isEmpty() && !line.startsWith("#")) {
                String[] fields = line.split("\t", -1);
                Zone zone = zone(fields[1], fields[2]);
                for (String name : fields[0].split(",", -1)) {
                    zones.put(name, zone);
                }
            }
        }
        return zones;
    }

    private static Zone zone(String firstOffset, String transitions) {
        String[] parts = transitions.isEmpty() ? new String[0] : transitions.split(" ", -1);
        long[] instants = new long[parts.length];
        int[] offsets = new int[parts.length];
        for (int i = 0; i < parts.length; i++) {
            int colon = parts[i].indexOf(':');
            instants[i] = Long.parseLong(parts[i], 0, colon, 10);
            offsets[i] = Integer.parseInt(parts[i], colon + 1, parts[i].length(), 10);
        }
        return new Zone(Integer.parseInt(firstOffset), instants, offsets);
    }

    private static String read() {
        try (InputStream in = OldZones.class.getResourceAsStream(FILE)) {
            if (in == null) {
                throw new CoplaneException(ErrorCode.INVARIANT_BROKEN, "resource is missing: file=" + FILE);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new CoplaneException(ErrorCode.INVARIANT_BROKEN, "resource is unreadable: file=" + FILE, e);
        }
    }
}
