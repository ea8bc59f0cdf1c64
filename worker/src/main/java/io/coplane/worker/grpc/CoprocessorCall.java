package io.coplane.worker.grpc;

import com.google.protobuf.ByteString;
import io.coplane.cop.PagedRun.Page;
import io.coplane.engine.CopStream;
import io.coplane.engine.DataPlane;
import io.coplane.engine.ServiceError;
import io.coplane.engine.StreamRequest;
import io.coplane.proto.v1.CoprocessorPage;
import io.coplane.proto.v1.CoprocessorRequest;
import io.grpc.ServerCall;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** One call of {@code Coprocessor}: the next page is asked for when the client takes more. */
final class CoprocessorCall extends OneRequestCall<CoprocessorRequest, CoprocessorPage> implements CopStream.Receiver {
    private final DataPlane plane;
    private final boolean takesPermits;
    private final long idleNanos;
    private volatile CopStream stream; // null until there is one

    CoprocessorCall(
            ServerCall<Charged<CoprocessorRequest>, CoprocessorPage> call,
            DataPlane plane,
            boolean takesPermits,
            long idleNanos) {
        super(call);
        this.plane = plane;
        this.takesPermits = takesPermits;
        this.idleNanos = idleNanos;
    }

    @Override
    void begin(Charged<CoprocessorRequest> request) {
        CoprocessorRequest message = request.message();
        String cache = message.getRemoteCacheAddress();
        Optional<CopStream> begun = plane.stream(
                new StreamRequest(
                        message.getRequestId(),
                        message.getRequest(),
                        segment(message.getMemTableData()),
                        segment(message.getChangeSet()),
                        request.charge(),
                        message.getPageBytes() < 0 ? Long.MAX_VALUE : message.getPageBytes(),
                        cache.isEmpty() ? Optional.empty() : Optional.of(cache),
                        takesPermits,
                        idleNanos),
                this);
        begun.ifPresent(opened -> {
            stream = opened;
            opened.request();
        });
    }

    @Override
    void ready() {
        CopStream open = stream;
        if (open != null) {
            open.request();
        }
    }

    @Override
    void over(boolean isDelivered) {
        CopStream open = stream;
        if (open != null) {
            open.cancel("call is over");
        }
    }

    @Override
    public void page(Page page) {
        CoprocessorPage.Builder message = CoprocessorPage.newBuilder().setData(page.data());
        page.range().ifPresent(message::setRange);
        page.rest().ifPresent(message::setRest);
        send(message.build(), page.isLast());
        if (!page.isLast() && isReady()) {
            stream.request();
        }
    }

    @Override
    public void failed(ServiceError error) {
        fail(error);
    }

    private static MemorySegment segment(ByteString bytes) {
        return MemorySegment.ofBuffer(bytes.asReadOnlyByteBuffer());
    }
}
