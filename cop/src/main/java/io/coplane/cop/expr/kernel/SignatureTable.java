package io.coplane.cop.expr.kernel;

import io.coplane.proto.tipb.ScalarFuncSig;
import java.util.EnumMap;
import java.util.Map;

/** All declared functions. Immutable once {@link #create()} has returned. Thread-safe. */
public final class SignatureTable {
    private final Map<ScalarFuncSig, Signature> signatures = new EnumMap<>(ScalarFuncSig.class);

    private SignatureTable() {}

    /** Declares every function. */
    public static SignatureTable create() {
        SignatureTable table = new SignatureTable();
        CompareKernels.declare(table);
        LogicKernels.declare(table);
        ArithmeticKernels.declare(table);
        ControlKernels.declare(table);
        RealKernels.declare(table);
        IntegerKernels.declare(table);
        SliceKernels.declare(table);
        StringKernels.declare(table);
        NumberTextKernels.declare(table);
        SearchKernels.declare(table);
        DecimalKernels.declare(table);
        InKernels.declare(table);
        ExtremeKernels.declare(table);
        VectorKernels.declare(table);
        DigestKernels.declare(table);
        CompressKernels.declare(table);
        InetKernels.declare(table);
        UuidKernels.declare(table);
        RegexpKernels.declare(table);
        CollationKernels.declare(table);
        CharsetKernels.declare(table);
        CastKernels.declare(table);
        TimeFieldKernels.declare(table);
        TimeKernels.declare(table);
        AddTimeKernels.declare(table);
        DateAddKernels.declare(table);
        TextTimeKernels.declare(table);
        JsonKernels.declare(table);
        JsonEditKernels.declare(table);
        return table;
    }

    /** The declaration of a function, null if there is none. */
    public Signature find(ScalarFuncSig sig) {
        return signatures.get(sig);
    }

    /** Starts a declaration. */
    Signature add(ScalarFuncSig sig) {
        Signature signature = new Signature(sig);
        if (signatures.put(sig, signature) != null) {
            throw new IllegalStateException("declared twice: " + sig);
        }
        return signature;
    }
}
