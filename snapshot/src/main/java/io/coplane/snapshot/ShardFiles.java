package io.coplane.snapshot;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
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
import io.coplane.proto.enginepb.TableCreate;
import io.coplane.proto.enginepb.VectorIndex;
import io.coplane.proto.enginepb.VectorIndexFile;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A shard as {@code snap_data} describes it: bounds, encryption key, and the files that a snapshot loads (snapshot.md 3, 4.2, 4.4). Immutable.
 *
 * @param shardId shard id of the ChangeSet
 * @param shardVersion shard version of the ChangeSet
 * @param outerStart first outer raw key
 * @param outerEnd exclusive outer raw key
 * @param exportedKey property {@code _encryption}, null if the shard is not encrypted
 * @param files what to load
 * @param estimatedBytes size estimate of these files (snapshot.md 4.2)
 * @param dataVersion base version + data sequence; 0 if the sender names neither
 */
record ShardFiles(
        long shardId,
        long shardVersion,
        byte[] outerStart,
        byte[] outerEnd,
        byte[] exportedKey,
        List<ShardFile> files,
        long estimatedBytes,
        long dataVersion) {
    private static final String ENCRYPTION_PROPERTY = "_encryption";
    private static final int WRITE_CF = 0;
    private static final int WRITE_CF_LEVELS = 3;

    /**
     * One file to load.
     *
     * @param level 0 for all but SSTs
     */
    record ShardFile(FileKind kind, long id, int level) {}

    /**
     * Parses {@code snap_data}.
     *
     * @throws CoplaneException BAD_CHANGE_SET if it is no ChangeSet or names an impossible level, NO_SNAPSHOT if it holds none
     */
    static ShardFiles parse(MemorySegment snapData, PrepareType prepare) {
        ChangeSet changeSet = parseChangeSet(snapData);
        if (!changeSet.hasSnapshot()) {
            throw new CoplaneException(ErrorCode.NO_SNAPSHOT, "no snapshot in change set");
        }
        io.coplane.proto.enginepb.Snapshot snapshot = changeSet.getSnapshot();
        var files = new ArrayList<ShardFile>();
        long estimate = addL0Files(snapshot, prepare, files);
        if (prepare.rows()) {
            estimate += addTables(snapshot, files);
        }
        if (prepare.columnar()) {
            estimate += addColumnarFiles(snapshot, files);
        }
        return new ShardFiles(
                changeSet.getShardID(),
                changeSet.getShardVer(),
                snapshot.getOuterStart().toByteArray(),
                snapshot.getOuterEnd().toByteArray(),
                property(snapshot.getProperties(), ENCRYPTION_PROPERTY),
                List.copyOf(files),
                estimate,
                snapshot.getBaseVersion() + snapshot.getDataSequence());
    }

    private static ChangeSet parseChangeSet(MemorySegment snapData) {
        if (snapData.byteSize() > Integer.MAX_VALUE) {
            throw new CoplaneException(
                    ErrorCode.BAD_CHANGE_SET, "change set is too large: snapDataBytes=" + snapData.byteSize());
        }
        try {
            return ChangeSet.parseFrom(snapData.asByteBuffer());
        } catch (InvalidProtocolBufferException e) {
            throw new CoplaneException(ErrorCode.BAD_CHANGE_SET, "change set does not parse: " + e.getMessage(), e);
        }
    }

    private static long addL0Files(
            io.coplane.proto.enginepb.Snapshot snapshot, PrepareType prepare, List<ShardFile> files) {
        Set<Long> unconverted = prepare.rows() ? Set.of() : new HashSet<>(snapshot.getUnconvertedL0SList());
        long estimate = 0;
        for (L0Create l0 : snapshot.getL0CreatesList()) {
            if (prepare.rows() || unconverted.contains(l0.getID())) {
                files.add(new ShardFile(FileKind.SST, l0.getID(), 0));
                estimate += Integer.toUnsignedLong(l0.getSize());
            }
        }
        return estimate;
    }

    /** SSTs of the write CF (snapshot.md 4.4 with write_cf_only) and all blob files; the estimate counts SSTs of every CF. */
    private static long addTables(io.coplane.proto.enginepb.Snapshot snapshot, List<ShardFile> files) {
        long estimate = 0;
        for (TableCreate table : snapshot.getTableCreatesList()) {
            estimate += Integer.toUnsignedLong(table.getMetaOffset());
            int level = table.getLevel();
            if (table.getCF() != WRITE_CF && level != 0) {
                continue;
            }
            if (level < 1 || level > WRITE_CF_LEVELS) {
                throw new CoplaneException(
                        ErrorCode.BAD_CHANGE_SET,
                        "level of a table is out of bounds: id=" + Long.toUnsignedString(table.getID()) + " level="
                                + Integer.toUnsignedString(level) + " cf=" + table.getCF());
            }
            files.add(new ShardFile(FileKind.SST, table.getID(), level));
        }
        for (BlobCreate blob : snapshot.getBlobCreatesList()) {
            files.add(new ShardFile(FileKind.BLOB, blob.getID(), 0));
        }
        return estimate;
    }

    private static long addColumnarFiles(io.coplane.proto.enginepb.Snapshot snapshot, List<ShardFile> files) {
        long estimate = 0;
        for (ColumnarCreate columnar : snapshot.getColumnarCreatesList()) {
            files.add(new ShardFile(FileKind.COLUMNAR, columnar.getID(), 0));
            estimate += Integer.toUnsignedLong(columnar.getMetaOffset());
        }
        for (VectorIndex index : snapshot.getVectorIndexesList()) {
            for (VectorIndexFile file : index.getFilesList()) {
                files.add(new ShardFile(FileKind.VECTOR_INDEX, file.getId(), 0));
                estimate += Integer.toUnsignedLong(file.getMetaOffset());
            }
        }
        for (List<FtsPackedFileInfo> level : List.of(snapshot.getFtsL0FilesList(), snapshot.getFtsL1FilesList())) {
            for (FtsPackedFileInfo file : level) {
                files.add(new ShardFile(FileKind.FTS_PACKED, file.getId(), 0));
                estimate += Integer.toUnsignedLong(file.getMetaOffset());
            }
        }
        for (FtsDedFileInfo file : snapshot.getFtsL2FilesList()) {
            files.add(new ShardFile(FileKind.FTS_DEDICATED, file.getId(), 0));
            estimate += Integer.toUnsignedLong(file.getMetaOffset());
        }
        long schemaFileId = snapshot.getSchemaMeta().getFileId();
        if (schemaFileId > 0) {
            files.add(new ShardFile(FileKind.SCHEMA, schemaFileId, 0));
        }
        return estimate;
    }

    /** The value of a property, null if absent; of several with the same key the first counts (snapshot.md 3.5). */
    private static byte[] property(Properties properties, String key) {
        int index = properties.getKeysList().indexOf(key);
        if (index < 0) {
            return null;
        }
        if (index >= properties.getValuesCount()) {
            throw new CoplaneException(ErrorCode.BAD_CHANGE_SET, "property has no value: key=" + key);
        }
        ByteString value = properties.getValues(index);
        return value.toByteArray();
    }
}
