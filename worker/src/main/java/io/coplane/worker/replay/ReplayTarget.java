package io.coplane.worker.replay;

import io.coplane.nativecache.ObjectStore;
import io.coplane.proto.coprocessor.Response;
import java.io.IOException;

/** Where requests are sent. Thread-safe. */
interface ReplayTarget extends AutoCloseable {
    /** The store that the target reads its files from; layouts are written there. */
    ObjectStore store();

    /**
     * Sends one request and waits for its answer.
     *
     * @param body format 1; not modified
     * @return the answer; a failure without a response comes as {@code other_error}
     */
    Response send(byte[] body) throws IOException, InterruptedException;

    @Override
    void close();
}
