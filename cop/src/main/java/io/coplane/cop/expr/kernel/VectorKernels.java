package io.coplane.cop.expr.kernel;

import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalException;
import io.coplane.types.EvalType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.DoubleColumn;
import io.coplane.types.column.LongColumn;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** Vectors of float32 (expressions.md 6.11, 8.13): uint32 LE count, then the elements. */
final class VectorKernels {
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle FLOAT = MethodHandles.byteArrayViewVarHandle(float[].class, ByteOrder.LITTLE_ENDIAN);

    /** Distance of two vectors of {@code count} elements; may be NaN. */
    @FunctionalInterface
    private interface Distance {
        double apply(byte[] left, int leftAt, byte[] right, int rightAt, int count);
    }

    private VectorKernels() {}

    static void declare(SignatureTable table) {
        distance(table, ScalarFuncSig.VecL1DistanceSig, VectorKernels::l1);
        distance(table, ScalarFuncSig.VecL2DistanceSig, VectorKernels::l2);
        distance(table, ScalarFuncSig.VecNegativeInnerProductSig, VectorKernels::negativeInnerProduct);
        distance(table, ScalarFuncSig.VecCosineDistanceSig, VectorKernels::cosine);
        table.add(ScalarFuncSig.VecDimsSig)
                .takes(EvalType.VECTOR_FLOAT32)
                .returns(EvalType.INT)
                .runs(VectorKernels::dims);
        table.add(ScalarFuncSig.VecAsTextSig)
                .takes(EvalType.VECTOR_FLOAT32)
                .returns(EvalType.BYTES)
                .runs(CastToStrings::fromVector);
        table.add(ScalarFuncSig.VecL2NormSig)
                .takes(EvalType.VECTOR_FLOAT32)
                .returns(EvalType.REAL)
                .runs(VectorKernels::l2Norm);
        CompareKernels.declare(
                table,
                EvalType.VECTOR_FLOAT32,
                VectorKernels::order,
                ScalarFuncSig.LTVectorFloat32,
                ScalarFuncSig.LEVectorFloat32,
                ScalarFuncSig.GTVectorFloat32,
                ScalarFuncSig.GEVectorFloat32,
                ScalarFuncSig.EQVectorFloat32,
                ScalarFuncSig.NEVectorFloat32,
                ScalarFuncSig.NullEQVectorFloat32);
    }

    private static void distance(SignatureTable table, ScalarFuncSig sig, Distance distance) {
        table.add(sig)
                .takes(EvalType.VECTOR_FLOAT32, EvalType.VECTOR_FLOAT32)
                .returns(EvalType.REAL)
                .runs((ctx, args, rows, out) -> distances(args, rows, (DoubleColumn) out, distance));
    }

    /** Elements of the vector in a row; the length is checked. An empty value is the empty vector. */
    static int count(BytesColumn column, int row) {
        int length = column.lengths()[row];
        if (length == 0) {
            return 0;
        }
        int count = length < Integer.BYTES ? -1 : (int) INT.get(column.data(), column.starts()[row]);
        if (count < 0 || length != Integer.BYTES + (long) count * Float.BYTES) {
            throw EvalException.uncoded("Vector length error. Please check the input.");
        }
        return count;
    }

    /** An element of the vector that starts at {@code at}. */
    static float element(byte[] data, int at, int index) {
        return (float) FLOAT.get(data, at + Integer.BYTES + index * Float.BYTES);
    }

    private static void distances(Column[] args, int rows, DoubleColumn out, Distance distance) {
        BytesColumn left = (BytesColumn) args[0];
        BytesColumn right = (BytesColumn) args[1];
        double[] values = out.values();
        for (int i = 0; i < rows; i++) {
            values[i] = 0;
            if (out.isNull(i)) {
                continue;
            }
            int count = count(left, i);
            int other = count(right, i);
            if (count != other) {
                throw EvalException.uncoded("vectors have different dimensions: " + count + " and " + other);
            }
            double result = distance.apply(left.data(), left.starts()[i], right.data(), right.starts()[i], count);
            if (Double.isNaN(result)) {
                out.setNull(i);
            } else {
                values[i] = result;
            }
        }
    }

    private static double l1(byte[] left, int leftAt, byte[] right, int rightAt, int count) {
        float sum = 0;
        for (int k = 0; k < count; k++) {
            sum += Math.abs(element(left, leftAt, k) - element(right, rightAt, k));
        }
        return sum;
    }

    private static double l2(byte[] left, int leftAt, byte[] right, int rightAt, int count) {
        float sum = 0;
        for (int k = 0; k < count; k++) {
            float difference = element(left, leftAt, k) - element(right, rightAt, k);
            sum += difference * difference;
        }
        return Math.sqrt(sum);
    }

    private static double negativeInnerProduct(byte[] left, int leftAt, byte[] right, int rightAt, int count) {
        float sum = 0;
        for (int k = 0; k < count; k++) {
            sum += element(left, leftAt, k) * element(right, rightAt, k);
        }
        return -(double) sum;
    }

    private static double cosine(byte[] left, int leftAt, byte[] right, int rightAt, int count) {
        float dot = 0;
        float leftSquares = 0;
        float rightSquares = 0;
        for (int k = 0; k < count; k++) {
            float l = element(left, leftAt, k);
            float r = element(right, rightAt, k);
            dot += l * r;
            leftSquares += l * l;
            rightSquares += r * r;
        }
        double similarity = dot / Math.sqrt((double) leftSquares * rightSquares);
        if (Double.isNaN(similarity)) {
            return Double.NaN;
        }
        return 1 - Math.max(-1, Math.min(1, similarity));
    }

    private static void dims(KernelContext ctx, Column[] args, int rows, Column out) {
        long[] values = ((LongColumn) out).values();
        for (int i = 0; i < rows; i++) {
            values[i] = out.isNull(i) ? 0 : count((BytesColumn) args[0], i);
        }
    }

    private static void l2Norm(KernelContext ctx, Column[] args, int rows, Column out) {
        BytesColumn arg = (BytesColumn) args[0];
        double[] values = ((DoubleColumn) out).values();
        for (int i = 0; i < rows; i++) {
            double sum = 0;
            int count = out.isNull(i) ? 0 : count(arg, i);
            for (int k = 0; k < count; k++) {
                double x = element(arg.data(), arg.starts()[i], k);
                sum += x * x;
            }
            values[i] = Math.sqrt(sum);
        }
    }

    private static void order(KernelContext ctx, Column[] args, int rows, long[] out) {
        BytesColumn left = (BytesColumn) args[0];
        BytesColumn right = (BytesColumn) args[1];
        for (int i = 0; i < rows; i++) {
            out[i] = left.isNull(i) || right.isNull(i) ? 0 : compare(left, right, i);
        }
    }

    private static int compare(BytesColumn left, BytesColumn right, int row) {
        int leftCount = count(left, row);
        int rightCount = count(right, row);
        for (int k = 0; k < Math.min(leftCount, rightCount); k++) {
            float l = element(left.data(), left.starts()[row], k);
            float r = element(right.data(), right.starts()[row], k);
            if (l != r) {
                return l < r ? -1 : 1;
            }
        }
        return Integer.compare(leftCount, rightCount);
    }
}
