package io.coplane.cop.expr.kernel;

import io.coplane.proto.tipb.Expr;
import io.coplane.proto.tipb.ExprType;
import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalType;
import io.coplane.types.collation.Collation;
import io.coplane.types.collation.Collator;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.LongColumn;
import io.coplane.types.text.Utf8;

/** Functions of strings that depend on a collation: comparison, IN, STRCMP, FIELD, FIND_IN_SET (expressions.md 8.2, 8.3, 8.7, 10). */
final class CollationKernels {
    /** A collation and what compares by it. */
    private record Order(Collation collation, Collator collator) {}

    /** The constants of a list: open addressing by the collation's hash. */
    private static final class StringSet {
        private final Order order;
        private final byte[][] strings;
        private boolean hasNull;

        StringSet(Order order, int count) {
            this.order = order;
            strings = new byte[Integer.highestOneBit(Math.max(4, count)) << 2][];
        }

        private int slot(byte[] data, int start, int length) {
            long hash = order.collator().hash(data, start, length);
            return (int) (hash ^ hash >>> 32) & strings.length - 1;
        }

        void add(byte[] string) {
            int slot = slot(string, 0, string.length);
            while (strings[slot] != null) {
                slot = slot + 1 & strings.length - 1;
            }
            strings[slot] = string;
        }

        boolean contains(byte[] data, int start, int length) {
            int slot = slot(data, start, length);
            while (strings[slot] != null) {
                byte[] other = strings[slot];
                if (order.collator().equals(data, start, length, other, 0, other.length)) {
                    return true;
                }
                slot = slot + 1 & strings.length - 1;
            }
            return false;
        }
    }

    private CollationKernels() {}

    static void declare(SignatureTable table) {
        long[] masks = {
            CompareKernels.LESS,
            CompareKernels.LESS | CompareKernels.EQUAL,
            CompareKernels.GREATER,
            CompareKernels.GREATER | CompareKernels.EQUAL,
            CompareKernels.EQUAL,
            CompareKernels.LESS | CompareKernels.GREATER
        };
        ScalarFuncSig[] sigs = {
            ScalarFuncSig.LTString,
            ScalarFuncSig.LEString,
            ScalarFuncSig.GTString,
            ScalarFuncSig.GEString,
            ScalarFuncSig.EQString,
            ScalarFuncSig.NEString
        };
        for (int i = 0; i < sigs.length; i++) {
            long mask = masks[i];
            strings(table, sigs[i]).runs((ctx, args, rows, out) -> {
                long[] values = ((LongColumn) out).values();
                order(ctx, args, rows, values);
                CompareKernels.answer(values, rows, mask);
            });
        }
        strings(table, ScalarFuncSig.NullEQString).seesNulls().runs((ctx, args, rows, out) -> {
            long[] values = ((LongColumn) out).values();
            order(ctx, args, rows, values);
            CompareKernels.answer(values, rows, CompareKernels.EQUAL);
            CompareKernels.nullSafe(args[0], args[1], rows, values);
        });
        strings(table, ScalarFuncSig.Strcmp)
                .runs((ctx, args, rows, out) -> order(ctx, args, rows, ((LongColumn) out).values()));
        strings(table, ScalarFuncSig.FindInSet).runs(CollationKernels::findInSet);
        table.add(ScalarFuncSig.FieldString)
                .takesMany(1, EvalType.BYTES)
                .returns(EvalType.INT)
                .seesNulls()
                .prepares(CollationKernels::prepare)
                .runs(CollationKernels::field);
        table.add(ScalarFuncSig.InString)
                .takesMany(1, EvalType.BYTES)
                .returns(EvalType.INT)
                .seesNulls()
                .prepares(CollationKernels::prepareIn)
                .runs(CollationKernels::in);
        table.add(ScalarFuncSig.Ord)
                .takes(EvalType.BYTES)
                .returns(EvalType.INT)
                .seesNulls()
                .prepares(CollationKernels::prepare)
                .runs(CollationKernels::ord);
    }

    private static Signature strings(SignatureTable table, ScalarFuncSig sig) {
        return table.add(sig)
                .takes(EvalType.BYTES, EvalType.BYTES)
                .returns(EvalType.INT)
                .prepares(CollationKernels::prepare);
    }

    private static void prepare(Preparation node) {
        node.metadata(order(node));
    }

    private static Order order(Preparation node) {
        Collation collation = Collation.of(node.returnType().collate());
        return new Order(collation, collation.collator());
    }

    private static int compare(Collator collator, BytesColumn left, BytesColumn right, int row) {
        return collator.compare(
                left.data(),
                left.starts()[row],
                left.lengths()[row],
                right.data(),
                right.starts()[row],
                right.lengths()[row]);
    }

