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
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
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
        CodedInputStream input = CodedInputStream.newInstance(stream);
        DelegateResponse.Builder error = DelegateResponse.newBuilder();
        MemorySegment memTableData = NOTHING;
        MemorySegment snapshot = NOTHING;
        for (int tag = input.readTag(); tag != 0; tag = input.readTag()) {
            boolean isBytes = WireFormat.getTagWireType(tag) == WireFormat.WIRETYPE_LENGTH_DELIMITED;
            int field = isBytes ? WireFormat.getTagFieldNumber(tag) : 0;
            switch (field) {
                case DelegateResponse.MEM_TABLE_DATA_FIELD_NUMBER -> memTableData = data(input);
                case DelegateResponse.SNAPSHOT_FIELD_NUMBER -> snapshot = data(input);
                case DelegateResponse.REGION_ERROR_FIELD_NUMBER ->
                    error.setRegionError(Error.parseFrom(errorBytes(input)));
                case DelegateResponse.LOCKED_FIELD_NUMBER -> error.setLocked(LockInfo.parseFrom(errorBytes(input)));
                case DelegateResponse.OTHER_ERROR_FIELD_NUMBER ->
                    error.setOtherErrorBytes(ByteString.copyFrom(errorBytes(input)));
                default -> input.skipField(tag);
            }
        }
        guard.release(arrivedBytes); // the stream's own buffers go with this method
        arrivedBytes = 0;
        return new DelegatedRequest.Data(error.build(), memTableData, snapshot, this::close);
    }

    private MemorySegment data(CodedInputStream input) throws IOException {
        int bytes = input.readRawVarint32();
        if (bytes < 0) {
            throw new CoplaneException(
                    ErrorCode.BAD_PROTOBUF, "DelegateResponse has a field of negative length: bytes=" + bytes);
        }
        MemorySegment segment = arena.allocate(bytes);
        for (int at = 0; at < bytes; ) {
            byte[] piece = input.readRawBytes(Math.min(PIECE_BYTES, bytes - at));
            MemorySegment.copy(piece, 0, segment, ValueLayout.JAVA_BYTE, at, piece.length);
            at += piece.length;
        }
        return segment.asReadOnly();
    }

    private static byte[] errorBytes(CodedInputStream input) throws IOException {
        int bytes = input.readRawVarint32();
        if (bytes < 0 || bytes > MOST_ERROR_BYTES) {
            throw new CoplaneException(
                    ErrorCode.BAD_PROTOBUF, "DelegateResponse has an error that is too long: bytes=" + bytes);
        }
        return input.readRawBytes(bytes);
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
