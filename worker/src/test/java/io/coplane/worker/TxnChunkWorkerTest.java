package io.coplane.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.sun.net.httpserver.HttpServer;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.nativecache.store.StoreUrl;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.enginepb.Properties;
import io.coplane.proto.enginepb.Snapshot;
import io.coplane.proto.keyspace_encryptionpb.DataKey;
import io.coplane.proto.keyspace_encryptionpb.EncryptionEpoch;
import io.coplane.proto.keyspace_encryptionpb.EncryptionMeta;
import io.coplane.proto.keyspace_encryptionpb.MasterKey;
import io.coplane.proto.metapb.Region;
import io.coplane.proto.metapb.Store;
import io.coplane.sst.ShardKey;
import io.coplane.sst.TxnChunkCursor;
import io.coplane.sst.TxnChunkReader;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.S3Server;
import io.coplane.worker.config.ConfigLoader;
import io.coplane.worker.config.Machine;
import io.coplane.worker.pd.PdServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.zip.CRC32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** worker.md 14 over HTTP: a worker, a PD and a storage node's status address, all real servers. */
@ExtendWith(NoLeaks.class)
@Timeout(60)
final class TxnChunkWorkerTest {
    private static final Machine MACHINE = new Machine(64L << 30, 2);
    private static final int KEYSPACE = 1;
    private static final int NODE = 5;
    private static final long REGION = 42;
    private static final byte[] MASTER_KEY = new byte[32];

    static {
        Arrays.fill(MASTER_KEY, (byte) 1); // no vendor: the fixed key (worker.md 17.1)
    }

    @TempDir
    private Path folder;

    private final PdServer.Cluster cluster = new PdServer.Cluster(9, List.of((long) KEYSPACE));
    private final BlockingQueue<String> asked = new LinkedBlockingQueue<>();
    private volatile byte[] meta = shard(1, Properties.getDefaultInstance());
    private volatile byte[] encryptionMeta;
    private PdServer pd;
    private HttpServer node;
    private HttpClient client;
    private Worker worker;

    @BeforeEach
    void start() throws IOException {
        pd = new PdServer(cluster);
        cluster.lastTimestamp(154);
        node = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        node.createContext("/", exchange -> {
            asked.add(exchange.getRequestURI().toString());
            byte[] body = exchange.getRequestURI().getPath().equals("/encryption/get-meta") ? encryptionMeta : meta;
            exchange.sendResponseHeaders(body == null ? 404 : 200, body == null ? -1 : body.length);
            if (body != null) {
                exchange.getResponseBody().write(body);
            }
            exchange.close();
        });
        node.start();
        cluster.put(Store.newBuilder()
                .setId(NODE)
                .setStatusAddress("127.0.0.1:" + node.getAddress().getPort())
                .build());
        cluster.region(Region.newBuilder().setId(REGION).build(), NODE);
        client = HttpClient.newHttpClient();
    }

    @AfterEach
    void nothingIsHeld() {
        client.close();
        if (worker != null) {
            worker.close();
            assertThat(worker.memory().usedBytes()).isZero();
        }
        node.stop(0);
        pd.close();
    }

