package io.coplane.worker.grpc;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import io.coplane.engine.DelegatedRequest;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.proto.coprocessor.DelegateRequest;
import io.coplane.proto.coprocessor.DelegateResponse;
import io.coplane.proto.errorpb.Error;
import io.coplane.proto.kvrpcpb.LockInfo;
import io.coplane.proto.tikvpb.TikvGrpc;
import io.grpc.ClientCall;
import io.grpc.ClientStreamTracer;
import io.grpc.HasByteBuffer;
import io.grpc.KnownLength;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One answer of a storage node on its way in. It may be hundreds of megabytes long and its length is not known beforehand, so it is charged piece by piece as
 * it arrives, and the call is cancelled by the piece that the limiter refuses. Memtable and ChangeSet are read into native memory: the heap holds a piece.
 *
 * <p>Owns that memory and the charge until {@link #close()}. Used by the call's thread; closed by any one, after the call.
 */
final class DelegateArrival implements AutoCloseable {
    /** Errors of a store are short; a longer one is no error that a client could use. */
    private static final int MOST_ERROR_BYTES = 1 << 20;

    private static final int PIECE_BYTES = 32 << 10;
    private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

    private final MemoryGuard guard;
    private final NativeArena arena;
    private final AtomicBoolean closed = new AtomicBoolean();
    private final MethodDescriptor<DelegateRequest, DelegatedRequest.Data> method;
    private long arrivedBytes;
    private boolean refused;
    private ClientCall<?, ?> call;

    DelegateArrival(MemoryLimiter memory) {
        guard = memory.acquire(0);
        arena = new NativeArena(guard);
        MethodDescriptor<DelegateRequest, DelegateResponse> plain = TikvGrpc.getDelegateCoprocessorMethod();
        method = plain.toBuilder(plain.getRequestMarshaller(), new Marshaller()).build();
    }

    /** The method, whose message comes here. */
    MethodDescriptor<DelegateRequest, DelegatedRequest.Data> method() {
        return method;
    }

    /** The call of {@link #method}, before it starts. */
    void of(ClientCall<?, ?> made) {
        call = made;
    }

    /** What charges the bytes that arrive. */
    ClientStreamTracer.Factory tracers() {
        return new ClientStreamTracer.Factory() {
            @Override
            public ClientStreamTracer newClientStreamTracer(ClientStreamTracer.StreamInfo info, Metadata headers) {
                return new ClientStreamTracer() {
                    @Override
                    public void inboundWireSize(long bytes) {
                        arrived(bytes);
                    }
                };
            }
        };
    }

    private void arrived(long bytes) {
        if (refused || closed.get()) {
            return;
        }
        try {
            guard.charge(bytes);
            arrivedBytes += bytes;
        } catch (MemoryLimitException e) {
            refused = true;
            call.cancel("the store's answer is too large for the memory that is left", e);
        }
    }

    private DelegatedRequest.Data read(InputStream stream) throws IOException {
        DelegateResponse.Builder error = DelegateResponse.newBuilder();
        MemorySegment memTableData = NOTHING;
        MemorySegment snapshot = NOTHING;
        for (int first = stream.read(); first >= 0; first = stream.read()) {
            int tag = CodedInputStream.readRawVarint32(first, stream);
            boolean isBytes = WireFormat.getTagWireType(tag) == WireFormat.WIRETYPE_LENGTH_DELIMITED;
            int field = isBytes ? WireFormat.getTagFieldNumber(tag) : 0;
            switch (field) {
                case DelegateResponse.MEM_TABLE_DATA_FIELD_NUMBER -> memTableData = data(stream);
                case DelegateResponse.SNAPSHOT_FIELD_NUMBER -> snapshot = data(stream);
                case DelegateResponse.REGION_ERROR_FIELD_NUMBER ->
                    error.setRegionError(Error.parseFrom(errorBytes(stream)));
                case DelegateResponse.LOCKED_FIELD_NUMBER -> error.setLocked(LockInfo.parseFrom(errorBytes(stream)));
                case DelegateResponse.OTHER_ERROR_FIELD_NUMBER ->
                    error.setOtherErrorBytes(ByteString.copyFrom(errorBytes(stream)));
                default -> skip(stream, tag);
            }
        }
        guard.release(arrivedBytes); // the stream's own buffers go with this method
        arrivedBytes = 0;
        return new DelegatedRequest.Data(error.build(), memTableData, snapshot, this::close);
    }

    private MemorySegment data(InputStream stream) throws IOException {
        int bytes = length(stream, Integer.MAX_VALUE);
        MemorySegment segment = arena.allocate(bytes);
        HasByteBuffer buffers = buffers(stream);
        for (int at = 0; at < bytes; ) {
            at += copy(stream, buffers, segment, at, bytes - at);
        }
        return segment.asReadOnly();
    }

    /** The stream as what shows its memory; null if it can't. It asks every piece of a message: not to be called for each of them. */
    private static HasByteBuffer buffers(InputStream stream) {
        return stream instanceof HasByteBuffer buffers && buffers.byteBufferSupported() ? buffers : null;
    }

    /** Copies the next bytes, at most {@code most}. @return how many, at least 1 */
    private static int copy(InputStream stream, HasByteBuffer buffers, MemorySegment to, long at, int most)
            throws IOException {
        ByteBuffer next = buffers == null ? null : buffers.getByteBuffer();
        if (next != null && next.hasRemaining()) {
            int count = Math.min(most, next.remaining());
            MemorySegment.copy(MemorySegment.ofBuffer(next), 0, to, at, count);
            stream.skipNBytes(count); // its memory goes back
            return count;
        }
        byte[] piece = readBytes(stream, Math.min(PIECE_BYTES, most));
        MemorySegment.copy(piece, 0, to, ValueLayout.JAVA_BYTE, at, piece.length);
        return piece.length;
    }

    private static byte[] errorBytes(InputStream stream) throws IOException {
        return readBytes(stream, length(stream, MOST_ERROR_BYTES));
    }

    /** Length of a field; it can't be longer than what is left of the message, which is not known of a compressed one. */
    private static int length(InputStream stream, int most) throws IOException {
        int bytes = CodedInputStream.readRawVarint32(readByte(stream), stream);
        int left = stream instanceof KnownLength ? stream.available() : Integer.MAX_VALUE;
        if (bytes < 0 || bytes > Math.min(most, left)) {
            throw new CoplaneException(
                    ErrorCode.BAD_PROTOBUF, "DelegateResponse has a field of a length that can't be: bytes=" + bytes);
        }
        return bytes;
    }

    private static int readByte(InputStream stream) throws IOException {
        int read = stream.read();
        if (read < 0) {
            throw new EOFException("the message ends within a field");
        }
        return read;
    }

    private static byte[] readBytes(InputStream stream, int count) throws IOException {
        byte[] bytes = stream.readNBytes(count);
        if (bytes.length < count) {
            throw new EOFException("the message ends within a field");
        }
        return bytes;
    }

    private static void skip(InputStream stream, int tag) throws IOException {
        switch (WireFormat.getTagWireType(tag)) {
            case WireFormat.WIRETYPE_VARINT -> CodedInputStream.readRawVarint32(readByte(stream), stream);
            case WireFormat.WIRETYPE_FIXED32 -> stream.skipNBytes(Integer.BYTES);
            case WireFormat.WIRETYPE_FIXED64 -> stream.skipNBytes(Long.BYTES);
            case WireFormat.WIRETYPE_LENGTH_DELIMITED -> stream.skipNBytes(length(stream, Integer.MAX_VALUE));
            default ->
                throw new CoplaneException(
                        ErrorCode.BAD_PROTOBUF, "DelegateResponse has a field of no kind: tag=" + tag);
        }
    }

    /** Frees the memory and gives the charge back. Idempotent. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            arena.close();
            guard.release(arrivedBytes);
            guard.close();
        }
    }

    private final class Marshaller implements MethodDescriptor.Marshaller<DelegatedRequest.Data> {
        @Override
        public InputStream stream(DelegatedRequest.Data value) {
            throw new UnsupportedOperationException("answers of stores are read only");
        }

        @Override
        public DelegatedRequest.Data parse(InputStream stream) {
            try {
                return read(stream);
            } catch (IOException e) {
                throw new CoplaneException(
                        ErrorCode.BAD_PROTOBUF, "DelegateResponse does not decode: " + e.getMessage(), e);
            }
        }
    }
}
