package io.coplane.cop.exec;

import io.coplane.types.codec.KeyRanges;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * One key range of a request (coprocessor.md 3.4). Outer raw keys.
 *
 * @param start inclusive; not to be modified
 * @param end exclusive; not to be modified
 * @param isPoint true if only {@code start} is looked up
 */
public record ScanRange(byte[] start, byte[] end, boolean isPoint) {
    /** The ranges of a request in the order of a scan; with {@code allowPoints} single keys are recognised. */
    static List<ScanRange> inScanOrder(List<ScanRange> ranges, boolean allowPoints, boolean backward) {
        List<ScanRange> ordered = new ArrayList<>(ranges.size());
        for (ScanRange range : ranges) {
            boolean point = allowPoints && KeyRanges.isPoint(range.start, range.end);
            ordered.add(new ScanRange(range.start, range.end, point));
        }
        if (backward) {
            Collections.reverse(ordered);
        }
        return ordered;
    }

    /** End of the range as it is scanned: a point ends right behind its key. */
    byte[] scannedEnd() {
        return isPoint ? Arrays.copyOf(start, start.length + 1) : end;
    }
}
