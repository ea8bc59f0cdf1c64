package io.coplane.testing;

import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Makes inputs out of seeds: flips, cuts, repeats, splices, and numbers that tempt decoders. */
public final class FuzzMutator {
    private static final int MOST_BYTES = 1 << 20;
    private static final int[] TEMPTING = {
        0, 1, 2, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fff_ffff, 0x8000_0000, -1, -2, -4, -28
    };

    private static final long MOST_SECONDS_PER_INPUT = 60;

    private final SplittableRandom random;
    private final List<byte[]> seeds;

    /** @param seeds at least one */
    public FuzzMutator(long seed, List<byte[]> seeds) {
        random = new SplittableRandom(seed);
        this.seeds = seeds;
    }

    /**
     * Feeds mutations of seeds to a decoder until the time is over.
     *
     * @param decoder throws nothing, whatever it is fed
     * @return executions
     * @throws AssertionError naming the input, at the first one that makes the decoder throw or takes too long
     */
    public static long fuzz(String target, long seed, List<byte[]> seeds, long nanos, Consumer<byte[]> decoder) {
        var mutator = new FuzzMutator(seed, seeds);
        long start = System.nanoTime();
        long executions = 0;
        while (System.nanoTime() - start < nanos) {
            byte[] input = mutator.next();
            long begun = System.nanoTime();
            try {
                decoder.accept(input);
            } catch (Throwable e) {
                throw new AssertionError(
                        "target=" + target + " seed=" + seed + " execution=" + executions + " input="
                                + HexFormat.of().formatHex(input),
                        e);
            }
            long took = System.nanoTime() - begun;
            if (took > TimeUnit.SECONDS.toNanos(MOST_SECONDS_PER_INPUT)) {
                throw new AssertionError("input takes " + TimeUnit.NANOSECONDS.toMillis(took) + " ms: target=" + target
                        + " input=" + HexFormat.of().formatHex(input));
            }
            executions++;
        }
        return executions;
    }

    /** The next input; its caller's. */
    public byte[] next() {
        byte[] bytes = seeds.get(random.nextInt(seeds.size())).clone();
        for (int left = 1 << random.nextInt(5); left > 0; left--) {
            bytes = mutate(bytes);
        }
        return bytes.length > MOST_BYTES ? Arrays.copyOf(bytes, MOST_BYTES) : bytes;
    }

    private byte[] mutate(byte[] bytes) {
        if (bytes.length == 0) {
            return new byte[] {(byte) random.nextInt()};
        }
        int at = position(bytes.length);
        switch (random.nextInt(9)) {
            case 0, 1 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
            case 2 -> bytes[at] = (byte) random.nextInt();
            case 3, 4 -> putNumber(bytes, at, TEMPTING[random.nextInt(TEMPTING.length)]);
            case 5 -> putNumber(bytes, at, random.nextInt(bytes.length + 8));
            case 6 -> {
                return Arrays.copyOf(
                        bytes, random.nextInt(4) == 0 ? at : bytes.length - random.nextInt(1, 9) % bytes.length);
            }
            case 7 -> {
                return repeat(bytes, at, random.nextInt(1, 65));
            }
            default -> {
                return splice(bytes, at);
            }
        }
        return bytes;
    }

    /** More often near the ends, where headers and footers are. */
    private int position(int length) {
        int near = random.nextInt(Math.min(length, 64));
        return switch (random.nextInt(4)) {
            case 0 -> near;
            case 1 -> length - 1 - near;
            default -> random.nextInt(length);
        };
    }

    private void putNumber(byte[] bytes, int at, int number) {
        int width = 1 << random.nextInt(4);
        boolean bigEndian = random.nextInt(4) == 0;
        for (int i = 0; i < width && at + i < bytes.length; i++) {
            int shift = 8 * (bigEndian ? width - 1 - i : i);
            bytes[at + i] = (byte) (shift >= 32 ? number >> 31 : number >> shift);
        }
    }

    private static byte[] repeat(byte[] bytes, int at, int count) {
        int taken = Math.min(count, bytes.length - at);
        byte[] longer = new byte[bytes.length + taken];
        System.arraycopy(bytes, 0, longer, 0, at + taken);
        System.arraycopy(bytes, at, longer, at + taken, bytes.length - at);
        return longer;
    }

    private byte[] splice(byte[] bytes, int at) {
        byte[] other = seeds.get(random.nextInt(seeds.size()));
        int from = other.length == 0 ? 0 : random.nextInt(other.length);
        byte[] spliced = Arrays.copyOf(bytes, at + other.length - from);
        System.arraycopy(other, from, spliced, at, other.length - from);
        return spliced;
    }
}
