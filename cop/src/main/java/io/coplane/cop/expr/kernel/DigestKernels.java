package io.coplane.cop.expr.kernel;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.types.EvalException;
import io.coplane.types.EvalType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import io.coplane.types.column.LongColumn;
import java.security.DigestException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;

/** Digests, passwords, random bytes (expressions.md 8.12). */
final class DigestKernels {
    private static final int INCORRECT_PARAMETERS = 1583;
    private static final int OUT_OF_RANGE = 1690;
    private static final byte[] HEX = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};
    private static final int LONGEST_DIGEST = 64;

    /** Working memory of one node. */
    private static final class Digester {
        private final MessageDigest digest;
        private final byte[] buffer = new byte[LONGEST_DIGEST];
        private final byte[] hex = new byte[2 * LONGEST_DIGEST];

        Digester(String algorithm) {
            try {
                digest = MessageDigest.getInstance(algorithm);
            } catch (NoSuchAlgorithmException e) {
                throw new CoplaneException(ErrorCode.INVARIANT_BROKEN, "no " + algorithm, e);
            }
        }

        /** Writes the lower-case hex digest to {@link #hex}. @return characters */
        int hex(byte[] data, int start, int length) {
            digest.update(data, start, length);
            int bytes;
            try {
                bytes = digest.digest(buffer, 0, buffer.length);
            } catch (DigestException e) {
                throw new CoplaneException(ErrorCode.INVARIANT_BROKEN, "digest", e);
            }
            for (int i = 0; i < bytes; i++) {
                hex[2 * i] = HEX[buffer[i] >> 4 & 0xf];
                hex[2 * i + 1] = HEX[buffer[i] & 0xf];
            }
            return 2 * bytes;
        }
    }

    private DigestKernels() {}

    static void declare(SignatureTable table) {
        digest(table, ScalarFuncSig.MD5, "MD5");
        digest(table, ScalarFuncSig.SHA1, "SHA-1");
        table.add(ScalarFuncSig.SHA2)
                .takes(EvalType.BYTES, EvalType.INT)
                .returns(EvalType.BYTES)
                .runs(DigestKernels::sha2);
        table.add(ScalarFuncSig.Password)
                .takes(EvalType.BYTES)
                .returns(EvalType.BYTES)
                .seesNulls()
                .runs(DigestKernels::password);
        table.add(ScalarFuncSig.RandomBytes)
                .takes(EvalType.INT)
                .returns(EvalType.BYTES)
                .runs(DigestKernels::randomBytes);
    }

    private static void digest(SignatureTable table, ScalarFuncSig sig, String algorithm) {
        table.add(sig).takes(EvalType.BYTES).returns(EvalType.BYTES).runs((ctx, args, rows, out) -> {
            if (ctx.scratch() == null) {
                ctx.scratch(new Digester(algorithm));
            }
            Digester digester = (Digester) ctx.scratch();
            for (int i = 0; i < rows; i++) {
                if (!out.isNull(i)) {
                    put(digester, (BytesColumn) args[0], i, (BytesColumn) out);
                }
            }
        });
    }

    private static void put(Digester digester, BytesColumn arg, int row, BytesColumn out) {
        int length = digester.hex(arg.data(), arg.starts()[row], arg.lengths()[row]);
        out.set(row, digester.hex, 0, length);
    }

    private static void sha2(KernelContext ctx, Column[] args, int rows, Column out) {
        if (ctx.scratch() == null) {
            ctx.scratch(new Digester[4]);
        }
        Digester[] digesters = (Digester[]) ctx.scratch();
        long[] bits = ((LongColumn) args[1]).values();
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            int which = bits[i] == 0 || bits[i] == 256
                    ? 0
                    : bits[i] == 224 ? 1 : bits[i] == 384 ? 2 : bits[i] == 512 ? 3 : -1;
            if (which < 0) {
                ctx.eval()
                        .warn(EvalException.coded(
                                INCORRECT_PARAMETERS, "Incorrect parameters in the call to native function 'sha2'"));
                Texts.putNull((BytesColumn) out, i);
                continue;
            }
            if (digesters[which] == null) {
                digesters[which] = new Digester(
                        switch (which) {
                            case 0 -> "SHA-256";
                            case 1 -> "SHA-224";
                            case 2 -> "SHA-384";
                            default -> "SHA-512";
                        });
            }
            put(digesters[which], (BytesColumn) args[0], i, (BytesColumn) out);
        }
    }

    private static void password(KernelContext ctx, Column[] args, int rows, Column result) {
        if (ctx.scratch() == null) {
            ctx.scratch(new Digester("SHA-1"));
        }
        Digester digester = (Digester) ctx.scratch();
        BytesColumn arg = (BytesColumn) args[0];
        BytesColumn out = (BytesColumn) result;
        for (int i = 0; i < rows; i++) {
            ctx.eval().warn(EvalException.uncoded("Warning: Deprecated syntax PASSWORD"));
            if (arg.isNull(i)) {
                Texts.putNull(out, i);
            } else if (arg.lengths()[i] == 0) {
                out.setEmpty(i);
            } else {
                int length = digester.hex(arg.data(), arg.starts()[i], arg.lengths()[i]);
                length = digester.hex(digester.hex, 0, length);
                int to = ctx.reserve(out, length + 1);
                out.data()[to] = '*';
                System.arraycopy(digester.hex, 0, out.data(), to + 1, length);
                out.setView(i, to, length + 1);
            }
        }
    }

    private static void randomBytes(KernelContext ctx, Column[] args, int rows, Column result) {
        if (ctx.scratch() == null) {
            ctx.scratch(new SecureRandom());
        }
        SecureRandom random = (SecureRandom) ctx.scratch();
        BytesColumn out = (BytesColumn) result;
        long[] lengths = ((LongColumn) args[0]).values();
        for (int i = 0; i < rows; i++) {
            if (out.isNull(i)) {
                continue;
            }
            if (lengths[i] < 1 || lengths[i] > 1024) {
                throw EvalException.coded(OUT_OF_RANGE, "length value is out of range in 'random_bytes'");
            }
            byte[] bytes = new byte[(int) lengths[i]];
            random.nextBytes(bytes);
            out.set(i, bytes, 0, bytes.length);
        }
    }
}
