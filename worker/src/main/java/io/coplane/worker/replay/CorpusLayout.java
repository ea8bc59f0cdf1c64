package io.coplane.worker.replay;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.ObjectStore;
import io.coplane.proto.coprocessor.KeyRange;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.StoreBatchTask;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.enginepb.Snapshot;
import io.coplane.proto.kvrpcpb.APIVersion;
import io.coplane.snapshot.RemoteRequestBody;
import io.coplane.worker.config.MasterKeyConfig;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.OptionalInt;

/**
 * A data set laid out as a storage node would send it: memtable rows and a ChangeSet that names files in a store (snapshot.md 2, 3). Built once per
 * data set; holds every version, so it is good for any read timestamp.
 */
public final class CorpusLayout {
    private static final int MEM_DATA_V2 = 2;
    /** The key that a worker has which was given none (worker.md 17.1). */
    static final byte[] MASTER_KEY = new MasterKeyConfig("", "", "", "", "").resolve();

    private final byte[] prefix;
    private final OptionalInt keyspaceId;
    private final byte[] memData;
    private final byte[] snapData;

    private CorpusLayout(byte[] prefix, OptionalInt keyspaceId, byte[] memData, byte[] snapData) {
        this.prefix = prefix;
        this.keyspaceId = keyspaceId;
        this.memData = memData;
        this.snapData = snapData;
    }

    /**
     * Lays a data set out.
     *
     * @param store gets the files
     * @param firstFileId ids are taken from here on
     * @param keyspaceId puts keys under {@code x} and this id; 0 .. 2^24 - 1
     * @param seed decides what goes where
     */
    public static CorpusLayout build(
            Versions versions, Shape shape, ObjectStore store, long firstFileId, OptionalInt keyspaceId, long seed) {
        byte[] prefix = keyspaceId.isPresent() ? prefix(keyspaceId.getAsInt()) : new byte[0];
        LayoutFiles files = new LayoutFiles(versions, shape, store, firstFileId, seed);
        files.write();
        Snapshot.Builder snapshot = files.snapshot()
                .setOuterStart(ByteString.copyFrom(prefix))
                .setOuterEnd(ByteString.copyFrom(end(keyspaceId)))
                .setInnerKeyOff(prefix.length);
        byte[] snapData = ChangeSet.newBuilder()
                .setShardID(1)
                .setShardVer(1)
                .setSequence(1)
                .setSnapshot(snapshot)
                .build()
                .toByteArray();
        return new CorpusLayout(
                prefix, keyspaceId, memData(versions, files.inMemtable(), prefix, files.txnFileRefs()), snapData);
    }

    /** The body of a request over this layout; with a keyspace, its ranges and context are put there. */
    public byte[] body(Request request) {
        return RemoteRequestBody.join(request(request).toByteArray(), memData, snapData);
    }

    /** What keys have here before the recorded ones: nothing, or four bytes. */
    public byte[] prefix() {
        return prefix.clone();
    }

    private Request request(Request request) {
        if (keyspaceId.isEmpty()) {
            return request;
        }
        Request.Builder moved = request.toBuilder().clearRanges().clearTasks();
        moved.getContextBuilder().setApiVersion(APIVersion.V2).setKeyspaceId(keyspaceId.getAsInt());
        request.getRangesList().forEach(range -> moved.addRanges(moved(range)));
        for (StoreBatchTask task : request.getTasksList()) {
            StoreBatchTask.Builder movedTask = task.toBuilder().clearRanges();
            task.getRangesList().forEach(range -> movedTask.addRanges(moved(range)));
            moved.addTasks(movedTask);
        }
        return moved.build();
    }

    private KeyRange moved(KeyRange range) {
        return KeyRange.newBuilder()
                .setStart(ByteString.copyFrom(prefix).concat(range.getStart()))
                .setEnd(ByteString.copyFrom(prefix).concat(range.getEnd()))
                .build();
    }

    private static byte[] prefix(int keyspaceId) {
        if (keyspaceId < 0 || keyspaceId > 0xff_ffff) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "keyspace id is out of bounds: id=" + keyspaceId);
        }
        return new byte[] {'x', (byte) (keyspaceId >>> 16), (byte) (keyspaceId >>> 8), (byte) keyspaceId};
    }

    private static byte[] end(OptionalInt keyspaceId) {
        if (keyspaceId.isPresent() && keyspaceId.getAsInt() < 0xff_ffff) {
            return prefix(keyspaceId.getAsInt() + 1);
        }
        return keyspaceId.isPresent() ? new byte[] {'y'} : new byte[] {-1, -1, -1, -1, -1, -1, -1, -1};
    }

    /** {@code mem_data} V2: per key its versions oldest first, as the sender writes them (snapshot.md 2.2, 2.3). */
    private static byte[] memData(Versions versions, boolean[] chosen, byte[] prefix, byte[] txnFileRefs) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] head = new byte[20];
        ByteBuffer number = ByteBuffer.wrap(head).order(ByteOrder.LITTLE_ENDIAN);
        long rows = 0;
        int i = 0;
        while (i < versions.count()) {
            int next = i + 1;
            while (next < versions.count() && versions.sameKeyAsBefore(next)) {
                next++;
            }
            for (int version = next - 1; version >= i; version--) {
                if (chosen[version]) {
                    writeRow(out, versions, version, prefix, head, number);
                    rows++;
                }
            }
            i = next;
        }
        byte[] rowBytes = out.toByteArray();
        ByteBuffer data =
                ByteBuffer.allocate(24 + rowBytes.length + txnFileRefs.length).order(ByteOrder.LITTLE_ENDIAN);
        data.putInt(MEM_DATA_V2)
                .putLong(Long.BYTES + rowBytes.length)
                .putLong(rows)
                .put(rowBytes)
                .putInt(txnFileRefs.length)
                .put(txnFileRefs);
        return data.array();
    }

    private static void writeRow(
            ByteArrayOutputStream out, Versions versions, int i, byte[] prefix, byte[] head, ByteBuffer number) {
        number.putLong(0, prefix.length + (long) versions.keyLength(i));
        out.write(head, 0, Long.BYTES);
        out.write(prefix, 0, prefix.length);
        out.write(versions.bytes(), versions.keyStart(i), versions.keyLength(i));
        number.putLong(0, versions.startTs(i));
        out.write(head, 0, Long.BYTES);
        number.putLong(0, versions.commitTs(i));
        out.write(head, 0, Long.BYTES);
        number.putLong(0, versions.valueLength(i));
        out.write(head, 0, Long.BYTES);
        out.write(versions.bytes(), versions.valueStart(i), versions.valueLength(i));
    }
}
