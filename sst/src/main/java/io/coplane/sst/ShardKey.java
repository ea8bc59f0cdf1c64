package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * The encryption key of a shard. Of the first generation it is one secret text from which the key of each version is derived (sst.md 5.3); of the
 * second, a keyspace has data keys by id, and what files call their key version is {@code 1 << 24 | id} (worker.md 17.3). Either way it encrypts
 * by AES-256-CTR.
 *
 * <p>Immutable; thread-safe.
 *
 * <pre>
 * exported forms
 * at  bytes  type 1: secret text              type 2: data key
 *  0      1  1                                2
 *  1      4  version, big-endian              32 bytes, wrapped by the keyspace's master key
 *  5     64  wrapped by the master key
 * </pre>
 */
public final class ShardKey {
    /** Bytes of the exported form: type, version (big-endian), wrapped text. */
    public static final int EXPORTED_BYTES = 69;

    static final String CIPHER = "AES/CTR/NoPadding";
    static final int IV_BYTES = 16;

    private static final int TEXT_BYTES = 64;
    private static final int VERSION_AT = 1;
    private static final int TEXT_AT = VERSION_AT + Integer.BYTES;
    private static final byte WRAPPED_BY_MASTER_KEY = 1;
    private static final String AES = "AES";
    private static final String HMAC = "HmacSHA256";

    private static final byte DATA_KEY = 2;
    private static final int DATA_KEY_BYTES = 32;
    private static final int EXPORTED_DATA_KEY_BYTES = Byte.BYTES + DATA_KEY_BYTES;
    private static final int GENERATION_SHIFT = 24;
    private static final int MAX_DATA_KEY_ID = (1 << GENERATION_SHIFT) - 1;

    private final byte[] text; // empty: no key of the first generation
    private final int version;
    private final Map<Integer, SecretKeySpec> dataKeys; // by id; those of the second generation
    private final int keyspaceId; // for errors

    private ShardKey(byte[] text, int version, Map<Integer, SecretKeySpec> dataKeys, int keyspaceId) {
        this.text = text;
        this.version = version;
        this.dataKeys = dataKeys;
        this.keyspaceId = keyspaceId;
    }

    /**
     * The data keys of a keyspace: its key of the second generation.
     *
     * @param keyspaceId names the keyspace in errors
     * @param masterKey  of the keyspace, 32 bytes
     * @param exported   data keys in their exported form, by id
     * @param currentId  of the data key to write with
     * @throws CoplaneException of code BAD_ENCRYPTION_KEY if a key is malformed, or there is none to write with
     */
    public static ShardKey ofKeyspace(int keyspaceId, byte[] masterKey, Map<Integer, byte[]> exported, int currentId) {
        var dataKeys = new HashMap<Integer, SecretKeySpec>();
        exported.forEach((id, key) -> {
            if (id <= 0 || id > MAX_DATA_KEY_ID) {
                throw new CoplaneException(
                        ErrorCode.BAD_ENCRYPTION_KEY,
                        "id of a data key is out of bounds: id=" + Integer.toUnsignedString(id));
            }
            dataKeys.put(id, unwrapDataKey(masterKey, key));
        });
        if (!dataKeys.containsKey(currentId)) {
            throw missing(currentId, keyspaceId);
        }
        return new ShardKey(new byte[0], 1 << GENERATION_SHIFT | currentId, Map.copyOf(dataKeys), keyspaceId);
    }

    private static SecretKeySpec unwrapDataKey(byte[] masterKey, byte[] exported) {
        if (masterKey.length == 0) {
            throw new CoplaneException(ErrorCode.BAD_ENCRYPTION_KEY, "invalid empty master key");
        }
        int type = exported.length == 0 ? 0 : exported[0] & 0xFF;
        if (type != DATA_KEY) {
            throw new CoplaneException(ErrorCode.BAD_ENCRYPTION_KEY, "Invalid exported key type " + type);
        }
        if (exported.length != EXPORTED_DATA_KEY_BYTES) {
            throw new CoplaneException(
                    ErrorCode.BAD_ENCRYPTION_KEY,
                    "Invalid exported key length " + exported.length + " for type " + DATA_KEY);
        }
        return new SecretKeySpec(
                wrap(masterKey, Arrays.copyOfRange(exported, Byte.BYTES, EXPORTED_DATA_KEY_BYTES)), AES);
    }

    /** A data key in its exported form: what {@link #ofKeyspace} takes. Both keys are 32 bytes. */
    public static byte[] exportDataKey(byte[] masterKey, byte[] dataKey) {
        if (dataKey.length != DATA_KEY_BYTES) {
            throw new CoplaneException(ErrorCode.BAD_ENCRYPTION_KEY, "invalid data key len " + dataKey.length);
        }
        return ByteBuffer.allocate(EXPORTED_DATA_KEY_BYTES)
                .put(DATA_KEY)
                .put(wrap(masterKey, dataKey))
                .array();
    }

    private static CoplaneException missing(int id, int keyspaceId) {
        return new MissingDataKeyException(
                ErrorCode.BAD_ENCRYPTION_KEY,
                "Data key " + Integer.toUnsignedString(id) + " missing in keyspace "
                        + Integer.toUnsignedString(keyspaceId));
    }

    /**
     * A key in plain text.
     *
     * @param text    secret text, copied; 64 bytes in production
     * @param version version that new files are written with
     */
    public static ShardKey plain(byte[] text, int version) {
        if (text.length == 0) {
            throw new CoplaneException(ErrorCode.BAD_ENCRYPTION_KEY, "empty data key");
        }
        return new ShardKey(text.clone(), version, Map.of(), 0);
    }

