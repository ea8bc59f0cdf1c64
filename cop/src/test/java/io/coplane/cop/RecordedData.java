package io.coplane.cop;

import io.coplane.cop.exec.RowAccessor;
import io.coplane.cop.exec.RowSource;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.snapshot.RowBuffer;
import io.coplane.testing.TestData;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** A recorded data set in memory: rows with all versions, requests, the reference's answers. */
final class RecordedData implements Coprocessor.Sources {
    /** One version of a row; a delete has no value. */
    record Version(long commitTs, byte[] value) {}

    private final NavigableMap<byte[], List<Version>> rows = new TreeMap<>(Arrays::compareUnsigned);
    private final List<Request> requests = new ArrayList<>();
    private final List<Response> answers = new ArrayList<>();
    private boolean metNewer;

    RecordedData(String name) {
        try {
            readRows(plain(name, "mvcc.zst"));
            ByteBuffer sent = plain(name, "req.zst");
            while (sent.hasRemaining()) {
                requests.add(Request.parseFrom(bytes(sent, sent.getInt())));
            }
            ByteBuffer answered = plain(name, "tikv.zst");
            while (answered.hasRemaining()) {
                answers.add(Response.parseFrom(bytes(answered, answered.getInt())));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (requests.isEmpty() || requests.size() != answers.size()) {
            throw new AssertionError("requests=" + requests.size() + " answers=" + answers.size());
        }
    }

    private static ByteBuffer plain(String name, String suffix) throws IOException {
        try (var in = TestData.openZstd(TestData.corpusFile(name, suffix))) {
            return ByteBuffer.wrap(in.readAllBytes()).order(ByteOrder.LITTLE_ENDIAN);
        }
    }

    private static byte[] bytes(ByteBuffer from, int length) {
        byte[] bytes = new byte[length];
        from.get(bytes);
        return bytes;
    }

    private void readRows(ByteBuffer from) {
        while (from.hasRemaining()) {
            byte[] key = bytes(from, from.getInt());
            from.getLong(); // start_ts
            long commitTs = from.getLong();
            boolean deleted = from.get() == 1;
            byte[] value = bytes(from, from.getInt());
            rows.computeIfAbsent(key, k -> new ArrayList<>()).add(new Version(commitTs, deleted ? null : value));
        }
    }

    List<Request> requests() {
        return requests;
    }

    List<Response> answers() {
        return answers;
    }

    @Override
    public RowAccessor accessor(long readTs) {
        RowAccessor.Region all = () -> at(readTs);
        return rowKey -> all;
    }

    @Override
    public boolean metNewer() {
        return metNewer;
    }

    @Override
    public Coprocessor.Sources forTask() {
        metNewer = false;
        return this;
    }

    @Override
    public RowSource at(long readTs) {
        return new Source(readTs);
    }

    private final class Source implements RowSource {
        private final long readTs;
        private java.util.Iterator<Map.Entry<byte[], List<Version>>> entries;

        Source(long readTs) {
            this.readTs = readTs;
        }

        @Override
        public void setRange(boolean reverse, byte[] lower, byte[] upper) {
            var range = rows.subMap(lower, true, upper, false);
            entries = (reverse ? range.descendingMap() : range).entrySet().iterator();
        }

        @Override
        public int fill(RowBuffer buffer, int maxRows) {
            int filled = 0;
            while (filled < maxRows && entries.hasNext()) {
                var entry = entries.next();
                filled += append(entry.getKey(), entry.getValue(), buffer) ? 1 : 0;
            }
            return filled;
        }

        @Override
        public boolean get(byte[] key, RowBuffer buffer) {
            List<Version> versions = rows.get(key);
            return versions != null && append(key, versions, buffer);
        }

        private boolean append(byte[] key, List<Version> versions, RowBuffer buffer) {
            for (Version version : versions) {
                metNewer |= Long.compareUnsigned(version.commitTs(), readTs) > 0;
                if (Long.compareUnsigned(version.commitTs(), readTs) <= 0) {
                    if (version.value() == null || version.value().length == 0) {
                        return false;
                    }
                    buffer.append(key, version.value(), version.commitTs());
                    return true;
                }
            }
            return false;
        }

        @Override
        public void close() {}
    }
}
