package io.coplane.cop.analyze;

import com.google.protobuf.ByteString;
import io.coplane.proto.tipb.Bucket;
import io.coplane.proto.tipb.Histogram;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Histogram of ascending values in at most B buckets that hold about as many rows each (coprocessor.md 6.1). One thread. */
final class EqualDepthHistogram {
    private final long maxBuckets;
    private final boolean bucketNdv;
    private final List<Entry> buckets = new ArrayList<>();
    private long bucketLimit = 1;
    private long ndv;

    /** @param bucketNdv true to count distinct values in each bucket too */
    EqualDepthHistogram(long maxBuckets, boolean bucketNdv) {
        this.maxBuckets = maxBuckets;
        this.bucketNdv = bucketNdv;
    }

    /** A bucket; its arrays are reused. */
    private static final class Entry {
        private long count;
        private long repeats;
        private long ndv;
        private byte[] lower = new byte[16];
        private int lowerLength;
        private byte[] upper = new byte[16];
        private int upperLength;

        void setUpper(byte[] bytes, int offset, int length) {
            if (length > upper.length) {
                upper = new byte[Math.max(length, 2 * upper.length)];
            }
            System.arraycopy(bytes, offset, upper, 0, length);
            upperLength = length;
        }

        void setLower(byte[] bytes, int offset, int length) {
            lower = Arrays.copyOfRange(bytes, offset, offset + length);
            lowerLength = length;
        }
    }

    /** Takes a value that is not less than any before. */
    void append(byte[] bytes, int offset, int length) {
        Entry last = buckets.isEmpty() ? null : buckets.getLast();
        if (last != null && Arrays.equals(last.upper, 0, last.upperLength, bytes, offset, offset + length)) {
            last.count++;
            last.repeats++;
            return;
        }
        ndv++;
        if (last != null && buckets.size() >= maxBuckets && isFull()) {
            merge();
            last = buckets.getLast();
        }
        if (last != null && !isFull()) {
            last.setUpper(bytes, offset, length);
            last.count++;
            last.repeats = 1;
            last.ndv += bucketNdv ? 1 : 0;
            return;
        }
        Entry bucket = new Entry();
        bucket.setLower(bytes, offset, length);
        bucket.setUpper(bytes, offset, length);
        bucket.count = (last == null ? 0 : last.count) + 1;
        bucket.repeats = 1;
        bucket.ndv = bucketNdv ? 1 : 0;
        buckets.add(bucket);
    }

    private boolean isFull() {
        int count = buckets.size();
        long before = count < 2 ? 0 : buckets.get(count - 2).count;
        return buckets.get(count - 1).count - before >= bucketLimit;
    }

    /** Pairs the first B buckets. With B = 1 there may be a second one: the reference forgets it, and its rows. */
    private void merge() {
        int paired = Math.clamp(maxBuckets, 1, buckets.size());
        int kept = 0;
        for (int i = 0; i < paired; i += 2) {
            Entry first = buckets.get(i);
            if (i + 1 < paired) {
                Entry second = buckets.get(i + 1);
                second.lower = first.lower;
                second.lowerLength = first.lowerLength;
                second.ndv += first.ndv;
                first = second;
            }
            buckets.set(kept++, first);
        }
        buckets.subList(kept, buckets.size()).clear();
        bucketLimit *= 2;
    }

    long limit() {
        return bucketLimit;
    }

    long ndv() {
        return ndv;
    }

    Histogram message() {
        Histogram.Builder message = Histogram.newBuilder().setNdv(ndv);
        for (Entry bucket : buckets) {
            message.addBuckets(Bucket.newBuilder()
                    .setCount(bucket.count)
                    .setLowerBound(ByteString.copyFrom(bucket.lower, 0, bucket.lowerLength))
                    .setUpperBound(ByteString.copyFrom(bucket.upper, 0, bucket.upperLength))
                    .setRepeats(bucket.repeats)
                    .setNdv(bucket.ndv));
        }
        return message.build();
    }

    long heapBytes() {
        long bytes = 0;
        for (Entry bucket : buckets) {
            bytes += 64L + bucket.lower.length + bucket.upper.length;
        }
        return bytes;
    }
}
