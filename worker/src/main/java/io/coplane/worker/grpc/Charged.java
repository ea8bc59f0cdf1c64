package io.coplane.worker.grpc;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import com.google.protobuf.UnsafeByteOperations;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimitException;
import io.coplane.nativecache.MemoryLimiter;
import io.grpc.KnownLength;
import io.grpc.MethodDescriptor;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;

/**
 * A message that came, with its charge; or why it can't be taken.
 *
 * @param message null where it failed
 * @param charge what it holds of a limiter, for its bytes and the objects made of them; owned; null where it failed
 * @param onHeap the same of an account for messages on the heap; owned, closed when the call is over; null where it failed
 * @param failure null where there is a message
 */
record Charged<T extends Message>(T message, MemoryGuard charge, MemoryGuard onHeap, CoplaneException failure)
        implements AutoCloseable {
    /** Messages live on the heap, which may be smaller than the cap of the limiter: all together may hold a quarter of it. */
    private static final MemoryLimiter HEAP =
            new MemoryLimiter(Runtime.getRuntime().maxMemory() / 4);

    private Charged(CoplaneException failure) {
        this(null, null, null, failure);
    }

    private static final int PIECE_BYTES = 64 << 10;

    /** The message and the stream's buffer live side by side while it is decoded. */
    private static final int HELD_PER_BYTE = 2;

    @Override
    public void close() {
        if (charge != null) {
            charge.close();
            onHeap.close();
        }
    }

    /** Charges messages before they are decoded. Never fails: what can't be taken is told by the result. */
    static final class Marshaller<T extends Message> implements MethodDescriptor.Marshaller<Charged<T>> {
        private final Parser<T> parser;
        private final MemoryLimiter memory;

        /** @param memory what messages are charged to */
        Marshaller(Parser<T> parser, MemoryLimiter memory) {
            this.parser = parser;
            this.memory = memory;
        }

        @Override
        public InputStream stream(Charged<T> value) {
            return value.message().toByteString().newInput();
        }

        @Override
        public Charged<T> parse(InputStream stream) {
            try {
                return stream instanceof KnownLength ? parse(stream, stream.available()) : parseUnknown(stream);
            } catch (MemoryLimitException e) {
                return new Charged<>(e);
            } catch (IOException e) {
                return new Charged<>(
                        new CoplaneException(ErrorCode.BAD_PROTOBUF, "message does not decode: " + e.getMessage(), e));
            }
        }

        private Charged<T> parse(InputStream stream, int messageBytes) throws IOException {
            long bytes = (long) HELD_PER_BYTE * messageBytes;
            MemoryGuard charge = null;
            MemoryGuard onHeap = null;
            T message = null;
            try {
                onHeap = HEAP.acquire(bytes);
                charge = memory.acquire(bytes);
                message = parser.parseFrom(stream);
                return new Charged<>(message, charge, onHeap, null);
            } finally {
                if (message == null) {
                    close(charge);
                    close(onHeap);
                }
            }
        }

        /** A compressed message tells its length when it has been read: it is charged piece by piece before. */
        private Charged<T> parseUnknown(InputStream stream) throws IOException {
            MemoryGuard charge = memory.acquire(0);
            MemoryGuard onHeap = HEAP.acquire(0);
            try {
                ByteString whole = ByteString.EMPTY;
                for (byte[] piece = piece(stream); piece.length > 0; piece = piece(stream)) {
                    charge.charge(piece.length);
                    onHeap.charge(piece.length);
                    whole = whole.concat(UnsafeByteOperations.unsafeWrap(piece));
                }
                return parse(whole.newInput(), whole.size());
            } finally {
                for (MemoryGuard guard : List.of(charge, onHeap)) {
                    guard.release(guard.chargedBytes());
                    guard.close();
                }
            }
        }

        private static byte[] piece(InputStream stream) throws IOException {
            return stream.readNBytes(PIECE_BYTES);
        }

        private static void close(MemoryGuard guard) {
            if (guard != null) {
                guard.close();
            }
        }
    }
}
