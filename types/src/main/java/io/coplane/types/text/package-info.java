/** UTF-8 over byte ranges, charset conversion, case mapping and the LIKE matcher. */
package io.coplane.types.text;
