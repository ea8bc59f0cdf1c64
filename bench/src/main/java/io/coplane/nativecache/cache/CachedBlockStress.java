package io.coplane.nativecache.cache;

import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.memory.NativeArena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;
import org.openjdk.jcstress.infra.results.I_Result;

/** What several threads may see of one cached value. Run as docs/benchmarks.md says. */
public final class CachedBlockStress {
    private static final int FRESH = 7;

    private CachedBlockStress() {}

    /** A value in the cache, which is dropped while another thread looks it up. */
    abstract static class Dropped {
        private final MemoryGuard guard = MemoryGuard.unlimited();
        private final CachedBlock block = block();

        private CachedBlock block() {
            var arena = new NativeArena(guard);
            MemorySegment bytes = arena.allocate(Integer.BYTES);
            bytes.set(ValueLayout.JAVA_INT, 0, FRESH);
            return new CachedBlock(
                    null, new BlockKey(FileKind.SST, 0, 1, 0), new NativeSlot.Alone(arena, bytes), 1, true);
        }

        final void drop() {
            block.release();
        }

        /** @return 0 if it was gone, else what it held */
        final int read() {
            if (!block.tryPin()) {
                return 0;
            }
            int seen = block.segment().get(ValueLayout.JAVA_INT, 0); // throws where the memory is freed under the pin
            block.release();
            return seen;
        }

        final long held() {
            return guard.chargedBytes();
        }
    }

    /** A reader sees the value whole or not at all, and afterwards it is freed, once. */
    @JCStressTest
    @Outcome(id = "0, 0", expect = Expect.ACCEPTABLE, desc = "it was gone")
    @Outcome(id = "7, 0", expect = Expect.ACCEPTABLE, desc = "it was pinned in time")
    @State
    public static class ReadAndDrop extends Dropped {
        @Actor
        public void reader(II_Result result) {
            result.r1 = read();
        }

        @Actor
        public void policy() {
            drop();
        }

        @Arbiter
        public void account(II_Result result) {
            result.r2 = (int) held();
        }
    }

    /** Two readers and a drop: whoever is last frees. */
    @JCStressTest
    @Outcome(id = "0", expect = Expect.ACCEPTABLE, desc = "freed")
    @State
    public static class TwoReadersAndDrop extends Dropped {
        @Actor
        public void first() {
            check(read());
        }

        @Actor
        public void second() {
            check(read());
        }

        @Actor
        public void policy() {
            drop();
        }

        @Arbiter
        public void account(I_Result result) {
            result.r1 = (int) held();
        }

        private static void check(int seen) {
            if (seen != 0 && seen != FRESH) {
                throw new IllegalStateException("bytes changed under a pin");
            }
        }
    }
}
