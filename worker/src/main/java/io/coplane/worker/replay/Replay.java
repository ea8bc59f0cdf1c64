package io.coplane.worker.replay;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.worker.replay.Corpus.DataSet;
import io.coplane.worker.replay.Corpus.Recorded;
import io.coplane.worker.replay.ReplayReport.Failure;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

/** Sends the requests of a data set to a target and compares the answers. */
public final class Replay {
    private final ReplayTarget target;
    private final Shape shape;
    private final OptionalInt keyspaceId;
    private final long seed;
    private final int threads;

    /**
     * @param target borrowed
     * @param seed of {@link Shape#MIXED}
     * @param threads requests in flight at one time; at least 1
     */
    Replay(ReplayTarget target, Shape shape, OptionalInt keyspaceId, long seed, int threads) {
        this.target = target;
        this.shape = shape;
        this.keyspaceId = keyspaceId;
        this.seed = seed;
        this.threads = threads;
    }

    /**
     * Replays one data set.
     *
     * @param firstFileId ids of the layout's files start here
     * @param limit most requests sent, from the first
     * @param done told how many are done
     */
    void run(DataSet dataSet, long firstFileId, int limit, ReplayReport report, IntConsumer done)
            throws InterruptedException {
        CorpusLayout layout =
                CorpusLayout.build(dataSet.versions(), shape, target.store(), firstFileId, keyspaceId, seed);
        AnswerComparer comparer =
                new AnswerComparer(dataSet.versions(), layout.prefix(), request -> rerun(layout, request));
        List<Recorded> requests =
                dataSet.requests().subList(0, Math.min(limit, dataSet.requests().size()));
        AtomicInteger count = new AtomicInteger();
        AtomicInteger thread = new AtomicInteger();
        try (ExecutorService pool =
                Executors.newFixedThreadPool(threads, task -> new Thread(task, "replay-" + thread.incrementAndGet()))) {
            List<Callable<List<Difference>>> tasks = new ArrayList<>();
            for (Recorded recorded : requests) {
                tasks.add(() -> {
                    List<Difference> differences = ask(recorded, layout, comparer);
                    done.accept(count.incrementAndGet());
                    return differences;
                });
            }
            List<Future<List<Difference>>> results = pool.invokeAll(tasks);
            for (int i = 0; i < requests.size(); i++) {
                note(requests.get(i), results.get(i), report);
            }
        }
    }

    private Response rerun(CorpusLayout layout, Request request) {
        try {
            return target.send(layout.body(request));
        } catch (IOException e) {
            throw new CoplaneException(ErrorCode.STORE_UNAVAILABLE, "no answer to a request of the comparer: " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CoplaneException(ErrorCode.SHUTTING_DOWN, "interrupted while comparing", e);
        }
    }

    private List<Difference> ask(Recorded recorded, CorpusLayout layout, AnswerComparer comparer)
            throws InterruptedException {
        Response answer;
        try {
            answer = target.send(layout.body(recorded.request()));
        } catch (IOException e) {
            return List.of(Difference.of("no answer", e, "an answer"));
        }
        return comparer.compare(recorded, answer);
    }

    private static void note(Recorded recorded, Future<List<Difference>> result, ReplayReport report)
            throws InterruptedException {
        try {
            List<Difference> differences = result.get();
            if (differences.isEmpty()) {
                report.passed(recorded);
            } else {
                report.failed(new Failure(recorded, differences));
            }
        } catch (ExecutionException e) {
            throw new IllegalStateException("comparing failed: " + recorded.id(), e);
        }
    }
}
