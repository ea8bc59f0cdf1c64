package io.coplane.worker.replay;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** MVCC records of a data set: keys ascending, of one key the newest first. Places in one array, no object a record. */
public final class Versions {
    private final byte[] bytes;
    private int count;
    private int[] keyStarts = new int[1024];
    private int[] keyLengths = new int[1024];
    private int[] valueStarts = new int[1024];
    private int[] valueLengths = new int[1024];
    private long[] startTs = new long[1024];
    private long[] commitTs = new long[1024];

    private Versions(byte[] bytes) {
        this.bytes = bytes;
    }

    static Versions parse(byte[] stream) {
        Versions versions = new Versions(stream);
        ByteBuffer in = ByteBuffer.wrap(stream).order(ByteOrder.LITTLE_ENDIAN);
        while (in.hasRemaining()) {
            versions.add(in);
        }
        return versions;
    }

    private void add(ByteBuffer in) {
        if (count == keyStarts.length) {
            int capacity = 2 * count;
            keyStarts = Arrays.copyOf(keyStarts, capacity);
            keyLengths = Arrays.copyOf(keyLengths, capacity);
            valueStarts = Arrays.copyOf(valueStarts, capacity);
            valueLengths = Arrays.copyOf(valueLengths, capacity);
            startTs = Arrays.copyOf(startTs, capacity);
            commitTs = Arrays.copyOf(commitTs, capacity);
        }
        keyLengths[count] = Corpus.checked(in.getInt(), in);
        keyStarts[count] = in.position();
        in.position(in.position() + keyLengths[count]);
        startTs[count] = in.getLong();
        commitTs[count] = in.getLong();
        boolean isDelete = in.get() == 1;
        int length = Corpus.checked(in.getInt(), in);
        valueStarts[count] = in.position();
        valueLengths[count] = isDelete ? 0 : length;
        in.position(in.position() + length);
        count++;
    }

    /** Records. */
    int count() {
        return count;
    }

    /** What keys and values lie in; borrowed. */
    byte[] bytes() {
        return bytes;
    }

    int keyStart(int i) {
        return keyStarts[i];
    }

    int keyLength(int i) {
        return keyLengths[i];
    }

    int valueStart(int i) {
        return valueStarts[i];
    }

    /** 0 for a delete. */
    int valueLength(int i) {
        return valueLengths[i];
    }

    long startTs(int i) {
        return startTs[i];
    }

    long commitTs(int i) {
        return commitTs[i];
    }

    /** True if record {@code i} is of the same key as the one before it. */
    boolean sameKeyAsBefore(int i) {
        return i > 0
                && Arrays.equals(
                        bytes,
                        keyStarts[i],
                        keyStarts[i] + keyLengths[i],
                        bytes,
                        keyStarts[i - 1],
                        keyStarts[i - 1] + keyLengths[i - 1]);
    }
}
