package io.coplane.cop;

import com.google.protobuf.ByteString;
import io.coplane.cop.exec.RangesReader;
import io.coplane.cop.exec.RowSource;
import io.coplane.cop.kernel.Crc64;
import io.coplane.cop.plan.Ranges;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.tipb.ChecksumAlgorithm;
import io.coplane.proto.tipb.ChecksumRequest;
import io.coplane.proto.tipb.ChecksumResponse;
import io.coplane.snapshot.DeadlineCheck;
import io.coplane.snapshot.RowBuffer;
import java.util.Arrays;
import java.util.HexFormat;

/** Checksum of ranges (coprocessor.md 7): the XOR of the CRC-64 of each key and value. Keys keep their keyspace prefix. */
final class ChecksumRun {
    private static final int BATCH_ROWS = 1024;

    private ChecksumRun() {}

    /** @return a serialised ChecksumResponse */
    static ByteString run(
            Request request, ChecksumRequest checksum, RowSource source, MemoryGuard guard, DeadlineCheck deadline) {
        if (checksum.getAlgorithm() != ChecksumAlgorithm.Crc64_Xor) {
            throw bad("unknown checksum algorithm " + checksum.getAlgorithm());
        }
        byte[] oldPrefix = checksum.getRule().getOldPrefix().toByteArray();
        byte[] newPrefix = checksum.getRule().getNewPrefix().toByteArray();
        long prefixCrc = Crc64.update(Crc64.START, oldPrefix, 0, oldPrefix.length);
        RangesReader reader = new RangesReader(source, Ranges.of(request.getRangesList()), false, false);
        long digest = 0;
        long pairs = 0;
        long bytes = 0;
        try (RowBuffer rows = new RowBuffer(guard)) {
            boolean exhausted = false;
            while (!exhausted) {
                deadline.check();
                exhausted = reader.read(rows, BATCH_ROWS);
                byte[] data = rows.bytes();
                for (int row = 0; row < rows.rows(); row++) {
                    int key = rows.keyStarts()[row];
                    int keyLength = rows.keyLengths()[row];
                    checkPrefix(data, key, keyLength, newPrefix);
                    int skipped = newPrefix.length;
                    long crc = Crc64.update(prefixCrc, data, key + skipped, keyLength - skipped);
                    int valueLength = rows.valueLengths()[row];
                    crc = Crc64.update(crc, data, rows.valueStarts()[row], valueLength);
                    digest ^= Crc64.end(crc);
                    bytes += keyLength + valueLength + oldPrefix.length - skipped;
                }
                pairs += rows.rows();
            }
        }
        return ChecksumResponse.newBuilder()
                .setChecksum(digest)
                .setTotalKvs(pairs)
                .setTotalBytes(bytes)
                .build()
                .toByteString();
    }

    private static void checkPrefix(byte[] data, int key, int keyLength, byte[] prefix) {
        int length = prefix.length;
        if (keyLength < length || !Arrays.equals(data, key, key + length, prefix, 0, length)) {
            throw bad("Wrong prefix expect: " + HexFormat.of().withUpperCase().formatHex(prefix));
        }
    }

    private static CoplaneException bad(String text) {
        return new CoplaneException(ErrorCode.UNSUPPORTED, text);
    }
}
