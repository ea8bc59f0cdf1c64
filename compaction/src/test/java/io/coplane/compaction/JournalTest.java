package io.coplane.compaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.testing.GoldenCase;
import io.coplane.testing.ManualClock;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.TestData;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Journals that were left behind in every state; docs/compaction.md. */
@ExtendWith(NoLeaks.class)
final class JournalTest {
    private static final CompactionJournals.Limits LIMITS =
            new CompactionJournals.Limits(Duration.ofHours(1), Duration.ofDays(7), 4, 1 << 20);

    @TempDir
    private Path folder;

    private final ManualClock clock = ManualClock.recorded();
    private final MemoryStore store = new MemoryStore();
    private GoldenCase golden;
    private String identity;
    private CompactionJournals journals;

    @BeforeEach
    void open() {
        golden = TestData.cases("compaction")
                .filter(c -> c.name().equals("l1plus-cf0-l1-k0-s0"))
                .findFirst()
                .orElseThrow();
        for (String file : golden.files("")) {
            if (file.startsWith("in/")) {
                store.objects.put(
                        new MemoryStore.Name(
                                file.endsWith(".sst") ? FileKind.SST : FileKind.BLOB,
                                Long.parseUnsignedLong(file.substring(3, 19), 16)),
                        golden.bytes(file));
            }
        }
        identity = CompactionJournals.identity(MemorySegment.ofArray(golden.bytes("request.json")));
        journals = CompactionJournals.open(folder, clock, LIMITS);
    }

    @AfterEach
    void close() {
        journals.close();
    }

    private CompactionResult compact() {
        try (JobJournal journal = journals.begin(identity)) {
            return compact(journal);
        }
    }

    private CompactionResult compact(JobJournal journal) {
        try (MemoryGuard guard = new MemoryLimiter(1L << 30).acquire(1 << 20)) {
            return new Compactor(CompactionConfig.DEFAULT, store, new byte[32])
                    .compact(
                            CompactionRequest.parse(golden.bytes("request.json")),
                            count -> {
                                throw new AssertionError("the request has ids enough");
                            },
                            guard,
                            () -> false,
                            new CompactionProgress(),
                            journal);
        }
    }

    private Path file() {
        return folder.resolve(identity + ".journal");
    }

    @Test
    void aLostReplyIsAnsweredAgainWithoutWork() {
        CompactionResult first = compact();
        long puts = store.puts.get();

        CompactionResult again = compact();

        assertThat(again.changeSet()).isEqualTo(first.changeSet());
        assertThat(again.resumedFiles()).isEqualTo(first.outputFiles()).isPositive();
        assertThat(store.puts.get()).isEqualTo(puts);
    }

    @Test
    void aLostReplyIsAnsweredAgainByTheNextProcess() {
        CompactionResult first = compact();
        long puts = store.puts.get();
        journals.close();
        journals = CompactionJournals.open(folder, clock, LIMITS);

        assertThat(compact().changeSet()).isEqualTo(first.changeSet());
        assertThat(store.puts.get()).isEqualTo(puts);
    }

    @Test
    void whatSomebodyRemovedOrCutIsWrittenAgainUnderTheSameIds() {
        CompactionResult first = compact();
        int outputs = first.outputFiles();
        var created = first.changeSet().getCompaction().getTableCreates(0);
        var name = new MemoryStore.Name(FileKind.SST, created.getID());
        byte[] bytes = store.objects.remove(name);

        CompactionResult second = compact();
        store.objects.put(name, Arrays.copyOf(bytes, bytes.length - 1));
        CompactionResult third = compact();

        assertThat(second.changeSet()).isEqualTo(first.changeSet());
        assertThat(third.changeSet()).isEqualTo(first.changeSet());
        assertThat(store.objects.get(name)).isEqualTo(bytes);
        assertThat(store.puts.get()).isEqualTo(3L * outputs);
    }

    @Test
    void aJournalCutAnywhereIsUsedUpToThere() throws Exception {
        CompactionResult first = compact();
        byte[] whole = Files.readAllBytes(file());
        long resumed = 0;
        for (int cut = 0; cut < whole.length; cut++) {
            Files.write(file(), Arrays.copyOf(whole, cut));
            CompactionResult again = compact();
            assertThat(again.changeSet()).as("cut at %d", cut).isEqualTo(first.changeSet());
            resumed += again.resumedFiles() > 0 ? 1 : 0;
        }
        assertThat(resumed).isPositive();
    }

