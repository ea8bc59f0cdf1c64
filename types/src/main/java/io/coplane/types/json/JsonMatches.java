package io.coplane.types.json;

import io.coplane.types.json.JsonPath.AnyElement;
import io.coplane.types.json.JsonPath.AnyKey;
import io.coplane.types.json.JsonPath.Descend;
import io.coplane.types.json.JsonPath.Elements;
import io.coplane.types.json.JsonPath.Key;
import io.coplane.types.json.JsonPath.Leg;
import java.util.Arrays;
import java.util.List;

/**
 * Values that a path finds in a document, in order, each stored position once (expressions.md 6.9.5). Reused; one thread.
 *
 * <p>Linear in the document and the path: what was searched from a position with the same rest of the path is not searched again, as it could only
 * find the same positions.
 */
public final class JsonMatches {
    private long[] refs = new long[8];
    private int count;
    /** Open addressing over (position, leg) pairs and found positions; 0 = free. */
    private long[] seen = new long[16];

    private int seenCount;
    private byte[] data;
    private List<Leg> legs;

    /** Values found. */
    public int count() {
        return count;
    }

    /** Value number {@code index}. */
    public long ref(int index) {
        return refs[index];
    }

    /** Finds what {@code path} matches in the value {@code ref}. */
    public void find(byte[] document, long ref, JsonPath path) {
        find(document, ref, path.legs());
    }

    void find(byte[] document, long ref, List<Leg> pathLegs) {
        data = document;
        legs = pathLegs;
        count = 0;
        if (seenCount > 0) {
            Arrays.fill(seen, 0);
            seenCount = 0;
        }
        walk(ref, 0);
    }

    private void walk(long ref, int leg) {
        if (!firstTime(ref, leg)) {
            return;
        }
        if (leg == legs.size()) {
            add(ref);
            return;
        }
        switch (legs.get(leg)) {
            case Key key -> walkKey(ref, key, leg);
            case AnyKey any -> {
                if (JsonDocs.type(ref) == JsonDocs.OBJECT) {
                    walkChildren(ref, leg + 1);
                }
            }
            case AnyElement any -> {
                if (JsonDocs.type(ref) == JsonDocs.ARRAY) {
                    walkChildren(ref, leg + 1);
                }
            }
            case Elements elements -> walkElements(ref, elements, leg);
            case Descend descend -> {
                walk(ref, leg + 1);
                if (JsonDocs.isContainer(ref)) {
                    walkChildren(ref, leg);
                }
            }
        }
    }

    private void walkKey(long ref, Key key, int leg) {
        if (JsonDocs.type(ref) != JsonDocs.OBJECT || key.name() == null) {
            return;
        }
        int member = JsonDocs.findKey(data, ref, key.name(), 0, key.name().length);
        if (member >= 0) {
            walk(JsonDocs.element(data, ref, member), leg + 1);
        }
    }

    private void walkChildren(long ref, int leg) {
        int children = JsonDocs.count(data, ref);
        for (int i = 0; i < children; i++) {
            walk(JsonDocs.element(data, ref, i), leg);
        }
    }

    private void walkElements(long ref, Elements elements, int leg) {
        if (JsonDocs.type(ref) != JsonDocs.ARRAY) {
            boolean itself = !elements.from().fromLast()
                    && elements.from().offset() == 0
                    && (!elements.isRange()
                            || !elements.to().fromLast()
                            || elements.to().offset() == 0);
            if (itself) {
                walk(ref, leg + 1);
            }
            return;
        }
        int length = JsonDocs.count(data, ref);
        long from = elements.from().in(length);
        long to = Math.min(elements.to().in(length), elements.isRange() ? length - 1L : Long.MAX_VALUE);
        if (from < 0 || to >= length) {
            return;
        }
        for (long i = from; i <= to; i++) {
            walk(JsonDocs.element(data, ref, (int) i), leg + 1);
        }
    }

    private void add(long ref) {
        if (count == refs.length) {
            refs = Arrays.copyOf(refs, 2 * count);
        }
        refs[count++] = ref;
    }

    private boolean firstTime(long ref, int leg) {
        if (2 * (seenCount + 1) > seen.length) {
            rehash();
        }
        long entry = (long) JsonDocs.at(ref) << 32 | leg + 1;
        int slot = slot(entry);
        while (seen[slot] != 0) {
            if (seen[slot] == entry) {
                return false;
            }
            slot = slot + 1 & seen.length - 1;
        }
        seen[slot] = entry;
        seenCount++;
        return true;
    }

    private int slot(long entry) {
        long mixed = entry * 0x9e37_79b9_7f4a_7c15L;
        return (int) (mixed >>> 33) & seen.length - 1;
    }

    private void rehash() {
        long[] old = seen;
        seen = new long[2 * old.length];
        for (long entry : old) {
            if (entry != 0) {
                int slot = slot(entry);
                while (seen[slot] != 0) {
                    slot = slot + 1 & seen.length - 1;
                }
                seen[slot] = entry;
            }
        }
    }
}
