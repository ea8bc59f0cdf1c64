package io.coplane.cop.expr;

import io.coplane.cop.expr.kernel.SignatureTable;
import io.coplane.proto.tipb.ScalarFuncSig;
import java.util.ArrayList;
import java.util.List;

/** Which functions exist and which of them are supported (expressions.md 8, 12). Thread-safe. */
public final class Signatures {
    private static final SignatureTable TABLE = SignatureTable.create();

    private Signatures() {}

    /**
     * One function.
     *
     * @param sig number and name
     * @param supported false if a request that uses it is answered with an error
     * @param nullRule {@code strict} or {@code N}; empty if not supported
     */
    public record Status(ScalarFuncSig sig, boolean supported, String nullRule) {}

    /** Every function by number. */
    public static List<Status> status() {
        List<Status> all = new ArrayList<>();
        for (ScalarFuncSig sig : ScalarFuncSig.values()) {
            if (sig == ScalarFuncSig.Unspecified) {
                continue;
            }
            var signature = TABLE.find(sig);
            boolean supported = signature != null;
            all.add(new Status(sig, supported, !supported ? "" : signature.isStrict() ? "strict" : "N"));
        }
        return all;
    }

    static SignatureTable table() {
        return TABLE;
    }
}
