package io.coplane.worker.replay;

import io.coplane.cop.RegionAccessor;
import io.coplane.engine.CopAnswer;
import io.coplane.engine.CopRequest;
import io.coplane.engine.DataPlane;
import io.coplane.nativecache.ObjectStore;
import io.coplane.proto.coprocessor.Response;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** A data plane in this process, whose snapshots hold whole data sets: index look-ups reach all rows. Owns neither the plane nor its store. */
final class InProcessTarget implements ReplayTarget {
    private final DataPlane plane;
    private final ObjectStore store;

    InProcessTarget(DataPlane plane, ObjectStore store) {
        this.plane = plane;
        this.store = store;
    }

    @Override
    public ObjectStore store() {
        return store;
    }

    @Override
    public Response send(byte[] body) throws IOException {
        CopAnswer answer = plane.coprocessor(new CopRequest(
                        MemorySegment.ofArray(body), Optional.empty(), () -> false, RegionAccessor.WHOLE_SHARD))
                .join();
        if (answer.response() == null) {
            return Response.newBuilder()
                    .setOtherError(answer.httpStatus() + " " + answer.text())
                    .build();
        }
        return Response.parseFrom(Corpus.input(answer.response()));
    }

    @Override
    public void close() {
        // borrows both
    }
}
