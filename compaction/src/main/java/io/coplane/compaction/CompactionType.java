package io.coplane.compaction;

import java.util.List;
import java.util.SortedMap;

/**
 * What a request asks for: the variants of compaction.md 1.5 with their payloads (1.6). Names of components are those of the JSON fields; 64-bit
 * ids, timestamps and sizes are unsigned.
 */
public sealed interface CompactionType {
    /** The variant's name in JSON; the label of metrics. */
    String variant();

    /** Files of one level. */
    record LevelFiles(long level, long[] fileIds) {}

    /** A file and its level. */
    record LeveledFile(long fileId, long level) {}

    /** A row file to rewrite in place; of level 0 the family is -1. */
    record RowFile(long fileId, long level, long cf) {}

    /** A table and one of its indexes. */
    record TableIndex(long tableId, long indexId) {}

    /** No work; an error when executed. */
    record Unknown() implements CompactionType {
        @Override
        public String variant() {
            return "Unknown";
        }
    }

    /**
     * All files of a shard to the last level of each family.
     *
     * @param lnTables    by family, the levels and their files in the request's order
     * @param blobOptions null: build no blob tables
     */
    record Major(
            long safeTs,
            long[] l0Tables,
            SortedMap<Long, List<LevelFiles>> lnTables,
            long[] blobTables,
            TableOptions tableOptions,
            BlobTableOptions blobOptions)
            implements CompactionType {
        @Override
        public String variant() {
            return "Major";
        }
    }

    /**
     * L0 files and L1 to L1.
     *
     * @param l1Tables    three lists, by family
     * @param blobOptions null: build no blob tables
     */
    record L0(
            long safeTs,
            long[] l0Tables,
            List<long[]> l1Tables,
            TableOptions tableOptions,
            BlobTableOptions blobOptions)
            implements CompactionType {
        @Override
        public String variant() {
            return "L0";
        }
    }

    /** A level and the one below it to the latter; {@code level} is the upper one, at least 1. */
    record L1Plus(
            long cf,
            long level,
            long safeTs,
            boolean keepLatestObsoleteTombstone,
            long[] upperLevel,
            long[] lowerLevel,
            TableOptions tableOptions)
            implements CompactionType {
        @Override
        public String variant() {
            return "L1Plus";
        }
    }

    /** How files are rewritten in place. */
    sealed interface Spec {
        /** Nothing; an error when executed. */
        record Unknown() implements Spec {}

        /** Versions after {@code ts} go. */
        record TruncateTs(long ts) implements Spec {}

        /** Keys outside of the shard go. */
        record TrimOverBound() implements Spec {}

        /** Keys of prefixes go; the list is marshalled as compaction.md 3.7 says. */
        record DestroyRange(byte[] prefixes) implements Spec {}
    }

    /** Kinds of full text files. */
    enum FtsKind {
        L0,
        L1,
        L2
    }

    /** A full text file to rewrite in place. */
    record FtsTask(long id, FtsKind kind) {}

    /**
     * Files one to one through a filter.
     *
     * @param schemaFileId 0: no schema
     */
    record InPlaceWithColumnar(
            List<RowFile> fileIds,
            List<LeveledFile> colFileIds,
            long blockSize,
            ColumnarOptions columnarBuildOpts,
            long schemaFileId,
            long[] columnarTableIds,
            List<FtsTask> ftsTasks,
            FtsPackedOptions ftsPackedBuildOpts,
            FtsDedicatedOptions ftsDedicatedBuildOpts,
            Spec spec)
            implements CompactionType {
        @Override
        public String variant() {
            return "InPlaceWithColumnar";
        }
    }

    /** Rows or columnar files to columnar files. */
    record Columnar(
            long level,
            long safeTs,
            long snapVersion,
            List<LeveledFile> sourceRowFiles,
            List<LeveledFile> sourceColumnarFiles,
            long schemaFileId,
            long[] columnarTableIds,
            ColumnarOptions columnarConfig)
            implements CompactionType {
        @Override
        public String variant() {
            return "Columnar";
        }
    }