    @Test
    void aJournalWithAWrongByteIsUsedUpToThere() throws Exception {
        CompactionResult first = compact();
        byte[] whole = Files.readAllBytes(file());
        for (int at = 0; at < whole.length; at += 3) {
            byte[] wrong = whole.clone();
            wrong[at] ^= (byte) (1 << at % Byte.SIZE);
            Files.write(file(), wrong);
            assertThat(compact().changeSet()).as("wrong at %d", at).isEqualTo(first.changeSet());
        }
    }

    @Test
    void journalsOfOtherVersionsRequestsAndKindsAreIgnored() throws Exception {
        CompactionResult first = compact();
        byte[] whole = Files.readAllBytes(file());
        for (byte[] foreign :
                List.of(new byte[0], new byte[10_000], whole(whole, 11, 2), whole(whole, 0, 7), whole(whole, 30, 1))) {
            Files.write(file(), foreign);
            long puts = store.puts.get();

            CompactionResult again = compact();

            assertThat(again.changeSet()).isEqualTo(first.changeSet());
            assertThat(again.resumedFiles()).isZero();
            assertThat(store.puts.get() - puts).isEqualTo(first.outputFiles());
        }
    }

    /** A journal with another byte in its header, and the checksum that belongs to it. */
    private static byte[] whole(byte[] journal, int at, int value) {
        byte[] other = journal.clone();
        other[at] = (byte) (value == other[at] ? value + 1 : value);
        var crc = new CRC32C();
        crc.update(other, 0, 60);
        ByteBuffer.wrap(other).putInt(60, (int) crc.getValue());
        return other;
    }

    @Test
    void aRequestInWorkHasItsJournalForItself() {
        try (JobJournal _ = journals.begin(identity)) {
            assertThatThrownBy(() -> journals.begin(identity))
                    .isInstanceOfSatisfying(
                            CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.COMPACTION_RUNNING));
        }
        journals.begin(identity).close();
    }

    @Test
    void aFolderBelongsToOneOwner() {
        assertThatThrownBy(() -> CompactionJournals.open(folder, clock, LIMITS))
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_CONFIG));
    }

    @Test
    void deliveredJournalsGoAfterAnHourOthersAfterAWeek() {
        compact();
        journals.delivered(identity);
        journals.begin("b".repeat(64)).close();
        clock.advance(Duration.ofHours(1).plusSeconds(1));

        journals.begin("c".repeat(64)).close();

        assertThat(names()).containsExactly("b", "c");
        clock.advance(Duration.ofDays(7).plusSeconds(1));
        journals.begin("d".repeat(64)).close();
        assertThat(names()).containsExactly("d");
    }

    @Test
    void thereAreNeverTooMany() {
        for (char c = 'a'; c <= 'f'; c++) {
            clock.advance(Duration.ofSeconds(1));
            journals.begin(Character.toString(c).repeat(64)).close();
        }
        assertThat(names()).containsExactly("c", "d", "e", "f");

        var inWork = List.of("1", "2", "3", "4").stream()
                .map(c -> journals.begin(c.repeat(64)))
                .toList();
        CompactionResult withoutJournal = compact();
        inWork.forEach(JobJournal::close);

        assertThat(withoutJournal.outputFiles()).isPositive();
        assertThat(names()).containsExactly("1", "2", "3", "4");
    }

    /** First digits of the journals, sorted. */
    private List<String> names() {
        return Arrays.stream(folder.toFile().list((d, name) -> name.endsWith(".journal")))
                .map(name -> name.startsWith(identity.substring(0, 8)) ? "golden" : name.substring(0, 1))
                .sorted()
                .toList();
    }

    @Test
    void outputsAreOrphansUntilTheAnswerIsDelivered() {
        CompactionResult done = compact();
        clock.advance(Duration.ofMinutes(1));

        List<CompactionJournals.Orphan> orphans = CompactionJournals.orphans(folder, clock);

        assertThat(orphans).hasSize(done.outputFiles());
        assertThat(orphans).allSatisfy(orphan -> {
            assertThat(orphan.request()).isEqualTo(identity);
            assertThat(orphan.ageMillis()).isEqualTo(60_000);
            assertThat(orphan.isStored()).isTrue();
            assertThat(orphan.byteSize())
                    .isEqualTo(store.objects.get(new MemoryStore.Name(FileKind.SST, orphan.fileId())).length);
            assertThat(orphan.key()).endsWith(String.format(Locale.ROOT, "%016x.sst", orphan.fileId()));
        });

        journals.delivered(identity);
        assertThat(CompactionJournals.orphans(folder, clock)).isEmpty();
    }
}
