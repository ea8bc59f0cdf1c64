package io.coplane.worker.grpc;

import io.coplane.engine.DataPlane;
import io.coplane.engine.DelegatedAnswer;
import io.coplane.engine.DelegatedRequest;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.proto.coprocessor.Request;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** One call of {@code tikvpb.Tikv/Coprocessor}. */
@SuppressWarnings("FutureReturnValueIgnored") // the answer is sent by the stage itself
final class TikvCall extends OneRequestCall<Request, byte[]> {
    private final Function<DelegatedRequest, CompletableFuture<DelegatedAnswer>> answer;
    private final DelegatedRequest.Store store;
    private final boolean takesPermits;
    private final WaitingAnswers.Room room;

    TikvCall(
            ServerCall<Charged<Request>, byte[]> call,
            Function<DelegatedRequest, CompletableFuture<DelegatedAnswer>> answer,
            DelegatedRequest.Store store,
            boolean takesPermits,
            WaitingAnswers waiting) {
        super(call);
        this.answer = answer;
        this.store = store;
        this.takesPermits = takesPermits;
        room = waiting.room();
    }

    @Override
    void begin(Charged<Request> request) {
        Context context = Context.current();
        answer.apply(new DelegatedRequest(request.message(), in(context, store), takesPermits, context::isCancelled))
                .whenComplete((done, bug) -> {
                    request.close();
                    if (bug == null) {
                        send(done);
                    } else {
                        fail(Status.INTERNAL.withDescription(bug.getMessage()).withCause(bug), new Metadata());
                    }
                });
    }

    /** What is fetched in the context of its own request, whoever gave it the permit to begin. */
    private static DelegatedRequest.Store in(Context context, DelegatedRequest.Store store) {
        return (request, within) -> CompletableFuture.completedFuture(request)
                .thenComposeAsync(asked -> store.fetch(asked, within), context.fixedContextExecutor(Runnable::run));
    }

    private void send(DelegatedAnswer done) {
        if (!done.isSuccess()) {
            fail(Status.fromCodeValue(done.grpcStatus()).withDescription(done.text()), new Metadata());
            return;
        }
        try {
            room.take(done.response().length);
        } catch (MemoryLimitException e) {
            fail(e);
            return;
        }
        send(done.response(), true);
    }

    /** As the store would tell it: what can be retried is an answer. */
    @Override
    void fail(CoplaneException failure) {
        DelegatedAnswer told = DataPlane.delegatedError(failure);
        if (told.isSuccess()) {
            send(told.response(), true); // short
        } else {
            fail(Status.fromCodeValue(told.grpcStatus()).withDescription(told.text()), new Metadata());
        }
    }

    @Override
    void ready() {
        // the answer is one message
    }

    @Override
    void over(boolean isDelivered) {
        room.close();
    }
}
