package io.coplane.worker;

import io.coplane.proto.enginepb.ChangeSet;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;

/** What a store makes of a worker's answers (compaction.md 7): round robin, up to six attempts, evictions. It doesn't wait between attempts. */
final class CompactionClient {
    private static final int MOST_ATTEMPTS = 6;
    private static final int EVICT_AFTER = 3;

    /** How a request ended: with a ChangeSet, with a compaction by the store itself, or, without either, in an error. */
    record Outcome(ChangeSet changeSet, boolean local, List<Integer> statuses) {}

    final List<URI> workers = new ArrayList<>();
    private final HttpClient http;
    private final boolean allowsLocal;
    private int index;

    CompactionClient(HttpClient http, boolean allowsLocal, List<URI> workers) {
        this.http = http;
        this.allowsLocal = allowsLocal;
        this.workers.addAll(workers);
    }

    Outcome compact(byte[] body) throws InterruptedException {
        var statuses = new ArrayList<Integer>();
        URI worker = next();
        for (int attempt = 1; attempt <= MOST_ATTEMPTS && worker != null; attempt++) {
            int status = 0;
            try {
                HttpResponse<byte[]> answer = http.send(
                        HttpRequest.newBuilder(worker)
                                .header("content-type", "application/json")
                                .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                                .build(),
                        HttpResponse.BodyHandlers.ofByteArray());
                status = answer.statusCode();
                if (status == 200) {
                    statuses.add(status);
                    return new Outcome(ChangeSet.parseFrom(answer.body()), false, statuses);
                }
            } catch (IOException e) {
                status = -1; // no connection, or no ChangeSet: another attempt
            }
            statuses.add(status);
            if (status == 501) {
                return new Outcome(null, allowsLocal, statuses);
            }
            if (status == 503) {
                worker = next();
            } else if (attempt % EVICT_AFTER == 0) {
                workers.remove(worker);
                worker = next();
            }
        }
        return new Outcome(null, allowsLocal, statuses);
    }

    private URI next() {
        if (workers.isEmpty()) {
            return null;
        }
        index = (index + 1) % workers.size();
        return workers.get(index);
    }
}
