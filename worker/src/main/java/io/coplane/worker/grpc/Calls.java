package io.coplane.worker.grpc;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
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
        return unary(channel.newCall(method, within(timeout)), method.getFullMethodName(), request);
    }

    /** The same over a call that is made already, within its own deadline. */
    static <Q, R> CompletableFuture<R> unary(ClientCall<Q, R> call, String method, Q request) {
        CompletableFuture<R> answer = new CompletableFuture<>();
        ClientCalls.asyncUnaryCall(call, request, new StreamObserver<R>() {
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
                            .withDescription("no message: method=" + method)
                            .asRuntimeException());
                } else {
                    answer.complete(value);
                }
            }
        });
        return answer;
    }

    /** Options of a call that fails with DEADLINE_EXCEEDED after {@code timeout} from now. */
    static CallOptions within(Duration timeout) {
        return CallOptions.DEFAULT.withDeadlineAfter(timeout.toMillis(), TimeUnit.MILLISECONDS);
    }
}
