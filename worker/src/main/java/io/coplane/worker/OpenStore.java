package io.coplane.worker;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.store.S3Config;
import io.coplane.nativecache.store.S3Store;
import io.coplane.worker.config.DfsConfig;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The store that a configuration names.
 *
 * @param store owned by whoever opened it
 * @param name for people, without secrets
 * @param nativeBytes what it may hold beside what requests are charged for
 */
record OpenStore(ObjectStore store, String name, long nativeBytes) {
    /** @throws CoplaneException BAD_CONFIG for what can't be */
    static OpenStore of(DfsConfig dfs, int threads, PrometheusRegistry registry) {
        if (dfs.isLocal()) {
            requireThere(dfs);
            Path root = Path.of(dfs.localDir());
            return new OpenStore(new DirectoryStore(root, dfs.prefix(), threads), root.toString(), 0);
        }
        S3Config config = dfs.s3();
        long most = S3Store.mostBytes(config);
        MemoryLimiter account = new MemoryLimiter(most);
        DfsMetrics metrics = new DfsMetrics(registry);
        S3Store store = S3Store.open(config, Clock.system(), account.acquire(0), metrics);
        metrics.wire(registry, store, most);
        return new OpenStore(store, "s3://" + config.bucket() + "/" + config.prefix(), most);
    }

    /** What can be told before it is opened. @throws CoplaneException BAD_CONFIG for what can't be */
    static void requireThere(DfsConfig dfs) {
        dfs.requireBuilt();
        if (dfs.isLocal() && !Files.isDirectory(Path.of(dfs.localDir()))) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, "dfs.local-dir is no directory: value=" + dfs.localDir());
        }
    }
}
