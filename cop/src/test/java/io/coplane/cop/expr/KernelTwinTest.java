package io.coplane.cop.expr;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.coplane.cop.expr.kernel.Signature;
import io.coplane.nativecache.CoplaneException;
import io.coplane.proto.tipb.Expr;
import io.coplane.proto.tipb.ExprType;
import io.coplane.proto.tipb.ScalarFuncSig;
import io.coplane.testing.ManualClock;
import io.coplane.types.EvalContext;
import io.coplane.types.EvalException;
import io.coplane.types.EvalType;
import io.coplane.types.FieldType;
import io.coplane.types.column.BytesColumn;
import io.coplane.types.column.Column;
import java.nio.ByteBuffer;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every supported function: a batch of rows gives what each row gives alone, with columns and with constants, and what fails alone fails in the batch.
 * Rows are drawn from the ends and the odd values of each type; a fifth of them are NULL.
 */
class KernelTwinTest {
    private static final int[] BATCHES = {1, 2, 31, 32, 33, 1024};
    private static final long SEED = 20_261_129;
    private static final int MOST_ARGS = 4;
    private static final Set<ScalarFuncSig> RANDOM = Set.of(
            ScalarFuncSig.Rand, ScalarFuncSig.UUID, ScalarFuncSig.RandomBytes, ScalarFuncSig.RandWithSeedFirstGen);
    /** Results of gigabytes: they have tests of their own. */
    private static final Set<ScalarFuncSig> HUGE = Set.of(
            ScalarFuncSig.Repeat,
            ScalarFuncSig.Space,
            ScalarFuncSig.Lpad,
            ScalarFuncSig.LpadUTF8,
            ScalarFuncSig.Rpad,
            ScalarFuncSig.RpadUTF8);

    /** Types without a literal, or whose literal is another value: that of a duration has six digits of fraction. */
    private static final Set<EvalType> NO_CONSTANTS = Set.of(EvalType.VECTOR_FLOAT32, EvalType.ENUM, EvalType.DURATION);

    private static final Map<EvalType, List<VectorLiteral>> POOLS = pools();

    private static Map<EvalType, List<VectorLiteral>> pools() {
        Map<EvalType, List<VectorLiteral>> pools = new EnumMap<>(EvalType.class);
        pools.put(
                EvalType.INT,
                literals(
                        "I:0",
                        "I:1",
                        "I:-1",
                        "I:2",
                        "I:3",
                        "I:7",
                        "I:60",
                        "I:127",
                        "I:-128",
                        "I:2010",
                        "I:20200229",
                        "I:20200101101010",
                        "I:4294967296",
                        "I:9223372036854775807",
                        "I:-9223372036854775808"));
        pools.put(
                EvalType.REAL,
                literals(
                        "R:0",
                        "R:-0.0",
                        "R:1",
                        "R:-1.5",
                        "R:2.5",
                        "R:0.5",
                        "R:1e10",
                        "R:1e308",
                        "R:-1e308",
                        "R:4.9e-324",
                        "R:20200229.5",
                        "R:9223372036854775807",
                        "R:18446744073709551616"));
        pools.put(
                EvalType.DECIMAL,
                literals(
                        "D:0",
                        "D:1",
                        "D:-1.5",
                        "D:0.000000001",
                        "D:123.456",
                        "D:99999999999999999999.99",
                        "D:-0.5",
                        "D:20200229101010.5",
                        "D:9223372036854775808",
                        "D:99999999999999999999999999999999999999999999999999999999999999999"));
        pools.put(
                EvalType.BYTES,
                literals(
                        "B:\"\"",
                        "B:\"a\"",
                        "B:\"A \"",
                        "B:\"abc\"",
                        "B:\"1\"",
                        "B:\"12.5x\"",
                        "B:\"-7\"",
                        "B:\"2020-02-29 03:04:05.678\"",
                        "B:\"-10:11:12\"",
                        "B:\"{\\\"a\\\":[1,2]}\"",
                        "B:\"$.a\"",
                        "B:\"%a_\"",
                        "B:\"\\u00e9\\u4e2d\\ud83d\\ude03\"",
                        "X:fffe41",
                        "B:\"1.2.3.4\"",
                        "B:\"::1\"",
                        "B:\"1e400\"",
                        "B:\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"",
                        "B:\"\\u0000\\n\\\\\"",
                        "B:\"DAY\""));
        pools.put(
                EvalType.DATE_TIME,
                literals(
                        "T:\"2020-02-29 03:04:05\"@DATETIME(0)", "T:\"0000-00-00 00:00:00\"@DATETIME(0)",
                        "T:\"9999-12-31 23:59:59\"@DATETIME(0)", "T:\"1970-01-01 00:00:01\"@DATETIME(0)",
                        "T:\"2021-00-01 00:00:00\"@DATETIME(0)", "T:\"0001-01-01 00:00:00\"@DATETIME(0)"));
        pools.put(
                EvalType.DURATION,
                literals(
                        "N:\"00:00:00\"@0",
                        "N:\"11:30:45\"@0",
                        "N:\"-838:59:59\"@0",
                        "N:\"838:59:59\"@0",
                        "N:\"-00:00:01\"@0"));
        pools.put(
                EvalType.JSON,
                literals(
                        "J:null",
                        "J:true",
                        "J:i64 1",
                        "J:u64 18446744073709551615",
                        "J:f64 1.5",
                        "J:\"a\"",
                        "J:[]",
                        "J:{\"a\":[1,{\"b\":null}]}",
                        "J:[1,\"a\",[2]]",
                        "J:\"2020-01-02\""));
        pools.put(EvalType.VECTOR_FLOAT32, literals("V:[]", "V:[1]", "V:[1,2]", "V:[-1.5,0]", "V:[3,4]"));
        return pools;
    }

