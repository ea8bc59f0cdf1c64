package io.coplane.cop.expr.kernel;

/** A number as the sum of two doubles, some 106 bits wide; changed in place. Magnitudes must stay clear of overflow and underflow. One thread. */
final class DoubleDouble {
    private double high;
    private double low;

    double high() {
        return high;
    }

    double low() {
        return low;
    }

    /** Becomes {@code high + low}; neither needs to be the larger. */
    DoubleDouble set(double high, double low) {
        double sum = high + low;
        double other = sum - high;
        this.low = (high - (sum - other)) + (low - other);
        this.high = sum;
        return this;
    }

    DoubleDouble set(DoubleDouble other) {
        high = other.high;
        low = other.low;
        return this;
    }

    DoubleDouble add(double value) {
        double sum = high + value;
        double other = sum - high;
        double rest = (high - (sum - other)) + (value - other) + low;
        high = sum + rest;
        low = rest - (high - sum);
        return this;
    }

    DoubleDouble add(double otherHigh, double otherLow) {
        double sum = high + otherHigh;
        double other = sum - high;
        double rest = (high - (sum - other)) + (otherHigh - other);
        double lows = low + otherLow;
        double lowOther = lows - low;
        double lowRest = (low - (lows - lowOther)) + (otherLow - lowOther);
        rest += lows;
        double mid = sum + rest;
        rest = rest - (mid - sum) + lowRest;
        high = mid + rest;
        low = rest - (high - mid);
        return this;
    }

    DoubleDouble add(DoubleDouble other) {
        return add(other.high, other.low);
    }

    DoubleDouble subtract(DoubleDouble other) {
        return add(-other.high, -other.low);
    }

    DoubleDouble multiply(double value) {
        double product = high * value;
        double rest = Math.fma(high, value, -product) + low * value;
        high = product + rest;
        low = rest - (high - product);
        return this;
    }

    DoubleDouble multiply(double otherHigh, double otherLow) {
        double product = high * otherHigh;
        double rest = Math.fma(high, otherHigh, -product) + (high * otherLow + low * otherHigh);
        high = product + rest;
        low = rest - (high - product);
        return this;
    }

    DoubleDouble multiply(DoubleDouble other) {
        return multiply(other.high, other.low);
    }

    DoubleDouble divide(DoubleDouble other) {
        double first = high / other.high;
        double restHigh = Math.fma(-first, other.high, high); // exact: the remainder of a division
        double second = (restHigh + (low - first * other.low)) / other.high;
        double product = first * other.low;
        double lowRest = low - product - Math.fma(first, other.low, -product);
        double residue = Math.fma(-second, other.high, restHigh) + lowRest - second * other.low;
        double third = residue / other.high;
        return set(first, second).add(third);
    }

    /** The nearest double. */
    double value() {
        return high + low;
    }
}
