package io.coplane.types.codec;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.testing.Corrupt;
import io.coplane.types.ByteSink;
import io.coplane.types.EvalContext;
import io.coplane.types.FieldType;
import io.coplane.types.column.Column;
import java.time.ZoneId;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Damaged cells and datums are decoded and encoded, or refused by a typed error; nothing else may happen. */
class DamagedValuesTest {
    private final EvalContext context = new EvalContext(0, 0, ZoneId.of("Europe/Berlin"), 64, 4, Clock.system());
    private final ByteSink sink = new ByteSink(MemoryGuard.unlimited());
    private final RawColumn raw = new RawColumn();

    /** Type, a v2 cell, a datum. */
    @ParameterizedTest
    @CsvSource({
        "8, e8030000, 0880a094a58d1d",
        "13, e807, 0388000000000007e8",
        "4, bffccccccccccccd, 05bffccccccccccccd",
        "5, c009333333333333, 05c009333333333333",
        "246, 14027fffffffff84e52d8b7f, 060e04810dfb38d204d2",
        "246, 0402 75c8, 061e1980000000bc614e35b7bf870087fdd9",
        "15, 616263646566, 01616263646566676800ff6900000000000000f8",
        "252, 616263646566, 020c616263646566",
        "7, 98b101cca220a419, 0419a420a2cc01b198",
        "12, 98b101cca220a419, 09988386e0aca488d219",
        "10, 00000000cafea419, 0419a4fe0000000000",
        "11, 00ca9a3b, 07800000003b9aca00",
        "245, 01010000001c0000001300000003000c160000006b65790576616c7565, 0a0dfc0161",
        "245, 11000000000000000006000000, 0a03020000001a000000091200000004000000000100000000000000",
        "225, 02000000cdcc8c3fcdcc0c40, 1402000000cdcc8c3fcdcc0c40",
        "247, 02, 020203",
        "16, 05, 040000000000000005"
    })
    void decodeOrFailTyped(int tp, String cell, String datum) {
        var type = new FieldType(
                tp, 0, 10, tp == FieldType.NEW_DECIMAL ? 2 : 3, 0, "", List.of(new byte[] {'a'}, new byte[] {'b'}));

        Corrupt.everyWay(bytes(cell), 11, 3_000, (damage, bytes) -> check(type, bytes, true));
        Corrupt.everyWay(bytes(datum), 12, 3_000, (damage, bytes) -> {
            check(type, bytes, false);
            skip(bytes);
        });
    }

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }

    private void check(FieldType type, byte[] bytes, boolean isCell) {
        // the value at the very end of its buffer, and with other bytes behind it
        for (byte[] buffer : List.of(bytes, Arrays.copyOf(bytes, bytes.length + 16))) {
            raw.resetBorrowed(2, buffer);
            if (isCell) {
                raw.addCell(0, bytes.length);
            } else {
                raw.addDatum(0, bytes.length);
            }
            raw.addNull();
            sink.truncate(0);
            try {
                Column column = ColumnDecoder.newColumn(type.evalType());
                ColumnDecoder.decode(raw, type, context, column);
                var encoder = new DatumRowEncoder(List.of(type), context);
                encoder.bind(0, column);
                encoder.encode(0, 2, sink);
                new ChunkEncoder(context).encode(raw, type, sink);
            } catch (CoplaneException e) {
                assertThat(e.code()).isIn(ErrorCode.CORRUPT_DATUM, ErrorCode.EVALUATION);
            }
        }
    }

    private static void skip(byte[] bytes) {
        try {
            assertThat(Datums.skip(bytes, 0, bytes.length)).isBetween(1, bytes.length);
        } catch (CoplaneException e) {
            assertThat(e.code()).isEqualTo(ErrorCode.CORRUPT_DATUM);
        }
    }
}
