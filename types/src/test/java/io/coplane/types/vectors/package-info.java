/** Reads the lines of the expression vectors that need no expression to run. */
package io.coplane.types.vectors;
