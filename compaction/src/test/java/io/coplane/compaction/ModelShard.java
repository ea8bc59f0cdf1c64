package io.coplane.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.proto.enginepb.BlobCreate;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.enginepb.Compaction;
import io.coplane.proto.enginepb.TableChange;
import io.coplane.proto.enginepb.TableCreate;
import io.coplane.proto.enginepb.TableDelete;
import io.coplane.testing.Dumps;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;

/** The files of a shard, changed as a store applies the results of compactions (compaction.md 5). */
final class ModelShard {
    static final int[] LEVELS = {3, 2, 1};

    /** An L0 file. */
    record L0(long id, long snapVersion) {}

    /** A file of levels 1 to 3; bounds in hex. */
    record Table(long id, int cf, int level, String smallest, String biggest, int metaOffset) {
        boolean touches(String low, String high) {
            return biggest.compareTo(low) >= 0 && smallest.compareTo(high) <= 0;
        }
    }

    /** The newest first. */
    final List<L0> l0s = new ArrayList<>();

    final List<List<List<Table>>> levels = new ArrayList<>();
    final TreeSet<Long> blobs = new TreeSet<>();

    ModelShard() {
        for (int levelCount : LEVELS) {
            var ofFamily = new ArrayList<List<Table>>();
            for (int level = 0; level <= levelCount; level++) {
                ofFamily.add(new ArrayList<>()); // level 0 stays empty
            }
            levels.add(ofFamily);
        }
    }

    List<Table> level(int cf, int level) {
        return levels.get(cf).get(level);
    }

    List<Table> tables() {
        return levels.stream().flatMap(List::stream).flatMap(List::stream).toList();
    }

    void apply(ChangeSet set) {
        if (set.hasCompaction()) {
            apply(set.getCompaction());
        } else if (set.hasMajorCompaction()) {
            TableChange change = set.getMajorCompaction().getSstableChange();
            for (TableDelete delete : change.getTableDeletesList()) {
                assertThat(l0s.removeIf(l0 -> l0.id() == delete.getID())
                                || levels.stream()
                                        .flatMap(List::stream)
                                        .anyMatch(level -> level.removeIf(t -> t.id() == delete.getID())))
                        .isTrue();
            }
            assertThat(blobs.removeAll(set.getMajorCompaction().getOldBlobTablesList()) || blobs.isEmpty())
                    .isTrue();
            for (TableCreate create : change.getTableCreatesList()) {
                assertThat(create.getLevel()).isEqualTo(LEVELS[create.getCF()]);
                add(create);
            }
            set.getMajorCompaction().getNewBlobTablesList().forEach(this::add);
        } else {
            apply(
                    set.hasDestroyRange()
                            ? set.getDestroyRange()
                            : set.hasTruncateTs() ? set.getTruncateTs() : set.getTrimOverBound());
        }
        checkLevels();
    }

    private void apply(Compaction c) {
        c.getBlobTablesList().forEach(this::add);
        if (c.getLevel() == 0) {
            for (long id : c.getTopDeletesList()) {
                assertThat(l0s.removeIf(l0 -> l0.id() == id)).isTrue();
            }
            for (long id : c.getBottomDeletesList()) {
                assertThat(levels.stream().anyMatch(family -> family.get(1).removeIf(t -> t.id() == id)))
                        .isTrue();
            }
        } else {
            for (long id : c.getTopDeletesList()) {
                assertThat(level(c.getCf(), c.getLevel()).removeIf(t -> t.id() == id))
                        .isTrue();
            }
            for (long id : c.getBottomDeletesList()) {
                assertThat(level(c.getCf(), c.getLevel() + 1).removeIf(t -> t.id() == id))
                        .isTrue();
            }
        }
        for (TableCreate create : c.getTableCreatesList()) {
            assertThat(create.getLevel()).isEqualTo(c.getLevel() + 1);
            add(create);
        }
    }

    private void apply(TableChange change) {
        for (TableDelete delete : change.getTableDeletesList()) {
            if (delete.getLevel() == 0) {
                assertThat(delete.getCF()).isEqualTo(-1);
                // renamed or gone: a create with the same snap version follows
                int at = indexOfL0(delete.getID());
                int mapped = mapped(change, delete.getID());
                if (mapped < 0) {
                    l0s.remove(at);
                } else {
                    l0s.set(at, new L0(change.getFileIdsMap(mapped), l0s.get(at).snapVersion()));
                }
            } else {
                assertThat(level(delete.getCF(), delete.getLevel()).removeIf(t -> t.id() == delete.getID()))
                        .isTrue();
            }
        }
        for (TableCreate create : change.getTableCreatesList()) {
            if (create.getLevel() > 0) {
                add(create);
            } else {
                assertThat(indexOfL0(create.getID())).isNotNegative();
            }
        }
    }

    private static int mapped(TableChange change, long oldId) {
        for (int i = 0; i < change.getFileIdsMapCount(); i += 2) {
            if (change.getFileIdsMap(i) == oldId) {
                return i + 1;
            }
        }
        return -1;
    }

    private int indexOfL0(long id) {
        for (int i = 0; i < l0s.size(); i++) {
            if (l0s.get(i).id() == id) {
                return i;
            }
        }
        return -1;
    }

    private void add(TableCreate create) {
        level(create.getCF(), create.getLevel())
                .add(new Table(
                        create.getID(),
                        create.getCF(),
                        create.getLevel(),
                        Dumps.hex(create.getSmallest().toByteArray()),
                        Dumps.hex(create.getBiggest().toByteArray()),
                        create.getMetaOffset()));
    }

    private void add(BlobCreate create) {
        assertThat(blobs.add(create.getID())).isTrue();
    }

    /** Sorted, and a fatal error in the store if files overlap. */
    private void checkLevels() {
        for (List<List<Table>> family : levels) {
            for (List<Table> level : family) {
                level.sort(Comparator.comparing(Table::smallest));
                for (int i = 1; i < level.size(); i++) {
                    assertThat(level.get(i - 1).biggest())
                            .isLessThan(level.get(i).smallest());
                }
            }
        }
    }
}
