package io.coplane.cop.exec;

import io.coplane.proto.tipb.ColumnInfo;
import io.coplane.types.FieldType;
import io.coplane.types.codec.Datums;
import io.coplane.types.codec.RestoredData;
import java.util.ArrayList;
import java.util.List;

/**
 * A column that a scan returns (coprocessor.md 1.9).
 *
 * @param id column id; negative ones are special
 * @param type type in the schema
 * @param pkHandle the value is the int handle of the key
 * @param defaultValue datum of rows that lack the column; empty if there is none; not to be modified
 */
public record ScanColumn(long id, FieldType type, boolean pkHandle, byte[] defaultValue) {
    private static final byte[] NIL = {Datums.NIL};

    /** The column of a message. */
    public static ScanColumn of(ColumnInfo info) {
        List<byte[]> elems = new ArrayList<>(info.getElemsCount());
        info.getElemsList().forEach(elem -> elems.add(elem.toByteArray()));
        FieldType type = new FieldType(
                info.getTp(), info.getFlag(), info.getColumnLen(), info.getDecimal(), info.getCollation(), "", elems);
        return new ScanColumn(
                info.getColumnId(),
                type,
                info.getPkHandle(),
                info.getDefaultVal().toByteArray());
    }

    /** The columns of messages. */
    public static List<ScanColumn> of(List<ColumnInfo> infos) {
        return infos.stream().map(ScanColumn::of).toList();
    }

    static List<FieldType> types(List<ScanColumn> columns) {
        return columns.stream().map(ScanColumn::type).toList();
    }

    boolean hasDefault() {
        return defaultValue.length > 0;
    }

    byte[] defaultDatum() {
        return hasDefault() ? defaultValue : NIL;
    }

    /** True for the types whose v2 cells are 1, 2, 4 or 8 bytes of an integer. */
    boolean storedAsInteger() {
        return switch (type.tp()) {
            case FieldType.TINY,
                    FieldType.SHORT,
                    FieldType.INT24,
                    FieldType.LONG,
                    FieldType.LONG_LONG,
                    FieldType.YEAR,
                    FieldType.DATE,
                    FieldType.DATE_TIME,
                    FieldType.TIMESTAMP,
                    FieldType.ENUM,
                    FieldType.SET,
                    FieldType.BIT,
                    FieldType.DURATION -> true;
            default -> false;
        };
    }

    /** True if the integer of a v2 cell is signed. */
    boolean readsSigned() {
        return switch (type.tp()) {
            case FieldType.TINY, FieldType.SHORT, FieldType.INT24, FieldType.LONG, FieldType.LONG_LONG ->
                !type.isUnsigned();
            case FieldType.YEAR, FieldType.DURATION -> true;
            default -> false;
        };
    }

    /** True if an index or a common handle holds a sort key, from which the value can't be told (coprocessor.md 3.6). */
    boolean needsRestoredData() {
        return RestoredData.isNeeded(type);
    }

    /** True for the collations whose sort key is the string without trailing spaces, or the string. */
    boolean isBinCollation() {
        return RestoredData.isBin(type.collate());
    }
}
