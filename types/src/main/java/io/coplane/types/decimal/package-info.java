/**
 * MySQL decimals (expressions.md 5.4, coprocessor.md 4.7): {@code Decimal}, a value that is changed in place, its operations, and kernels on
 * {@code DecimalColumn}.
 *
 * <p>Operations return a {@code DecimalStatus}; callers turn it into errors or warnings. Nothing here allocates per row, but texts of doubles and
 * conversions of long values to doubles. One thread per value; static methods any.
 */
package io.coplane.types.decimal;
