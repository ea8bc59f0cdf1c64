package io.coplane.worker.replay;

import com.google.protobuf.ByteString;
import io.coplane.proto.coprocessor.KeyRange;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.tipb.ChecksumRequest;
import io.coplane.proto.tipb.ChecksumResponse;
import java.util.Arrays;

/**
 * The recorded answer as the reference would give it for the same data under a keyspace (coprocessor.md 2.5): the prefix in the range; a checksum over
 * prefixed keys, worked out from the recorded data. All else is the same.
 */
final class KeyspaceAnswer {
    private static final int CHECKSUM = 105;
    private static final long POLYNOMIAL = 0xC96C_5795_D787_0F42L; // CRC-64/XZ, reflected
    private static final long[] TABLE = table();

    private KeyspaceAnswer() {}

    /** @param prefix empty: the recorded answer itself */
    static Response of(Versions versions, Request request, Response answer, byte[] prefix) {
        if (prefix.length == 0) {
            return answer;
        }
        Response.Builder outer = answer.toBuilder();
        if (answer.hasRange()) {
            ByteString before = ByteString.copyFrom(prefix);
            outer.setRange(KeyRange.newBuilder()
                    .setStart(before.concat(answer.getRange().getStart()))
                    .setEnd(before.concat(answer.getRange().getEnd())));
        }
        if (request.getTp() == CHECKSUM && !answer.getData().isEmpty()) {
            outer.setData(checksum(versions, request, prefix).toByteString());
        }
        return outer.build();
    }

    private static ChecksumResponse checksum(Versions versions, Request request, byte[] prefix) {
        ChecksumRequest plan = Messages.parse(ChecksumRequest.parser(), request.getData());
        byte[] old = plan.getRule().getOldPrefix().toByteArray();
        int cut = plan.getRule().getNewPrefix().size();
        ChecksumResponse.Builder sum =
                ChecksumResponse.newBuilder().setChecksum(0).setTotalKvs(0).setTotalBytes(0);
        for (KeyRange range : request.getRangesList()) {
            byte[] start = range.getStart().toByteArray();
            byte[] end = range.getEnd().toByteArray();
            boolean isDone = false; // of this key the visible version was met
            for (int i = 0; i < versions.count(); i++) {
                isDone &= versions.sameKeyAsBefore(i);
                boolean isInRange = compare(versions, i, start) >= 0 && compare(versions, i, end) < 0;
                if (isDone || !isInRange || Long.compareUnsigned(versions.commitTs(i), request.getStartTs()) > 0) {
                    continue;
                }
                isDone = true;
                if (versions.valueLength(i) > 0) {
                    add(sum, versions, i, prefix, old, cut);
                }
            }
        }
        return sum.build();
    }

    private static int compare(Versions versions, int i, byte[] key) {
        int start = versions.keyStart(i);
        return Arrays.compareUnsigned(versions.bytes(), start, start + versions.keyLength(i), key, 0, key.length);
    }

    private static void add(
            ChecksumResponse.Builder sum, Versions versions, int i, byte[] prefix, byte[] old, int cut) {
        byte[] key = Arrays.copyOf(prefix, prefix.length + versions.keyLength(i));
        System.arraycopy(versions.bytes(), versions.keyStart(i), key, prefix.length, versions.keyLength(i));
        long crc = update(-1, old, 0, old.length);
        crc = update(crc, key, cut, key.length - cut);
        crc = ~update(crc, versions.bytes(), versions.valueStart(i), versions.valueLength(i));
        sum.setChecksum(sum.getChecksum() ^ crc)
                .setTotalKvs(sum.getTotalKvs() + 1)
                .setTotalBytes(sum.getTotalBytes() + key.length + versions.valueLength(i) + old.length - cut);
    }

    private static long update(long crc, byte[] bytes, int at, int length) {
        long value = crc;
        for (int i = at; i < at + length; i++) {
            value = TABLE[(int) (value ^ bytes[i]) & 0xFF] ^ value >>> Byte.SIZE;
        }
        return value;
    }

    private static long[] table() {
        long[] table = new long[1 << Byte.SIZE];
        for (int i = 0; i < table.length; i++) {
            long value = i;
            for (int bit = 0; bit < Byte.SIZE; bit++) {
                value = (value & 1) == 0 ? value >>> 1 : value >>> 1 ^ POLYNOMIAL;
            }
            table[i] = value;
        }
        return table;
    }
}
