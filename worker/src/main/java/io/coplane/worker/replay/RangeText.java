package io.coplane.worker.replay;

import io.coplane.proto.coprocessor.Response;
import java.util.HexFormat;

/** The range of an answer as text. */
final class RangeText {
    private RangeText() {}

    static String of(Response response) {
        if (!response.hasRange()) {
            return "none";
        }
        HexFormat hex = HexFormat.of();
        return "[" + hex.formatHex(response.getRange().getStart().toByteArray()) + ", "
                + hex.formatHex(response.getRange().getEnd().toByteArray()) + ")";
    }
}
