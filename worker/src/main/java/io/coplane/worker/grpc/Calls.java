package io.coplane.worker.grpc;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Unary calls as futures. */
public final class Calls {
    private Calls() {}

    /**
     * Calls a method.
     *
     * @param timeout from now; the call fails with DEADLINE_EXCEEDED after it
     * @return fails with {@link io.grpc.StatusRuntimeException}. Completed on a thread of the channel: don't block in its stages
     */
    public static <Q, R> CompletableFuture<R> unary(
            Channel channel, MethodDescriptor<Q, R> method, Q request, Duration timeout) {
        CompletableFuture<R> answer = new CompletableFuture<>();
        CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(timeout.toMillis(), TimeUnit.MILLISECONDS);
        ClientCalls.asyncUnaryCall(channel.newCall(method, options), request, new StreamObserver<R>() {
            private R value;

            @Override
            public void onNext(R next) {
                value = next;
            }

            @Override
            public void onError(Throwable failure) {
                answer.completeExceptionally(failure);
            }

            @Override
            public void onCompleted() {
                if (value == null) {
                    answer.completeExceptionally(Status.INTERNAL
                            .withDescription("no message: method=" + method.getFullMethodName())
                            .asRuntimeException());
                } else {
                    answer.complete(value);
                }
            }
        });
        return answer;
    }
}