    /** Tables that join or leave the columnar files of a shard; {@code snapVersion} 0 clears all of them. */
    record ColumnarMajor(
            long safeTs,
            long[] l0Tables,
            List<LevelFiles> lnTables,
            long[] blobTables,
            List<LeveledFile> oldColumnarTables,
            long schemaFileId,
            long[] tableIdsToAdd,
            long[] tableIdsToClear,
            ColumnarOptions columnarConfig,
            long snapVersion,
            long targetLevel)
            implements CompactionType {
        @Override
        public String variant() {
            return "ColumnarMajor";
        }
    }

    /** Columnar files to vector index files. */
    record VectorIndex(
            long tableId,
            long indexId,
            long colId,
            long snapVersion,
            long schemaFileId,
            List<LeveledFile> colFileIds,
            long[] removeFileIds,
            VectorIndexOptions buildOptions)
            implements CompactionType {
        @Override
        public String variant() {
            return "VectorIndex";
        }
    }

    /** New columnar L0 files to full text L0 files. */
    record FtsCreateL0(
            List<TableIndex> ftsIndexes,
            long schemaFileId,
            long[] colL0FileIds,
            long snapVersion,
            FtsOptions buildOptions)
            implements CompactionType {
        @Override
        public String variant() {
            return "FtsCreateL0";
        }
    }

    /** Columnar files to full text L0 files of new indexes. */
    record FtsAddIndex(
            List<TableIndex> ftsIndexesToAdd,
            long schemaFileId,
            List<LeveledFile> colFileIds,
            long currentSnapVersion,
            FtsOptions buildOptions)
            implements CompactionType {
        @Override
        public String variant() {
            return "FtsAddIndex";
        }
    }

    /** Full text L0 and L1 files to L1 and L2. */
    record FtsCompactL0(
            FtsOptions buildOptions,
            List<TableIndex> trackedIndexes,
            long[] l0FileIds,
            long[] l1FileIds,
            List<byte[]> l2LpKeys)
            implements CompactionType {
        @Override
        public String variant() {
            return "FtsCompactL0";
        }
    }

    /** Full text L2 files of one index to one. */
    record FtsCompactL2(byte[] lpKey, long[] l2FileIds, FtsOptions buildOptions) implements CompactionType {
        @Override
        public String variant() {
            return "FtsCompactL2";
        }
    }

    /** Full text files that go. */
    record FtsCleanup(long[] l1FileIds, long[] l2FileIds) implements CompactionType {
        @Override
        public String variant() {
            return "FtsCleanup";
        }
    }

    /** {@code sst_config} (compaction.md 1.7); {@code compressionTypes} by target level less 1. */
    record TableOptions(
            long blockSize, long maxTableSize, int[] compressionTypes, long compressionLevel, boolean flushSplitL0) {}

    /** {@code bt_config} (compaction.md 1.7). */
    record BlobTableOptions(
            int compressionType, long minBlobSize, long maxBlobTableSize, long targetBlobTableSize, long blockSize) {}

    /** Columnar build options (compaction.md 1.7). */
    record ColumnarOptions(
            int compressionType, int checksumType, long maxColumnarTableSize, long packMaxRowCount, long packMaxSize) {}

    /** Vector index build options (compaction.md 1.7). */
    record VectorIndexOptions(long deltaSize, long rebuildFileCount, long maxFileSize) {}

    /** Options of packed full text files (compaction.md 1.7). */
    record FtsPackedOptions(long blockSize, String checksumType) {}

    /** Options of dedicated full text files (compaction.md 1.7). */
    record FtsDedicatedOptions(long handleBlockSize, String checksumType, long handleRankStride) {}

    /** Options of full text compactions (compaction.md 1.7). */
    record FtsOptions(
            long maxL0Files,
            long maxL0Sizes,
            long l0FileMaxSize,
            long l1FileMaxSize,
            long minL2LpSize,
            long l2MaxFilesPerLp,
            long l2MinMergeFiles,
            long l2MaxOutputFileSize,
            long l2MinLayerDocs,
            double l2LevelLogSize,
            long l2MaxDocsBeforeMerge) {}
}
