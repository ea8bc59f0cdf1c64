package io.coplane.cop.analyze;

import com.google.protobuf.ByteString;
import io.coplane.cop.kernel.Murmur3;
import io.coplane.proto.tipb.SampleCollector;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** Counts, sketches and a random sample of one column (coprocessor.md 6.1, sample collector). One thread. */
final class Samples {
    private final long maxSamples;
    private final FmSketch fm;
    private final CmSketch cm;
    private final SplittableRandom random;
    private final List<ByteString> samples = new ArrayList<>();
    private long sampleBytes;
    private long nulls;
    private long count;
    private long totalBytes;

    /** @param cm may be null */
    Samples(long maxSamples, FmSketch fm, CmSketch cm, SplittableRandom random) {
        this.maxSamples = maxSamples;
        this.fm = fm;
        this.cm = cm;
        this.random = random;
    }

    void collectNull() {
        nulls++;
    }

    /** Takes a datum that is not NULL. */
    void collect(Murmur3 murmur, byte[] bytes, int offset, int length) {
        count++;
        murmur.hash(bytes, offset, length);
        fm.insert(murmur.first());
        if (cm != null) {
            cm.insert(murmur);
        }
        totalBytes += length - 1;
        if (samples.size() < maxSamples) {
            keep(bytes, offset, length);
        } else if (maxSamples > 0 && random.nextLong(count) < maxSamples) {
            sampleBytes -= samples.remove(random.nextInt(samples.size())).size();
            keep(bytes, offset, length);
        }
    }

    private void keep(byte[] bytes, int offset, int length) {
        samples.add(ByteString.copyFrom(bytes, offset, length));
        sampleBytes += length;
    }

    SampleCollector message() {
        SampleCollector.Builder message = SampleCollector.newBuilder()
                .addAllSamples(samples)
                .setNullCount(nulls)
                .setCount(count)
                .setFmSketch(fm.message())
                .setTotalSize(totalBytes);
        if (cm != null) {
            message.setCmSketch(cm.message());
        }
        return message.build();
    }

    long heapBytes() {
        return sampleBytes + 48L * samples.size() + fm.heapBytes() + (cm == null ? 0 : cm.heapBytes());
    }
}
