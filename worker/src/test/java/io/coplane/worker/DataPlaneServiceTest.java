package io.coplane.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.coplane.compaction.CompactionJournals;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.coprocessor.KeyRange;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.enginepb.Snapshot;
import io.coplane.proto.kvrpcpb.Context;
import io.coplane.proto.tipb.ColumnInfo;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.ExecType;
import io.coplane.proto.tipb.Executor;
import io.coplane.proto.tipb.SelectResponse;
import io.coplane.proto.tipb.TableScan;
import io.coplane.proto.v1.CancelRequest;
import io.coplane.proto.v1.CompactProgress;
import io.coplane.proto.v1.CompactRequest;
import io.coplane.proto.v1.CoprocessorPage;
import io.coplane.proto.v1.CoprocessorRequest;
import io.coplane.proto.v1.DataPlaneGrpc;
import io.coplane.proto.v1.ErrorDetail;
import io.coplane.proto.v1.MemoryAccount;
import io.coplane.proto.v1.RunningRequest;
import io.coplane.proto.v1.StatusRequest;
import io.coplane.proto.v1.StatusResponse;
import io.coplane.snapshot.MemDataWriter;
import io.coplane.testing.GoldenCase;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.TestData;
import io.coplane.testing.Waits;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.protobuf.StatusProto;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Our own service, asked by clients driven by hand over real connections (docs/grpc.md). */
@ExtendWith(NoLeaks.class)
@Timeout(60)
final class DataPlaneServiceTest {
    private static final int ROWS = 20_000;
    private static final int ROW_BYTES = 500;
    private static final int PAGE_BYTES = 64 << 10;
    private static final int WINDOW_BYTES = 64 << 10;
    private static final ByteString ROW_DATA = memData();

    @TempDir
    private Path folder;

    private final List<ManagedChannel> channels = new ArrayList<>();
    private Worker worker;

    @AfterEach
    void nothingIsHeld() {
        if (worker != null) {
            Waits.until(() -> status().getRunningCount() == 0);
            Waits.until(() -> worker.memory().usedBytes() == worker.cachedBytes());
            Waits.until(() -> status().getPermits().getInUse() == 0);
        }
        channels.forEach(ManagedChannel::shutdownNow);
        if (worker != null) {
            worker.close();
            assertThat(worker.memory().usedBytes()).isZero();
        }
    }

    @Test
    void streamsARowSetWholeInPages() throws Exception {
        worker("");

        Iterator<CoprocessorPage> stream =
                DataPlaneGrpc.newBlockingStub(channel()).coprocessor(scan("").build());

        ByteString data = ByteString.EMPTY;
        ByteString expectedStart = key(0);
        int pages = 0;
        boolean ended = false;
        while (stream.hasNext()) {
            CoprocessorPage page = stream.next();
            assertThat(ended).isFalse();
            pages++;
            ended = page.hasRest();
            if (!ended) {
                assertThat(page.getData().size()).isBetween(PAGE_BYTES, PAGE_BYTES + 1024 * (ROW_BYTES + 20));
                assertThat(page.getRange().getStart()).isEqualTo(expectedStart);
                expectedStart = page.getRange().getEnd();
            }
            data = data.concat(page.getData());
        }
        SelectResponse all = SelectResponse.parseFrom(data);
        assertThat(ended).isTrue();
        assertThat(pages).isGreaterThan(10);
        assertThat(all.getOutputCountsList()).containsExactly((long) ROWS);
        assertThat(all.getChunksList().stream()
                        .mapToLong(chunk -> chunk.getRowsData().size())
                        .sum())
                .isEqualTo(ROWS * (1L + 2 + ROW_BYTES));
    }

