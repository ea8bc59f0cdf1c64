package io.coplane.worker.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.nativecache.MemoryLimiter;
import io.coplane.testing.NoLeaks;
import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(NoLeaks.class)
final class FrameBuffersTest {
    private static final int DATA = 0;
    private static final int HEADERS = 1;
    private static final int MOST = FrameBuffers.MOST_PAYLOAD_BYTES;

    @ParameterizedTest
    @MethodSource("io.coplane.testing.Seeds#fixedAndFresh")
    void handsEveryFrameOnWholeHoweverItWasCut(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        byte[] preface = bytes(random, random.nextBoolean() ? FrameBuffers.CLIENT_PREFACE_BYTES : 0);
        List<byte[]> frames = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            frames.add(frame(random, random.nextInt(5) == 0 ? HEADERS : DATA, 1 + 2 * random.nextInt(4)));
        }
        byte[] all = all(preface, frames);
        EmbeddedChannel channel = new EmbeddedChannel(new FrameBuffers(preface.length));

        List<ByteBuf> given = new ArrayList<>();
        for (int at = 0; at < all.length; ) {
            int count = Math.min(all.length - at, 1 + random.nextInt(random.nextInt(10) == 0 ? 8 : 100_000));
            channel.writeInbound(Unpooled.directBuffer(count).writeBytes(all, at, count));
            at += count;
            take(channel, given);
        }

