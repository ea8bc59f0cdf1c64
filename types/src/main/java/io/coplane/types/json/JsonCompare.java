package io.coplane.types.json;

import static io.coplane.types.json.JsonDocs.ARRAY;
import static io.coplane.types.json.JsonDocs.DATE;
import static io.coplane.types.json.JsonDocs.DATETIME;
import static io.coplane.types.json.JsonDocs.DOUBLE;
import static io.coplane.types.json.JsonDocs.I64;
import static io.coplane.types.json.JsonDocs.LITERAL;
import static io.coplane.types.json.JsonDocs.NULL_LITERAL;
import static io.coplane.types.json.JsonDocs.OBJECT;
import static io.coplane.types.json.JsonDocs.OPAQUE;
import static io.coplane.types.json.JsonDocs.STRING;
import static io.coplane.types.json.JsonDocs.TIME;
import static io.coplane.types.json.JsonDocs.TIMESTAMP;
import static io.coplane.types.json.JsonDocs.TRUE_LITERAL;
import static io.coplane.types.json.JsonDocs.U64;

import java.util.Arrays;

/** Order of JSON values (expressions.md 6.9.1). */
public final class JsonCompare {
    private static final double EPSILON = 2.220446049250313e-16;
    private static final int TIME_FIELDS_SHIFT = 4;

    private JsonCompare() {}

    /** Negative, zero or positive as the left value is less than, equal to or greater than the right one. */
    public static int compare(byte[] left, long leftRef, byte[] right, long rightRef) {
        int precedence = precedence(left, leftRef);
        int other = precedence(right, rightRef);
        if (precedence != other) {
            return Integer.compare(precedence, other);
        }
        return switch (JsonDocs.type(leftRef)) {
            case LITERAL -> Boolean.compare(isTrue(left, leftRef), isTrue(right, rightRef));
            case I64, U64, DOUBLE -> compareNumbers(left, leftRef, right, rightRef);
            case STRING, OPAQUE -> compareBytes(left, leftRef, right, rightRef);
            case DATE, DATETIME, TIMESTAMP ->
                Long.compareUnsigned(
                        JsonDocs.bits(left, leftRef) >>> TIME_FIELDS_SHIFT,
                        JsonDocs.bits(right, rightRef) >>> TIME_FIELDS_SHIFT);
            case TIME -> Long.compare(JsonDocs.bits(left, leftRef), JsonDocs.bits(right, rightRef));
            case ARRAY -> compareArrays(left, leftRef, right, rightRef);
            case OBJECT -> compareValueBytes(left, leftRef, right, rightRef);
            default -> throw JsonDocs.corrupt("unknown JSON type " + JsonDocs.type(leftRef), JsonDocs.at(leftRef));
        };
    }

    /** True if the value equals the integer 0, which is what makes a JSON condition false. */
    public static boolean isZero(byte[] data, long ref) {
        return switch (JsonDocs.type(ref)) {
            case I64, U64 -> JsonDocs.bits(data, ref) == 0;
            case DOUBLE -> Math.abs(JsonDocs.doubleValue(data, ref)) < EPSILON;
            default -> false;
        };
    }

    private static int precedence(byte[] data, long ref) {
        return switch (JsonDocs.type(ref)) {
            case OPAQUE -> -3;
            case DATETIME, TIMESTAMP -> -4;
            case TIME -> -5;
            case DATE -> -6;
            case LITERAL -> JsonDocs.literal(data, ref) == NULL_LITERAL ? -12 : -7;
            case ARRAY -> -8;
            case OBJECT -> -9;
            case STRING -> -10;
            case I64, U64, DOUBLE -> -11;
            default -> throw JsonDocs.corrupt("unknown JSON type " + JsonDocs.type(ref), JsonDocs.at(ref));
        };
    }

    private static boolean isTrue(byte[] data, long ref) {
        return JsonDocs.literal(data, ref) == TRUE_LITERAL;
    }

    private static int compareNumbers(byte[] left, long leftRef, byte[] right, long rightRef) {
        int leftType = JsonDocs.type(leftRef);
        int rightType = JsonDocs.type(rightRef);
        if (leftType == DOUBLE || rightType == DOUBLE) {
            double x = asDouble(left, leftRef);
            double y = asDouble(right, rightRef);
            return Math.abs(x - y) < EPSILON ? 0 : Double.compare(x, y);
        }
        long x = JsonDocs.bits(left, leftRef);
        long y = JsonDocs.bits(right, rightRef);
        if (leftType == I64 && rightType == I64) {
            return Long.compare(x, y);
        }
        if (leftType == I64 && x < 0) {
            return -1;
        }
        if (rightType == I64 && y < 0) {
            return 1;
        }
        return Long.compareUnsigned(x, y);
    }

    /** A number as a double. */
    static double asDouble(byte[] data, long ref) {
        long bits = JsonDocs.bits(data, ref);
        return switch (JsonDocs.type(ref)) {
            case I64 -> (double) bits;
            case U64 -> unsignedToDouble(bits);
            case DOUBLE -> Double.longBitsToDouble(bits);
            default -> throw JsonDocs.corrupt("JSON value is no number", JsonDocs.at(ref));
        };
    }

    private static double unsignedToDouble(long bits) {
        if (bits >= 0) {
            return (double) bits;
        }
        return (double) (bits >>> 1 | bits & 1) * 2; // the lost bit only decides a tie, which is rounded to odd here
    }

    private static int compareBytes(byte[] left, long leftRef, byte[] right, long rightRef) {
        int leftStart = JsonDocs.bytesStart(left, leftRef);
        int rightStart = JsonDocs.bytesStart(right, rightRef);
        return Arrays.compareUnsigned(
                left,
                leftStart,
                leftStart + JsonDocs.bytesLength(left, leftRef),
                right,
                rightStart,
                rightStart + JsonDocs.bytesLength(right, rightRef));
    }

    private static int compareValueBytes(byte[] left, long leftRef, byte[] right, long rightRef) {
        int leftStart = JsonDocs.at(leftRef);
        int rightStart = JsonDocs.at(rightRef);
        return Arrays.compareUnsigned(
                left,
                leftStart,
                leftStart + JsonDocs.valueLength(left, leftRef),
                right,
                rightStart,
                rightStart + JsonDocs.valueLength(right, rightRef));
    }

    private static int compareArrays(byte[] left, long leftRef, byte[] right, long rightRef) {
        int leftCount = JsonDocs.count(left, leftRef);
        int rightCount = JsonDocs.count(right, rightRef);
        for (int i = 0; i < Math.min(leftCount, rightCount); i++) {
            int order = compare(left, JsonDocs.element(left, leftRef, i), right, JsonDocs.element(right, rightRef, i));
            if (order != 0) {
                return order;
            }
        }
        return Integer.compare(leftCount, rightCount);
    }
}