    private static List<VectorLiteral> literals(String... texts) {
        return Arrays.stream(texts).map(VectorLiteral::one).toList();
    }

    static Stream<ScalarFuncSig> signatures() {
        List<ScalarFuncSig> all = Signatures.status().stream()
                .filter(Signatures.Status::supported)
                .map(Signatures.Status::sig)
                .filter(sig -> !RANDOM.contains(sig) && !HUGE.contains(sig))
                .toList();
        assertThat(all).hasSizeGreaterThan(490);
        return all.stream();
    }

    @ParameterizedTest
    @MethodSource("signatures")
    void aBatchGivesWhatEachRowGivesAlone(ScalarFuncSig sig) {
        int forms = 0;
        for (EvalType[] args : argumentLists(Signatures.table().find(sig))) {
            for (EvalType returns : returnTypes(Signatures.table().find(sig))) {
                Form form = new Form(sig, args, returns);
                if (form.compiles()) {
                    forms++;
                    form.check();
                    if (forms == 3) {
                        return;
                    }
                }
            }
        }
        assertThat(forms).as("forms of " + sig + " that compile").isPositive();
    }

    private static List<EvalType> returnTypes(Signature signature) {
        return signature.returns() != null
                ? List.of(signature.returns())
                : List.of(
                        EvalType.INT,
                        EvalType.BYTES,
                        EvalType.JSON,
                        EvalType.REAL,
                        EvalType.DECIMAL,
                        EvalType.DATE_TIME,
                        EvalType.DURATION);
    }

    private static List<EvalType[]> argumentLists(Signature signature) {
        List<EvalType[]> lists = new ArrayList<>();
        EvalType[] guesses = {
            EvalType.BYTES,
            EvalType.INT,
            EvalType.JSON,
            EvalType.REAL,
            EvalType.DECIMAL,
            EvalType.DATE_TIME,
            EvalType.DURATION
        };
        int least = signature.checksTypes() ? signature.minArgs() : 0;
        for (int count = least; count <= Math.min(signature.maxArgs(), Math.max(MOST_ARGS, least)); count++) {
            boolean isOpen = !signature.checksTypes();
            EvalType[] types = new EvalType[count];
            for (int i = 0; i < count && !isOpen; i++) {
                types[i] = signature.argType(i);
                isOpen = types[i] == null;
            }
            if (!isOpen) {
                lists.add(types);
                continue;
            }
            int combinations = (int) Math.pow(guesses.length, Math.min(count, 3));
            for (int code = 0; code < combinations; code++) {
                EvalType[] guess = new EvalType[count];
                for (int i = 0, rest = code; i < count; i++, rest /= guesses.length) {
                    EvalType fixed = signature.checksTypes() ? signature.argType(i) : null;
                    guess[i] = fixed != null ? fixed : guesses[i < 3 ? rest % guesses.length : 0];
                }
                lists.add(guess);
            }
        }
        return lists;
    }

