package io.coplane.sst;

import io.coplane.nativecache.ErrorCode;
import io.coplane.testing.Dumps;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Keeps what an inspector tells, in the form of the golden dumps. */
final class Recorder implements FileVisitor {
    record Problem(ErrorCode code, long offset, String what) {}

    record Region(String name, long offset, long bytes) {}

    /** By table: footer fields and properties. */
    final Map<String, Map<String, String>> facts = new HashMap<>();
    /** By table: blocks as {@code kind index key offset bodyBytes}. */
    final Map<String, List<String>> blocks = new HashMap<>();
    /** By table and kind of block: entries as {@code key version meta userMeta value}. */
    final Map<String, List<String>> entries = new HashMap<>();

    final List<Problem> problems = new ArrayList<>();
    final List<Region> regions = new ArrayList<>();
    private String table = "";
    private String kind = "";

    @Override
    public boolean wantsEntries() {
        return true;
    }

    @Override
    public void beginTable(String name) {
        table = name;
        facts.put(name, new HashMap<>());
        blocks.put(name, new ArrayList<>());
    }

    @Override
    public void footer(String name, long value) {
        property(name, value);
    }

    @Override
    public void section(String name, long offset, long bytes) {
        if (!name.contains("data") && !name.equals("blocks") && !name.equals("records")) {
            regions.add(new Region(name, offset, bytes));
        }
    }

    @Override
    public void property(String name, long value) {
        facts.get(table).put(name, Long.toUnsignedString(value));
    }

    @Override
    public void property(String name, byte[] value) {
        facts.get(table).put(name, Dumps.hex(value));
    }

    @Override
    public void beginBlock(BlockInfo block) {
        kind = block.kind();
        regions.add(new Region(kind, block.offset(), block.bytes()));
        blocks.get(table)
                .add(kind + " " + block.index() + " " + Dumps.hex(block.firstKey()) + " " + block.offset() + " "
                        + block.bodyBytes());
    }

    @Override
    public void entry(EntryInfo entry) {
        entries.computeIfAbsent(table + kind, name -> new ArrayList<>())
                .add(Dumps.hex(entry.key()) + " " + Long.toUnsignedString(entry.version()) + " " + entry.bits() + " "
                        + Dumps.hex(entry.userMeta()) + " " + Dumps.value(entry.value()));
    }

    @Override
    public void endBlock() {
        kind = "";
    }

    @Override
    public void endTable() {
        table = "";
    }

    @Override
    public void problem(ErrorCode code, long offset, String what) {
        problems.add(new Problem(code, offset, what));
    }

    /** The least offset of a problem. */
    long firstBadOffset() {
        return problems.stream().mapToLong(Problem::offset).min().orElse(-1);
    }
}
