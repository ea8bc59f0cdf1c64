/**
 * The HTTP surface (worker.md 5): exact paths, bodies charged before they are held, one request at a time per connection.
 *
 * <p>Enter through {@link HttpServer}. May import: engine and the ground, Netty. Threads: a connection belongs to one event loop; answers of the
 * data plane come from its pool and are handed over.
 * <p>Memory: {@link RequestBody} owns the bytes of one body and their charge until the data plane has read them, also if the client is gone.
 */
package io.coplane.worker.http;
