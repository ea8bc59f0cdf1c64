package io.coplane.worker.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Limits of the machine and of control groups, both versions (worker.md 4.1). */
final class MachineTest {
    private static final long GIB = 1L << 30;

    @TempDir
    private Path root;

    @BeforeEach
    void physicalMemory() throws IOException {
        write("proc/meminfo", "MemTotal:       16777216 kB\nMemFree:         1 kB\n");
    }

    @Test
    void withoutControlGroupsTheMachineIsTheLimit() {
        assertThat(Machine.read(root, 8, Map.of())).isEqualTo(new Machine(16 * GIB, 8));
    }

    @Test
    void theUnifiedHierarchyLimitsAtEveryLevel() throws IOException {
        write("proc/self/cgroup", "0::/outer/inner\n");
        write("sys/fs/cgroup/outer/memory.max", "4294967296\n");
        write("sys/fs/cgroup/outer/inner/memory.max", "max\n");
        write("sys/fs/cgroup/outer/inner/cpu.max", "150000 100000\n");
        write("sys/fs/cgroup/outer/cpu.max", "max 100000\n");

        assertThat(Machine.read(root, 8, Map.of())).isEqualTo(new Machine(4 * GIB, 1.5));
    }

    @Test
    void theOldHierarchiesLimit() throws IOException {
        write("proc/self/cgroup", "5:memory:/\n4:cpu,cpuacct:/\n");
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n");
        write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n");
        write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");

        assertThat(Machine.read(root, 8, Map.of())).isEqualTo(new Machine(2 * GIB, 0.5));
    }

    @Test
    void noQuotaOfTheOldHierarchyIsNoLimit() throws IOException {
        write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
        write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
        write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");

        assertThat(Machine.read(root, 3, Map.of())).isEqualTo(new Machine(16 * GIB, 3));
    }

    @Test
    void theVariableLowersTheQuotaOnly() {
        assertThat(Machine.read(root, 8, Map.of("TIKV_CPU_CORES_QUOTA", "2.5")).cpuQuota())
                .isEqualTo(2.5);
        assertThat(Machine.read(root, 8, Map.of("TIKV_CPU_CORES_QUOTA", "64")).cpuQuota())
                .isEqualTo(8);
        assertThatThrownBy(() -> Machine.read(root, 8, Map.of("TIKV_CPU_CORES_QUOTA", "many")))
                .isInstanceOf(CoplaneException.class);
        assertThatThrownBy(() -> Machine.read(root, 8, Map.of("TIKV_CPU_CORES_QUOTA", "0")))
                .isInstanceOf(CoplaneException.class);
    }

    @Test
    void thisMachineHasMemoryAndCores() {
        Machine machine = Machine.read(Map.of());

        assertThat(machine.memoryBytes()).isGreaterThan(GIB / 2);
        assertThat(machine.cpuQuota()).isPositive();
    }

    private void write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }
}
