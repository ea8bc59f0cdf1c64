package io.coplane.engine;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.keys.AwsKms;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.proto.coprocessor.KeyRange;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.enginepb.TableCreate;
import io.coplane.proto.keyspace_encryptionpb.DataKey;
import io.coplane.proto.keyspace_encryptionpb.EncryptionEpoch;
import io.coplane.proto.keyspace_encryptionpb.EncryptionMeta;
import io.coplane.proto.keyspace_encryptionpb.MasterKey;
import io.coplane.proto.kvrpcpb.APIVersion;
import io.coplane.proto.kvrpcpb.Context;
import io.coplane.proto.tipb.ColumnInfo;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.ExecType;
import io.coplane.proto.tipb.Executor;
import io.coplane.proto.tipb.TableScan;
import io.coplane.snapshot.RemoteRequestBody;
import io.coplane.sst.ChecksumType;
import io.coplane.sst.CompressionType;
import io.coplane.sst.ShardKey;
import io.coplane.sst.SstBuilder;
import io.coplane.sst.SstOptions;
import io.coplane.testing.KmsServer;
import io.coplane.testing.NoLeaks;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** A keyspace whose master key is one of a key service that does not answer (worker.md 17.3), on a data plane of one thread and three permits. */
@Timeout(60)
@ExtendWith(NoLeaks.class)
final class StalledKeyServiceTest {
    private static final int ENCRYPTED = 42;
    private static final int PLAIN = 7;
    private static final int DATA_KEY = 0x0A0B01;
    private static final byte[] MASTER = filled(0x33);
    private static final byte[] EXPORTED = ShardKey.exportDataKey(MASTER, filled(5));
    private static final byte[] NOTHING = {};

    @TempDir
    private Path root;

    private final AtomicInteger calls = new AtomicInteger(); // which may send more than one request
    private KmsServer service;
    private DirectoryStore store;
    private DataPlane plane;

    @BeforeEach
    void open() throws IOException {
        System.setProperty("aws.accessKeyId", KmsServer.KEY_ID);
        System.setProperty("aws.secretAccessKey", "never-sent");
        service = new KmsServer();
        store = new DirectoryStore(root, "", 2);
        DataPlaneConfig defaults = DataPlaneConfig.defaults(2, 1 << 20);
        DataPlaneConfig config = new DataPlaneConfig(
                1,
                16 << 20,
                1 << 20,
                3,
                3,
                32 << 20,
                0,
                BlackList.NONE,
                NOTHING,
                defaults.chunkTtlMillis(),
                defaults.chunkSweepMillis(),
                (vendor, keyId, region, endpoint, ciphertext) -> {
                    calls.incrementAndGet();
                    return AwsKms.decrypt(keyId, region, endpoint, ciphertext);
                });
        plane = DataPlane.open(config, store, Clock.system(), new PrometheusRegistry());
        putMeta();
        putTable();
    }

    @AfterEach
    void close() {
        System.clearProperty("aws.accessKeyId");
        System.clearProperty("aws.secretAccessKey");
        service.close();
        plane.close();
        assertThat(plane.memory().usedBytes()).isZero();
        store.close();
    }

    @Test
    void holdsNeitherTheThreadNorThePermitsOfOthers() {
        service.stall();
        CompletableFuture<CopAnswer> first = ask(ENCRYPTED, 0);
        service.awaitRequest();
        List<CompletableFuture<CopAnswer>> later =
                IntStream.range(0, 5).mapToObj(i -> ask(ENCRYPTED, 0)).toList();

        assertThat(plane.heldPermits())
                .as("its own and a global one, of the first alone")
                .isEqualTo(2);
        assertThat(ask(PLAIN, 0).join().text()).isEmpty();
        assertThat(ask(ENCRYPTED, 30).join().httpStatus())
                .as("its time is over before the key is there")
                .isEqualTo(503);
        assertThat(first).isNotDone();
        assertThat(later).noneMatch(CompletableFuture::isDone);

        service.letGo();
        assertThat(first.join().text()).isEmpty();
        later.forEach(answer -> assertThat(answer.join().text()).isEmpty());
        assertThat(calls).as("one call for all").hasValue(1);
        assertThat(plane.heldPermits()).isZero();
    }

