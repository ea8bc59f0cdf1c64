package io.coplane.compaction;

import io.coplane.testing.Dumps;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;

/** What was written to a shard, as plain maps; keys in hex, so that their order is that of the bytes. */
final class ModelHistory {
    /** A version of the write family; a null value is a delete. */
    record Write(long startTs, byte[] value) {}

    /** An entry as a memtable holds it. */
    record Op(int cf, String key, long version, byte[] userMeta, byte[] value, boolean delete) {}

    final TreeMap<String, TreeMap<Long, Write>> writes = new TreeMap<>();
    final TreeMap<String, byte[]> locks = new TreeMap<>(); // without value: deleted, or never there
    final TreeMap<String, TreeMap<Long, Long>> extras = new TreeMap<>(); // key, version, start ts
    private final SplittableRandom random;
    private final List<String> keys = new ArrayList<>();
    long ts = 100;
    long sequence = 1;

    ModelHistory(SplittableRandom random) {
        this.random = random;
        int count = random.nextInt(1, 30);
        for (int i = 0; i < count; i++) {
            keys.add("7480000000000000" + (random.nextBoolean() ? "64" : "65") + "5f72"
                    + Dumps.hex(new byte[] {(byte) random.nextInt(4), (byte) random.nextInt(256)}));
        }
    }

    String randomKey() {
        return keys.get(random.nextInt(keys.size()));
    }

    /** Writes that one memtable holds; of a key the newest first. */
    List<Op> write(int count, String low, String high) {
        var ops = new ArrayList<Op>();
        for (int i = 0; i < count; i++) {
            String key = randomKey();
            if (key.compareTo(low) < 0 || key.compareTo(high) >= 0) {
                continue;
            }
            long start = ts += random.nextInt(1, 4);
            long commit = ts += random.nextInt(1, 4);
            switch (random.nextInt(10)) {
                case 0 -> {
                    locks.put(key, lock(start));
                    ops.add(new Op(1, key, ++sequence, new byte[0], lock(start), false));
                }
                case 1 -> {
                    locks.remove(key);
                    ops.add(new Op(1, key, ++sequence, new byte[0], new byte[0], true));
                }
                case 2, 3 -> {
                    boolean rollback = random.nextBoolean();
                    String extra = key
                            + Dumps.hex(java.nio.ByteBuffer.allocate(8)
                                    .putLong(Long.reverse(start))
                                    .array());
                    long version = rollback ? start : commit;
                    extras.computeIfAbsent(extra, k -> new TreeMap<>()).put(version, start);
                    ops.add(new Op(2, extra, version, userMeta(start, rollback ? 0 : commit), new byte[1], false));
                }
                default -> {
                    byte[] value = random.nextInt(4) == 0 ? null : value();
                    writes.computeIfAbsent(key, k -> new TreeMap<>()).put(commit, new Write(start, value));
                    ops.add(new Op(
                            0, key, commit, userMeta(start, commit), value == null ? new byte[0] : value, false));
                }
            }
        }
        ops.sort((a, b) -> a.cf() != b.cf()
                ? a.cf() - b.cf()
                : a.key().equals(b.key())
                        ? Long.compare(b.version(), a.version())
                        : a.key().compareTo(b.key()));
        return ops;
    }

    private byte[] value() {
        byte[] value = new byte[random.nextInt(5) == 0 ? random.nextInt(1, 400) : random.nextInt(1, 40)];
        for (int i = 0; i < value.length; i++) {
            value[i] = (byte) ('a' + random.nextInt(3));
        }
        return value;
    }

    static byte[] userMeta(long startTs, long commitTs) {
        return java.nio.ByteBuffer.allocate(17)
                .order(java.nio.ByteOrder.LITTLE_ENDIAN)
                .put((byte) 1)
                .putLong(startTs)
                .putLong(commitTs)
                .array();
    }

    /** A lock with primary {@code pk}; its start ts as a varint. */
    private static byte[] lock(long startTs) {
        var bytes = new java.io.ByteArrayOutputStream();
        bytes.writeBytes(new byte[] {'P', 4, 'p', 'k'});
        long rest = startTs;
        while (rest > 0x7F) {
            bytes.write((int) (rest & 0x7F | 0x80));
            rest >>>= 7;
        }
        bytes.write((int) rest);
        bytes.write(3);
        return bytes.toByteArray();
    }

    /** Drops what is outside of {@code low .. high}, high exclusive. */
    void trim(String low, String high) {
        for (TreeMap<String, ?> map : List.of(writes, locks, extras)) {
            map.keySet().removeIf(key -> key.compareTo(low) < 0 || key.compareTo(high) >= 0);
        }
    }

    void destroy(String prefix) {
        for (TreeMap<String, ?> map : List.of(writes, locks, extras)) {
            map.keySet().removeIf(key -> key.startsWith(prefix));
        }
    }

    void truncate(long after) {
        writes.values().forEach(versions -> versions.tailMap(after, false).clear());
        extras.values().forEach(versions -> versions.tailMap(after, false).clear());
    }
}
