package io.coplane.cop.expr;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.proto.tipb.ScalarFuncSig;
import java.util.List;
import org.junit.jupiter.api.Test;

class SignaturesTest {
    /** Appendix C of expressions.md. */
    private static final int SUPPORTED = 510;

    @Test
    void asManyFunctionsAreSupportedAsTheSpecificationLists() {
        List<Signatures.Status> supported = Signatures.status().stream()
                .filter(Signatures.Status::supported)
                .toList();

        assertThat(supported).hasSize(SUPPORTED);
    }

    @Test
    void functionsThatTheReferenceRejectsAreNotSupported() {
        List<ScalarFuncSig> rejected = List.of(
                ScalarFuncSig.MinusIntUnsignedUnsigned,
                ScalarFuncSig.IntDivideIntSignedSigned,
                ScalarFuncSig.IlikeSig,
                ScalarFuncSig.AesDecrypt,
                ScalarFuncSig.JsonArrayInsertSig,
                ScalarFuncSig.CastStringAsVectorFloat32,
                ScalarFuncSig.ConvertTz,
                ScalarFuncSig.TimestampAdd,
                ScalarFuncSig.Char);

        assertThat(Signatures.status())
                .filteredOn(status -> rejected.contains(status.sig()))
                .hasSize(rejected.size())
                .noneMatch(Signatures.Status::supported);
    }

    @Test
    void everySupportedFunctionSaysHowItTreatsNulls() {
        assertThat(Signatures.status())
                .filteredOn(Signatures.Status::supported)
                .allMatch(status ->
                        status.nullRule().equals("strict") || status.nullRule().equals("N"));
    }
}
