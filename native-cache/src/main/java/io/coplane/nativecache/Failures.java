package io.coplane.nativecache;

import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/** What futures fail with. */
public final class Failures {
    private Failures() {}

    /** The failure itself, without the wrappers that futures put around it; a wrapper without a cause is the failure. */
    public static Throwable unwrap(Throwable thrown) {
        Throwable failure = thrown;
        while ((failure instanceof CompletionException || failure instanceof ExecutionException)
                && failure.getCause() != null) {
            failure = failure.getCause();
        }
        return failure;
    }
}
