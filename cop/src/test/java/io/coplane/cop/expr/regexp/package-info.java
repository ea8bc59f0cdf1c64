/** Tests of regular expressions. */
package io.coplane.cop.expr.regexp;
