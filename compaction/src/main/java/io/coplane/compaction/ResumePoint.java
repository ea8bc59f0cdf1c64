package io.coplane.compaction;

/**
 * A place in a compaction from which it can go on: a table was just closed, so nothing of it is in memory. A blob table may be open; it is built
 * again from the key of its first value, with the same references, as its content is a function of the inputs.
 *
 * @param step           number of a column family, or of a file that is rewritten in place; those before it are complete
 * @param key            first key that is not in an output yet; empty: the step begins
 * @param tableId        id of the table that begins at {@code key}, if that isn't empty
 * @param blobId         id of the blob table that is open or comes next, if there is one
 * @param blobKey        key of the first value in the open blob table; empty: none is open
 * @param blobBytes      bytes of the values in it
 * @param idsTaken       ids given out so far
 * @param outputs        files begun so far
 * @param inputEntries   versions read before {@code key}
 * @param outputEntries  versions written before {@code key}
 * @param inputBytesRead for the progress that is shown
 */
record ResumePoint(
        int step,
        byte[] key,
        long tableId,
        long blobId,
        byte[] blobKey,
        long blobBytes,
        int idsTaken,
        int outputs,
        long inputEntries,
        long outputEntries,
        long inputBytesRead) {
    boolean isWithinStep() {
        return key.length > 0;
    }

    boolean hasOpenBlobs() {
        return blobKey.length > 0;
    }
}
