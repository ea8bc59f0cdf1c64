package io.coplane.worker.grpc;

import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import io.coplane.engine.DataPlane;
import io.coplane.engine.PlaneStatus;
import io.coplane.engine.RunningRequest;
import io.coplane.proto.v1.CancelRequest;
import io.coplane.proto.v1.CancelResponse;
import io.coplane.proto.v1.CompactProgress;
import io.coplane.proto.v1.CompactRequest;
import io.coplane.proto.v1.CoprocessorPage;
import io.coplane.proto.v1.CoprocessorRequest;
import io.coplane.proto.v1.DataPlaneGrpc;
import io.coplane.proto.v1.Limits;
import io.coplane.proto.v1.MemoryAccount;
import io.coplane.proto.v1.Permits;
import io.coplane.proto.v1.RunningRequest.Kind;
import io.coplane.proto.v1.StatusRequest;
import io.coplane.proto.v1.StatusResponse;
import io.grpc.MethodDescriptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Our own service, {@code coplane.v1.DataPlane} (docs/grpc.md). Messages of clients are charged before they are decoded. Owns a thread, which tells of
 * progress, until closed; borrows the data plane. Thread-safe.
 */
public final class DataPlaneService implements AutoCloseable {
    private final DataPlane plane;
    private final Options options;
    private final ScheduledExecutorService ticker = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().name("coplane-grpc-progress").daemon().factory());

    /**
     * How the service behaves.
     *
     * @param version what {@code Status} tells
     * @param takesPermits pages wait for the permits that requests over HTTP take
     * @param maxMessageBytes what {@code Status} tells of the server
     * @param idleTimeout a stream whose client takes no page for so long is given up
     */
    public record Options(String version, boolean takesPermits, int maxMessageBytes, Duration idleTimeout) {}

    public DataPlaneService(DataPlane plane, Options options) {
        this.plane = plane;
        this.options = options;
    }

    /**
     * The service as a server takes it.
     *
     * @param waiting room for answers that clients have not taken yet
     */
    ServerServiceDefinition definition(WaitingAnswers waiting) {
        MethodDescriptor<Charged<CoprocessorRequest>, CoprocessorPage> coprocessor =
                charged(DataPlaneGrpc.getCoprocessorMethod(), CoprocessorRequest.getDefaultInstance());
        MethodDescriptor<Charged<CompactRequest>, CompactProgress> compact =
                charged(DataPlaneGrpc.getCompactMethod(), CompactRequest.getDefaultInstance());
        ServiceDescriptor service = ServiceDescriptor.newBuilder(DataPlaneGrpc.SERVICE_NAME)
                .setSchemaDescriptor(DataPlaneGrpc.getServiceDescriptor().getSchemaDescriptor())
                .addMethod(coprocessor)
                .addMethod(compact)
                .addMethod(DataPlaneGrpc.getCancelMethod())
                .addMethod(DataPlaneGrpc.getStatusMethod())
                .build();
        return ServerServiceDefinition.builder(service)
                .addMethod(
                        coprocessor,
                        (call, headers) -> new CoprocessorCall(
                                        call,
                                        plane,
                                        options.takesPermits(),
                                        options.idleTimeout().toNanos())
                                .started())
                .addMethod(compact, (call, headers) -> new CompactCall(call, plane, ticker, waiting).started())
                .addMethod(DataPlaneGrpc.getCancelMethod(), ServerCalls.asyncUnaryCall(this::cancel))
                .addMethod(
                        DataPlaneGrpc.getStatusMethod(),
                        ServerCalls.asyncUnaryCall(
                                (StatusRequest nothing, StreamObserver<StatusResponse> out) -> status(out)))
                .build();
    }

    @SuppressWarnings("unchecked") // the parser of a message's instance is that of its class
    private <Q extends Message, R> MethodDescriptor<Charged<Q>, R> charged(MethodDescriptor<Q, R> method, Q instance) {
        return method.toBuilder(
                        new Charged.Marshaller<>((Parser<Q>) instance.getParserForType(), plane.memory()),
                        method.getResponseMarshaller())
                .build();
    }

    private void cancel(CancelRequest request, StreamObserver<CancelResponse> out) {
        out.onNext(CancelResponse.newBuilder()
                .setFound(plane.cancel(request.getRequestId()))
                .build());
        out.onCompleted();
    }

    private void status(StreamObserver<StatusResponse> out) {
        PlaneStatus status = plane.status();
        StatusResponse.Builder answer = StatusResponse.newBuilder()
                .setVersion(options.version())
                .setUptimeSeconds(TimeUnit.MILLISECONDS.toSeconds(
                        ManagementFactory.getRuntimeMXBean().getUptime()))
                .setLimits(Limits.newBuilder()
                        .setMaxMessageBytes(options.maxMessageBytes())
                        .setMaxPageBytes(status.maxPageBytes())
                        .setWorkerThreads(status.workerThreads())
                        .setTakesPermits(options.takesPermits()))
                .setPermits(Permits.newBuilder().setTotal(status.totalPermits()).setInUse(status.permitsInUse()))
                .setTotalRunning(status.runningCount());
        for (PlaneStatus.Account account : status.accounts()) {
            answer.addMemory(MemoryAccount.newBuilder()
                    .setName(account.name())
                    .setUsedBytes(account.usedBytes())
                    .setCapBytes(account.capBytes()));
        }
        for (RunningRequest running : status.running()) {
            answer.addRunning(io.coplane.proto.v1.RunningRequest.newBuilder()
                    .setRequestId(running.requestId())
                    .setKind(kind(running.kind()))
                    .setTag(running.tag())
                    .setAgeMillis(running.ageMillis())
                    .setHeldBytes(running.heldBytes()));
        }
        out.onNext(answer.build());
        out.onCompleted();
    }

    private static Kind kind(RunningRequest.Kind kind) {
        return switch (kind) {
            case COPROCESSOR -> Kind.COPROCESSOR;
            case COMPACTION -> Kind.COMPACTION;
            case TXN_CHUNK -> Kind.TXN_CHUNK;
        };
    }

    /** Ends the thread. Close the server before. Idempotent. */
    @Override
    public void close() {
        ticker.shutdownNow();
    }
}
