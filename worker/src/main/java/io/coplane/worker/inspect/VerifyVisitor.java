package io.coplane.worker.inspect;

import io.coplane.nativecache.ErrorCode;
import io.coplane.sst.FileVisitor;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/** Counts blocks and entries and keeps the first problems by offset. One thread. */
final class VerifyVisitor implements FileVisitor {
    /** One problem. */
    record Problem(long offset, ErrorCode code, String what) {}

    private final int kept;
    private final PriorityQueue<Problem> first =
            new PriorityQueue<>(Comparator.comparingLong(Problem::offset).reversed());
    private long problems;
    private long blocks;
    private long entries;

    /** @param kept problems kept; at least 1 */
    VerifyVisitor(int kept) {
        this.kept = kept;
    }

    /** Those with the least offsets, ascending. */
    List<Problem> firstProblems() {
        return first.stream().sorted(Comparator.comparingLong(Problem::offset)).toList();
    }

    long problems() {
        return problems;
    }

    long blocks() {
        return blocks;
    }

    long entries() {
        return entries;
    }

    @Override
    public boolean wantsEntries() {
        return false;
    }

    @Override
    public void beginTable(String name) {
        // only counts matter
    }

    @Override
    public void footer(String name, long value) {
        // as above
    }

    @Override
    public void section(String name, long offset, long bytes) {
        // as above
    }

    @Override
    public void property(String name, long value) {
        // as above
    }

    @Override
    public void property(String name, byte[] value) {
        // as above
    }

    @Override
    public void beginBlock(BlockInfo block) {
        blocks++;
        entries += block.entries();
    }

    @Override
    public void entry(EntryInfo entry) {
        // not asked for
    }

    @Override
    public void endBlock() {
        // only counts matter
    }

    @Override
    public void endTable() {
        // as above
    }

    @Override
    public void problem(ErrorCode code, long offset, String what) {
        problems++;
        first.add(new Problem(offset, code, what));
        if (first.size() > kept) {
            first.poll();
        }
    }
}
