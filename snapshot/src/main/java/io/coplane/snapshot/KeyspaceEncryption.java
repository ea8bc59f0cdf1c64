package io.coplane.snapshot;

import com.google.protobuf.InvalidProtocolBufferException;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.ObjectKeys;
import io.coplane.proto.keyspace_encryptionpb.EncryptionMeta;
import io.coplane.proto.keyspace_encryptionpb.MasterKey;
import io.coplane.sst.ShardKey;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;

/**
 * The encryption of one keyspace, as its metadata object says: its data keys, and which of them to write with (worker.md 14.3, 17.3). Immutable,
 * thread-safe.
 */
public final class KeyspaceEncryption {
    private final EncryptionMeta meta;
    private final int keyspaceId;

    private KeyspaceEncryption(EncryptionMeta meta, int keyspaceId) {
        this.meta = meta;
        this.keyspaceId = keyspaceId;
    }

    /** Decrypts the master key of a keyspace by the key service that it names. May block: call it by {@link KeyCalls}. */
    public interface MasterKeys {
        /**
         * The plain master key, 32 bytes.
         *
         * @throws CoplaneException of code BAD_ENCRYPTION_KEY or STORE_UNAVAILABLE
         */
        byte[] decrypt(String vendor, String keyId, String region, String endpoint, byte[] ciphertext);
    }

    /**
     * Parses a metadata object.
     *
     * @param object whole content of the object; borrowed
     * @param fileId of the object: it is named in the content
     * @param keyspaceId that the metadata must be of
     * @throws CoplaneException FILE_FORMAT if it does not parse, FILE_MISMATCH if it is of another keyspace or another object's content
     */
    public static KeyspaceEncryption parse(MemorySegment object, long fileId, int keyspaceId) {
        KeyspaceEncryption parsed = parse(object, fileId);
        if (parsed.keyspaceId != keyspaceId) {
            throw mismatch(
                    parsed.meta,
                    fileId,
                    "keyspace=" + Integer.toUnsignedString(parsed.keyspaceId) + " expected="
                            + Integer.toUnsignedString(keyspaceId));
        }
        return parsed;
    }

    /** As the other one, of whichever keyspace the object names. */
    public static KeyspaceEncryption parse(MemorySegment object, long fileId) {
        EncryptionMeta meta;
        try {
            meta = EncryptionMeta.parseFrom(object.asByteBuffer());
        } catch (InvalidProtocolBufferException e) {
            throw new CoplaneException(
                    ErrorCode.FILE_FORMAT,
                    "encryption metadata does not parse: " + e.getMessage() + ": file="
                            + ObjectKeys.fileName(FileKind.ENCRYPTION, fileId) + " offset=0",
                    e);
        }
        if (meta.getCurrent().getFileId() != fileId) {
            throw mismatch(meta, fileId, "another object's content");
        }
        int keyspaceId = meta.hasKeyspaceIdentity() ? meta.getKeyspaceIdentity().getKeyspaceId() : meta.getKeyspaceId();
        return new KeyspaceEncryption(meta, keyspaceId);
    }

    private static CoplaneException mismatch(EncryptionMeta meta, long fileId, String what) {
        return new CoplaneException(
                ErrorCode.FILE_MISMATCH,
                "encryption metadata is of another keyspace or file: " + what + " fileId="
                        + Long.toUnsignedString(meta.getCurrent().getFileId()) + ": file="
                        + ObjectKeys.fileName(FileKind.ENCRYPTION, fileId) + " offset=0");
    }

    /** Of two metadata objects of a keyspace the one that counts: the younger. */
    public static KeyspaceEncryption newer(KeyspaceEncryption left, KeyspaceEncryption right) {
        return Long.compareUnsigned(left.fileId(), right.fileId()) >= 0 ? left : right;
    }

    /** The keyspace that the metadata is of. */
    public int keyspaceId() {
        return keyspaceId;
    }

    /** File id of the object. */
    public long fileId() {
        return meta.getCurrent().getFileId();
    }

    /** Id of the data key to write with; 0 if there is none. */
    public int currentKeyId() {
        return meta.getCurrent().getDataKeyId();
    }

    /**
     * All data keys of the keyspace.
     *
     * @throws CoplaneException BAD_ENCRYPTION_KEY if a key is malformed or the one to write with is missing; what {@code masterKeys} raises
     */
    public ShardKey key(MasterKeys masterKeys) {
        MasterKey master = meta.getMasterKey();
        byte[] masterKey = masterKeys.decrypt(
                master.getVendor(),
                master.getCmekId(),
                master.getRegion(),
                master.getEndpoint(),
                master.getCiphertext().toByteArray());
        Map<Integer, byte[]> exported = new HashMap<>();
        meta.getDataKeysMap()
                .forEach((id, dataKey) ->
                        exported.put(id, dataKey.getCiphertext().toByteArray()));
        return ShardKey.ofKeyspace(keyspaceId, masterKey, exported, currentKeyId());
    }
}