    /** The vector of worker.md 14.2. */
    @Test
    void aHundredEntriesBecomeChunk155() throws Exception {
        worker(local());

        HttpResponse<String> answer = ask("POST", "?keyspace_id=1", hundred());

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("content-type")).contains("application/json");
        assertThat(answer.body()).isEqualTo("{\"chunk_id\":155}");
        try (ObjectStore store = new DirectoryStore(folder, "", 1)) {
            readsAHundred(store, 155, null);
        }
        assertThat(asked).containsExactly("/kvengine/meta/42");
        // memcomparable 78 00 00 01
        assertThat(HexFormat.of().formatHex(pd.regionKeys().getFirst().toByteArray()))
                .isEqualTo("7800000100000000fb");
    }

    @Test
    void chunksGoToS3() throws Exception {
        try (S3Server server = S3Server.start()) {
            worker(String.format(
                    Locale.ROOT,
                    "[dfs]\nprefix = \"chunks\"\ns3-bucket = \"%s\"\ns3-endpoint = \"%s\"\ns3-key-id = \"%s\"\ns3-secret-key = \"%s\"\n",
                    S3Server.BUCKET,
                    server.endpoint(),
                    S3Server.KEY_ID,
                    S3Server.SECRET_KEY));

            assertThat(ask("POST", "?keyspace_id=1", hundred()).body()).isEqualTo("{\"chunk_id\":155}");

            try (ObjectStore store = StoreUrl.parse("s3://" + S3Server.BUCKET + "/chunks?endpoint=" + server.endpoint())
                    .open(Map.of("DFS_S3_KEY_ID", S3Server.KEY_ID, "DFS_S3_SECRET_KEY", S3Server.SECRET_KEY), 1)) {
                readsAHundred(store, 155, null);
            }
        }
    }

    @Test
    void chunksOfAShardWithAKeyAreEncrypted() throws Exception {
        byte[] exported = new byte[ShardKey.EXPORTED_BYTES];
        exported[0] = 1;
        exported[4] = 3; // version
        meta = shard(
                1,
                Properties.newBuilder()
                        .addKeys("_encryption")
                        .addValues(ByteString.copyFrom(exported))
                        .build());
        worker(local());

        assertThat(ask("POST", "?keyspace_id=1", hundred()).statusCode()).isEqualTo(200);

        try (ObjectStore store = new DirectoryStore(folder, "", 1)) {
            readsAHundred(store, 155, ShardKey.unwrap(MASTER_KEY, exported));
        }
        assertThat(Files.readString(chunkFile(), StandardCharsets.ISO_8859_1)).doesNotContain("val000");
    }

    @Test
    void chunksOfAKeyspaceWithMetadataAreEncryptedByItsDataKeyWhichIsKept() throws Exception {
        byte[] master = "0123456789abcdef0123456789abcdef".getBytes(StandardCharsets.UTF_8);
        byte[] dataKey = new byte[32];
        dataKey[3] = 9;
        byte[] exported = ShardKey.exportDataKey(master, dataKey);
        encryptionMeta = EncryptionMeta.newBuilder()
                .setKeyspaceId(KEYSPACE)
                .setCurrent(EncryptionEpoch.newBuilder().setFileId(77).setDataKeyId(12))
                .setMasterKey(MasterKey.newBuilder().setVendor("test").setCmekId("0123456789abcdef0123456789abcdef"))
                .putDataKeys(
                        12,
                        DataKey.newBuilder()
                                .setCiphertext(ByteString.copyFrom(exported))
                                .build())
                .build()
                .toByteArray();
        cluster.encrypt(KEYSPACE, "{\"enabled\":true}");
        worker(local());

        assertThat(ask("POST", "?keyspace_id=1", hundred()).body()).isEqualTo("{\"chunk_id\":155}");
        assertThat(ask("POST", "?keyspace_id=1", hundred()).body()).isEqualTo("{\"chunk_id\":156}");

        ShardKey key = ShardKey.ofKeyspace(KEYSPACE, master, Map.of(12, exported), 12);
        try (ObjectStore store = new DirectoryStore(folder, "", 1)) {
            readsAHundred(store, 155, key);
            readsAHundred(store, 156, key);
        }
        assertThat(asked).containsExactly("/encryption/get-meta?keyspace_id=1");
    }

    @Test
    void answersInTheReferencesWords() throws Exception {
        worker(local());

        answers("POST", "", 400, "missing keyspace id");
        answers("POST", "?keyspace_id=", 400, "missing keyspace id");
        answers("POST", "?keyspace_id=x", 400, "missing keyspace id");
        answers("POST", "?keyspace_id=-1", 400, "missing keyspace id");
        answers("POST", "?keyspace_id=4294967296", 400, "missing keyspace id");
        answers("POST", "?keyspace_id=%D9%A1", 400, "missing keyspace id"); // a one, but not an ASCII one
        answers("GET", "?keyspace_id=1", 200, "{\"available\":true}");
        answers("GET", "?a=b&keyspace_id=%31&c", 200, "{\"available\":true}");
        answers("PUT", "?keyspace_id=1", 400, "invalid method");
        answers("POST", "?keyspace_id=1", 400, "body is invalid");
    }

    private void answers(String method, String query, int status, String text) throws Exception {
        HttpResponse<String> answer = ask(method, query, new byte[0]);

        assertThat(answer.statusCode()).as(query).isEqualTo(status);
        assertThat(answer.body()).as(query).isEqualTo(text);
        assertThat(answer.headers().firstValue("content-type").isPresent()).isEqualTo(status == 200);
    }

    @Test
    void aShardOfAnotherKeyspaceIsRefused() throws Exception {
        meta = shard(2, Properties.getDefaultInstance());
        worker(local());

        HttpResponse<String> answer = ask("POST", "?keyspace_id=1", hundred());

        assertThat(answer.statusCode()).isEqualTo(500);
        assertThat(answer.body())
                .isEqualTo("failed to acquire keyspace info Other(\"keyspace range mismatch: keyspace=1\")");
    }

    @Test
    void aBodyThatIsTooLongIsRefusedBeforeItIsHeld() throws Exception {
        worker(local() + "[coplane]\nmax-body-size = \"1KiB\"\n");

        assertThat(ask("POST", "?keyspace_id=1", new byte[1025]).statusCode()).isEqualTo(413);
    }

    @Test
    void aStoreThatTakesNothingIsTold() throws Exception {
        Files.createDirectories(folder.resolve("default"));
        Files.writeString(folder.resolve("default/txn"), "in the way");
        worker(local());

        HttpResponse<String> answer = ask("POST", "?keyspace_id=1", hundred());

        assertThat(answer.statusCode()).isEqualTo(500);
        assertThat(answer.body()).startsWith("failed to create txn chunk file Other(");
    }

    private void worker(String toml) throws IOException {
        Path file = Files.writeString(
                folder.resolve("worker.toml"),
                "addr = \"127.0.0.1:0\"\ncop-addr = \"\"\npd.endpoints = [\"" + pd.url() + "\"]\n" + toml);
        worker = Worker.start(ConfigLoader.load(Optional.of(file), Map.of(), Map.of()), MACHINE);
    }

    private String local() {
        return "dfs.backend = \"local\"\ndfs.local-dir = \"" + folder + "\"\n";
    }

    private HttpResponse<String> ask(String method, String query, byte[] body) throws Exception {
        return client.send(
                HttpRequest.newBuilder(URI.create(
                                "http://127.0.0.1:" + worker.address().getPort() + "/txn_chunk" + query))
                        .method(method, HttpRequest.BodyPublishers.ofByteArray(body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private Path chunkFile() throws IOException {
        try (var files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(".txn"))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private static void readsAHundred(ObjectStore store, long chunkId, ShardKey key) {
        try (MemoryGuard guard = MemoryGuard.unlimited();
                NativeArena arena = new NativeArena(guard)) {
            TxnChunkCursor cursor = TxnChunkReader.open(
                            store.read(FileKind.TXN_CHUNK, chunkId, 0, -1, arena)
                                    .join(),
                            chunkId,
                            key)
                    .cursor(arena);
            cursor.first();
            int entries = 0;
            do {
                assertThat(new String(cursor.copyKey(), StandardCharsets.UTF_8))
                        .isEqualTo(String.format(Locale.ROOT, "key%03d", entries));
                assertThat(new String(cursor.copyValue(), StandardCharsets.UTF_8))
                        .isEqualTo(String.format(Locale.ROOT, "val%03d", entries));
                assertThat(cursor.op()).isEqualTo(1);
                entries++;
            } while (cursor.next());
            assertThat(entries).isEqualTo(100);
        }
    }

    /** The body of worker.md 14.1: 1900 bytes of entries and 0x73accb8a. */
    private static byte[] hundred() {
        ByteBuffer body = ByteBuffer.allocate(1904).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < 100; i++) {
            body.putShort((short) 6)
                    .put(String.format(Locale.ROOT, "key%03d", i).getBytes(StandardCharsets.UTF_8));
            body.put((byte) 1);
            body.putInt(6).put(String.format(Locale.ROOT, "val%03d", i).getBytes(StandardCharsets.UTF_8));
        }
        CRC32 crc = new CRC32();
        crc.update(body.array(), 0, body.position());
        assertThat(crc.getValue()).isEqualTo(0x73accb8aL);
        return body.putInt((int) crc.getValue()).array();
    }

    private static byte[] shard(int keyspaceId, Properties properties) {
        return ChangeSet.newBuilder()
                .setShardID(REGION)
                .setShardVer(1)
                .setSnapshot(Snapshot.newBuilder()
                        .setOuterStart(ByteString.copyFrom(new byte[] {'x', 0, 0, (byte) keyspaceId}))
                        .setOuterEnd(ByteString.copyFrom(new byte[] {'x', 0, 0, (byte) (keyspaceId + 1)}))
                        .setProperties(properties))
                .build()
                .toByteArray();
    }
}
