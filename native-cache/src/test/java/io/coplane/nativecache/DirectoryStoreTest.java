package io.coplane.nativecache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.memory.NativeArena;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** ia.md 14, 15; a file is visible only when it is whole. */
final class DirectoryStoreTest {
    @TempDir
    Path root;

    private final MemoryLimiter limiter = new MemoryLimiter(1 << 20);
    private MemoryGuard guard;
    private NativeArena arena;
    private DirectoryStore store;

    @BeforeEach
    void open() {
        guard = limiter.acquire(0);
        arena = new NativeArena(guard);
        store = new DirectoryStore(root, "p", 2);
    }

    @AfterEach
    void accountsAreZero() {
        store.close();
        arena.close();
        guard.close();
        assertThat(limiter.usedBytes()).isZero();
        assertThat(NativeArena.mappedBytes()).isZero();
    }

    @Test
    void readsBackWhatWasPut() {
        put(FileKind.BLOB, 7, "hello world");

        assertThat(text(store.read(FileKind.BLOB, 7, 0, ObjectStore.TO_END, arena)))
                .isEqualTo("hello world");
        assertThat(text(store.read(FileKind.BLOB, 7, 6, ObjectStore.TO_END, arena)))
                .isEqualTo("world");
        assertThat(text(store.read(FileKind.BLOB, 7, 2, 5, arena))).isEqualTo("llo");
        assertThat(store.byteSize(FileKind.BLOB, 7).join()).isEqualTo(11);
        assertThat(limiter.usedBytes()).isEqualTo(11 + 5 + 3);
    }

    @Test
    void putReplacesAndLeavesNoTemporaryFile() throws IOException {
        put(FileKind.SST, 1, "old");
        put(FileKind.SST, 1, "new!");

        assertThat(text(store.read(FileKind.SST, 1, 0, ObjectStore.TO_END, arena)))
                .isEqualTo("new!");
        try (var files = Files.walk(root)) {
            assertThat(files.filter(Files::isRegularFile)).containsExactly(root.resolve("p/61/0000000000000001.sst"));
        }
    }

    @Test
    void namesTheMissingFile() {
        assertThatThrownBy(() -> store.read(FileKind.SST, 42, 0, ObjectStore.TO_END, arena)
                        .join())
                .isInstanceOf(CompletionException.class)
                .cause()
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.FILE_NOT_FOUND))
                .hasMessageContaining("p/b6/000000000000002a.sst");
        assertThatThrownBy(() -> store.byteSize(FileKind.SST, 42).join()).hasCauseInstanceOf(CoplaneException.class);
    }

    @Test
    void refusesRangesBeyondTheFile() {
        put(FileKind.SST, 1, "0123456789");

        for (long[] range : new long[][] {{0, 11}, {11, ObjectStore.TO_END}, {9, 12}}) {
            assertThatThrownBy(() -> store.read(FileKind.SST, 1, range[0], range[1], arena)
                            .join())
                    .cause()
                    .isInstanceOfSatisfying(
                            CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.FILE_TRUNCATED));
        }
        for (long[] range : new long[][] {{-1, 3}, {3, 3}, {4, 2}}) {
            assertThatThrownBy(() -> store.read(FileKind.SST, 1, range[0], range[1], arena)
                            .join())
                    .cause()
                    .isInstanceOfSatisfying(
                            CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_ARGUMENT));
        }
        assertThat(limiter.usedBytes()).isZero();
    }

    @Test
    void aFileTooLargeForTheLimitIsRefusedAndNothingIsHeld() {
        put(FileKind.SST, 1, "x".repeat(1000));
        try (MemoryGuard small = new MemoryLimiter(999).acquire(0);
                NativeArena tight = new NativeArena(small)) {
            assertThatThrownBy(() -> store.read(FileKind.SST, 1, 0, ObjectStore.TO_END, tight)
                            .join())
                    .hasCauseInstanceOf(MemoryLimitException.class);
            assertThat(tight.ownedBytes()).isZero();
        }
    }

    @Test
    void listsInOrderPartByPart() {
        put(FileKind.SST, 1, "a");
        put(FileKind.SST, 42, "bb");
        put(FileKind.BLOB, 7, "ccc");

        ObjectListing first = store.list("", 2).join();
        ObjectListing second = store.list(first.next().orElseThrow(), 2).join();

        assertThat(first.entries())
                .containsExactly(
                        new ObjectListing.Entry("61/0000000000000001.sst", 1),
                        new ObjectListing.Entry("b6/000000000000002a.sst", 2));
        assertThat(second.entries()).hasSize(1);
        assertThat(second.entries().getFirst().key()).startsWith("blob/");
        assertThat(second.next()).isEmpty();
    }

    @Test
    void removalUnlinks() {
        put(FileKind.SST, 1, "a");

        assertThat(store.markRemoved(FileKind.SST, 1, 1).join()).isTrue();
        assertThat(store.markRemoved(FileKind.SST, 1, 1).join()).isTrue();
        assertThat(store.list("", 10).join().entries()).isEmpty();
    }

    @Test
    void whatIsThereWasNotRemovedAndWhatIsRemovedIsGone() {
        put(FileKind.SST, 1, "a");
        assertThat(store.isRemoved(FileKind.SST, 1).join()).isFalse();
        assertThat(store.retain(FileKind.SST, 1).join()).isFalse();

        store.permanentlyRemove(FileKind.SST, 1).join();
        store.permanentlyRemove(FileKind.SST, 1).join();

        assertThatThrownBy(() -> store.isRemoved(FileKind.SST, 1).join())
                .cause()
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.FILE_NOT_FOUND));
        assertThatThrownBy(() -> store.retain(FileKind.SST, 1).join()).hasMessageContaining("not exists");
    }

    @Test
    void aTemporaryFileOfAProcessThatDiedIsNotInTheWay() throws IOException {
        Path folder = Files.createDirectories(root.resolve("p/61"));
        Files.writeString(folder.resolve("0000000000000001.sst.1.tmp"), "half");

        put(FileKind.SST, 1, "whole");

        assertThat(text(store.read(FileKind.SST, 1, 0, ObjectStore.TO_END, arena)))
                .isEqualTo("whole");
        assertThat(store.list("", 10).join().entries()).hasSize(1);
    }

    @Test
    void aClosedStoreRefuses() {
        store.close();

        assertThatThrownBy(() -> store.read(FileKind.SST, 1, 0, ObjectStore.TO_END, arena)
                        .join())
                .cause()
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.SHUTTING_DOWN));
    }

    private void put(FileKind kind, long fileId, String text) {
        byte[] bytes = text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
        store.put(kind, fileId, MemorySegment.ofArray(bytes)).join();
    }

    private static String text(CompletableFuture<MemorySegment> read) {
        return new String(read.join().toArray(ValueLayout.JAVA_BYTE), java.nio.charset.StandardCharsets.UTF_8);
    }
}
