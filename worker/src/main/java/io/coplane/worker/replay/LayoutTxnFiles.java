package io.coplane.worker.replay;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.proto.enginepb.TxnFileRef;
import io.coplane.sst.ShardKey;
import io.coplane.sst.SstFile;
import io.coplane.sst.TxnChunkBuilder;
import io.coplane.sst.TxnChunkCursor;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Puts the largest transactions of a data set into txn files of several chunks (snapshot.md 7). One thread. */
final class LayoutTxnFiles {
    private static final int MOST_FILES = 16;
    private static final int CHUNKS_PER_FILE = 3;
    private static final int LEAST_BLOCK_BYTES = 64;
    private static final int EXTRA_OPS_ONE_IN = 16;

    /** What tells transactions apart. */
    private record Txn(long startTs, long commitTs) {}

    private final Versions versions;
    private final Map<Txn, Integer> numbers = new HashMap<>(); // chosen transactions
    private final List<Txn> chosen;

    LayoutTxnFiles(Versions versions) {
        this.versions = versions;
        Map<Txn, Integer> sizes = new HashMap<>();
        for (int i = 0; i < versions.count(); i++) {
            sizes.merge(txn(i), 1, Integer::sum);
        }
        chosen = sizes.entrySet().stream()
                .sorted(Comparator.comparing((Map.Entry<Txn, Integer> entry) -> -entry.getValue())
                        .thenComparing(entry -> entry.getKey().commitTs())
                        .thenComparing(entry -> entry.getKey().startTs()))
                .limit(MOST_FILES)
                .map(Map.Entry::getKey)
                .toList();
        chosen.forEach(txn -> numbers.put(txn, numbers.size()));
    }

    private Txn txn(int i) {
        return new Txn(versions.startTs(i), versions.commitTs(i));
    }

    /** Whether a version is one of a txn file. */
    boolean contains(int i) {
        return numbers.containsKey(txn(i));
    }

    /**
     * Writes the chunks.
     *
     * @param key of the shard; null for none
     * @param firstChunkId ids of chunks are taken from here on
     */
    List<TxnFileRef> write(ObjectStore store, ShardKey key, long firstChunkId, SplittableRandom random) {
        List<TxnFileRef> refs = new ArrayList<>();
        long nextChunkId = firstChunkId;
        for (Txn txn : chosen) {
            int[] entries = entries(txn, random);
            TxnFileRef.Builder ref = TxnFileRef.newBuilder()
                    .setStartTs(txn.startTs())
                    .setVersion(txn.commitTs())
                    .setUserMeta(ByteString.copyFrom(LayoutFiles.userMeta(txn.startTs(), txn.commitTs())));
            int perChunk = entries.length / CHUNKS_PER_FILE + 1;
            for (int from = 0; from < entries.length; from += perChunk) {
                int to = Math.min(entries.length, from + perChunk);
                writeChunk(store, key, nextChunkId, txn, entries, from, to, random);
                ref.addChunkIds(nextChunkId++);
            }
            refs.add(ref.build());
        }
        return refs;
    }

    /** Versions of a transaction, and some of keys that it only locks or checks. */
    private int[] entries(Txn txn, SplittableRandom random) {
        List<Integer> entries = new ArrayList<>();
        int i = 0;
        while (i < versions.count()) {
            int first = i;
            int own = -1;
            do {
                own = txn(i).equals(txn) ? i : own;
                i++;
            } while (i < versions.count() && versions.sameKeyAsBefore(i));
            if (own >= 0) {
                entries.add(own);
            } else if (random.nextInt(EXTRA_OPS_ONE_IN) == 0) {
                entries.add(first);
            }
        }
        return entries.stream().mapToInt(Integer::intValue).toArray();
    }

    private void writeChunk(
            ObjectStore store,
            ShardKey key,
            long chunkId,
            Txn txn,
            int[] entries,
            int from,
            int to,
            SplittableRandom random) {
        int blockBytes = random.nextInt(LEAST_BLOCK_BYTES, TxnChunkBuilder.DEFAULT_BLOCK_BYTES);
        try (MemoryGuard guard = MemoryGuard.unlimited();
                NativeArena arena = new NativeArena(guard);
                TxnChunkBuilder builder = new TxnChunkBuilder(chunkId, blockBytes, key, guard)) {
            for (int entry = from; entry < to; entry++) {
                int i = entries[entry];
                int length = txn(i).equals(txn) ? versions.valueLength(i) : 0;
                builder.add(
                        versions.bytes(),
                        versions.keyStart(i),
                        versions.keyLength(i),
                        op(txn, i, random),
                        versions.bytes(),
                        versions.valueStart(i),
                        length);
            }
            SstFile file = builder.finish(arena);
            store.put(FileKind.TXN_CHUNK, chunkId, file.bytes()).join();
        }
    }

    private int op(Txn txn, int i, SplittableRandom random) {
        boolean coin = random.nextBoolean();
        if (!txn(i).equals(txn)) {
            return coin ? TxnChunkCursor.OP_LOCK : TxnChunkCursor.OP_CHECK_NOT_EXIST;
        }
        if (versions.valueLength(i) == 0) {
            return TxnChunkCursor.OP_DELETE;
        }
        return coin ? TxnChunkCursor.OP_PUT : TxnChunkCursor.OP_INSERT;
    }
}
