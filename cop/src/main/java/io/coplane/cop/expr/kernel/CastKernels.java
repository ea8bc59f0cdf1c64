package io.coplane.cop.expr.kernel;

import com.google.protobuf.InvalidProtocolBufferException;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.proto.tipb.InUnionMetadata;
import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalType;
import java.util.EnumMap;
import java.util.Map;

/** Casts: chosen by the types of child and node, not by their number (expressions.md 7.1). */
final class CastKernels {
    private static final int LAST_SCALAR_CAST = 66;

    /** What a cast knows. @param constant the child is a literal */
    record Plan(boolean inUnion, boolean constant) {}

    private final Map<EvalType, Map<EvalType, Kernel>> kernels = new EnumMap<>(EvalType.class);

    private CastKernels() {
        CastToNumbers.declare(this);
        CastToStrings.declare(this);
        CastToTimes.declare(this);
        CastFromTimes.declare(this);
        CastToJson.declare(this);
    }

    /** Declares the kernel of a pair of types. */
    void add(EvalType from, EvalType to, Kernel kernel) {
        kernels.computeIfAbsent(from, type -> new EnumMap<>(EvalType.class)).put(to, kernel);
    }

    static void declare(SignatureTable table) {
        CastKernels casts = new CastKernels();
        for (ScalarFuncSig sig : ScalarFuncSig.values()) {
            boolean isCast = sig.name().startsWith("Cast") && sig.getNumber() <= LAST_SCALAR_CAST
                    || sig == ScalarFuncSig.CastVectorFloat32AsString
                    || sig == ScalarFuncSig.CastVectorFloat32AsVectorFloat32;
            if (isCast) {
                table.add(sig).takesAnything().prepares(casts::prepare);
            }
        }
    }

    private void prepare(Preparation node) {
        if (node.childCount() != 1) {
            throw Preparation.fails("Unexpected arguments: sig "
                    + node.node().getSig().name() + " with " + node.childCount() + " args");
        }
        EvalType from = node.childType(0).evalType();
        EvalType to = node.returnType().evalType();
        boolean toNumber = to == EvalType.INT || to == EvalType.REAL || to == EvalType.DECIMAL;
        EvalType source = from == EvalType.ENUM && !toNumber ? EvalType.BYTES : from;
        Kernel kernel = kernels.getOrDefault(source, Map.of()).get(to);
        if (kernel == null) {
            throw new CoplaneException(
                    ErrorCode.UNSUPPORTED, "Unsupported cast from " + from.label() + " to " + to.label());
        }
        boolean inUnion;
        try {
            inUnion = InUnionMetadata.parseFrom(node.node().getVal()).getInUnion();
        } catch (InvalidProtocolBufferException e) {
            throw new CoplaneException(ErrorCode.BAD_PLAN, "Decode metadata failed: " + e.getMessage(), e);
        }
        node.want(0, source);
        node.kernel(kernel);
        node.metadata(new Plan(inUnion, isConstant(node)));
    }

    private static boolean isConstant(Preparation node) {
        return switch (node.child(0).getTp()) {
            case ScalarFunc, ColumnRef -> false;
            case Null,
                    Int64,
                    Uint64,
                    String,
                    Bytes,
                    Float32,
                    Float64,
                    MysqlTime,
                    MysqlDuration,
                    MysqlDecimal,
                    MysqlJson,
                    MysqlEnum,
                    TiDBVectorFloat32 -> true;
            default ->
                throw Preparation.fails(
                        "Unsupported expression type " + node.child(0).getTp().name());
        };
    }

    static Plan plan(KernelContext ctx) {
        return (Plan) ctx.metadata();
    }
}
