package io.coplane.worker.inspect;

import io.coplane.nativecache.AsciiNumbers;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.snapshot.KeyspaceEncryption;
import io.coplane.sst.RowFileKind;
import io.coplane.sst.ShardKey;
import io.coplane.worker.config.ConfigLoader;
import io.coplane.worker.config.MasterKeyConfig;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Option;

/** Options that both commands have. Set by picocli. */
final class InspectOptions {
    @Option(
            names = "--kind",
            paramLabel = "KIND",
            description = "Kind of the file: ${COMPLETION-CANDIDATES}. Default: by its last bytes, then its name.")
    private RowFileKind kind;

    @Option(
            names = "--file-id",
            paramLabel = "ID",
            description = "Id of the file, part of its encryption. Default: the 16 hex digits of its name.")
    private String fileId;

    @Option(
            names = "--shard-key",
            paramLabel = "HEX",
            description = "Key of the shard as its property _encryption holds it, 69 bytes; wrapped by the master key.")
    private String shardKey;

    @Option(
            names = "--encryption-meta",
            paramLabel = "FILE|URL",
            description = "Encryption metadata of the keyspace, PREFIX/encryption/xx/ID.dict: data keys by id.")
    private String encryptionMeta;

    @Option(
            names = {"-C", "--config"},
            paramLabel = "FILE",
            description = "A worker's configuration: where the master key comes from.")
    private Path config;

    @Option(names = "--json", description = "One JSON object a line.")
    private boolean json;

    boolean isJson() {
        return json;
    }

    /** The kind of a file. @throws CoplaneException BAD_ARGUMENT if nothing tells */
    RowFileKind kind(OpenedFile file) {
        RowFileKind found = kind != null ? kind : RowFileKind.of(file.viewBytes(), file.name());
        if (found == null) {
            throw new CoplaneException(
                    ErrorCode.BAD_ARGUMENT,
                    "neither its last bytes nor its name say what this is, give --kind: file=" + file.name());
        }
        return found;
    }

    /** A file as what a node keeps beside its tables; null if it is none of those, or another kind was asked for. */
    LocalMeta localMeta(OpenedFile file) {
        return kind == null ? LocalMeta.of(file) : null;
    }

    /** The id of a file. */
    long fileId(OpenedFile file) {
        if (fileId == null) {
            return file.fileId();
        }
        try {
            return AsciiNumbers.parseUnsignedLong(fileId);
        } catch (NumberFormatException e) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "--file-id is no number: value=" + fileId, e);
        }
    }

    /** The shard's key, the data keys of its keyspace, or both; null if neither was given. */
    ShardKey key(Map<String, String> environment) {
        ShardKey own = shardKey == null ? null : shardKey(environment);
        if (encryptionMeta == null) {
            return own;
        }
        ShardKey dataKeys = dataKeys(environment);
        return own == null ? dataKeys : own.withDataKeys(dataKeys);
    }

    private ShardKey shardKey(Map<String, String> environment) {
        byte[] exported;
        try {
            exported = HexFormat.of().parseHex(shardKey);
        } catch (IllegalArgumentException e) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "--shard-key is not hexadecimal", e);
        }
        byte[] masterKey = ConfigLoader.load(Optional.ofNullable(config), Map.of(), environment)
                .security()
                .masterKey()
                .resolve();
        return ShardKey.unwrap(masterKey, exported);
    }

    private ShardKey dataKeys(Map<String, String> environment) {
        try (OpenedFile object = OpenedFile.open(encryptionMeta, environment)) {
            return KeyspaceEncryption.parse(object.viewBytes(), object.fileId()).key(MasterKeyConfig::ofKeyspace);
        }
    }
}