    /** Pages are executed as the client takes them: what is on the way is one window, one queue and one page. */
    @Test
    void aSlowReaderHoldsTheServerBack() throws Exception {
        worker("[coplane]\ngrpc-permits = true\n");
        HandClient client = new HandClient(CallOptions.DEFAULT, scan("slow").build());

        client.call.request(1);
        assertThat(client.next().hasRest()).isFalse();
        awaitStill(this::pagesExecuted);

        assertThat(pagesExecuted()).isLessThanOrEqualTo(4);
        Waits.until(() -> status().getPermits().getInUse() == 0); // none while the client is awaited
        assertThat(status().getRunningList()).singleElement().satisfies(running -> {
            assertThat(running.getRequestId()).isEqualTo("slow");
            assertThat(running.getKind()).isEqualTo(RunningRequest.Kind.COPROCESSOR);
            assertThat(running.getTag()).isEqualTo("dag ks3:0:0:100");
            assertThat(running.getHeldBytes()).isGreaterThan(ROW_DATA.size());
        });
        client.call.request(1_000);
        client.awaitEnd();
        assertThat(client.status.join().getCode()).isEqualTo(Status.Code.OK);
        assertThat(pagesExecuted()).isGreaterThan(10);
    }

    @Test
    void aClientThatLeavesInTheMiddleLeavesNothing() throws Exception {
        worker("");
        HandClient client = new HandClient(CallOptions.DEFAULT, scan("left").build());
        client.call.request(1);
        client.next();
        awaitStill(this::pagesExecuted);

        client.call.cancel("enough", null);

        Waits.until(() -> status().getRunningCount() == 0);
        assertThat(pagesExecuted()).isLessThanOrEqualTo(4);
    }

