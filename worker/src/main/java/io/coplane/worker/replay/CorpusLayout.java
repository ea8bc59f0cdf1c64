package io.coplane.worker.replay;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.proto.coprocessor.KeyRange;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.StoreBatchTask;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.enginepb.L0Create;
import io.coplane.proto.enginepb.Snapshot;
import io.coplane.proto.enginepb.TableCreate;
import io.coplane.proto.kvrpcpb.APIVersion;
import io.coplane.snapshot.RemoteRequestBody;
import io.coplane.sst.ColumnFamily;
import io.coplane.sst.CompressionType;
import io.coplane.sst.L0Builder;
import io.coplane.sst.SstBuilder;
import io.coplane.sst.SstFile;
import io.coplane.sst.SstOptions;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.SplittableRandom;

/**
 * A data set laid out as a storage node would send it: memtable rows and a ChangeSet that names files in a store (snapshot.md 2, 3). Built once per
 * data set; holds every version, so it is good for any read timestamp.
 */
public final class CorpusLayout {
    private static final int MEM_DATA_V2 = 2;
    private static final int LEVELS = 3;
    private static final long SNAP_VERSION_BASE = 1_000;
    private static final int FILES_PER_LEVEL = 3;
    private static final int L0_FILES = 3;

    private static final CompressionType[] LEVEL_COMPRESSION = {
        CompressionType.LZ4, CompressionType.ZSTD, CompressionType.ZSTD
    };

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
     * @param seed of {@link Shape#MIXED}
     */
    public static CorpusLayout build(
            Versions versions, Shape shape, ObjectStore store, long firstFileId, OptionalInt keyspaceId, long seed) {
        byte[] prefix = keyspaceId.isPresent() ? prefix(keyspaceId.getAsInt()) : new byte[0];
        Builder builder = new Builder(versions, prefix, store, firstFileId);
        switch (shape) {
            case MEM -> builder.allInMemtable();
            case LN -> builder.levels(seed);
            case MIXED -> builder.mixed(seed);
        }
        Snapshot.Builder snapshot = builder.snapshot
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
        return new CorpusLayout(prefix, keyspaceId, memData(versions, builder.inMemtable, prefix), snapData);
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
    private static byte[] memData(Versions versions, boolean[] chosen, byte[] prefix) {
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
        ByteBuffer data = ByteBuffer.allocate(24 + rowBytes.length).order(ByteOrder.LITTLE_ENDIAN);
        data.putInt(MEM_DATA_V2)
                .putLong(Long.BYTES + rowBytes.length)
                .putLong(rows)
                .put(rowBytes)
                .putInt(0);
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

    /** Decides where each version goes and writes the files. */
    private static final class Builder {
        private final Versions versions;
        private final ObjectStore store;
        private final Snapshot.Builder snapshot = Snapshot.newBuilder();
        private final boolean[] inMemtable;
        private long nextFileId;

        private Builder(Versions versions, byte[] prefix, ObjectStore store, long firstFileId) {
            this.versions = versions;
            this.store = store;
            this.nextFileId = firstFileId;
            inMemtable = new boolean[versions.count()];
            if (prefix.length != 0 && prefix.length != 4) {
                throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "keyspace prefix has " + prefix.length + " bytes");
            }
        }

        private void allInMemtable() {
            java.util.Arrays.fill(inMemtable, true);
        }

        /** Each version's place: 0 memtable, 1 .. L0_FILES the L0 files from the newest, then levels 1 to 3. Older versions never stand above newer ones. */
        private void mixed(long seed) {
            SplittableRandom random = new SplittableRandom(seed);
            int places = 1 + L0_FILES + LEVELS;
            int[] place = new int[versions.count()];
            for (int i = 0; i < place.length; i++) {
                int least = versions.sameKeyAsBefore(i) ? place[i - 1] : 0;
                place[i] = least + random.nextInt(places - least);
                inMemtable[i] = place[i] == 0;
            }
            for (int l0 = 1; l0 <= L0_FILES; l0++) {
                writeL0(place, l0, random.nextBoolean());
            }
            for (int level = 1; level <= LEVELS; level++) {
                writeLevel(place, L0_FILES + level, level);
            }
        }

        private void levels(long seed) {
            SplittableRandom random = new SplittableRandom(seed);
            int[] place = new int[versions.count()];
            for (int i = 0; i < place.length; i++) {
                int least = versions.sameKeyAsBefore(i) ? place[i - 1] : 1;
                place[i] = least + random.nextInt(LEVELS + 1 - least);
            }
            for (int level = 1; level <= LEVELS; level++) {
                writeLevel(place, level, level);
            }
        }

        private void writeL0(int[] place, int chosen, boolean split) {
            SstOptions options = SstOptions.of(CompressionType.NONE);
            long snapVersion = SNAP_VERSION_BASE - chosen;
            try (MemoryGuard guard = MemoryGuard.unlimited();
                    NativeArena arena = new NativeArena(guard);
                    L0Builder whole = new L0Builder(options, nextFileId, snapVersion, guard);
                    SstBuilder writeOnly = SstBuilder.splitL0(options, nextFileId, snapVersion, guard)) {
                SstBuilder target = split ? writeOnly : whole.family(ColumnFamily.WRITE);
                for (int i = 0; i < place.length; i++) {
                    if (place[i] == chosen) {
                        add(target, i);
                    }
                }
                if (target.isEmpty()) {
                    return;
                }
                SstFile file = split ? writeOnly.finish(arena) : whole.finish(arena);
                store.put(FileKind.SST, file.fileId(), file.bytes()).join();
                snapshot.addL0Creates(L0Create.newBuilder()
                        .setID(file.fileId())
                        .setSmallest(ByteString.copyFrom(file.smallest()))
                        .setBiggest(ByteString.copyFrom(file.biggest()))
                        .setSize((int) file.bytes().byteSize()));
                nextFileId++;
            }
        }

        private void writeLevel(int[] place, int chosen, int level) {
            List<Integer> entries = new ArrayList<>();
            for (int i = 0; i < place.length; i++) {
                if (place[i] == chosen) {
                    entries.add(i);
                }
            }
            int perFile = entries.size() / FILES_PER_LEVEL + 1;
            int from = 0;
            while (from < entries.size()) {
                int to = Math.min(entries.size(), from + perFile);
                while (to < entries.size() && isSameKey(entries.get(to - 1), entries.get(to))) {
                    to++;
                }
                writeTable(entries.subList(from, to), level);
                from = to;
            }
        }

        private boolean isSameKey(int before, int after) {
            return java.util.Arrays.equals(
                    versions.bytes(),
                    versions.keyStart(before),
                    versions.keyStart(before) + versions.keyLength(before),
                    versions.bytes(),
                    versions.keyStart(after),
                    versions.keyStart(after) + versions.keyLength(after));
        }

        private void writeTable(List<Integer> entries, int level) {
            SstOptions options = SstOptions.of(LEVEL_COMPRESSION[level - 1]);
            try (MemoryGuard guard = MemoryGuard.unlimited();
                    NativeArena arena = new NativeArena(guard);
                    SstBuilder builder = new SstBuilder(options, nextFileId, false, guard)) {
                for (int entry : entries) {
                    add(builder, entry);
                }
                SstFile file = builder.finish(arena);
                store.put(FileKind.SST, file.fileId(), file.bytes()).join();
                snapshot.addTableCreates(TableCreate.newBuilder()
                        .setID(file.fileId())
                        .setLevel(level)
                        .setCF(ColumnFamily.WRITE.ordinal())
                        .setSmallest(ByteString.copyFrom(file.smallest()))
                        .setBiggest(ByteString.copyFrom(file.biggest()))
                        .setMetaOffset((int) file.metaOffset()));
                nextFileId++;
            }
        }

        private void add(SstBuilder target, int i) {
            byte[] userMeta = ByteBuffer.allocate(17)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .put((byte) 1)
                    .putLong(versions.startTs(i))
                    .putLong(versions.commitTs(i))
                    .array();
            target.add(
                    versions.bytes(),
                    versions.keyStart(i),
                    versions.keyLength(i),
                    versions.commitTs(i),
                    0,
                    userMeta,
                    0,
                    userMeta.length,
                    versions.bytes(),
                    versions.valueStart(i),
                    versions.valueLength(i));
        }
    }
}
