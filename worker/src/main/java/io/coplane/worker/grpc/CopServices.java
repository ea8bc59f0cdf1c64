package io.coplane.worker.grpc;

import io.coplane.engine.DelegatedAnswer;
import io.coplane.engine.DelegatedRequest;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.tikvpb.TikvGrpc;
import io.grpc.Context;
import io.grpc.MethodDescriptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** {@code tikvpb.Tikv} with {@code Coprocessor} alone; gRPC answers every other method with UNIMPLEMENTED (worker.md 9.1). */
@SuppressWarnings("FutureReturnValueIgnored") // the answer is sent by the stage itself
final class CopServices {
    private CopServices() {}

    /**
     * @param answer the data plane
     * @param store where it fetches data
     * @param takesPermits as {@link DelegatedRequest#takesPermits()}
     */
    static ServerServiceDefinition tikv(
            Function<DelegatedRequest, CompletableFuture<DelegatedAnswer>> answer,
            DelegatedRequest.Store store,
            boolean takesPermits) {
        MethodDescriptor<Request, Response> plain = TikvGrpc.getCoprocessorMethod();
        MethodDescriptor<Request, byte[]> method =
                plain.toBuilder(plain.getRequestMarshaller(), new Serialised()).build();
        ServiceDescriptor service = ServiceDescriptor.newBuilder(TikvGrpc.SERVICE_NAME)
                .setSchemaDescriptor(TikvGrpc.getServiceDescriptor().getSchemaDescriptor())
                .addMethod(method)
                .build();
        return ServerServiceDefinition.builder(service)
                .addMethod(method, ServerCalls.asyncUnaryCall((Request request, StreamObserver<byte[]> out) -> {
                    Context context = Context.current();
                    answer.apply(new DelegatedRequest(request, in(context, store), takesPermits, context::isCancelled))
                            .whenComplete((done, bug) -> send(done, bug, out));
                }))
                .build();
    }

    /** What is fetched in the context of its own request, whoever gave it the permit to begin. */
    private static DelegatedRequest.Store in(Context context, DelegatedRequest.Store store) {
        return (request, within) -> CompletableFuture.completedFuture(request)
                .thenComposeAsync(asked -> store.fetch(asked, within), context.fixedContextExecutor(Runnable::run));
    }

    private static void send(DelegatedAnswer done, Throwable bug, StreamObserver<byte[]> out) {
        if (bug != null) {
            out.onError(new StatusException(
                    Status.INTERNAL.withDescription(bug.getMessage()).withCause(bug)));
        } else if (done.isSuccess()) {
            out.onNext(done.response());
            out.onCompleted();
        } else {
            out.onError(
                    new StatusException(Status.fromCodeValue(done.grpcStatus()).withDescription(done.text())));
        }
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
