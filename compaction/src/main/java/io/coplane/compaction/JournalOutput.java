package io.coplane.compaction;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.FileKind;
import io.coplane.proto.enginepb.BlobCreate;
import io.coplane.proto.enginepb.TableCreate;
import io.coplane.sst.SstFile;

/**
 * An output of a compaction: what the store holds, and what the ChangeSet says of it.
 *
 * @param kind SST or BLOB
 * @param level of an SST; 0 of a blob table
 * @param cf of an SST, -1 of an L0 file; 0 of a blob table
 */
record JournalOutput(
        FileKind kind,
        long fileId,
        long byteSize,
        long metaOffset,
        int level,
        int cf,
        byte[] smallest,
        byte[] biggest) {
    static JournalOutput table(SstFile file, int level, int cf) {
        return of(FileKind.SST, file, level, cf);
    }

    static JournalOutput blob(SstFile file) {
        return of(FileKind.BLOB, file, 0, 0);
    }

    private static JournalOutput of(FileKind kind, SstFile file, int level, int cf) {
        return new JournalOutput(
                kind,
                file.fileId(),
                file.bytes().byteSize(),
                file.metaOffset(),
                level,
                cf,
                file.smallest(),
                file.biggest());
    }

    TableCreate tableCreate() {
        return TableCreate.newBuilder()
                .setID(fileId)
                .setLevel(level)
                .setCF(cf)
                .setSmallest(ByteString.copyFrom(smallest))
                .setBiggest(ByteString.copyFrom(biggest))
                .setMetaOffset((int) metaOffset)
                .build();
    }

    BlobCreate blobCreate() {
        return BlobCreate.newBuilder()
                .setID(fileId)
                .setSmallest(ByteString.copyFrom(smallest))
                .setBiggest(ByteString.copyFrom(biggest))
                .setMetaOffset((int) metaOffset)
                .build();
    }
}
