package io.coplane.worker.examples;

import io.coplane.engine.CopAnswer;
import io.coplane.engine.CopRequest;
import io.coplane.engine.DataPlane;
import io.coplane.engine.DataPlaneConfig;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.ObjectStore;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Optional;

/** Example: a data plane that answers one request. */
final class AnswerOneRequest {
    private AnswerOneRequest() {}

    // tag::answer
    /** Answers one request over the files below a directory. */
    static CopAnswer answer(Path files, byte[] body) {
        DataPlaneConfig config = DataPlaneConfig.defaults(Runtime.getRuntime().availableProcessors(), 256L << 20);
        try (ObjectStore store = new DirectoryStore(files, "default", 4);
                DataPlane plane = DataPlane.open(config, store, Clock.system(), new PrometheusRegistry())) {
            CopRequest request = new CopRequest(MemorySegment.ofArray(body), Optional.empty());
            return plane.coprocessor(request).join(); // never fails: every outcome is an answer
        }
    }
    // end::answer
}
