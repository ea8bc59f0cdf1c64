package io.coplane.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.proto.enginepb.BlobCreate;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.enginepb.ColumnarCreate;
import io.coplane.proto.enginepb.FtsDedFileInfo;
import io.coplane.proto.enginepb.FtsPackedFileInfo;
import io.coplane.proto.enginepb.L0Create;
import io.coplane.proto.enginepb.Properties;
import io.coplane.proto.enginepb.SchemaMeta;
import io.coplane.proto.enginepb.TableCreate;
import io.coplane.proto.enginepb.VectorIndex;
import io.coplane.proto.enginepb.VectorIndexFile;
import io.coplane.snapshot.ShardFiles.ShardFile;
import io.coplane.testing.Corrupt;
import io.coplane.testing.Dumps;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShardFilesTest {
    /** snapshot.md 8.3. */
    private static final String VECTOR =
            "0807100a32350a047800002a12047800002b1a0208072a0e088120120274801a02749020802032110882201002"
                    + "220274802a0274903880800458046063";

    @Test
    void readsTheVectorOfTheSpec() {
        ShardFiles shard = ShardFiles.parse(MemorySegment.ofArray(Dumps.bytes(VECTOR)), PrepareType.SST_ONLY);

        assertThat(shard.shardId()).isEqualTo(7);
        assertThat(shard.shardVersion()).isEqualTo(10);
        assertThat(Dumps.hex(shard.outerStart())).isEqualTo("7800002a");
        assertThat(Dumps.hex(shard.outerEnd())).isEqualTo("7800002b");
        assertThat(shard.exportedKey()).isNull();
        assertThat(shard.files())
                .containsExactly(new ShardFile(FileKind.SST, 0x1001, 0), new ShardFile(FileKind.SST, 0x1002, 2));
        assertThat(shard.estimatedBytes()).isEqualTo(4096 + 65536);
    }

    @Test
    void refusesChangeSetWithoutSnapshot() {
        assertThatThrownBy(() -> parse(ChangeSet.newBuilder().setShardID(1)))
                .hasMessage("no snapshot in change set")
                .extracting(e -> ((CoplaneException) e).code())
                .isEqualTo(ErrorCode.NO_SNAPSHOT);
    }

    @Test
    void leavesOutSstsOfOtherCfsButCountsThem() {
        var changeSet = ChangeSet.newBuilder();
        changeSet
                .getSnapshotBuilder()
                .addTableCreates(table(1, 3, 0, 100))
                .addTableCreates(table(2, 1, 1, 10))
                .addTableCreates(table(3, 1, 2, 1))
                .addTableCreates(table(4, 9, -1, 0))
                .addBlobCreates(BlobCreate.newBuilder().setID(5).setMetaOffset(1_000));

        ShardFiles shard = parse(changeSet);

        assertThat(shard.files())
                .containsExactly(new ShardFile(FileKind.SST, 1, 3), new ShardFile(FileKind.BLOB, 5, 0));
        assertThat(shard.estimatedBytes()).isEqualTo(111);
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "4, 0", "-1, 0", "0, 1", "0, 2", "0, -1"})
    void refusesImpossibleLevels(int level, int cf) {
        var changeSet = ChangeSet.newBuilder();
        changeSet.getSnapshotBuilder().addTableCreates(table(1, level, cf, 100));

        assertThatThrownBy(() -> parse(changeSet))
                .extracting(e -> ((CoplaneException) e).code())
                .isEqualTo(ErrorCode.BAD_CHANGE_SET);
    }

    @Test
    void listsFilesByPrepareType() {
        var changeSet = ChangeSet.newBuilder();
        changeSet
                .getSnapshotBuilder()
                .addL0Creates(L0Create.newBuilder().setID(1).setSize(1))
                .addL0Creates(L0Create.newBuilder().setID(2).setSize(2))
                .addUnconvertedL0S(2)
                .addTableCreates(table(3, 2, 0, 4))
                .addBlobCreates(BlobCreate.newBuilder().setID(4).setMetaOffset(1 << 30))
                .addColumnarCreates(ColumnarCreate.newBuilder().setID(5).setMetaOffset(8))
                .addVectorIndexes(VectorIndex.newBuilder()
                        .addFiles(VectorIndexFile.newBuilder().setId(6).setMetaOffset(16)))
                .addFtsL0Files(FtsPackedFileInfo.newBuilder().setId(7).setMetaOffset(32))
                .addFtsL1Files(FtsPackedFileInfo.newBuilder().setId(8).setMetaOffset(64))
                .addFtsL2Files(FtsDedFileInfo.newBuilder().setId(9).setMetaOffset(128))
                .setSchemaMeta(SchemaMeta.newBuilder().setFileId(10));
        MemorySegment snapData = MemorySegment.ofArray(changeSet.build().toByteArray());

        ShardFiles ssts = ShardFiles.parse(snapData, PrepareType.SST_ONLY);
        ShardFiles all = ShardFiles.parse(snapData, PrepareType.ALL);
        ShardFiles columnar = ShardFiles.parse(snapData, PrepareType.COLUMNAR_ONLY);

        assertThat(ssts.files()).extracting(ShardFile::id).containsExactly(1L, 2L, 3L, 4L);
        assertThat(all.files()).extracting(ShardFile::id).containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L);
        assertThat(columnar.files()).extracting(ShardFile::id).containsExactly(2L, 5L, 6L, 7L, 8L, 9L, 10L);
        assertThat(ssts.estimatedBytes()).isEqualTo(7);
        assertThat(all.estimatedBytes()).isEqualTo(255);
        assertThat(columnar.estimatedBytes()).isEqualTo(250);
    }

    @Test
    void takesFirstOfDoubleProperties() {
        var changeSet = ChangeSet.newBuilder();
        changeSet
                .getSnapshotBuilder()
                .setProperties(Properties.newBuilder()
                        .addKeys("other")
                        .addKeys("_encryption")
                        .addKeys("_encryption")
                        .addValues(ByteString.copyFromUtf8("a"))
                        .addValues(ByteString.copyFromUtf8("b"))
                        .addValues(ByteString.copyFromUtf8("c")));

        assertThat(parse(changeSet).exportedKey()).containsExactly('b');
    }

    @Test
    void survivesAnyDamage() {
        Corrupt.everyWay(Dumps.bytes(VECTOR), 1, 10_000, (damage, bytes) -> {
            try {
                ShardFiles.parse(MemorySegment.ofArray(bytes), PrepareType.ALL);
            } catch (CoplaneException e) {
                assertThat(e.code()).isIn(ErrorCode.BAD_CHANGE_SET, ErrorCode.NO_SNAPSHOT);
            }
        });
    }

    private static TableCreate table(long id, int level, int cf, int metaOffset) {
        return TableCreate.newBuilder()
                .setID(id)
                .setLevel(level)
                .setCF(cf)
                .setMetaOffset(metaOffset)
                .build();
    }

    private static ShardFiles parse(ChangeSet.Builder changeSet) {
        return ShardFiles.parse(MemorySegment.ofArray(changeSet.build().toByteArray()), PrepareType.SST_ONLY);
    }
}
