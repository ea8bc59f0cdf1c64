package io.coplane.cop.analyze;

import com.google.protobuf.ByteString;
import io.coplane.proto.tipb.CMSketchTopN;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.ObjLongConsumer;

/** The values that were counted most: a min-heap by count, then bytes. One thread. */
final class TopCounts {
    private record Entry(long count, byte[] data) {}

    private static final Comparator<Entry> ORDER =
            Comparator.comparingLong(Entry::count).thenComparing(Entry::data, Arrays::compareUnsigned);

    private final int limit;
    private final PriorityQueue<Entry> heap = new PriorityQueue<>(ORDER);

    TopCounts(int limit) {
        this.limit = Math.max(0, limit);
    }

    /** Takes a value and its count; drops the least if there are too many. */
    void offer(byte[] data, int length, long count) {
        if (heap.size() == limit) {
            Entry least = heap.peek();
            if (least == null
                    || count < least.count
                    || count == least.count
                            && Arrays.compareUnsigned(data, 0, length, least.data, 0, least.data.length) < 0) {
                return;
            }
            heap.poll();
        }
        heap.add(new Entry(count, Arrays.copyOf(data, length)));
    }

    void forEach(ObjLongConsumer<byte[]> action) {
        heap.forEach(entry -> action.accept(entry.data, entry.count));
    }

    List<CMSketchTopN> messages() {
        return heap.stream()
                .map(entry -> CMSketchTopN.newBuilder()
                        .setData(ByteString.copyFrom(entry.data))
                        .setCount(entry.count)
                        .build())
                .toList();
    }
}