    private static void order(KernelContext ctx, Column[] args, int rows, long[] out) {
        Collator collator = ((Order) ctx.metadata()).collator();
        BytesColumn left = (BytesColumn) args[0];
        BytesColumn right = (BytesColumn) args[1];
        for (int i = 0; i < rows; i++) {
            out[i] = left.isNull(i) || right.isNull(i) ? 0 : Integer.signum(compare(collator, left, right, i));
        }
    }

    private static void field(KernelContext ctx, Column[] args, int rows, Column out) {
        Collator collator = ((Order) ctx.metadata()).collator();
        long[] values = ((LongColumn) out).values();
        BytesColumn first = (BytesColumn) args[0];
        for (int i = 0; i < rows; i++) {
            values[i] = 0;
            for (int a = 1; a < args.length && !first.isNull(i); a++) {
                if (!args[a].isNull(i) && compare(collator, first, (BytesColumn) args[a], i) == 0) {
                    values[i] = a;
                    break;
                }
            }
        }
    }

    private static void findInSet(KernelContext ctx, Column[] args, int rows, Column out) {
        Collator collator = ((Order) ctx.metadata()).collator();
        BytesColumn item = (BytesColumn) args[0];
        BytesColumn list = (BytesColumn) args[1];
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            values[i] = 0;
            int length = list.lengths()[i];
            if (out.isNull(i) || length == 0) {
                continue;
            }
            byte[] data = list.data();
            int end = list.starts()[i] + length;
            int start = list.starts()[i];
            for (long index = 1; start <= end; index++) {
                int stop = start;
                while (stop < end && data[stop] != ',') {
                    stop++;
                }
                if (collator.compare(item.data(), item.starts()[i], item.lengths()[i], data, start, stop - start)
                        == 0) {
                    values[i] = index;
                    break;
                }
                start = stop + 1;
            }
        }
    }

    private static void prepareIn(Preparation node) {
        StringSet set = new StringSet(order(node), node.childCount());
        for (int i = 1; i < node.childCount(); ) {
            Expr child = node.child(i);
            if (InKernels.isComputed(child)) {
                i++;
                continue;
            }
            if (child.getTp() == ExprType.Null) {
                set.hasNull = true;
            } else {
                byte[] text = constant(node, i);
                requireText(set.order.collation(), text, 0, text.length);
                set.add(text);
            }
            node.drop(i);
        }
        node.metadata(set);
    }

    private static byte[] constant(Preparation node, int index) {
        Expr child = node.child(index);
        if (child.getTp() == ExprType.String || child.getTp() == ExprType.Bytes) {
            return child.getVal().toByteArray();
        }
        if (child.getTp() != ExprType.MysqlEnum) {
            throw InKernels.unexpected(child, EvalType.BYTES);
        }
        long ordinal = Literals.bigEndian(child.getVal(), "enum");
        var elems = node.childType(index).elems();
        if (ordinal == 0) {
            return new byte[0];
        }
        if (ordinal < 0 || ordinal > elems.size()) {
            throw Literals.undecodable("enum");
        }
        return elems.get((int) ordinal - 1);
    }

    private static void requireText(Collation collation, byte[] data, int start, int length) {
        if (!collation.decodesBytes() && !Utf8.isValid(data, start, length)) {
            throw Texts.notUtf8();
        }
    }

    private static void in(KernelContext ctx, Column[] args, int rows, Column out) {
        StringSet set = (StringSet) ctx.metadata();
        Collation collation = set.order.collation();
        Collator collator = set.order.collator();
        BytesColumn value = (BytesColumn) args[0];
        long[] found = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            found[i] = 0;
            if (value.isNull(i)) {
                continue;
            }
            requireText(collation, value.data(), value.starts()[i], value.lengths()[i]);
            found[i] = set.contains(value.data(), value.starts()[i], value.lengths()[i]) ? 1 : 0;
            for (int a = 1; a < args.length && found[i] == 0; a++) {
                BytesColumn element = (BytesColumn) args[a];
                if (!element.isNull(i)) {
                    requireText(collation, element.data(), element.starts()[i], element.lengths()[i]);
                    found[i] = compare(collator, value, element, i) == 0 ? 1 : 0;
                }
            }
        }
        InKernels.finish(args, set.hasNull, rows, found, out);
    }

    private static void ord(KernelContext ctx, Column[] args, int rows, Column out) {
        boolean bytes = ((Order) ctx.metadata()).collation().decodesBytes();
        BytesColumn arg = (BytesColumn) args[0];
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            values[i] = 0;
            int length = arg.lengths()[i];
            if (arg.isNull(i) || length == 0) {
                continue;
            }
            int start = arg.starts()[i];
            int width = bytes ? 1 : Math.max(1, Utf8.sequenceLength(arg.data(), start, start + length));
            for (int k = 0; k < width; k++) {
                values[i] = values[i] << 8 | arg.data()[start + k] & 0xff;
            }
        }
    }
}
