package io.coplane.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.tikvpb.TikvGrpc;
import io.coplane.proto.v1.CompactRequest;
import io.coplane.proto.v1.CoprocessorRequest;
import io.coplane.proto.v1.DataPlaneGrpc;
import io.coplane.proto.v1.ErrorDetail;
import io.coplane.proto.v1.StatusRequest;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.Waits;
import io.coplane.worker.grpc.Calls;
import io.coplane.worker.grpc.GrpcChannels;
import io.coplane.worker.http.RawClient;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.protobuf.StatusProto;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Messages over gRPC for which the account of bodies has no room while they come (docs/grpc.md). */
@ExtendWith(NoLeaks.class)
@Timeout(60)
final class ArrivingMessagesTest {
    private static final int DAG = 103;
    private static final int KIB = 1 << 10;
    private static final int MIB = 1 << 20;

    /** What a worker without PD answers to whatever has arrived. */
    private static final String ARRIVED = "no pd.endpoints are configured";

    private static final String BUSY = "Coprocessor task canceled due to exceeding memory quota";

    @TempDir
    private Path folder;

    private final GrpcChannels channels = new GrpcChannels(Optional.empty(), MIB);
    private Worker worker;

    @AfterEach
    void nothingIsHeld() throws InterruptedException {
        channels.close();
        if (worker != null) {
            Waits.until(
                    () -> worker.memory().usedBytes() == 0 && worker.bodies().usedBytes() == 0);
            worker.close();
        }
    }

    /** More than the windows of the connection, so that it stops if bytes that nobody took are not given back. */
    @Test
    void aMessageWithoutRoomIsBusyAgainAndAgainOverOneConnection() throws Exception {
        start("[coplane]\nmax-inflight-body-bytes = \"1MiB\"\n");
        assertThat(outcome(asked(10))).contains(ARRIVED);
        AtomicBoolean connectionEnded = new AtomicBoolean();
        channel().notifyWhenStateChanged(ConnectivityState.READY, () -> connectionEnded.set(true));

        for (int i = 0; i < 6; i++) {
            assertThat(outcome(asked(3 * MIB))).isEqualTo(BUSY);
            assertThat(outcome(asked(100 * KIB))).contains(ARRIVED);
            Waits.until(() -> worker.bodies().usedBytes() == 0);
        }
        assertThat(connectionEnded).isFalse();
    }

    @Test
    void callsThatComeTogetherAreAnsweredEachForItself() throws Exception {
        start("[coplane]\nmax-inflight-body-bytes = \"1MiB\"\n");
        List<CompletableFuture<Response>> large = new ArrayList<>();
        List<CompletableFuture<Response>> small = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            large.add(asked(200 * KIB + i));
            small.add(asked(i));
        }

