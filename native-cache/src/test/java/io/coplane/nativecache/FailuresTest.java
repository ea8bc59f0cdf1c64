package io.coplane.nativecache;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

final class FailuresTest {
    private final CoplaneException failure = new CoplaneException(ErrorCode.DEADLINE, "too late");

    @Test
    void unwrapsWhatFuturesWrap() {
        assertThat(Failures.unwrap(failure)).isSameAs(failure);
        assertThat(Failures.unwrap(new CompletionException(failure))).isSameAs(failure);
        assertThat(Failures.unwrap(new ExecutionException(new CompletionException(failure))))
                .isSameAs(failure);
    }

    @Test
    void leavesCausesThatAreNoWrappersAndWrappersWithoutACause() {
        RuntimeException other = new IllegalStateException(failure);
        CompletionException empty = new CompletionException("nothing", null);

        assertThat(Failures.unwrap(new CompletionException(other))).isSameAs(other);
        assertThat(Failures.unwrap(empty)).isSameAs(empty);
    }
}
