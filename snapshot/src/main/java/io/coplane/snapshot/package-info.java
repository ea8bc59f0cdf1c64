/**
 * MVCC snapshots: what one shard held at a read timestamp, rebuilt from a remote coprocessor request.
 *
 * <p>Enter through {@link SnapshotBuilder}; {@link RemoteRequestBody} splits a request, {@link Snapshot} hands out scanners and point readers,
 * which fill a {@link RowBuffer}.
 * <p>May import: sst and what sst may. Threads: {@link SnapshotBuilder} and {@link Snapshot} any; a {@link SnapshotScanner}, a
 * {@link PointReader}, a {@link RowBuffer} one.
 * <p>Memory: the snapshot owns files, memtable and the request's {@link io.coplane.nativecache.MemoryGuard}; readers borrow from it.
 */
package io.coplane.snapshot;