        List<byte[]> gotFrames = new ArrayList<>();
        int prefaceBytes = 0;
        for (ByteBuf part : given) {
            if (prefaceBytes < preface.length) {
                prefaceBytes += part.readableBytes();
            } else {
                gotFrames.add(ByteBufUtil.getBytes(part));
            }
            part.release();
        }
        assertThat(prefaceBytes).isEqualTo(preface.length);
        assertThat(gotFrames).containsExactlyElementsOf(frames);
        channel.finishAndReleaseAll();
        assertThat(given).allMatch(part -> part.refCnt() == 0);
    }

    /** The reason of it all: what a stream's frames hold is near what they are, whatever came with them, and goes when they are read. */
    @Test
    void framesOfAStreamHoldNoMoreThanTheyAreAndFreeItWhenTheyAreRead() {
        EmbeddedChannel channel = new EmbeddedChannel(new FrameBuffers(0));
        UnpooledByteBufAllocator small = new UnpooledByteBufAllocator(true);
        channel.config().setAllocator(small);
        long beforeBytes = processBytes();
        LongSupplier heldBytes = () -> small.metric().usedDirectMemory()
                + UnpooledByteBufAllocator.DEFAULT.metric().usedDirectMemory()
                - beforeBytes;
        SplittableRandom random = new SplittableRandom(1);
        List<ByteBuf> waiting = new ArrayList<>();
        List<ByteBuf> other = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            channel.writeInbound(Unpooled.wrappedBuffer(frame(random, DATA, 1, MOST), frame(random, DATA, 3, MOST)));
            waiting.add(channel.readInbound());
            other.add(channel.readInbound());
        }
        long frameBytes = 300L * (FrameBuffers.HEAD_BYTES + MOST);

        assertThat(heldBytes.getAsLong()).isBetween(2 * frameBytes, 2 * frameBytes + frameBytes / 5);
        other.forEach(ByteBuf::release);
        control(channel);
        assertThat(heldBytes.getAsLong()).isBetween(frameBytes, frameBytes + frameBytes / 10);
        waiting.forEach(ByteBuf::release);
        control(channel);
        assertThat(heldBytes.getAsLong()).isZero();
        channel.finishAndReleaseAll();
    }

    /** What the process holds once connections of earlier tests have ended. */
    private static long processBytes() {
        long bytes = -1;
        for (int same = 0; same < 20; ) {
            long now = UnpooledByteBufAllocator.DEFAULT.metric().usedDirectMemory();
            same = now == bytes ? same + 1 : 0;
            bytes = now;
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
        return bytes;
    }

    @Test
    void whatStreamsHoldIsChargedUntilItIsReadOrTheConnectionIsOver() {
        int charged = FrameBuffers.HEAD_BYTES + MOST + StreamWatch.OBJECTS_OF_FRAME_BYTES;
        MemoryLimiter arriving = new MemoryLimiter(2L * charged + charged / 2);
        StreamWatch watch = new StreamWatch(arriving, Duration.ofMinutes(1), Duration.ofMinutes(1));
        EmbeddedChannel channel = new EmbeddedChannel(new FrameBuffers(0, watch));
        SplittableRandom random = new SplittableRandom(1);
        List<ByteBuf> frames = new ArrayList<>();
        for (int stream : new int[] {1, 3}) {
            channel.writeInbound(Unpooled.wrappedBuffer(frame(random, DATA, stream, MOST)));
            frames.add(channel.readInbound());
        }
        assertThat(arriving.usedBytes()).isEqualTo(2L * charged);

        channel.writeInbound(Unpooled.wrappedBuffer(frame(random, DATA, 5, MOST))); // no room: HTTP/2 drops it
        ((ByteBuf) channel.readInbound()).release();
        assertThat(arriving.usedBytes()).isEqualTo(2L * charged);
        frames.get(0).release();
        control(channel);
        assertThat(arriving.usedBytes()).isEqualTo(charged);

        channel.finishAndReleaseAll();
        assertThat(arriving.usedBytes()).isZero();
        frames.get(1).release();
    }

    /** As where the JVM allows less native memory than the account: HTTP/2 gets the frame, and the account what it was charged. */
    @Test
    void aFrameWithoutNativeMemoryIsHandedOnAndNotKept() {
        MemoryLimiter arriving = new MemoryLimiter(1 << 20);
        StreamWatch watch = new StreamWatch(arriving, Duration.ofMinutes(1), Duration.ofMinutes(1));
        EmbeddedChannel channel = new EmbeddedChannel(new FrameBuffers(0, watch));
        channel.config().setAllocator(new HeapOnly());
        byte[] frame = frame(new SplittableRandom(1), DATA, 1, MOST);

        channel.writeInbound(Unpooled.wrappedBuffer(frame));

        ByteBuf given = channel.readInbound();
        assertThat(ByteBufUtil.getBytes(given)).isEqualTo(frame);
        given.release();
        assertThat(arriving.usedBytes()).isZero();
        channel.finishAndReleaseAll();
    }

    /** Has no native memory to give. */
    private static final class HeapOnly extends AbstractByteBufAllocator {
        @Override
        protected ByteBuf newHeapBuffer(int initialBytes, int maxBytes) {
            return UnpooledByteBufAllocator.DEFAULT.heapBuffer(initialBytes, maxBytes);
        }

        @Override
        protected ByteBuf newDirectBuffer(int initialBytes, int maxBytes) {
            throw new OutOfMemoryError("test");
        }

        @Override
        public boolean isDirectBufferPooled() {
            return false;
        }
    }

    private static void control(EmbeddedChannel channel) {
        channel.writeInbound(Unpooled.wrappedBuffer(frame(new SplittableRandom(1), HEADERS, 5, 10)));
        ((ByteBuf) channel.readInbound()).release();
    }

    @Test
    void handsOnWhatTheReaderWillRefuse() {
        EmbeddedChannel channel = new EmbeddedChannel(new FrameBuffers(0));
        byte[] tooLong = {0, 0x40, 1, DATA, 0, 0, 0, 0, 1, 7, 7, 7};

        channel.writeInbound(Unpooled.wrappedBuffer(tooLong));

        List<ByteBuf> given = new ArrayList<>();
        take(channel, given);
        ByteBuf all = Unpooled.wrappedBuffer(given.toArray(ByteBuf[]::new));
        assertThat(ByteBufUtil.getBytes(all)).isEqualTo(tooLong);
        all.release();
        channel.finishAndReleaseAll();
    }

    @Test
    void freesAFrameThatNeverBecameWhole() {
        EmbeddedChannel channel = new EmbeddedChannel(new FrameBuffers(0));
        ByteBuf part = Unpooled.buffer().writeBytes(frame(new SplittableRandom(1), DATA, 1, MOST), 0, 1000);

        channel.writeInbound(part);

        ByteBuf left = channel.readInbound();
        assertThat(left).isNull();
        assertThat(channel.finish()).isFalse();
        assertThat(part.refCnt()).isZero();
    }

    private static void take(EmbeddedChannel channel, List<ByteBuf> into) {
        for (ByteBuf part = channel.readInbound(); part != null; part = channel.readInbound()) {
            into.add(part);
        }
    }

    private static byte[] all(byte[] preface, List<byte[]> frames) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.writeBytes(preface);
        frames.forEach(all::writeBytes);
        return all.toByteArray();
    }

    private static byte[] frame(SplittableRandom random, int type, int stream) {
        return frame(random, type, stream, random.nextInt(4) == 0 ? random.nextInt(3) : random.nextInt(MOST + 1));
    }

    private static byte[] frame(SplittableRandom random, int type, int stream, int payloadBytes) {
        ByteBuf frame = Unpooled.buffer(FrameBuffers.HEAD_BYTES + payloadBytes)
                .writeMedium(payloadBytes)
                .writeByte(type)
                .writeByte(random.nextInt(256))
                .writeInt(stream)
                .writeBytes(bytes(random, payloadBytes));
        return ByteBufUtil.getBytes(frame);
    }

    private static byte[] bytes(SplittableRandom random, int count) {
        byte[] bytes = new byte[count];
        random.nextBytes(bytes);
        return bytes;
    }
}