    @Test
    void aDeadlineEndsAStream() throws Exception {
        worker("");
        HandClient client =
                new HandClient(CallOptions.DEFAULT.withDeadlineAfter(1_500, TimeUnit.MILLISECONDS), scan("").build());
        client.call.request(1);

        assertThat(client.status.get(30, TimeUnit.SECONDS).getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
        Waits.until(() -> status().getRunningCount() == 0);
    }

    @Test
    void aStreamIsCancelledByItsIdFromElsewhere() throws Exception {
        worker("");
        HandClient client = new HandClient(CallOptions.DEFAULT, scan("to end").build());
        client.call.request(1);
        client.next();

        assertThat(cancel("another")).isFalse();
        assertThat(cancel("to end")).isTrue();

        client.call.request(1_000);
        client.awaitEnd();
        Status status = client.status.join();
        assertThat(status.getCode()).isEqualTo(Status.Code.CANCELLED);
        assertThat(status.getDescription()).isEqualTo("request was cancelled by its id");
        assertThat(client.detail().getName()).isEqualTo("CANCELLED");
        Waits.until(() -> !cancel("to end"));
    }

    @Test
    void aClientThatTakesNothingIsGivenUp() throws Exception {
        worker("[coplane]\nwrite-idle-timeout = \"1s\"\n");
        HandClient client;
        int asked = 0;
        do { // its call is reset if we come another half of the time later, as a slow machine may
            client = new HandClient(CallOptions.DEFAULT, scan("").build());
            client.call.request(1);
            client.next();
            Waits.until(() -> status().getRunningCount() == 0);
            client.call.request(1_000);
            client.awaitEnd();
        } while (client.status.join().getCode() == Status.Code.CANCELLED && ++asked < 8);

        assertThat(client.status.join().getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
        assertThat(client.detail().getRetryable()).isTrue();
    }

    @Test
    void whatTheMemoryCapDoesNotAllowIsRefusedAsRetryable() throws Exception {
        worker("memory-upper-threshold = \"4MiB\"\ncop-block-cache-size = 0\n");

        ErrorDetail detail = fails(scan("").build(), Status.Code.RESOURCE_EXHAUSTED);

        assertThat(detail.getName()).isEqualTo("MEMORY_LIMIT");
        assertThat(detail.getCode()).isEqualTo(2001);
        assertThat(detail.getRetryable()).isTrue();
        assertThat(detail.getExceededBytes()).isPositive();
    }

    @Test
    void wrongInputIsToldByTypedErrors() throws Exception {
        worker("[black-list.remote-cop]\nkeyspace-ids = [8]\n");

        assertThat(fails(CoprocessorRequest.getDefaultInstance(), Status.Code.INVALID_ARGUMENT)
                        .getName())
                .isEqualTo("NO_SNAPSHOT");
        assertThat(fails(
                                scan("").setChangeSet(ByteString.copyFromUtf8("\u007f\u007f"))
                                        .build(),
                                Status.Code.INVALID_ARGUMENT)
                        .getName())
                .isEqualTo("BAD_CHANGE_SET");
        assertThat(fails(scan("").setMemTableData(ByteString.copyFromUtf8("xx")).build(), Status.Code.INVALID_ARGUMENT)
                        .getName())
                .isEqualTo("BAD_MEM_DATA");
        assertThat(fails(
                                scan("").setRequest(scan("").getRequest().toBuilder()
                                                .setTp(99))
                                        .build(),
                                Status.Code.UNIMPLEMENTED)
                        .getName())
                .isEqualTo("UNSUPPORTED");
        assertThat(fails(
                                scan("").setRequest(scan("").getRequest().toBuilder()
                                                .setData(ByteString.copyFromUtf8("\u007f")))
                                        .build(),
                                Status.Code.INVALID_ARGUMENT)
                        .getName())
                .isEqualTo("BAD_PROTOBUF");
        assertThat(fails(scan("x".repeat(129)).build(), Status.Code.INVALID_ARGUMENT)
                        .getName())
                .isEqualTo("BAD_ARGUMENT");
        assertThat(fails(
                                scan("").setRequest(scan("").getRequest().toBuilder()
                                                .setContext(Context.newBuilder().setKeyspaceId(8)))
                                        .build(),
                                Status.Code.PERMISSION_DENIED)
                        .getName())
                .isEqualTo("BLACK_LISTED");
    }

    @Test
    void anIdInUseIsRefusedAndItsOwnerGoesOn() throws Exception {
        worker("");
        HandClient first = new HandClient(CallOptions.DEFAULT, scan("mine").build());
        first.call.request(1);
        first.next();

        assertThat(fails(scan("mine").build(), Status.Code.ALREADY_EXISTS).getRetryable())
                .isFalse();

        first.call.request(1_000);
        first.awaitEnd();
        assertThat(first.status.join().getCode()).isEqualTo(Status.Code.OK);
    }

    @Test
    void statusTellsLimitsAndAccounts() throws Exception {
        worker("memory-upper-threshold = \"64MiB\"\n");

        StatusResponse status = status();

        assertThat(status.getVersion()).isNotEmpty();
        assertThat(status.getLimits().getWorkerThreads()).isEqualTo(2);
        assertThat(status.getLimits().getMaxMessageBytes()).isEqualTo(256 << 20);
        assertThat(status.getPermits().getTotal()).isEqualTo(192);
        assertThat(status.getMemoryList())
                .extracting(MemoryAccount::getName)
                .containsExactly("requests", "cache", "parsed_heap");
        assertThat(status.getMemory(0).getCapBytes()).isEqualTo(64 << 20);
    }

    @Test
    void compactionsTellTheirProgressAndAtLastTheChangeSet() throws Exception {
        GoldenCase golden = TestData.cases("compaction")
                .filter(c -> c.name().startsWith("l0-split"))
                .findFirst()
                .orElseThrow();
        fill(golden);
        Path journals = folder.resolve("journals");
        worker("[coplane]\ncompact-journal-dir = \"" + journals + "\"\n");
        byte[] json = golden.bytes("request.json");

        List<CompactProgress> told = new ArrayList<>();
        DataPlaneGrpc.newBlockingStub(channel())
                .compact(CompactRequest.newBuilder()
                        .setRequestId("job")
                        .setJson(ByteString.copyFrom(json))
                        .build())
                .forEachRemaining(told::add);

        assertThat(told.getLast().getInputBytes()).isPositive();
        assertThat(told.getLast().getOutputs()).isPositive();
        assertThat(told.subList(0, told.size() - 1)).noneMatch(CompactProgress::hasChangeSet);
        assertThat(journals).isDirectoryContaining("glob:**.journal");
        // the client has the answer: its outputs are no orphans
        Waits.until(() -> CompactionJournals.orphans(journals, Clock.system()).isEmpty());
        assertThat(told.getLast().getChangeSet().toByteArray()).isEqualTo(overHttp(json));
    }

    @Test
    void compactionsThatCannotBeAreToldByTypedErrors() throws Exception {
        worker("");

        assertThat(compactionFails("no json", Status.Code.INVALID_ARGUMENT)).isEqualTo("BAD_REQUEST_BODY");
        assertThat(compactionFails("{\"compactor-version\":4}", Status.Code.UNIMPLEMENTED))
                .isEqualTo("UNSUPPORTED");
    }

    @Test
    void theServiceIsFoundByReflection() throws Exception {
        worker("");
        BlockingQueue<ServerReflectionResponse> answers = new LinkedBlockingQueue<>();
        StreamObserver<ServerReflectionRequest> asking = ServerReflectionGrpc.newStub(channel())
                .serverReflectionInfo(new StreamObserver<>() {
                    @Override
                    public void onNext(ServerReflectionResponse answer) {
                        answers.add(answer);
                    }

                    @Override
                    public void onError(Throwable failure) {
                        // the test times out
                    }

                    @Override
                    public void onCompleted() {
                        // nothing more
                    }
                });

        asking.onNext(ServerReflectionRequest.newBuilder()
                .setFileContainingSymbol("coplane.v1.DataPlane")
                .build());

        ServerReflectionResponse answer = answers.poll(20, TimeUnit.SECONDS);
        asking.onCompleted();
        assertThat(answer.getFileDescriptorResponse().getFileDescriptorProtoCount())
                .isPositive();
    }

    /** A client that asks for every message by itself. */
    private final class HandClient extends ClientCall.Listener<CoprocessorPage> {
        private final ClientCall<CoprocessorRequest, CoprocessorPage> call;
        private final BlockingQueue<CoprocessorPage> pages = new LinkedBlockingQueue<>();
        private final CompletableFuture<Status> status = new CompletableFuture<>();
        private volatile Metadata trailers;

        HandClient(CallOptions options, CoprocessorRequest request) {
            call = channel().newCall(DataPlaneGrpc.getCoprocessorMethod(), options);
            call.start(this, new Metadata());
            call.sendMessage(request);
            call.halfClose();
        }

        @Override
        public void onMessage(CoprocessorPage page) {
            pages.add(page);
        }

        @Override
        public void onClose(Status end, Metadata metadata) {
            trailers = metadata;
            status.complete(end);
        }

        CoprocessorPage next() throws InterruptedException {
            CoprocessorPage page = pages.poll(30, TimeUnit.SECONDS);
            assertThat(page).isNotNull();
            return page;
        }

        void awaitEnd() throws Exception {
            status.get(30, TimeUnit.SECONDS);
        }

        ErrorDetail detail() throws IOException {
            return StatusProto.fromStatusAndTrailers(status.join(), trailers)
                    .getDetails(0)
                    .unpack(ErrorDetail.class);
        }
    }

    private void worker(String toml) throws IOException {
        worker = LocalWorker.start(folder, toml);
    }

    private ManagedChannel channel() {
        if (channels.isEmpty()) {
            channels.add(NettyChannelBuilder.forAddress(worker.grpcAddress())
                    .usePlaintext()
                    .flowControlWindow(WINDOW_BYTES)
                    .maxInboundMessageSize(64 << 20)
                    .build());
        }
        return channels.getFirst();
    }

    private StatusResponse status() {
        return DataPlaneGrpc.newBlockingStub(channel()).status(StatusRequest.getDefaultInstance());
    }

    private boolean cancel(String id) {
        return DataPlaneGrpc.newBlockingStub(channel())
                .cancel(CancelRequest.newBuilder().setRequestId(id).build())
                .getFound();
    }

    private ErrorDetail fails(CoprocessorRequest request, Status.Code code) throws IOException {
        HandClient client = new HandClient(CallOptions.DEFAULT, request);
        client.call.request(1_000);
        assertThat(client.status.join().getCode())
                .as(client.status.join().toString())
                .isEqualTo(code);
        assertThat(client.pages).isEmpty();
        return client.detail();
    }

    private String compactionFails(String json, Status.Code code) throws IOException {
        StatusRuntimeException failure = null;
        try {
            DataPlaneGrpc.newBlockingStub(channel())
                    .compact(CompactRequest.newBuilder()
                            .setJson(ByteString.copyFromUtf8(json))
                            .build())
                    .forEachRemaining(progress -> {});
        } catch (StatusRuntimeException e) {
            failure = e;
        }
        assertThat(failure).isNotNull();
        assertThat(failure.getStatus().getCode()).isEqualTo(code);
        return StatusProto.fromThrowable(failure)
                .getDetails(0)
                .unpack(ErrorDetail.class)
                .getName();
    }

    private double pagesExecuted() {
        try (HttpClient client = HttpClient.newHttpClient()) {
            String metrics = client.send(
                            HttpRequest.newBuilder(URI.create(base() + "/metrics"))
                                    .build(),
                            HttpResponse.BodyHandlers.ofString())
                    .body();
            return metrics.lines()
                    .filter(line -> line.startsWith("coplane_stream_pages_total "))
                    .mapToDouble(line -> Double.parseDouble(line.substring(line.indexOf(' '))))
                    .sum();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private byte[] overHttp(byte[] json) throws Exception {
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpResponse<byte[]> answer = client.send(
                    HttpRequest.newBuilder(URI.create(base() + "/compact"))
                            .POST(HttpRequest.BodyPublishers.ofByteArray(json))
                            .build(),
                    HttpResponse.BodyHandlers.ofByteArray());
            assertThat(answer.statusCode()).isEqualTo(200);
            return answer.body();
        }
    }

    private String base() {
        return "http://127.0.0.1:" + worker.address().getPort();
    }

    /** Waits until a number stands still for a while. */
    private static void awaitStill(DoubleSupplier number) {
        double[] last = {-1};
        int[] same = {0};
        Waits.until(() -> {
            double now = number.getAsDouble();
            same[0] = now == last[0] ? same[0] + 1 : 0;
            last[0] = now;
            return same[0] >= 10;
        });
    }

    private static CoprocessorRequest.Builder scan(String id) {
        ColumnInfo value = ColumnInfo.newBuilder().setColumnId(2).setTp(15).build();
        DAGRequest dag = DAGRequest.newBuilder()
                .addExecutors(Executor.newBuilder()
                        .setTp(ExecType.TypeTableScan)
                        .setTblScan(TableScan.newBuilder().setTableId(1).addColumns(value)))
                .addOutputOffsets(0)
                .build();
        return CoprocessorRequest.newBuilder()
                .setRequestId(id)
                .setRequest(Request.newBuilder()
                        .setTp(103)
                        .setStartTs(100)
                        .setContext(Context.newBuilder().setKeyspaceId(3))
                        .setData(dag.toByteString())
                        .addRanges(KeyRange.newBuilder().setStart(key(0)).setEnd(key(ROWS))))
                .setMemTableData(ROW_DATA)
                .setChangeSet(ChangeSet.newBuilder()
                        .setShardID(1)
                        .setShardVer(1)
                        .setSnapshot(Snapshot.newBuilder()
                                .setOuterStart(ByteString.copyFromUtf8("t"))
                                .setOuterEnd(ByteString.copyFromUtf8("u")))
                        .build()
                        .toByteString())
                .setPageBytes(PAGE_BYTES);
    }

    /** Key of a row of table 1: t, table, _r, handle. */
    private static ByteString key(long handle) {
        return ByteString.copyFrom(ByteBuffer.allocate(19)
                .put((byte) 't')
                .putLong(1 ^ Long.MIN_VALUE)
                .put((byte) '_')
                .put((byte) 'r')
                .putLong(handle ^ Long.MIN_VALUE)
                .array());
    }

    /** Rows of one column of text, in the oldest row format: its id, then the value. */
    private static ByteString memData() {
        ByteBuffer row = ByteBuffer.allocate(5 + ROW_BYTES);
        row.put(new byte[] {8, 4, 2, (byte) (0x80 | 2 * ROW_BYTES & 0x7f), (byte) (2 * ROW_BYTES >>> 7)});
        while (row.hasRemaining()) {
            row.put((byte) 'v');
        }
        try (MemoryGuard guard = MemoryGuard.unlimited();
                MemDataWriter rows = new MemDataWriter(guard)) {
            for (int i = 0; i < ROWS; i++) {
                rows.add(key(i).toByteArray(), 1, 2, row.array());
            }
            return ByteString.copyFrom(rows.copyV2(new byte[0]));
        }
    }

    private void fill(GoldenCase golden) {
        try (var store = new DirectoryStore(folder, "", 2)) {
            for (String file : golden.files("")) {
                if (file.startsWith("in/")) {
                    String name = file.substring("in/".length());
                    store.put(
                                    name.endsWith(".sst") ? FileKind.SST : FileKind.BLOB,
                                    Long.parseUnsignedLong(name.substring(0, 16), 16),
                                    MemorySegment.ofArray(golden.bytes(file)))
                            .join();
                }
            }
        }
    }
}
