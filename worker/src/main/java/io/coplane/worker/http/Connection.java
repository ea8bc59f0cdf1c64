package io.coplane.worker.http;

import io.coplane.engine.CompactAnswer;
import io.coplane.engine.CopAnswer;
import io.coplane.engine.CopRequest;
import io.coplane.engine.RequestWork;
import io.coplane.engine.TxnChunkAnswer;
import io.coplane.engine.TxnChunkRequest;
import io.coplane.nativecache.MemoryLimitException;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection: reads a request, has it answered, writes the answer, reads the next.
 *
 * <p>Nothing is read from the socket but on demand: while a request is in work at most one read waits, which tells that the client is gone; what
 * it brings of the next request waits in {@link #inbox}. Owns the body that it is receiving. Belongs to the channel's event loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // of close and of interim writes: a failed one ends in channelInactive
final class Connection extends ChannelInboundHandlerAdapter {
    private static final Logger LOG = LoggerFactory.getLogger(Connection.class);

    /** Bodies of routes that take none are skipped up to here; beyond, the connection ends with the answer. */
    private static final long MOST_SKIPPED_BYTES = 64 << 10;

    /** After an answer that came before the request's end: so much more is read and dropped, so that the client sees the answer and no reset. */
    private static final long MOST_LINGER_BYTES = 256L << 20;

    /** Longest body of a compaction request: parsed it takes many times its size. The reference has no bound; stores send some kilobytes. */
    private static final long MOST_COMPACT_BYTES = 32 << 20;

    /** A body that takes longer than this many idle timeouts, and comes slower than {@link #LEAST_BYTES_A_SECOND} then, is given up. */
    private static final int MOST_IDLE_TIMEOUTS = 10;

    private static final long LEAST_BYTES_A_SECOND = 64 << 10;

    private static final Duration LINGER = Duration.ofSeconds(5);

    /** A longer answer is written piece by piece, each copied to the socket's buffer only when its turn comes. */
    private static final int PIECE_BYTES = 256 << 10;

    private static final long NEVER = Long.MAX_VALUE;
    private static final Runnable NOTHING = () -> {};

    private enum State {
        /** Waits for a request. */
        HEAD(true),
        /** Receives a body for the data plane. */
        BODY(true),
        /** Receives a body that nobody wants; answers after it. */
        SKIP(true),
        /** The data plane works. */
        WORK(false),
        /** Writes an answer. */
        WRITE(false),
        /** The last answer is written; drops what the client still sends. */
        LINGER(true),
        CLOSED(true);

        private final boolean takesInput;

        State(boolean takesInput) {
            this.takesInput = takesInput;
        }
    }

    private final HttpServer server;
    private final Channel channel;
    private final Queue<Object> inbox = new ArrayDeque<>();
    private ChannelHandlerContext context;
    private Runnable whenWritten = NOTHING; // told once the answer is in the socket
    private State state = State.HEAD;
    private boolean begun;
    private boolean pumping;

    /** Read by the data plane's threads. */
    private volatile boolean gone;

    private HttpRequest request;
    private String path = "";
    private boolean requestComplete = true;
    private RequestBody body;
    private long skippedBytes;
    private long arrivedBytes; // of the body
    private long answerBytes;
    private long startNanos;
    private long bodyNanos;

    private long deadlineNanos = NEVER;
    private long timerNanos = NEVER;
    private ScheduledFuture<?> timer;

    /** @param channel a socket, or one stream of HTTP/2 */
    Connection(HttpServer server, Channel channel) {
        this.server = server;
        this.channel = channel;
    }

    /** Ends an idle connection, or one in work after its answer. Any thread. */
    void finishUp() {
        onLoop(() -> {
            if (state == State.HEAD && inbox.isEmpty()) {
                channel.close();
            }
        });
    }

    /** Ends the connection whatever it does. Any thread. */
    void closeNow() {
        channel.close();
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
        if (channel.isActive()) { // behind the handshake
            begin();
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        begin();
    }

    /** Called once, by whatever comes first: a socket is active when it is accepted, and told so a second time. */
    private void begin() {
        if (begun) {
            return;
        }
        begun = true;
        server.opened(this);
        within(server.limits().headTimeout());
        pump();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        gone = true;
        state = State.CLOSED;
        giveAnswerBack();
        deadlineNanos = NEVER;
        if (timer != null) {
            timer.cancel(false);
            timer = null;
        }
        if (body != null) {
            body.close();
            body = null;
        }
        inbox.forEach(ReferenceCountUtil::release);
        inbox.clear();
        server.closed(this);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (message instanceof HttpObject) {
            inbox.add(message);
        } else {
            ReferenceCountUtil.release(
                    message); // a frame of HTTP/2 that is no part of a request, or of a type that nobody knows
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        pump();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (cause instanceof IOException || cause instanceof Http2Exception || cause instanceof DecoderException) {
            LOG.debug("connection failed: peer={} cause={}", channel.remoteAddress(), cause.getMessage());
        } else {
            LOG.error("connection failed by a bug: peer={}", channel.remoteAddress(), cause);
        }
        channel.close();
    }

    /** Handles what waits as far as the state takes it, then asks for more. A loop, not a recursion: one read may bring thousands of messages. */
    private void pump() {
        if (pumping) {
            return;
        }
        pumping = true;
        try {
            while (state.takesInput && !inbox.isEmpty()) {
                Object message = inbox.poll();
                try {
                    take((HttpObject) message);
                } finally {
                    ReferenceCountUtil.release(message);
                }
            }
        } finally {
            pumping = false;
        }
        setTimer();
        if (inbox.isEmpty() && state != State.CLOSED) {
            context.read();
        }
    }

    private void take(HttpObject message) {
        if (state == State.LINGER || state == State.CLOSED) {
            linger(message);
        } else if (message.decoderResult().isFailure()) {
            requestComplete = false;
            end(Answer.text(badRequest(message.decoderResult()), ""));
        } else if (message instanceof HttpRequest head) {
            takeHead(head);
            if (message instanceof LastHttpContent all
                    && state.takesInput) { // HTTP/2 gives a request without a body in one
                takePiece(all);
            }
        } else if (message instanceof HttpContent piece) {
            takePiece(piece);
        }
    }

    private static HttpResponseStatus badRequest(DecoderResult result) {
        if (result.cause() instanceof TooLongHttpLineException) {
            return HttpResponseStatus.REQUEST_URI_TOO_LONG;
        }
        return result.cause() instanceof TooLongHttpHeaderException
                ? HttpResponseStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
                : HttpResponseStatus.BAD_REQUEST;
    }

    private void takeHead(HttpRequest head) {
        server.countRequest();
        request = head;
        requestComplete = false;
        path = path(head.uri());
        startNanos = server.clock().nanoTime();
        arrivedBytes = 0;
        within(server.limits().bodyIdleTimeout());
        if (head.protocolVersion().majorVersion() != HttpVersion.HTTP_1_1.majorVersion()) {
            end(Answer.text(HttpResponseStatus.HTTP_VERSION_NOT_SUPPORTED, ""));
            return;
        }
        if (!path.equals(Pages.COPROCESSOR) && !isCompact() && !isTxnChunk()) {
            state = State.SKIP;
            skippedBytes = 0;
        } else {
            long announced = HttpUtil.getContentLength(head, -1L);
            if (announced > maxBodyBytes()) {
                end(tooLarge());
                return;
            }
            state = State.BODY;
            body = new RequestBody(server.bodies(), context.alloc(), announced, maxBodyBytes());
        }
        if (HttpUtil.is100ContinueExpected(head)) {
            context.writeAndFlush(new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE));
        }
    }

    private void takePiece(HttpContent piece) {
        withinBody(piece.content().readableBytes());
        requestComplete = piece instanceof LastHttpContent;
        if (state == State.SKIP) {
            skippedBytes += piece.content().readableBytes();
            if (requestComplete) {
                answer(server.pages().page(path, request.headers()));
            } else if (skippedBytes > MOST_SKIPPED_BYTES) {
                end(server.pages().page(path, request.headers()));
            }
            return;
        }
        try {
            if (!body.append(piece.content())) {
                end(tooLarge());
                return;
            }
        } catch (MemoryLimitException | OutOfMemoryError e) { // the JVM may allow less native memory than our cap
            LOG.debug("body refused: peer={} cause={}", channel.remoteAddress(), e.getMessage());
            end(Answer.text(HttpResponseStatus.SERVICE_UNAVAILABLE, "memory limit exceeded"));
            return;
        }
        if (requestComplete) {
            bodyNanos = server.clock().nanoTime() - startNanos;
        }
        if (requestComplete && isCompact()) {
            compact();
        } else if (requestComplete && isTxnChunk()) {
            txnChunk();
        } else if (requestComplete) {
            work();
        }
    }

    private boolean isCompact() {
        return path.equals(Pages.COMPACT) && server.compactor() != null;
    }

    private boolean isTxnChunk() {
        return path.equals(Pages.TXN_CHUNK) && server.txnChunks() != null;
    }

    private long maxBodyBytes() {
        long most = server.limits().maxBodyBytes();
        return isCompact() ? Math.min(most, MOST_COMPACT_BYTES) : most;
    }

    private Answer tooLarge() {
        return Answer.text(
                HttpResponseStatus.REQUEST_ENTITY_TOO_LARGE, "body is longer than " + maxBodyBytes() + " bytes");
    }

    /** Hands the body to the data plane. It is freed when the data plane has read it, or answered, whatever becomes of this connection. */
    private void work() {
        state = State.WORK;
        deadlineNanos = NEVER;
        RequestBody taken = body;
        body = null;
        boolean acceptsProtobuf = Pages.acceptsProtobuf(request.headers());
        String cache = Pages.remoteCacheAddress(request.headers());
        long bodyBytes = taken.byteSize();
        CompletableFuture<CopAnswer> answered;
        try {
            answered = server.service()
                    .coprocessor(new CopRequest(
                            taken.view(),
                            cache.isEmpty() ? Optional.empty() : Optional.of(cache),
                            () -> gone,
                            taken::close));
        } catch (RuntimeException e) {
            answered = CompletableFuture.failedFuture(e);
        }
        answered.handle((result, failure) -> {
                    taken.close();
                    CopAnswer copAnswer = failure == null ? result : bug(failure);
                    onLoop(() -> finish(
                            "coprocessor",
                            copAnswer.tag(),
                            copAnswer.work(),
                            Pages.coprocessor(copAnswer, acceptsProtobuf),
                            bodyBytes));
                    return null;
                })
                .exceptionally(e -> {
                    LOG.error("an answer was lost by a bug", e);
                    channel.close();
                    return null;
                });
    }

    /** Hands the body to the compactor. As {@link #work}; the connection is silent meanwhile, perhaps for many minutes. */
    private void compact() {
        state = State.WORK;
        deadlineNanos = NEVER;
        RequestBody taken = body;
        body = null;
        long bodyBytes = taken.byteSize();
        CompletableFuture<CompactAnswer> answered;
        try {
            answered = server.compactor().compact(taken.view(), taken::close, startNanos);
        } catch (RuntimeException e) {
            answered = CompletableFuture.failedFuture(e);
        }
        answered.handle((result, failure) -> {
                    taken.close();
                    Answer answer = failure == null
                            ? Pages.compact(result)
                            : Answer.text(
                                    HttpResponseStatus.INTERNAL_SERVER_ERROR,
                                    bug(failure).text());
                    onLoop(() -> {
                        whenWritten = failure == null ? result.delivered() : NOTHING;
                        finish("compact", "", RequestWork.NONE, answer, bodyBytes);
                    });
                    return null;
                })
                .exceptionally(e -> {
                    LOG.error("an answer was lost by a bug", e);
                    channel.close();
                    return null;
                });
    }

    /** Hands the body to what writes txn chunks. As {@link #work}. */
    private void txnChunk() {
        state = State.WORK;
        deadlineNanos = NEVER;
        RequestBody taken = body;
        body = null;
        long bodyBytes = taken.byteSize();
        CompletableFuture<TxnChunkAnswer> answered;
        try {
            answered = server.txnChunks()
                    .txnChunk(new TxnChunkRequest(
                            Pages.keyspaceId(request.uri()),
                            Pages.txnChunkMethod(request.method()),
                            taken.view(),
                            () -> gone));
        } catch (RuntimeException e) {
            answered = CompletableFuture.failedFuture(e);
        }
        answered.handle((result, failure) -> {
                    taken.close();
                    Answer answer = failure == null
                            ? Pages.txnChunk(result)
                            : Answer.text(
                                    HttpResponseStatus.INTERNAL_SERVER_ERROR,
                                    bug(failure).text());
                    onLoop(() -> finish("txn_chunk", "", RequestWork.NONE, answer, bodyBytes));
                    return null;
                })
                .exceptionally(e -> {
                    LOG.error("an answer was lost by a bug", e);
                    channel.close();
                    return null;
                });
    }

    private static CopAnswer bug(Throwable failure) {
        LOG.error("request failed by a bug", failure);
        return new CopAnswer(HttpResponseStatus.INTERNAL_SERVER_ERROR.code(), null, "Other(\"internal error\")", "");
    }

    private void finish(String route, String tag, RequestWork work, Answer found, long bodyBytes) {
        Answer answer = found;
        if (state == State.WORK) {
            answerBytes = server.answers().take(found.body().length);
            if (answerBytes < 0) {
                answerBytes = 0;
                whenWritten = NOTHING;
                answer = Answer.text(HttpResponseStatus.SERVICE_UNAVAILABLE, "too many answers wait to be read");
            }
        }
        log(route, tag, work, answer, bodyBytes, state != State.WORK);
        if (state == State.WORK) {
            answer(answer);
            setTimer();
        }
    }

    private void log(String route, String tag, RequestWork work, Answer answer, long bodyBytes, boolean isClientGone) {
        server.log()
                .write(new RequestLog.Line(
                        route,
                        tag,
                        answer.status().code(),
                        bodyBytes,
                        answer.body().length,
                        bodyNanos,
                        server.clock().nanoTime() - startNanos,
                        work,
                        String.valueOf(channel.remoteAddress()),
                        isClientGone));
    }

    /** Answers a request that has been read to its end. */
    private void answer(Answer answer) {
        boolean last = server.isClosing() || !HttpUtil.isKeepAlive(request);
        write(answer, last);
    }

    /** Answers a request that has not been read to its end, or makes no sense: the last answer of this connection. */
    private void end(Answer answer) {
        if (body != null) {
            bodyNanos = server.clock().nanoTime() - startNanos;
            log(path.substring(1), "", RequestWork.NONE, answer, body.byteSize(), false);
            body.close();
            body = null;
        }
        write(answer, true);
    }

    private void write(Answer answer, boolean last) {
        state = State.WRITE;
        byte[] bytes = answer.body();
        if (bytes.length <= PIECE_BYTES) {
            HttpResponse response =
                    new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, answer.status(), answer.content());
            setHeaders(response.headers(), answer, last);
            afterWrite(context.writeAndFlush(response), () -> written(last));
            return;
        }
        HttpResponse response = new DefaultHttpResponse(HttpVersion.HTTP_1_1, answer.status());
        setHeaders(response.headers(), answer, last);
        afterWrite(context.write(response), () -> {});
        writePiece(answer.content(), last);
    }

    /** Writes the next piece of a long answer once the one before is gone. */
    private void writePiece(ByteBuf rest, boolean last) {
        ByteBuf piece = rest.readRetainedSlice(Math.min(PIECE_BYTES, rest.readableBytes()));
        if (rest.isReadable()) {
            afterWrite(context.writeAndFlush(new DefaultHttpContent(piece)), () -> writePiece(rest, last));
        } else {
            rest.release();
            afterWrite(context.writeAndFlush(new DefaultLastHttpContent(piece)), () -> written(last));
        }
    }

    private void setHeaders(HttpHeaders headers, Answer answer, boolean last) {
        headers.setInt(HttpHeaderNames.CONTENT_LENGTH, answer.body().length);
        if (!answer.contentType().isEmpty()) {
            headers.set(HttpHeaderNames.CONTENT_TYPE, answer.contentType());
        }
        if (!answer.contentEncoding().isEmpty()) {
            headers.set(HttpHeaderNames.CONTENT_ENCODING, answer.contentEncoding());
        }
        if (last) {
            headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        } else if (request.protocolVersion().equals(HttpVersion.HTTP_1_0)) {
            headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.KEEP_ALIVE);
        }
    }

    /** Runs {@code next} from the loop, not from the write: a chain of short answers must not become a deep stack. */
    private void afterWrite(ChannelFuture write, Runnable next) {
        within(server.limits().writeIdleTimeout());
        write.addListener(done -> {
            if (done.isSuccess()) {
                onLoop(next);
            } else {
                LOG.debug("answer not written: peer={} cause={}", channel.remoteAddress(), done.cause());
                channel.close();
            }
        });
    }

    private void giveAnswerBack() {
        server.answers().giveBack(answerBytes);
        answerBytes = 0;
    }

    private void written(boolean last) {
        giveAnswerBack();
        whenWritten.run();
        whenWritten = NOTHING;
        if (state == State.CLOSED) {
            return;
        }
        if (!last) {
            state = State.HEAD;
            within(server.limits().headTimeout());
            pump();
        } else if (requestComplete) {
            channel.close();
        } else {
            state = State.LINGER;
            skippedBytes = 0;
            within(LINGER);
            shutOutput();
            pump();
        }
    }

    private void shutOutput() {
        SslHandler tls = context.pipeline().get(SslHandler.class);
        if (tls != null) {
            tls.closeOutbound();
        } else if (channel instanceof SocketChannel socket) {
            socket.shutdownOutput();
        } else {
            channel.close();
        }
    }

    /** A client that sends on is listened to for as long as it sends: a connection reset under it would take the answer away. */
    private void linger(HttpObject message) {
        if (message instanceof HttpContent piece) {
            skippedBytes += piece.content().readableBytes();
            within(LINGER);
        }
        if (message instanceof LastHttpContent
                || skippedBytes > MOST_LINGER_BYTES
                || message.decoderResult().isFailure()) {
            channel.close();
        }
    }

    private void within(Duration timeout) {
        deadlineNanos = server.clock().nanoTime() + timeout.toNanos();
    }

    /** Until the next piece of a body; not for ever, however small the pieces are. */
    private void withinBody(int pieceBytes) {
        within(server.limits().bodyIdleTimeout());
        arrivedBytes += pieceBytes;
        long idleNanos = Math.min(server.limits().bodyIdleTimeout().toNanos(), TimeUnit.DAYS.toNanos(1));
        long wholeNanos =
                MOST_IDLE_TIMEOUTS * idleNanos + TimeUnit.SECONDS.toNanos(arrivedBytes / LEAST_BYTES_A_SECOND);
        if (deadlineNanos - (startNanos + wholeNanos) > 0) {
            deadlineNanos = startNanos + wholeNanos;
        }
    }

    /** One timer a connection, set anew only where it would ring too late. */
    private void setTimer() {
        if (deadlineNanos == NEVER || timer != null && timerNanos - deadlineNanos <= 0) {
            return;
        }
        if (timer != null) {
            timer.cancel(false);
        }
        timerNanos = deadlineNanos;
        long left = Math.max(0, deadlineNanos - server.clock().nanoTime());
        timer = context.executor().schedule(this::ring, left, TimeUnit.NANOSECONDS);
    }

    private void ring() {
        timer = null;
        if (deadlineNanos == NEVER || deadlineNanos - server.clock().nanoTime() > 0) {
            setTimer();
            return;
        }
        deadlineNanos = NEVER;
        LOG.debug("connection timed out: peer={} state={}", channel.remoteAddress(), state);
        if (state == State.BODY || state == State.SKIP) {
            end(Answer.text(HttpResponseStatus.REQUEST_TIMEOUT, "body comes too slowly"));
            setTimer();
        } else {
            channel.close();
        }
    }

    private void onLoop(Runnable task) {
        Channel target = channel;
        try {
            target.eventLoop().execute(task);
        } catch (RejectedExecutionException e) {
            LOG.debug("server has stopped: peer={}", target.remoteAddress(), e);
            target.close();
        }
    }

    /** Path of a request target in origin form or absolute form, without the query. */
    private static String path(String uri) {
        int start = 0;
        int scheme = uri.indexOf("://");
        if (scheme > 0 && !uri.startsWith("/")) {
            start = uri.indexOf('/', scheme + 3);
            if (start < 0) {
                return "/";
            }
        }
        int end = start;
        while (end < uri.length() && uri.charAt(end) != '?' && uri.charAt(end) != '#') {
            end++;
        }
        return uri.substring(start, end);
    }
}