    /** One way to call a function. */
    private static final class Form {
        private final ScalarFuncSig sig;
        private final EvalType[] args;
        private final List<FieldType> schema = new ArrayList<>();
        private final FieldType returns;
        private final SplittableRandom random = new SplittableRandom(SEED);
        /** Unit of interval arithmetic, which must be a literal. */
        private final VectorLiteral unit;

        Form(ScalarFuncSig sig, EvalType[] args, EvalType returns) {
            this.sig = sig;
            this.args = args;
            this.returns = type(returns);
            boolean hasUnit = sig == ScalarFuncSig.TimestampDiff
                    || args.length == 3
                            && sig.name()
                                    .matches(
                                            "(Add|Sub)Date(String|Int|Datetime|Duration|Real|Decimal)(String|Int|Real|Decimal).*");
            unit = hasUnit ? VectorLiteral.one("B:\"HOUR\"") : null;
            for (EvalType arg : args) {
                schema.add(type(arg));
            }
        }

        private static FieldType type(EvalType type) {
            VectorLiteral literal = type == EvalType.ENUM
                    ? VectorLiteral.one("E:(B:\"a\", 1)")
                    : POOLS.get(type).get(0);
            FieldType plain = VectorValues.fieldType(literal, Map.of(), type);
            int collate = type == EvalType.BYTES ? -46 : -63;
            return new FieldType(plain.tp(), plain.flag(), -1, plain.decimal(), collate, "utf8mb4", plain.elems());
        }

        private Expr node(VectorLiteral[] constants) {
            Expr.Builder node =
                    Expr.newBuilder().setTp(ExprType.ScalarFunc).setSig(sig).setFieldType(VectorValues.wire(returns));
            for (int i = 0; i < args.length; i++) {
                if (unit != null && i == (sig == ScalarFuncSig.TimestampDiff ? 0 : 2)) {
                    node.addChildren(VectorValues.constant(unit, schema.get(i), eval()));
                } else if (constants[i] != null) {
                    node.addChildren(VectorValues.constant(constants[i], schema.get(i), eval()));
                } else {
                    node.addChildren(Expr.newBuilder()
                            .setTp(ExprType.ColumnRef)
                            .setFieldType(VectorValues.wire(schema.get(i)))
                            .setVal(ByteString.copyFrom(
                                    ByteBuffer.allocate(Long.BYTES).putLong(0, i ^ Long.MIN_VALUE))));
                }
            }
            return node.build();
        }

        boolean compiles() {
            try {
                Expression.compile(node(new VectorLiteral[args.length]), schema, eval());
                return true;
            } catch (CoplaneException e) {
                return false;
            }
        }

        void check() {
            Expression whole = Expression.compile(node(new VectorLiteral[args.length]), schema, eval());
            Expression alone = Expression.compile(node(new VectorLiteral[args.length]), schema, eval());
            for (int rows : BATCHES) {
                List<VectorLiteral[]> input = new ArrayList<>();
                for (int row = 0; row < rows; row++) {
                    input.add(draw());
                }
                compare(whole, alone, input, "columns");
            }
            for (int constant = 0; constant < args.length; constant++) {
                VectorLiteral[] constants = new VectorLiteral[args.length];
                constants[constant] = draw()[constant];
                if (constants[constant] == null || NO_CONSTANTS.contains(args[constant])) {
                    continue;
                }
                List<VectorLiteral[]> input = new ArrayList<>();
                for (int row = 0; row < 33; row++) {
                    VectorLiteral[] drawn = draw();
                    drawn[constant] = constants[constant];
                    input.add(drawn);
                }
                Expression withConstant;
                try {
                    withConstant = Expression.compile(node(constants), schema, eval());
                } catch (CoplaneException e) {
                    continue; // a constant may be refused when the plan is built
                }
                compareConstant(withConstant, alone, input, "constant " + constant);
            }
        }

        private VectorLiteral[] draw() {
            VectorLiteral[] row = new VectorLiteral[args.length];
            for (int i = 0; i < row.length; i++) {
                if (random.nextInt(5) > 0) {
                    List<VectorLiteral> pool = args[i] == EvalType.ENUM
                            ? List.of(VectorLiteral.one("E:(B:\"a\", 1)"))
                            : POOLS.get(args[i]);
                    row[i] = pool.get(random.nextInt(pool.size()));
                }
            }
            return row;
        }