    /** Whether what a file calls its key version names a data key. First generations don't live to have so many versions. */
    static boolean isDataKeyVersion(int version) {
        return version >>> GENERATION_SHIFT == 1;
    }

    /** Whether an exported key is a data key of the second generation: the keys of the keyspace are needed then. */
    public static boolean isDataKey(byte[] exported) {
        return exported.length > 0 && exported[0] == DATA_KEY;
    }

    /**
     * Unwraps an exported key, as it stands in a shard's properties.
     *
     * @param masterKey 32 bytes
     * @throws CoplaneException of code BAD_ENCRYPTION_KEY
     */
    public static ShardKey unwrap(byte[] masterKey, byte[] exported) {
        if (masterKey.length == 0) {
            throw new CoplaneException(ErrorCode.BAD_ENCRYPTION_KEY, "invalid empty master key");
        }
        if (exported.length != EXPORTED_BYTES) {
            throw new CoplaneException(ErrorCode.BAD_ENCRYPTION_KEY, "invalid exported key len " + exported.length);
        }
        if (exported[0] != WRAPPED_BY_MASTER_KEY) {
            throw new CoplaneException(
                    ErrorCode.BAD_ENCRYPTION_KEY, "invalid exported key type " + (exported[0] & 0xFF));
        }
        int version = ByteBuffer.wrap(exported).order(ByteOrder.BIG_ENDIAN).getInt(VERSION_AT);
        return new ShardKey(
                wrap(masterKey, Arrays.copyOfRange(exported, TEXT_AT, EXPORTED_BYTES)), version, Map.of(), 0);
    }

    /**
     * The same key with data keys besides: of a keyspace whose older files are of the first generation. Files are written with the newer key.
     *
     * @param newer of the second generation
     */
    public ShardKey withDataKeys(ShardKey newer) {
        return new ShardKey(text, newer.version, newer.dataKeys, newer.keyspaceId);
    }

    /** The exported form: wrapped by the master key. Needs a text of 64 bytes, so a key of the first generation. */
    public byte[] export(byte[] masterKey) {
        if (text.length != TEXT_BYTES) {
            throw new CoplaneException(ErrorCode.BAD_ENCRYPTION_KEY, "invalid data key len " + text.length);
        }
        return ByteBuffer.allocate(EXPORTED_BYTES)
                .put(WRAPPED_BY_MASTER_KEY)
                .putInt(version)
                .put(wrap(masterKey, text))
                .array();
    }

    /** The version that new files are written with. */
    public int version() {
        return version;
    }

    /** The same key with another current version. */
    public ShardKey withVersion(int current) {
        return new ShardKey(text, current, dataKeys, keyspaceId);
    }

    /** Whether both have the same keys and version. */
    @Override
    public boolean equals(Object other) {
        return other instanceof ShardKey key
                && key.version == version
                && MessageDigest.isEqual(key.text, text)
                && key.dataKeys.equals(dataKeys);
    }

    @Override
    public int hashCode() {
        return version;
    }

    /**
     * The AES-256 key of a file.
     *
     * @param isNamed whether the file names its version; one that doesn't was written with version 0, or in plain text if there never was a key of the
     *     first generation
     * @return null for plain text
     * @throws CoplaneException as the other one, naming the file
     */
    SecretKeySpec fileKey(int ofVersion, boolean isNamed, String file, long offset) {
        try {
            return isNamed || text.length > 0 ? fileKey(ofVersion) : null;
        } catch (MissingDataKeyException e) {
            throw new MissingDataKeyException(e.code(), e.getMessage() + ": file=" + file + " offset=" + offset);
        }
    }

    /**
     * The AES-256 key of files written with a version.
     *
     * @throws CoplaneException of code BAD_ENCRYPTION_KEY if there is none
     */
    SecretKeySpec fileKey(int ofVersion) {
        if (isDataKeyVersion(ofVersion)) {
            SecretKeySpec dataKey = dataKeys.get(ofVersion & MAX_DATA_KEY_ID);
            if (dataKey == null) {
                throw missing(ofVersion & MAX_DATA_KEY_ID, keyspaceId);
            }
            return dataKey;
        }
        if (text.length == 0) {
            throw missing(ofVersion, keyspaceId);
        }
        try {
            Mac mac = Mac.getInstance(HMAC);
            mac.init(new SecretKeySpec(text, HMAC));
            return new SecretKeySpec(
                    mac.doFinal(
                            ByteBuffer.allocate(Integer.BYTES).putInt(ofVersion).array()),
                    AES);
        } catch (GeneralSecurityException e) {
            throw new CoplaneException(ErrorCode.INVARIANT_BROKEN, "cannot derive a file key", e);
        }
    }

    /** The counter block at the start of a block or blob record. */
    static IvParameterSpec iv(long fileId, int offset) {
        return new IvParameterSpec(
                ByteBuffer.allocate(IV_BYTES).putLong(fileId).putInt(offset).array());
    }

    static Cipher newCipher() {
        try {
            return Cipher.getInstance(CIPHER);
        } catch (GeneralSecurityException e) {
            throw new CoplaneException(ErrorCode.INVARIANT_BROKEN, "every Java has " + CIPHER, e);
        }
    }

    private static byte[] wrap(byte[] masterKey, byte[] bytes) {
        try {
            Cipher cipher = newCipher();
            cipher.init(
                    Cipher.ENCRYPT_MODE,
                    new SecretKeySpec(masterKey, AES),
                    new IvParameterSpec(new byte[IV_BYTES])); // the reference passes none, which is all zero
            return cipher.doFinal(bytes);
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            throw new CoplaneException(ErrorCode.BAD_ENCRYPTION_KEY, "invalid master key", e);
        }
    }
}
