package io.coplane.compaction;

import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.ObjectKeys;
import io.coplane.nativecache.Require;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A folder of journals, one a request, named by the SHA-256 of its body (docs/compaction.md). The folder belongs to one process at a time, which is
 * locked; a process that ends in any way leaves it free.
 *
 * <p>Journals are removed when they are old: those of delivered answers after {@link Limits#delivered}, the others after {@link Limits#undelivered};
 * and the oldest ones, the delivered first, when they are too many or too large together. Owns the lock until closed. Thread-safe.
 */
public final class CompactionJournals implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(CompactionJournals.class);
    private static final String SUFFIX = ".journal";
    private static final String LOCK = "lock";
    private static final int IDENTITY_DIGITS = 64;

    /**
     * How much is kept.
     *
     * @param delivered   how long a lost reply can be asked for again
     * @param undelivered how long a compaction can go on, and its outputs are listed as orphans
     * @param journals    most of them; 1 .. 65,536
     * @param bytes       most of all that are closed; at least 1 MiB
     */
    public record Limits(Duration delivered, Duration undelivered, int journals, long bytes) {
        /** An hour, a week, a thousand, 256 MiB. */
        public static final Limits DEFAULT = new Limits(Duration.ofHours(1), Duration.ofDays(7), 1000, 256L << 20);

        /** Checks the bounds. */
        public Limits {
            Require.range("journals", journals, 1, 65_536);
            Require.range("bytes", bytes, 1 << 20, Long.MAX_VALUE);
        }
    }

    /** What is known of a journal that nobody uses. */
    private record Kept(long millis, boolean isDelivered, long byteSize) {}

    private final Path folder;
    private final Clock clock;
    private final Limits limits;
    private final FileChannel lock;
    private final Map<String, Kept> kept = new HashMap<>();
    private final Set<String> inUse = new HashSet<>();

    private CompactionJournals(Path folder, Clock clock, Limits limits, FileChannel lock) {
        this.folder = folder;
        this.clock = clock;
        this.limits = limits;
        this.lock = lock;
    }

    /**
     * Takes a folder, which is made if it isn't there.
     *
     * @throws CoplaneException BAD_CONFIG if it can't be used, or another process does
     */
    public static CompactionJournals open(Path folder, Clock clock, Limits limits) {
        FileChannel lock = null;
        try {
            Files.createDirectories(folder);
            lock = FileChannel.open(folder.resolve(LOCK), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
            if (lock.tryLock() == null) {
                throw new CoplaneException(ErrorCode.BAD_CONFIG, "journals are used by another process: dir=" + folder);
            }
            var journals = new CompactionJournals(folder, clock, limits, lock);
            journals.probe();
            journals.scan();
            return journals;
        } catch (IOException | UncheckedIOException e) {
            closeQuietly(lock);
            throw new CoplaneException(
                    ErrorCode.BAD_CONFIG, "can't use a folder for journals: dir=" + folder + " cause=" + e, e);
        } catch (OverlappingFileLockException e) {
            closeQuietly(lock);
            throw new CoplaneException(
                    ErrorCode.BAD_CONFIG, "journals are used twice in one process: dir=" + folder, e);
        } catch (CoplaneException e) {
            closeQuietly(lock);
            throw e;
        }
    }

    private static void closeQuietly(FileChannel channel) {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            LOG.warn("can't close a lock", e);
        }
    }

    /** Whether this JVM can map a file: it needs the flags of config/jvm.flags. */
    private void probe() throws IOException {
        Path file = folder.resolve("probe");
        try (JournalFile journal = JournalFile.create(file, "0".repeat(IDENTITY_DIGITS), 0)) {
            journal.append(new JournalRecord.Stored(0).encode());
        } catch (LinkageError | AssertionError | RuntimeException e) {
            throw new CoplaneException(
                    ErrorCode.BAD_CONFIG,
                    "the JVM can't map a journal: start it with the flags of config/jvm.flags",
                    e);
        } finally {
            Files.deleteIfExists(file);
        }
    }

    /** Identity of a request: SHA-256 of its body, in hex. */
    public static String identity(MemorySegment body) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(body.asByteBuffer());
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new CoplaneException(ErrorCode.INVARIANT_BROKEN, "this JDK lacks SHA-256", e);
        }
    }

    /**
     * The journal of a request, with what earlier attempts noted; a file that isn't one of ours, or of another version, counts as none. If no journal
     * can be made, one that notes nothing.
     *
     * @throws CoplaneException COMPACTION_RUNNING if it is in use
     */
    public synchronized JobJournal begin(String identity) {
        if (inUse.contains(identity)) {
            throw new CoplaneException(
                    ErrorCode.COMPACTION_RUNNING, "the same compaction is running: request=" + identity);
        }
        sweep(kept.containsKey(identity) ? 0 : 1);
        if (kept.size() + inUse.size() >= limits.journals() && !kept.containsKey(identity)) {
            LOG.warn("compaction runs without a journal, so many run: journals={}", inUse.size());
            return JobJournal.off();
        }
        Path file = folder.resolve(identity + SUFFIX);
        try {
            JournalFile.Content content = Files.exists(file) ? JournalFile.read(file) : null;
            boolean isOurs = content != null && content.identity().equals(identity);
            if (content == null && Files.exists(file)) {
                LOG.warn("journal of another version or kind is ignored: file={}", file);
            }
            long created = isOurs ? content.createdMillis() : clock.wallMillis();
            JournalFile opened =
                    isOurs ? JournalFile.append(file, content) : JournalFile.create(file, identity, created);
            inUse.add(identity);
            kept.remove(identity);
            return new JobJournal(
                    identity, created, isOurs ? content.state() : new JournalState(), opened, this::closed);
        } catch (IOException | RuntimeException e) {
            LOG.warn("compaction runs without a journal: file={}", file, e);
            return JobJournal.off();
        }
    }

    /** Notes that the answer to a request was delivered. Without effect if it has no journal, or is in work again. */
    public synchronized void delivered(String identity) {
        if (inUse.contains(identity) || !kept.containsKey(identity)) {
            return;
        }
        try (JobJournal journal = begin(identity)) {
            journal.delivered(clock.wallMillis());
        }
    }

    private synchronized void closed(JobJournal journal) {
        inUse.remove(journal.identity());
        Path file = folder.resolve(journal.identity() + SUFFIX);
        long millis = journal.isDelivered() ? journal.deliveredMillis() : journal.createdMillis();
        kept.put(
                journal.identity(),
                new Kept(millis, journal.isDelivered(), file.toFile().length()));
        sweep(0);
    }

    private void scan() throws IOException {
        for (Path file : files(folder)) {
            String name = file.getFileName().toString();
            String identity = name.substring(0, name.length() - SUFFIX.length());
            JournalFile.Content content = JournalFile.read(file);
            if (content == null || !content.identity().equals(identity)) {
                // goes as if it were delivered just now: perhaps another version comes back for it
                kept.put(identity, new Kept(clock.wallMillis(), true, Files.size(file)));
                continue;
            }
            boolean delivered = content.state().deliveredMillis >= 0;
            kept.put(
                    identity,
                    new Kept(
                            delivered ? content.state().deliveredMillis : content.createdMillis(),
                            delivered,
                            Files.size(file)));
        }
        sweep(0);
    }

    private static List<Path> files(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.filter(file -> {
                        String name = file.getFileName().toString();
                        return name.endsWith(SUFFIX) && name.length() == IDENTITY_DIGITS + SUFFIX.length();
                    })
                    .sorted()
                    .toList();
        }
    }

    /** Removes what is old, and the oldest where there isn't room. @param room for so many journals more */
    private void sweep(int room) {
        long now = clock.wallMillis();
        var oldestFirst = new ArrayList<>(kept.entrySet());
        oldestFirst.sort(Comparator.comparing(
                        (Map.Entry<String, Kept> e) -> !e.getValue().isDelivered())
                .thenComparing(e -> e.getValue().millis()));
        long bytes = kept.values().stream().mapToLong(Kept::byteSize).sum();
        for (Map.Entry<String, Kept> entry : oldestFirst) {
            Kept journal = entry.getValue();
            Duration most = journal.isDelivered() ? limits.delivered() : limits.undelivered();
            boolean isOld = now - journal.millis() > most.toMillis();
            if (isOld || bytes > limits.bytes() || kept.size() + inUse.size() + room > limits.journals()) {
                remove(entry.getKey());
                bytes -= journal.byteSize();
            }
        }
    }

    private void remove(String identity) {
        kept.remove(identity);
        Path file = folder.resolve(identity + SUFFIX);
        try {
            Files.deleteIfExists(file);
        } catch (IOException e) {
            LOG.warn("can't remove a journal: file={}", file, e);
        }
    }

    /**
     * An output of a compaction whose answer nobody is known to have got. It may be referred to nevertheless: the reply may have come through, or the
     * same request may have succeeded elsewhere. Whoever deletes must know what all shards refer to; only the store does.
     *
     * @param request   identity of the request
     * @param key       of the object, below the store's prefix
     * @param fileId    its id
     * @param byteSize  its length
     * @param isStored  whether the object store said that it holds it
     * @param ageMillis since the request first came
     */
    public record Orphan(String request, String key, long fileId, long byteSize, boolean isStored, long ageMillis) {}

    /**
     * Lists outputs of a folder's journals whose answers were not delivered, oldest requests first. Takes no lock: compactions that run are listed too.
     *
     * @throws CoplaneException BAD_CONFIG if the folder can't be read
     */
    public static List<Orphan> orphans(Path folder, Clock clock) {
        var orphans = new ArrayList<Orphan>();
        try {
            for (Path file : files(folder)) {
                JournalFile.Content content = JournalFile.read(file);
                if (content == null || content.state().deliveredMillis >= 0) {
                    continue;
                }
                for (JournalOutput output : content.state().everBegun.values()) {
                    orphans.add(new Orphan(
                            content.identity(),
                            ObjectKeys.path(output.kind(), output.fileId()),
                            output.fileId(),
                            output.byteSize(),
                            content.state().stored.contains(output.fileId()),
                            Math.max(0, clock.wallMillis() - content.createdMillis())));
                }
            }
        } catch (IOException e) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, "can't read journals: dir=" + folder + " cause=" + e, e);
        }
        orphans.sort(Comparator.comparingLong(Orphan::ageMillis).reversed());
        return orphans;
    }

    /** Frees the folder. Journals in use stay usable. Idempotent. */
    @Override
    public void close() {
        closeQuietly(lock);
    }
}