        private String run(Expression expression, List<VectorLiteral[]> input, List<String> results) {
            EvalContext eval = eval();
            Column[] columns = new Column[args.length];
            for (int i = 0; i < args.length; i++) {
                columns[i] = Columns.create(args[i]);
                if (columns[i] instanceof BytesColumn bytes) {
                    bytes.resetOwned(input.size());
                } else {
                    columns[i].reset(input.size());
                }
                for (int row = 0; row < input.size(); row++) {
                    VectorLiteral literal = input.get(row)[i];
                    VectorValues.put(
                            literal == null ? VectorLiteral.one("NULL") : literal,
                            schema.get(i),
                            eval,
                            columns[i],
                            row);
                }
            }
            try {
                Column out = expression.evaluate(eval, index -> columns[index], input.size());
                for (int row = 0; row < input.size(); row++) {
                    results.add(VectorValues.show(out, row, expression.evalType(), returns));
                }
            } catch (CoplaneException e) {
                return e.code() + " " + e.getMessage();
            }
            StringBuilder warnings = new StringBuilder();
            for (EvalException warning : eval.warnings()) {
                warnings.append(warning.warningCode())
                        .append(' ')
                        .append(warning.warningText())
                        .append('\n');
            }
            results.add(0, warnings.toString());
            return null;
        }

        private void compare(Expression whole, Expression alone, List<VectorLiteral[]> input, String what) {
            List<VectorLiteral[]> good = new ArrayList<>();
            List<String> expected = new ArrayList<>();
            StringBuilder warnings = new StringBuilder();
            String firstFailure = null;
            for (VectorLiteral[] row : input) {
                List<String> result = new ArrayList<>();
                String failure = run(alone, List.<VectorLiteral[]>of(row), result);
                if (failure == null) {
                    good.add(row);
                    warnings.append(result.get(0));
                    expected.add(result.get(1));
                } else if (firstFailure == null) {
                    firstFailure = failure;
                }
            }
            if (firstFailure != null) {
                assertThat(run(whole, input, new ArrayList<>()))
                        .as(what(what, input))
                        .isEqualTo(firstFailure);
            }
            List<String> results = new ArrayList<>();
            assertThat(run(whole, good, results)).as(what(what, good)).isNull();
            for (int row = 0; row < good.size(); row++) {
                assertThat(results.get(row + 1))
                        .as(what(what, List.<VectorLiteral[]>of(good.get(row))) + " row " + row + " of " + good.size())
                        .isEqualTo(expected.get(row));
            }
            if (warnings.toString().lines().count() <= EvalContext.DEFAULT_MAX_WARNINGS) {
                assertThat(results.get(0).lines().sorted())
                        .as("warnings of " + what(what, good))
                        .isEqualTo(warnings.toString().lines().sorted().toList());
            }
        }

        /** Errors may come earlier with a constant; values are the same. */
        private void compareConstant(Expression whole, Expression alone, List<VectorLiteral[]> input, String what) {
            List<VectorLiteral[]> good = new ArrayList<>();
            List<String> expected = new ArrayList<>();
            for (VectorLiteral[] row : input) {
                List<String> result = new ArrayList<>();
                if (run(alone, List.<VectorLiteral[]>of(row), result) == null) {
                    good.add(row);
                    expected.add(result.get(1));
                }
            }
            List<String> results = new ArrayList<>();
            assertThat(run(whole, good, results)).as(what(what, good)).isNull();
            for (int row = 0; row < good.size(); row++) {
                assertThat(results.get(row + 1))
                        .as(what(what, List.<VectorLiteral[]>of(good.get(row))) + " row " + row + " of " + good.size())
                        .isEqualTo(expected.get(row));
            }
        }

        private String what(String how, List<VectorLiteral[]> rows) {
            StringBuilder text = new StringBuilder(sig + " of " + Arrays.toString(args) + ", " + how + ":");
            for (int row = 0; row < Math.min(3, rows.size()); row++) {
                text.append(" (");
                for (VectorLiteral literal : rows.get(row)) {
                    text.append(literal == null ? "NULL" : literal.kind() + ":" + literal.text())
                            .append(' ');
                }
                text.append(')');
            }
            return text.toString();
        }

        private static EvalContext eval() {
            return new EvalContext(
                    EvalContext.TRUNCATE_AS_WARNING | EvalContext.OVERFLOW_AS_WARNING | EvalContext.IN_SELECT_STMT,
                    0,
                    ZoneOffset.UTC,
                    EvalContext.DEFAULT_MAX_WARNINGS,
                    4,
                    ManualClock.recorded());
        }
    }
}
