package io.coplane.worker;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.keyspace_encryptionpb.DataKey;
import io.coplane.proto.keyspace_encryptionpb.EncryptionEpoch;
import io.coplane.proto.keyspace_encryptionpb.EncryptionMeta;
import io.coplane.proto.keyspace_encryptionpb.MasterKey;
import io.coplane.snapshot.RemoteRequestBody;
import io.coplane.sst.ChecksumType;
import io.coplane.sst.CompressionType;
import io.coplane.sst.MetaPack;
import io.coplane.sst.ShardKey;
import io.coplane.sst.SstBuilder;
import io.coplane.sst.SstOptions;
import io.coplane.sst.TinyMetaRecord;
import io.coplane.testing.GoldenCase;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.TestData;
import io.coplane.worker.replay.Corpus;
import io.coplane.worker.replay.CorpusLayout;
import io.coplane.worker.replay.Shape;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(NoLeaks.class)
class InspectCommandsTest {
    @TempDir
    Path directory;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    static Stream<GoldenCase> plainTables() {
        return TestData.cases("sst")
                .filter(golden -> !golden.meta().containsKey("enc.data_key"))
                .limit(8);
    }

    @ParameterizedTest
    @MethodSource("plainTables")
    void dumpHasALineForEachEntryOfTheReferencesDump(GoldenCase golden) {
        int status = run("dump", "--json", golden.path("table.sst").toString());

        assertThat(status).isZero();
        List<String> entries = out.toString()
                .lines()
                .filter(line -> line.startsWith("{\"type\":\"entry\""))
                .toList();
        List<String[]> expected = golden.tsv("entries.tsv");
        assertThat(entries).hasSameSizeAs(expected);
        for (String[] line : expected) {
            assertThat(entries)
                    .anyMatch(entry -> entry.contains("\"key\":\"" + line[0] + "\"")
                            && entry.matches(".*\"version\":\"?" + line[1] + "[^0-9].*"));
        }
    }

    @Test
    void dumpShowsMetaPartsAndPacksAndVerifyFindsTheirBrokenRecord() throws IOException {
        GoldenCase golden = plainTables().findFirst().orElseThrow();
        byte[] table = golden.bytes("table.sst");
        ByteBuffer fields = ByteBuffer.wrap(table).order(ByteOrder.LITTLE_ENDIAN);
        int metaOffset = fields.getInt(table.length - 24); // sst.md 3.8: of 28 bytes of footer, the index's offset
        int propertiesOffset = fields.getInt(table.length - 12);
        Path meta = Files.write(
                directory.resolve("000000000000002a.sst.meta"), Arrays.copyOfRange(table, metaOffset, table.length));

        assertThat(run("dump", meta.toString())).isZero();
        assertThat(out.toString())
                .contains("file_id=42 file_bytes=" + table.length + " meta_offset=" + metaOffset + " ");
        assertThat(run("verify", meta.toString())).isZero();

        byte[] broken = Files.readAllBytes(meta);
        broken[10] ^= 1; // in the index
        Files.write(meta, broken);
        assertThat(run("verify", meta.toString())).isEqualTo(1);

        broken[10] ^= 1;
        int filterOffset = fields.getInt(table.length - 16) - metaOffset;
        broken[filterOffset + 20] ^= 1;
        Files.write(meta, broken);
        assertThat(run("verify", meta.toString())).isEqualTo(1);
        assertThat(out.toString()).contains("first_bad_offset=" + filterOffset + "\n");

        Path pack = directory.resolve("tables.pack");
        byte[] tiny = Arrays.copyOfRange(table, propertiesOffset, table.length);
        try (MetaPack written = MetaPack.open(pack)) {
            written.append(new TinyMetaRecord(42, tiny, new int[0]));
            written.append(new TinyMetaRecord(43, tiny, new int[0]));
        }
        assertThat(run("dump", pack.toString())).isZero();
        assertThat(out.toString())
                .contains("kind=meta_pack")
                .contains("offset=6 file_id=42 file_bytes=" + table.length)
                .contains("file_id=43 ");
        assertThat(run("verify", pack.toString())).isZero();
        byte[] cut = Files.readAllBytes(pack);
        Files.write(pack, Arrays.copyOf(cut, cut.length - 5));
        assertThat(run("verify", pack.toString())).isEqualTo(1);
        assertThat(out.toString()).contains("first_bad_offset=" + (6 + (cut.length - 6) / 2));
    }

    @Test
    void dumpStopsAtItsLimitAndLeavesValuesOut() {
        GoldenCase golden = plainTables().findFirst().orElseThrow();

        int status = run(
                "dump", "--keys-only", "--limit", "3", golden.path("table.sst").toString());

        assertThat(status).isZero();
        List<String> entries = out.toString()
                .lines()
                .filter(line -> line.strip().startsWith("entry "))
                .toList();
        assertThat(entries).hasSize(3).noneMatch(line -> line.contains("value="));
    }

    @Test
    void dumpSaysWhatKeysOfTidbMean() throws IOException {
        Files.createDirectories(directory);
        laidOut(Shape.L0);
        Path l0 = files(".sst").getFirst();

        run("dump", l0.toString());

        assertThat(out.toString()).containsPattern("entry key=74[0-9a-f]+ table=\\d+ handle=-?\\d+ version=");
        assertThat(out.toString()).containsPattern("table=\\d+ index=\\d+ index_values=");
    }

