/** TLS of servers and clients: PEM files, reloaded when they change (worker.md 16). Enter through {@code Tls}. */
package io.coplane.worker.tls;
