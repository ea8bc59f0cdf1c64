package io.coplane.engine;

import io.coplane.engine.RunningRequest.Kind;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The requests in work: for people to see, and to be cancelled by the id that their client chose. Thread-safe. */
final class Running {
    /** Longest id of a request, in bytes of UTF-8. */
    static final int MOST_ID_BYTES = 128;

    private static final int MOST_LISTED = 1000;

    private final Clock clock;
    private final Set<Entry> entries = ConcurrentHashMap.newKeySet();
    private final ConcurrentHashMap<String, Entry> byId = new ConcurrentHashMap<>();

    Running(Clock clock) {
        this.clock = clock;
    }

    /** One request from its arrival to its end. Thread-safe. */
    static final class Entry {
        private final String id;
        private final Kind kind;
        private final long startNanos;
        private volatile String tag;
        private volatile MemoryGuard request; // or null
        private volatile MemoryGuard work; // or null
        private volatile Runnable onCancel; // or null
        private volatile boolean cancelled;

        private Entry(String id, Kind kind, String tag, long startNanos) {
            this.id = id;
            this.kind = kind;
            this.tag = tag;
            this.startNanos = startNanos;
        }

        void tag(String value) {
            tag = value;
        }

        /** What the request itself is charged to; null = nothing of its own. */
        void request(MemoryGuard guard) {
            request = guard;
        }

        /** What the work is charged to; null = nothing any more. */
        void work(MemoryGuard guard) {
            work = guard;
        }

        /** What ends the work; run at most a few times, by any thread. Whoever sets it then asks {@link #isCancelled}. */
        void onCancel(Runnable value) {
            onCancel = value;
        }

        boolean isCancelled() {
            return cancelled;
        }

        private void cancel() {
            cancelled = true;
            Runnable end = onCancel;
            if (end != null) {
                end.run();
            }
        }

        private long heldBytes() {
            return held(request) + held(work);
        }

        private static long held(MemoryGuard guard) {
            return guard == null ? 0 : Math.max(guard.admittedBytes(), guard.chargedBytes());
        }
    }

    /**
     * Notes a request; {@link #end} must follow.
     *
     * @param id chosen by the client; empty = none
     * @throws CoplaneException BAD_ARGUMENT for an id that is too long, REQUEST_ID_IN_USE
     */
    Entry begin(String id, Kind kind, String tag) {
        int bytes = id.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MOST_ID_BYTES) {
            throw new CoplaneException(
                    ErrorCode.BAD_ARGUMENT, "request id is too long: bytes=" + bytes + " most=" + MOST_ID_BYTES);
        }
        Entry entry = new Entry(id, kind, tag, clock.nanoTime());
        if (!id.isEmpty() && byId.putIfAbsent(id, entry) != null) {
            throw new CoplaneException(ErrorCode.REQUEST_ID_IN_USE, "a request of this id is in work");
        }
        entries.add(entry);
        return entry;
    }

    /** Forgets a request. */
    void end(Entry entry) {
        entries.remove(entry);
        if (!entry.id.isEmpty()) {
            byId.remove(entry.id, entry);
        }
    }

    /** Gives a request up. @return false if there is none of this id */
    boolean cancel(String id) {
        Entry entry = byId.get(id);
        if (entry == null) {
            return false;
        }
        entry.cancel();
        return true;
    }

    /** How many there are. */
    int count() {
        return entries.size();
    }

    /** The oldest ones, at most a thousand. */
    List<RunningRequest> list() {
        long now = clock.nanoTime();
        return entries.stream()
                .sorted(Comparator.comparingLong((Entry entry) -> entry.startNanos - now))
                .limit(MOST_LISTED)
                .map(entry ->
                        new RunningRequest(entry.id, entry.kind, entry.tag, now - entry.startNanos, entry.heldBytes()))
                .toList();
    }
}
