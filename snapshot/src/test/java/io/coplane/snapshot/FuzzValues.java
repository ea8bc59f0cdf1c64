package io.coplane.snapshot;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.sst.SstReader;
import io.coplane.sst.TableCursor;
import io.coplane.testing.GoldenCase;
import io.coplane.testing.TestData;
import io.coplane.types.ByteSink;
import io.coplane.types.EvalContext;
import io.coplane.types.FieldType;
import io.coplane.types.codec.ChunkEncoder;
import io.coplane.types.codec.ColumnDecoder;
import io.coplane.types.codec.DatumRowEncoder;
import io.coplane.types.codec.Datums;
import io.coplane.types.codec.IndexKeys;
import io.coplane.types.codec.IndexValueView;
import io.coplane.types.codec.Memcomparable;
import io.coplane.types.codec.RawColumn;
import io.coplane.types.codec.RowV1Reader;
import io.coplane.types.codec.RowV2View;
import io.coplane.types.codec.TableKeys;
import io.coplane.types.column.Column;
import io.coplane.types.json.JsonDocs;
import io.coplane.types.json.JsonText;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** Reads rows, keys and single values. */
final class FuzzValues {
    private static final int[] TYPES = {1, 3, 4, 5, 7, 8, 10, 11, 12, 13, 15, 16, 225, 245, 246, 247, 248, 252, 254};
    private static final EvalContext CONTEXT = new EvalContext(0, 0, ZoneId.of("Europe/Berlin"), 64, 4, Clock.system());

    private FuzzValues() {}

    static void row(byte[] bytes, NativeArena arena) {
        if (!RowV2View.isV2(bytes, 0, bytes.length)) {
            RowV1Reader row = new RowV1Reader().wrap(bytes, 0, bytes.length);
            while (row.next()) {
                decode(type((int) row.columnId() & 0xff), bytes, row.datumStart(), row.datumLength(), false);
            }
            return;
        }
        RowV2View row = new RowV2View().wrap(bytes, 0, bytes.length);
        for (int i = 0; i < row.columnCount(); i++) {
            int length = row.find(row.columnId(i));
            if (length >= 0) {
                decode(type(i), bytes, row.cellStart(), length, true);
            }
        }
        for (int i = 0; i < row.nullColumnCount(); i++) {
            row.find(row.nullColumnId(i));
        }
    }

    private static FieldType type(int i) {
        int tp = TYPES[i % TYPES.length];
        return new FieldType(
                tp,
                i % 2 == 0 ? FieldType.UNSIGNED_FLAG : 0,
                10,
                tp == FieldType.NEW_DECIMAL ? 2 : i % 7,
                0,
                "",
                List.of(new byte[] {'a'}, new byte[] {'b'}));
    }

    /** Decodes a cell or a datum of any type and encodes what it was; a value that does not fit its type is an error of its own. */
    private static void decode(FieldType type, byte[] bytes, int start, int length, boolean isCell) {
        var raw = new RawColumn();
        raw.resetBorrowed(2, bytes);
        if (isCell) {
            raw.addCell(start, length);
        } else {
            raw.addDatum(start, length);
        }
        raw.addNull();
        var sink = new ByteSink(MemoryGuard.unlimited());
        Column column = ColumnDecoder.newColumn(type.evalType());
        try {
            ColumnDecoder.decode(raw, type, CONTEXT, column);
            var encoder = new DatumRowEncoder(List.of(type), CONTEXT);
            encoder.bind(0, column);
            encoder.encode(0, 2, sink);
            new ChunkEncoder(CONTEXT).encode(raw, type, sink);
        } catch (CoplaneException e) {
            if (e.code().number() >= 9000) {
                throw e;
            }
        }
    }

    static List<byte[]> rowSeeds() {
        var rows = new ArrayList<byte[]>();
        try (var arena = new NativeArena(MemoryGuard.unlimited());
                Stream<GoldenCase> cases = TestData.cases("row_columnar")) {
            cases.filter(golden -> !golden.meta().containsKey("enc.exported")).forEach(golden -> {
                long fileId = Long.parseUnsignedLong(golden.meta().get("file_id"));
                TableCursor cursor = SstReader.open(FuzzTarget.copy(golden.bytes("table.sst"), arena), fileId, 1, null)
                        .cursor(false, arena);
                int taken = 0;
                for (boolean more = cursor.rewind(); more && taken < 20; more = cursor.next()) {
                    if (cursor.valueLength() > 0 && cursor.valueLength() < 4096) {
                        rows.add(cursor.copyValue());
                        taken++;
                    }
                }
            });
        }
        List<byte[]> seeds = new ArrayList<>(FuzzTarget.spread(rows));
        seeds.add(hex("08020803080402610408 0603".replace(" ", ""))); // v1: ids and datums in turn
        return seeds;
    }

    static void datums(byte[] bytes, NativeArena arena) {
        for (int at = 0; at < bytes.length; ) {
            int end = Datums.skip(bytes, at, bytes.length);
            if (end <= at || end > bytes.length) {
                throw new AssertionError("a datum ends where none can: at=" + at + " end=" + end);
            }
            for (int i = 0; i < TYPES.length; i += 3) {
                decode(type(i), bytes, at, end - at, false);
            }
            at = end;
        }
    }

