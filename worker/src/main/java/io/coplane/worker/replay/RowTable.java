package io.coplane.worker.replay;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.proto.tipb.Chunk;
import io.coplane.types.codec.Datums;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Rows of an answer, all chunks joined, each cell as bytes: a whole datum in default encoding; in chunk encoding the cell's bytes, null for NULL.
 * For comparing and showing, not for speed.
 */
final class RowTable {
    private static final int DECIMAL_BYTES = 40;

    private final List<OutputColumn> columns;
    private final boolean isChunked;
    private final List<byte[][]> rows = new ArrayList<>();

    private RowTable(List<OutputColumn> columns, boolean isChunked) {
        this.columns = columns;
        this.isChunked = isChunked;
    }

    /**
     * Decodes chunks.
     *
     * @throws CoplaneException FILE_FORMAT if they don't hold whole rows of these columns
     */
    static RowTable decode(List<Chunk> chunks, List<OutputColumn> columns, boolean isChunked) {
        RowTable table = new RowTable(columns, isChunked);
        for (Chunk chunk : chunks) {
            try {
                if (isChunked) {
                    table.addChunk(chunk.getRowsData());
                } else {
                    table.addDatums(chunk.getRowsData().toByteArray());
                }
            } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
                throw new CoplaneException(ErrorCode.FILE_FORMAT, "chunk does not decode: " + e.getMessage(), e);
            }
        }
        return table;
    }

    List<OutputColumn> columns() {
        return columns;
    }

    boolean isChunked() {
        return isChunked;
    }

    List<byte[][]> rows() {
        return rows;
    }

    private void addDatums(byte[] bytes) {
        int at = 0;
        if (columns.isEmpty() && bytes.length > 0) {
            throw new CoplaneException(ErrorCode.FILE_FORMAT, "data of no columns: bytes=" + bytes.length);
        }
        while (at < bytes.length) {
            byte[][] row = new byte[columns.size()][];
            for (int i = 0; i < row.length; i++) {
                int end = Datums.skip(bytes, at, bytes.length);
                row[i] = Arrays.copyOfRange(bytes, at, end);
                at = end;
            }
            rows.add(row);
        }
    }

    private void addChunk(ByteString data) {
        byte[] bytes = data.toByteArray();
        int first = rows.size();
        int at = 0;
        for (int column = 0; column < columns.size(); column++) {
            int count = LittleEndian.int32(bytes, at);
            int nulls = LittleEndian.int32(bytes, at + 4);
            at += 8;
            int bitmapAt = at;
            at += nulls > 0 ? (count + 7) / 8 : 0;
            if (count < 0 || nulls < 0 || nulls > count || at > bytes.length) {
                throw new CoplaneException(ErrorCode.FILE_FORMAT, "bad counts: rows=" + count + " nulls=" + nulls);
            }
            while (column == 0 && rows.size() < first + count) {
                rows.add(new byte[columns.size()][]);
            }
            if (rows.size() != first + count) {
                throw new CoplaneException(ErrorCode.FILE_FORMAT, "columns of unequal length: column=" + column);
            }
            at = cells(bytes, at, nulls > 0 ? bitmapAt : -1, first, column);
        }
        if (at != bytes.length) {
            throw new CoplaneException(ErrorCode.FILE_FORMAT, "bytes behind the last column: " + (bytes.length - at));
        }
    }

    private int cells(byte[] bytes, int from, int bitmapAt, int first, int column) {
        int count = rows.size() - first;
        int fixed = fixedBytes(columns.get(column).tp());
        int dataAt = fixed < 0 ? from + (count + 1) * Long.BYTES : from;
        int end = dataAt;
        for (int i = 0; i < count; i++) {
            int start = end;
            if (fixed < 0) {
                start = dataAt + Math.toIntExact(LittleEndian.int64(bytes, from + i * Long.BYTES) & 0x7FFF_FFFF);
                end = dataAt + Math.toIntExact(LittleEndian.int64(bytes, from + (i + 1) * Long.BYTES) & 0x7FFF_FFFF);
            } else {
                end += fixed;
            }
            boolean isNull = bitmapAt >= 0 && (bytes[bitmapAt + i / 8] >> (i % 8) & 1) == 0;
            if (start > end || end > bytes.length) {
                throw new CoplaneException(ErrorCode.FILE_FORMAT, "cell beyond its chunk: offset=" + start);
            }
            rows.get(first + i)[column] = isNull ? null : Arrays.copyOfRange(bytes, start, end);
        }
        return end;
    }

    /** Bytes of a cell in chunk encoding (coprocessor.md 4.13); -1 = variable. */
    static int fixedBytes(int tp) {
        return switch (tp) {
            case 4 -> Float.BYTES;
            case 1, 2, 3, 5, 7, 8, 9, 10, 11, 12, 13 -> Long.BYTES;
            case 0xf6 -> DECIMAL_BYTES;
            default -> -1;
        };
    }
}