    @Test
    void verifyNamesTheFirstBadOffset() throws IOException {
        GoldenCase golden = plainTables()
                .filter(each -> !each.meta().get("footer.checksum_type").equals("0"))
                .findFirst()
                .orElseThrow();
        String[] block = golden.tsv("blocks.tsv").getLast();
        byte[] bytes = golden.bytes("table.sst");
        bytes[Integer.parseInt(block[5]) + 9] ^= 4;
        bytes[bytes.length - 30] ^= 1; // in the properties, behind the block
        Path bad = Files.write(directory.resolve("0000000000000001.sst"), bytes);

        int status = run("verify", "--json", golden.path("table.sst").toString(), bad.toString());

        assertThat(status).isEqualTo(1);
        List<String> lines = out.toString().lines().toList();
        assertThat(lines.getFirst()).contains("\"type\":\"good\"").contains("\"problems\":0");
        assertThat(lines.get(1)).contains("\"type\":\"bad\"");
        assertThat(lines.getLast()).isEqualTo("{\"type\":\"summary\",\"files\":2,\"bad\":1}");
    }

    @Test
    void verifyWalksADirectoryWithTheShardsKey() throws IOException {
        String key = laidOut(Shape.ENCRYPTED);

        assertThat(run("verify", "--shard-key", key, directory.toString()))
                .as(out.toString())
                .isZero();
        assertThat(files(".blob")).isNotEmpty();
        assertThat(run("verify", directory.toString())).isEqualTo(1);
        assertThat(out.toString()).contains("FILE_ENCRYPTED");
    }

    @Test
    void filesWithDataKeysOfTheirKeyspaceAreReadWithItsMetadata() throws IOException {
        byte[] master = new byte[32];
        Arrays.fill(master, (byte) 11);
        System.arraycopy("the-key".getBytes(StandardCharsets.US_ASCII), 0, master, 0, 7); // worker.md 17.1
        byte[] exported = ShardKey.exportDataKey(master, new byte[32]);
        ShardKey key = ShardKey.ofKeyspace(42, master, Map.of(0x0A0B01, exported), 0x0A0B01);
        EncryptionMeta meta = EncryptionMeta.newBuilder()
                .setKeyspaceId(42)
                .setCurrent(EncryptionEpoch.newBuilder().setFileId(155).setDataKeyId(0x0A0B01))
                .setMasterKey(MasterKey.newBuilder().setVendor("test").setCmekId("the-key"))
                .putDataKeys(
                        0x0A0B01,
                        DataKey.newBuilder()
                                .setCiphertext(ByteString.copyFrom(exported))
                                .build())
                .build();
        Path dict = Files.write(directory.resolve("000000000000009b.dict"), meta.toByteArray());
        Path table = directory.resolve("0000000000000001.sst");
        try (MemoryGuard guard = MemoryGuard.unlimited();
                NativeArena arena = new NativeArena(guard);
                SstBuilder builder = new SstBuilder(
                        new SstOptions(4096, CompressionType.LZ4, 3, ChecksumType.CRC32, key), 1, false, guard)) {
            byte[] row = "a-row".getBytes(StandardCharsets.US_ASCII);
            builder.add(row, 0, 5, 9, 0, new byte[17], 0, 17, row, 0, 5);
            Files.write(table, builder.finish(arena).bytes().toArray(ValueLayout.JAVA_BYTE));
        }

        assertThat(run("dump", "--encryption-meta", dict.toString(), table.toString()))
                .as(out + "" + err)
                .isZero();
        assertThat(out.toString()).contains("entry key=612d726f77");
        assertThat(run("verify", "--encryption-meta", dict.toString(), table.toString()))
                .isZero();
        assertThat(run("verify", table.toString())).isEqualTo(1);
        assertThat(out.toString()).contains("FILE_ENCRYPTED");

        Path other = Files.copy(dict, directory.resolve("000000000000009c.dict"));
        assertThat(run("dump", "--encryption-meta", other.toString(), table.toString()))
                .isEqualTo(1);
        assertThat(err.toString()).contains("another object's content");
        Files.write(dict, new byte[] {0x0a, 0x7f});
        assertThat(run("dump", "--encryption-meta", dict.toString(), table.toString()))
                .isEqualTo(1);
        assertThat(err.toString()).contains("encryption metadata does not parse");
    }

    @Test
    void saysWhatIsMissing() {
        assertThat(run("verify", directory.toString())).isEqualTo(1);
        assertThat(run("dump", directory.resolve("none.sst").toString())).isEqualTo(1);
        assertThat(run("dump", "s3://bucket/no-key")).isEqualTo(1);
        assertThat(err.toString())
                .contains("no file of the row store there")
                .contains("no such file")
                .contains("no object key of a table file");
    }

    private int run(String... arguments) {
        return CoplaneMain.run(new PrintWriter(out), new PrintWriter(err), arguments);
    }

    private List<Path> files(String suffix) throws IOException {
        try (Stream<Path> all = Files.walk(directory)) {
            return all.filter(file -> file.toString().endsWith(suffix)).sorted().toList();
        }
    }

    /** Lays a data set out in the directory; returns the shard's key, empty if it has none. */
    private String laidOut(Shape shape) throws IOException {
        try (DirectoryStore store = new DirectoryStore(directory, "", 2)) {
            var versions = Corpus.open(TestData.root()).load("smoke").versions();
            CorpusLayout layout = CorpusLayout.build(versions, shape, store, 1_000, OptionalInt.empty(), 7);
            MemorySegment body = MemorySegment.ofArray(layout.body(Request.getDefaultInstance()));
            ChangeSet changeSet =
                    ChangeSet.parseFrom(RemoteRequestBody.split(body).snapData().asByteBuffer());
            var values = changeSet.getSnapshot().getProperties().getValuesList();
            return values.isEmpty()
                    ? ""
                    : HexFormat.of().formatHex(values.getFirst().toByteArray());
        }
    }
}