    static List<byte[]> datumSeeds() {
        return Stream.of(
                        "0880a094a58d1d0388000000000007e805bffccccccccccccd060e04810dfb38d204d2",
                        "061e1980000000bc614e35b7bf870087fdd901616263646566676800ff6900000000000000f8020c616263646566",
                        "0419a420a2cc01b109988386e0aca488d21907800000003b9aca00",
                        "0a03020000001a00000009120000000400000000010000000000000000",
                        "1402000000cdcc8c3fcdcc0c40fa00")
                .map(FuzzValues::hex)
                .toList();
    }

    /** First byte: type; second: cell or datum. */
    static void value(byte[] bytes, NativeArena arena) {
        if (bytes.length >= 2) {
            decode(type(bytes[0] & 0xff), bytes, 2, bytes.length - 2, (bytes[1] & 1) == 0);
        }
    }

    static List<byte[]> valueSeeds() {
        return Stream.of(
                        "0500e8030000",
                        "0900e807",
                        "0200bffccccccccccccd",
                        "0300c009333333333333",
                        "0e0014027fffffffff84e52d8b7f",
                        "0e01060e04810dfb38d204d2",
                        "0400 98b101cca220a419",
                        "0700 00ca9a3b",
                        "0d0001010000001c0000001300000003000c160000006b65790576616c7565",
                        "0d010a03020000001a00000009120000000400000000010000000000000000",
                        "0c0002000000cdcc8c3fcdcc0c40",
                        "0f0002",
                        "1000 03",
                        "0b0005")
                .map(FuzzValues::hex)
                .toList();
    }

    static void json(byte[] bytes, NativeArena arena) {
        long root = JsonDocs.root(bytes, 0, bytes.length);
        JsonText.append(new ByteSink(MemoryGuard.unlimited()), bytes, root);
        if (JsonDocs.isContainer(root)) {
            for (int i = 0; i < JsonDocs.count(bytes, root); i++) {
                JsonDocs.element(bytes, root, i);
                if (JsonDocs.type(root) == JsonDocs.OBJECT) {
                    int start = JsonDocs.keyStart(bytes, root, i);
                    JsonDocs.findKey(bytes, root, bytes, start, JsonDocs.keyLength(bytes, root, i));
                }
            }
        }
    }

    static List<byte[]> jsonSeeds() {
        return Stream.of(
                        "01010000001c0000001300000003000c160000006b65790576616c7565",
                        "03020000001a00000009120000000400000000010000000000000000",
                        "0c0568656c6c6f",
                        "0b0000000000000840",
                        "0400",
                        "0dfc0161",
                        "0f00000000cafea41900000000")
                .map(FuzzValues::hex)
                .toList();
    }

    static void indexValue(byte[] bytes, NativeArena arena) {
        IndexValueView view =
                new IndexValueView().wrap(bytes, 0, bytes.length, IndexValueView.indexVersion(bytes, 0, bytes.length));
        if (view.hasCommonHandle()) {
            Objects.checkFromIndexSize(view.commonHandleStart(), view.commonHandleLength(), bytes.length);
        }
        if (view.hasPartitionId()) {
            view.partitionId();
        }
        if (view.hasRestoredData()) {
            row(Arrays.copyOfRange(bytes, view.restoredStart(), view.restoredStart() + view.restoredLength()), arena);
        }
        if (view.isOld()) {
            view.oldHandle();
        } else if (view.tailHasHandle()) {
            view.tailHandle();
        }
    }

    static List<byte[]> indexValueSeeds() {
        return Stream.of(
                        "30",
                        "0000000000000007",
                        "007f000a0380000000000000017e800000000000000a",
                        "087d018000010000000101000161" + "0000000000000005",
                        "007d01")
                .map(FuzzValues::hex)
                .toList();
    }

    static void key(byte[] bytes, NativeArena arena) {
        int length = bytes.length;
        if (TableKeys.isRecordKey(bytes, 0, length)) {
            TableKeys.checkRecordKey(bytes, 0, length);
            TableKeys.tableId(bytes, 0, length);
            TableKeys.intHandle(bytes, 0, length);
        } else if (TableKeys.isIndexKey(bytes, 0, length)) {
            TableKeys.checkIndexKey(bytes, 0, length);
            int at = TableKeys.INDEX_DATUMS_AT;
            while (at < length) {
                at = Datums.skip(bytes, at, length);
            }
        }
        int handle = IndexKeys.skipPartitionId(bytes, 0, length);
        int encoded = Memcomparable.skipBytes(bytes, 0, length);
        if (encoded > 0) {
            Memcomparable.getBytes(bytes, 0, encoded, new byte[length], 0);
        }
        IndexKeys.intHandle(bytes, handle, length);
    }

    static List<byte[]> keySeeds() {
        return Stream.of(
                        "7480000000000000015f728000000000000001",
                        "7480000000000000015f698000000000000002038000000000000001",
                        "0380000000000000017e8000000000000005",
                        "616263646566676800ff6900000000000000f8")
                .map(FuzzValues::hex)
                .toList();
    }

    private static byte[] hex(String hex) {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }
}