    private CompletableFuture<CopAnswer> ask(int keyspace, long millis) {
        ChangeSet.Builder changeSet = ChangeSet.newBuilder().setShardID(7).setShardVer(1);
        var shard = changeSet
                .getSnapshotBuilder()
                .setOuterStart(keyspaceStart(keyspace))
                .setOuterEnd(keyspaceStart(keyspace + 1));
        if (keyspace == ENCRYPTED) {
            shard.addTableCreates(TableCreate.newBuilder().setID(1).setLevel(1));
        }
        return plane.coprocessor(new CopRequest(
                MemorySegment.ofArray(RemoteRequestBody.join(
                        scan(keyspace, millis), NOTHING, changeSet.build().toByteArray())),
                Optional.empty()));
    }

    /** Of a table without rows. */
    private static byte[] scan(int keyspace, long millis) {
        ByteString start = keyspaceStart(keyspace)
                .concat(ByteString.copyFrom(HexFormat.of().parseHex("7480000000000000015f72")));
        DAGRequest dag = DAGRequest.newBuilder()
                .addExecutors(Executor.newBuilder()
                        .setTp(ExecType.TypeTableScan)
                        .setTblScan(TableScan.newBuilder()
                                .setTableId(1)
                                .addColumns(
                                        ColumnInfo.newBuilder().setColumnId(2).setTp(8))))
                .addOutputOffsets(0)
                .build();
        return Request.newBuilder()
                .setTp(103)
                .setStartTs(5)
                .setContext(Context.newBuilder()
                        .setApiVersion(APIVersion.V2)
                        .setKeyspaceId(keyspace)
                        .setMaxExecutionDurationMs(millis))
                .setData(dag.toByteString())
                .addRanges(KeyRange.newBuilder().setStart(start).setEnd(start.concat(ByteString.copyFrom(new byte[] {-1
                }))))
                .build()
                .toByteArray();
    }

    private void putMeta() {
        long fileId = 155;
        byte[] meta = EncryptionMeta.newBuilder()
                .setKeyspaceId(ENCRYPTED)
                .setCurrent(EncryptionEpoch.newBuilder().setFileId(fileId).setDataKeyId(DATA_KEY))
                .setMasterKey(MasterKey.newBuilder()
                        .setVendor("aws")
                        .setCmekId("alias/k")
                        .setRegion("eu-west-1")
                        .setEndpoint(service.endpoint())
                        .setCiphertext(ByteString.copyFrom(KmsServer.encrypt(MASTER))))
                .putDataKeys(
                        DATA_KEY,
                        DataKey.newBuilder()
                                .setCiphertext(ByteString.copyFrom(EXPORTED))
                                .build())
                .build()
                .toByteArray();
        store.put(FileKind.ENCRYPTION, fileId, MemorySegment.ofArray(meta)).join();
    }

    private void putTable() {
        ShardKey key = ShardKey.ofKeyspace(ENCRYPTED, MASTER, Map.of(DATA_KEY, EXPORTED), DATA_KEY);
        var options = new SstOptions(4096, CompressionType.LZ4, 3, ChecksumType.CRC32, key);
        byte[] bytes = "t_a".getBytes(StandardCharsets.US_ASCII);
        try (MemoryGuard guard = MemoryGuard.unlimited();
                var arena = new NativeArena(guard);
                var builder = new SstBuilder(options, 1, false, guard)) {
            builder.add(bytes, 0, bytes.length, 5, 0, new byte[17], 0, 17, bytes, 0, bytes.length);
            store.put(FileKind.SST, 1, builder.finish(arena).bytes()).join();
        }
    }

    private static ByteString keyspaceStart(int keyspace) {
        return ByteString.copyFrom(new byte[] {'x', 0, 0, (byte) keyspace});
    }

    private static byte[] filled(int value) {
        byte[] bytes = new byte[32];
        Arrays.fill(bytes, (byte) value);
        return bytes;
    }
}
