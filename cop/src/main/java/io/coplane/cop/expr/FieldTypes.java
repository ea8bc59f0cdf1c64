package io.coplane.cop.expr;

import com.google.protobuf.ByteString;
import io.coplane.types.FieldType;
import java.util.ArrayList;
import java.util.List;

/** Field types from the wire. */
public final class FieldTypes {
    private FieldTypes() {}

    /** A scanned column's type carries no charset; that of the node that names the column does. */
    static FieldType withCharset(FieldType type, String charset) {
        if (!type.charset().isEmpty() || charset.isEmpty()) {
            return type;
        }
        return new FieldType(
                type.tp(), type.flag(), type.flen(), type.decimal(), type.collate(), charset, type.elems());
    }

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
