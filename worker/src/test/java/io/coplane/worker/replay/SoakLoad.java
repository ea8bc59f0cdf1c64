package io.coplane.worker.replay;

import com.google.protobuf.ByteString;
import io.coplane.engine.CopRequest;
import io.coplane.engine.DataPlane;
import io.coplane.nativecache.ObjectStore;
import io.coplane.proto.coprocessor.DelegateResponse;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.snapshot.RemoteRequestBody;
import io.coplane.testing.TestData;
import io.coplane.worker.replay.Corpus.DataSet;
import io.coplane.worker.replay.Corpus.Recorded;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;

/** One data set in one layout, as both kinds of clients send it. Thread-safe. */
final class SoakLoad {
    private static final int HEAD_BYTES = 2 * Integer.BYTES;

    private final String name;
    private final List<Recorded> requests;
    private final byte[] tail;
    private final DelegateResponse delegated;
    private final AnswerComparer comparer;

    private SoakLoad(
            String name, List<Recorded> requests, byte[] tail, DelegateResponse delegated, AnswerComparer comparer) {
        this.name = name;
        this.requests = requests;
        this.tail = tail;
        this.delegated = delegated;
        this.comparer = comparer;
    }

    /**
     * Lays a data set out.
     *
     * @param plane answers what the comparer asks besides; over {@code store}
     */
    static SoakLoad build(String name, Shape shape, ObjectStore store, long firstFileId, long seed, DataPlane plane)
            throws IOException {
        DataSet dataSet = Corpus.open(TestData.root()).load(name);
        CorpusLayout layout =
                CorpusLayout.build(dataSet.versions(), shape, store, firstFileId, OptionalInt.empty(), seed);
        byte[] empty = layout.body(Request.getDefaultInstance());
        RemoteRequestBody parts = RemoteRequestBody.split(MemorySegment.ofArray(empty));
        DelegateResponse delegated = DelegateResponse.newBuilder()
                .setMemTableData(bytes(parts.memData()))
                .setSnapshot(bytes(parts.snapData()))
                .build();
        InProcessTarget rerun = new InProcessTarget(plane, store);
        AnswerComparer comparer =
                new AnswerComparer(dataSet.versions(), layout.prefix(), request -> rerun(rerun, layout.body(request)));
        return new SoakLoad(
                name + " as " + shape.text(),
                passing(dataSet),
                Arrays.copyOfRange(empty, HEAD_BYTES, empty.length),
                delegated,
                comparer);
    }

    private static ByteString bytes(MemorySegment segment) {
        return ByteString.copyFrom(segment.asByteBuffer());
    }

    private static Response rerun(ReplayTarget target, byte[] body) {
        try {
            return target.send(body);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Requests whose answers over a network are the recorded ones. */
    private static List<Recorded> passing(DataSet dataSet) throws IOException {
        Path list = TestData.root().resolve("not-yet-passing.tsv");
        BitSet failing = Files.exists(list) ? Ratchet.read(list).ordinals(dataSet.name()) : new BitSet();
        return dataSet.requests().stream()
                .filter(recorded -> !failing.get(recorded.ordinal()))
                .toList();
    }

    /** {@code name as shape}. */
    @Override
    public String toString() {
        return name;
    }

    Recorded draw(SplittableRandom random) {
        return requests.get(random.nextInt(requests.size()));
    }

    /** Body of {@code /coprocessor} in two pieces, the second of which all requests share. */
    List<byte[]> body(Request request) {
        byte[] message = request.toByteArray();
        byte[] head = ByteBuffer.allocate(HEAD_BYTES + message.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(1)
                .putInt(message.length)
                .put(message)
                .array();
        return List.of(head, tail);
    }

    /** What the storage node gives the worker. */
    DelegateResponse delegated() {
        return delegated;
    }

    /** What differs between an answer and the recorded one; empty = equal. */
    List<Difference> compare(Recorded recorded, Response answer) {
        return comparer.compare(recorded, answer);
    }

    /**
     * What a request of this load asks for, at least: body and what the plane was seen to hold for it.
     *
     * @param plane idle, its cache empty
     */
    long askBytes(DataPlane plane) {
        List<byte[]> body = body(requests.getFirst().request());
        byte[] whole = ByteBuffer.allocate(body.getFirst().length + tail.length)
                .put(body.getFirst())
                .put(tail)
                .array();
        CompletableFuture<?> answer = plane.coprocessor(new CopRequest(MemorySegment.ofArray(whole), Optional.empty()));
        long most = 0;
        while (!answer.isDone()) {
            most = Math.max(most, plane.memory().usedBytes());
            Thread.onSpinWait();
        }
        return whole.length + most;
    }
}
