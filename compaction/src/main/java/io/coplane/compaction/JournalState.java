package io.coplane.compaction;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What the records of a journal come to. One thread. */
final class JournalState {
    /** Ids of the allocator, batch by batch. */
    final List<long[]> batches = new ArrayList<>();

    /** Outputs of the attempt, and of those before it up to where it began. */
    final List<JournalOutput> outputs = new ArrayList<>();

    /** All outputs whose upload ever began, by id. */
    final Map<Long, JournalOutput> everBegun = new LinkedHashMap<>();

    final Set<Long> stored = new HashSet<>();
    final List<ResumePoint> points = new ArrayList<>();
    JournalRecord.Done done; // null: not complete
    long deliveredMillis = -1;
    int runs;

    /** Takes a record in. @return whether it fits what came before; if not, nothing changed */
    boolean apply(JournalRecord record) {
        switch (record) {
            case JournalRecord.Ids r -> batches.add(r.ids());
            case JournalRecord.Begun r -> {
                outputs.add(r.output());
                everBegun.put(r.output().fileId(), r.output());
                stored.remove(r.output().fileId());
            }
            case JournalRecord.Stored r -> {
                if (!everBegun.containsKey(r.fileId())) {
                    return false;
                }
                stored.add(r.fileId());
            }
            case JournalRecord.Point r -> {
                ResumePoint p = r.point();
                if (p.outputs() != outputs.size() || p.step() < 0 || p.idsTaken() < 0) {
                    return false;
                }
                points.add(p);
            }
            case JournalRecord.Run r -> {
                if (r.point() < -1 || r.point() >= points.size()) {
                    return false;
                }
                points.subList(r.point() + 1, points.size()).clear();
                int kept = r.point() < 0 ? 0 : points.get(r.point()).outputs();
                outputs.subList(kept, outputs.size()).clear();
                done = null;
                deliveredMillis = -1;
                runs++;
            }
            case JournalRecord.Done r -> done = r;
            case JournalRecord.Delivered r -> deliveredMillis = r.wallMillis();
        }
        return true;
    }

    /** Number of the last resume point of which the store has said that it holds all outputs before it; -1: none. */
    int lastUsablePoint() {
        int held = 0;
        while (held < outputs.size() && stored.contains(outputs.get(held).fileId())) {
            held++;
        }
        int last = points.size() - 1;
        while (last >= 0 && points.get(last).outputs() > held) {
            last--;
        }
        return last;
    }
}
