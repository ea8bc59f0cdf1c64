package io.coplane.worker.grpc;

import io.coplane.engine.DelegatedAnswer;
import io.coplane.engine.DelegatedRequest;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.tikvpb.TikvGrpc;
import io.grpc.MethodDescriptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
import io.grpc.Status;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** {@code tikvpb.Tikv} with {@code Coprocessor} alone; gRPC answers every other method with UNIMPLEMENTED (worker.md 9.1). */
final class CopServices {
    private CopServices() {}

    /**
     * @param answer the data plane
     * @param store where it fetches data
     * @param takesPermits as {@link DelegatedRequest#takesPermits()}
     * @param memory what requests are charged to
     * @param waiting room for answers that clients have not taken yet; without room they get the answer that asks them to come again
     */
    static ServerServiceDefinition tikv(
            Function<DelegatedRequest, CompletableFuture<DelegatedAnswer>> answer,
            DelegatedRequest.Store store,
            boolean takesPermits,
            MemoryLimiter memory,
            WaitingAnswers waiting) {
        MethodDescriptor<Charged<Request>, byte[]> method = TikvGrpc.getCoprocessorMethod().toBuilder(
                        new Charged.Marshaller<>(Request.parser(), memory), new Serialised())
                .build();
        ServiceDescriptor service = ServiceDescriptor.newBuilder(TikvGrpc.SERVICE_NAME)
                .setSchemaDescriptor(TikvGrpc.getServiceDescriptor().getSchemaDescriptor())
                .addMethod(method)
                .build();
        return ServerServiceDefinition.builder(service)
                .addMethod(
                        method, (call, headers) -> new TikvCall(call, answer, store, takesPermits, waiting).started())
                .build();
    }

    /** A message that is serialised already. */
    private static final class Serialised implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] value) {
            return new ByteArrayInputStream(value);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw Status.INTERNAL.withCause(e).asRuntimeException();
            }
        }
    }
}
