package io.coplane.cop.expr;

import com.google.protobuf.ByteString;
import io.coplane.types.FieldType;
import java.util.ArrayList;
import java.util.List;

/** Field types from the wire. */
public final class FieldTypes {
    private FieldTypes() {}

    /** The type of a message. */
    public static FieldType of(io.coplane.proto.tipb.FieldType wire) {
        List<byte[]> elems = new ArrayList<>();
        for (ByteString elem : wire.getElemsList()) {
            elems.add(elem.toByteArray());
        }
        return new FieldType(
                wire.getTp(),
                wire.getFlag(),
                wire.getFlen(),
                wire.getDecimal(),
                wire.getCollate(),
                wire.getCharset(),
                elems);
    }
}
