/**
 * The worker process and its command line.
 *
 * <p>Enter through {@link CoplaneMain}; {@link Worker} is the running server. May import: engine and everything below it. The only module that
 * reads the environment.
 */
package io.coplane.worker;
