package io.coplane.worker.replay;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.coplane.nativecache.ObjectStore;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.v1.CoprocessorPage;
import io.coplane.proto.v1.CoprocessorRequest;
import io.coplane.proto.v1.DataPlaneGrpc;
import io.coplane.snapshot.RemoteRequestBody;
import io.grpc.Channel;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A worker asked through our own service; pages are put together. Borrows channel and store. */
final class StreamTarget implements ReplayTarget {
    private final Channel channel;
    private final ObjectStore store;
    private final long pageBytes;
    final AtomicInteger answers = new AtomicInteger();
    final AtomicInteger pages = new AtomicInteger();

    StreamTarget(Channel channel, ObjectStore store, long pageBytes) {
        this.channel = channel;
        this.store = store;
        this.pageBytes = pageBytes;
    }

    @Override
    public ObjectStore store() {
        return store;
    }

    @Override
    public Response send(byte[] body) throws IOException {
        RemoteRequestBody parts = RemoteRequestBody.split(MemorySegment.ofArray(body));
        CoprocessorRequest request = CoprocessorRequest.newBuilder()
                .setRequest(Request.parseFrom(bytes(parts.request())))
                .setMemTableData(bytes(parts.memData()))
                .setChangeSet(bytes(parts.snapData()))
                .setPageBytes(pageBytes)
                .build();
        ByteString data = ByteString.EMPTY;
        Response rest = null;
        try {
            Iterator<CoprocessorPage> stream = DataPlaneGrpc.newBlockingStub(channel)
                    .withDeadlineAfter(60, TimeUnit.SECONDS)
                    .coprocessor(request);
            while (stream.hasNext()) {
                CoprocessorPage page = stream.next();
                pages.incrementAndGet();
                data = data.concat(page.getData());
                rest = page.hasRest() ? page.getRest() : null;
            }
        } catch (StatusRuntimeException e) {
            return Response.newBuilder()
                    .setOtherError(e.getStatus().getDescription())
                    .build();
        }
        answers.incrementAndGet();
        return rest.toBuilder().setData(data).build();
    }

    private static ByteString bytes(MemorySegment segment) {
        return UnsafeByteOperations.unsafeWrap(segment.asByteBuffer());
    }

    @Override
    public void close() {
        // borrows both
    }
}