        for (int i = 0; i < large.size(); i++) {
            assertThat(outcome(small.get(i))).contains(ARRIVED);
            assertThat(outcome(large.get(i)))
                    .satisfiesAnyOf(
                            busy -> assertThat(busy).isEqualTo(BUSY),
                            taken -> assertThat(taken).contains(ARRIVED));
        }
    }

    /** The account is full of something else: a body over HTTP that does not go on. */
    @Test
    void whatHasNoRoomIsRefusedAndWhatIsShortIsTaken() throws Exception {
        start("[coplane]\nmax-inflight-body-bytes = \"2MiB\"\n");
        DataPlaneGrpc.DataPlaneBlockingStub own = DataPlaneGrpc.newBlockingStub(channel());
        CoprocessorRequest request = CoprocessorRequest.newBuilder()
                .setMemTableData(ByteString.copyFrom(new byte[512 * KIB]))
                .build();
        CompactRequest compaction = CompactRequest.newBuilder()
                .setJson(ByteString.copyFrom(new byte[512 * KIB]))
                .build();
        List<RawClient> halves = new ArrayList<>();
        try {
            for (int i = 0; i < 8; i++) {
                halves.add(new RawClient(worker.address())
                        .send("POST /coprocessor HTTP/1.1\r\nContent-Length: " + 256 * KIB + "\r\n\r\n1"));
            }
            Waits.until(() -> worker.bodies().usedBytes() == worker.bodies().capBytes());

            for (int bytes : new int[] {2 * KIB, 512 * KIB}) {
                assertThat(outcome(asked(bytes))).isEqualTo(BUSY);
            }
            for (ThrowingCallable call : List.<ThrowingCallable>of(
                    () -> own.coprocessor(request).next(),
                    () -> own.compact(compaction).next())) {
                ErrorDetail detail = refusal(call);
                assertThat(detail.getName()).isEqualTo("MEMORY_LIMIT");
                assertThat(detail.getRetryable()).isTrue();
                assertThat(detail.getExceededBytes()).isBetween(16L * KIB, 20L * KIB); // a frame
            }
            assertThat(HealthGrpc.newBlockingStub(channel())
                            .check(HealthCheckRequest.getDefaultInstance())
                            .getStatus())
                    .isEqualTo(ServingStatus.SERVING);
            assertThat(own.status(StatusRequest.getDefaultInstance()).getTotalRunning())
                    .isZero();
            assertThat(outcome(asked(10))).contains(ARRIVED);
            assertThat(inTwoFrames(request(10).toByteArray())).contains(ARRIVED);
        } finally {
            for (RawClient half : halves) {
                half.close();
            }
        }
        Waits.until(() -> worker.bodies().usedBytes() == 0);
        assertThat(outcome(asked(512 * KIB))).contains(ARRIVED);
        assertThat(failureOf(() -> own.coprocessor(request).next()).getStatus().getCode())
                .isEqualTo(Status.Code.INVALID_ARGUMENT);
    }

    /** How a call failed whose end came behind its message. */
    private String inTwoFrames(byte[] message) throws IOException {
        try (HandDrivenHttp2 client = new HandDrivenHttp2(worker.grpcAddress())) {
            client.open(1, TikvGrpc.getCoprocessorMethod().getFullMethodName());
            client.send(1, message, message.length, false);
            client.end(1);
            return client.failure(1);
        }
    }

    @Test
    void aClientThatGoesOnAfterItsAnswerHoldsNothing() throws Exception {
        start("[coplane]\nmax-inflight-body-bytes = \"1MiB\"\n");
        String method = TikvGrpc.getCoprocessorMethod().getFullMethodName();
        byte[] large = request(8 * MIB).toByteArray();
        try (HandDrivenHttp2 client = new HandDrivenHttp2(worker.grpcAddress())) {
            for (int i = 0; i < 3; i++) {
                client.open(4 * i + 1, method);
                client.send(4 * i + 1, large, large.length, true);
                client.open(4 * i + 3, method); // which will never end
                client.send(4 * i + 3, large, 3 * MIB, false);

                assertThat(Response.parseFrom(client.answer(4 * i + 1))
                                .getRegionError()
                                .getServerIsBusy()
                                .getReason())
                        .isEqualTo(BUSY);
                assertThat(Response.parseFrom(client.answer(4 * i + 3))
                                .getRegionError()
                                .getServerIsBusy()
                                .getReason())
                        .isEqualTo(BUSY);
                Waits.until(() -> worker.bodies().usedBytes() == 0);
            }
            byte[] small = request(10).toByteArray();
            client.open(13, method);
            client.send(13, small, small.length, true);
            assertThat(client.failure(13)).contains(ARRIVED);
        }
    }

    private void start(String toml) throws IOException {
        worker = LocalWorker.start(folder, toml);
    }

    private ManagedChannel channel() {
        return channels.to("127.0.0.1:" + worker.grpcAddress().getPort());
    }

    private static Request request(int bytes) {
        return Request.newBuilder()
                .setTp(DAG)
                .setData(ByteString.copyFrom(new byte[bytes]))
                .build();
    }

    private CompletableFuture<Response> asked(int bytes) {
        return Calls.unary(channel(), TikvGrpc.getCoprocessorMethod(), request(bytes), Duration.ofSeconds(30));
    }

    /** Why the call was answered that the worker is busy, or how it failed. */
    private static String outcome(CompletableFuture<Response> call) {
        return call.handle((answer, failure) -> failure == null
                        ? answer.getRegionError().getServerIsBusy().getReason()
                        : failure.getMessage())
                .join();
    }

    private static ErrorDetail refusal(ThrowingCallable call) throws IOException {
        StatusRuntimeException failure = failureOf(call);
        assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        return StatusProto.fromThrowable(failure).getDetails(0).unpack(ErrorDetail.class);
    }

    private static StatusRuntimeException failureOf(ThrowingCallable call) {
        return assertThatThrownBy(call)
                .asInstanceOf(InstanceOfAssertFactories.type(StatusRuntimeException.class))
                .actual();
    }
}
