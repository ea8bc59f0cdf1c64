package io.coplane.snapshot;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.sst.BlobFetcher;
import io.coplane.sst.BlobReader;
import io.coplane.sst.BlobRef;
import io.coplane.sst.TableCursor;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** The blob files of a shard, by id (snapshot.md 6.9). Borrows them. Immutable, thread-safe; a {@link Fetch} is for one thread. */
final class Blobs {
    private final long[] fileIds; // ascending
    private final BlobReader[] files;

    Blobs(List<BlobReader> readers) {
        files = readers.toArray(BlobReader[]::new);
        Arrays.sort(files, Comparator.comparingLong(BlobReader::fileId));
        fileIds = Arrays.stream(files).mapToLong(BlobReader::fileId).toArray();
    }

    /** Fetches blobs one at a time. Borrows the arena of its scratch memory. One thread. */
    final class Fetch {
        private final BlobFetcher fetcher;

        Fetch(NativeArena arena) {
            fetcher = new BlobFetcher(arena);
        }

        /**
         * The value of an entry that holds a blob reference.
         *
         * @return exactly the value; valid until the next call
         * @throws CoplaneException FILE_NOT_FOUND if the shard has no such file, or what reading it raises
         */
        MemorySegment value(TableCursor entry) {
            BlobRef ref = BlobRef.read(entry.valueSegment(), entry.valueOffset(), entry.valueLength());
            int index = Arrays.binarySearch(fileIds, ref.fileId());
            if (index < 0) {
                throw new CoplaneException(
                        ErrorCode.FILE_NOT_FOUND, "blob table not found, fid: " + Long.toUnsignedString(ref.fileId()));
            }
            return fetcher.fetch(files[index], ref);
        }
    }
}
