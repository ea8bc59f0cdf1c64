package io.coplane.worker.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.engine.DelegatedAnswer;
import io.coplane.engine.DelegatedRequest;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.proto.coprocessor.Request;
import io.coplane.testing.NoLeaks;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
final class OneRequestCallTest {
    private final MemoryLimiter memory = new MemoryLimiter(1 << 20);
    private final Charged.Marshaller<Request> marshaller = new Charged.Marshaller<>(Request.parser(), memory);
    private final List<DelegatedRequest> begun = new ArrayList<>();
    private final Sent sent = new Sent();
    private final ServerCall.Listener<Charged<Request>> call = new TikvCall(
                    sent,
                    request -> {
                        begun.add(request);
                        return new CompletableFuture<DelegatedAnswer>();
                    },
                    (request, within) -> new CompletableFuture<>(),
                    false,
                    new WaitingAnswers(memory))
            .started();

    @Test
    void beginsTheRequestWhenItIsWhole() {
        call.onMessage(message());
        assertThat(begun).isEmpty();

        call.onHalfClose();

        assertThat(begun).hasSize(1);
        assertThat(sent.statuses).isEmpty();
    }

    @Test
    void beginsNothingAndHoldsNothingAfterItFailed() {
        call.onMessage(message());
        call.onMessage(message());
        call.onMessage(message());
        call.onHalfClose();

        assertThat(begun).isEmpty();
        assertThat(sent.statuses).containsExactly("more than one request in a call");
        assertThat(memory.usedBytes()).isZero();
        call.onComplete();
        assertThat(memory.usedBytes()).isZero();
    }

    private Charged<Request> message() {
        Charged<Request> message = marshaller.parse(
                new ByteArrayInputStream(Request.newBuilder().setTp(103).build().toByteArray()));
        assertThat(message.failure()).isNull();
        return message;
    }

    /** What a call sends. */
    private static final class Sent extends ServerCall<Charged<Request>, byte[]> {
        private final List<String> statuses = new ArrayList<>();

        @Override
        public void request(int messages) {
            assertThat(messages).isPositive();
        }

        @Override
        public void sendHeaders(Metadata headers) {
            throw new AssertionError("nothing is answered");
        }

        @Override
        public void sendMessage(byte[] message) {
            throw new AssertionError("nothing is answered");
        }

        @Override
        public void close(Status status, Metadata trailers) {
            statuses.add(status.getDescription());
        }

        @Override
        public boolean isCancelled() {
            return false;
        }

        @Override
        public MethodDescriptor<Charged<Request>, byte[]> getMethodDescriptor() {
            throw new UnsupportedOperationException("asked by gRPC alone");
        }
    }
}
