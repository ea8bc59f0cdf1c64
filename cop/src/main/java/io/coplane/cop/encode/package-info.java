/** Batches to response bytes (coprocessor.md 3.12): default and chunk encoding, chunks of a SelectResponse. One request, one thread. */
package io.coplane.cop.encode;
