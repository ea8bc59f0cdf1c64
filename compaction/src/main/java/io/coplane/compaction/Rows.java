package io.coplane.compaction;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.proto.enginepb.TableCreate;
import io.coplane.sst.CompressionType;
import io.coplane.sst.SstFile;

/** Small things that all row jobs share. */
final class Rows {
    private Rows() {}

    /** A compression by its number in a request. */
    static CompressionType compression(int number) {
        return switch (number) {
            case 0 -> CompressionType.NONE;
            case 1 -> CompressionType.LZ4;
            case 2 -> CompressionType.ZSTD;
            default -> throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "unexpected compression type " + number);
        };
    }

    static TableCreate create(SstFile file, long level, long cf) {
        return TableCreate.newBuilder()
                .setID(file.fileId())
                .setLevel((int) level)
                .setCF((int) cf)
                .setSmallest(ByteString.copyFrom(file.smallest()))
                .setBiggest(ByteString.copyFrom(file.biggest()))
                .setMetaOffset((int) file.metaOffset())
                .build();
    }
}
