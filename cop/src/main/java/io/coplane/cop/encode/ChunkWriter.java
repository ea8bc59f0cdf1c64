package io.coplane.cop.encode;

import io.coplane.cop.exec.Batch;
import io.coplane.cop.exec.LazyColumn;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.proto.tipb.EncodeType;
import io.coplane.types.ByteSink;
import io.coplane.types.EvalContext;
import io.coplane.types.EvalType;
import io.coplane.types.FieldType;
import io.coplane.types.codec.ChunkEncoder;
import io.coplane.types.codec.DatumRowEncoder;
import java.util.ArrayList;
import java.util.List;

/**
 * Encodes the output columns of batches, each batch as one {@code tipb.Chunk} behind the other, ready to be embedded in their message. Owns the
 * buffers, which are charged to the guard.
 *
 * <pre>
 * tag   field of the chunk in its message, length-delimited
 *  -    varint length of the chunk
 * 1a    rows_data = 3
 *  -    varint length, bytes
 * </pre>
 */
public final class ChunkWriter implements AutoCloseable {
    private static final int ROWS_DATA_TAG = 3 << 3 | 2;

    private final EncodeType encodeType;
    private final int[] offsets;
    private final FieldType[] types;
    private final DatumRowEncoder rowEncoder;
    private final ChunkEncoder chunkEncoder;
    private final int chunkTag;
    private final ByteSink chunks;
    private final ByteSink rows;

    /**
     * @param schema of the batches
     * @param offsets columns to write, in order; each below the schema's count
     * @param wanted encoding asked for; default encoding replaces it if a column has no eval type
     * @param chunkField number of the field that holds the chunks
     * @param guard borrowed
     */
    public ChunkWriter(
            List<FieldType> schema,
            List<Integer> offsets,
            EncodeType wanted,
            int chunkField,
            EvalContext context,
            MemoryGuard guard) {
        this.offsets = offsets.stream().mapToInt(i -> i).toArray();
        List<FieldType> output = new ArrayList<>();
        boolean typed = true;
        for (int offset : this.offsets) {
            FieldType type = schema.get(offset);
            output.add(type);
            typed &= EvalType.ofOrNull(type.tp()) != null;
        }
        types = output.toArray(FieldType[]::new);
        encodeType = typed ? wanted : EncodeType.TypeDefault;
        rowEncoder = new DatumRowEncoder(output, context);
        chunkEncoder = new ChunkEncoder(context);
        chunkTag = chunkField << 3 | 2;
        chunks = new ByteSink(guard);
        rows = new ByteSink(guard);
    }

    /** The encoding that is used. */
    public EncodeType encodeType() {
        return encodeType;
    }

    /** Appends the rows of a batch as one chunk. */
    public void write(Batch batch) {
        rows.truncate(0);
        if (encodeType == EncodeType.TypeDefault) {
            for (int i = 0; i < offsets.length; i++) {
                LazyColumn column = batch.lazy(offsets[i]);
                if (column.isRaw()) {
                    rowEncoder.bind(i, batch.raw(offsets[i]));
                } else {
                    rowEncoder.bind(i, column.decoded());
                }
            }
            rowEncoder.encode(0, batch.rows(), rows);
        } else {
            for (int i = 0; i < offsets.length; i++) {
                LazyColumn column = batch.lazy(offsets[i]);
                if (column.isRaw()) {
                    chunkEncoder.encode(batch.raw(offsets[i]), types[i], rows);
                } else {
                    chunkEncoder.encode(column.decoded(), types[i], rows);
                }
            }
        }
        int length = rows.length();
        chunks.ensure(length + 12);
        chunks.putVarUint(chunkTag);
        chunks.putVarUint(1 + varintBytes(length) + (long) length);
        chunks.putByte(ROWS_DATA_TAG);
        chunks.putVarUint(length);
        chunks.put(rows.bytes(), 0, length);
    }

    private static int varintBytes(int value) {
        return (38 - Integer.numberOfLeadingZeros(value | 1)) / 7;
    }

    /** Chunk fields written so far; borrowed. */
    public ByteSink chunks() {
        return chunks;
    }

    @Override
    public void close() {
        chunks.close();
        rows.close();
    }
}
