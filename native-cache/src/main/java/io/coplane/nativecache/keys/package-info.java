/**
 * Key services: who decrypts master keys (worker.md 17). Enter through {@link AwsKms}. Threads: any; calls block. Keys are never part of an error's text.
 */
package io.coplane.nativecache.keys;
