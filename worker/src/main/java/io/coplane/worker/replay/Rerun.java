package io.coplane.worker.replay;

import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;

/** Runs a request over the data of the one compared, in the layout of the one compared. */
@FunctionalInterface
public interface Rerun {
    /** Answers a request made up by the comparer: without keyspace prefix, as recorded ones are. */
    Response run(Request request);
}
