package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Arrays;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * The encryption key of a shard: one secret text from which the key of each version is derived (sst.md 5.3).
 *
 * <p>Immutable; thread-safe.
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

    private final byte[] text;
    private final int version;

    private ShardKey(byte[] text, int version) {
        this.text = text;
        this.version = version;
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
        return new ShardKey(text.clone(), version);
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
        return new ShardKey(wrap(masterKey, Arrays.copyOfRange(exported, TEXT_AT, EXPORTED_BYTES)), version);
    }

    /** The exported form: wrapped by the master key. Needs a text of 64 bytes. */
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

    /** The same secret text with another current version. */
    public ShardKey withVersion(int current) {
        return new ShardKey(text, current);
    }

    /** Whether both have the same secret text and version. */
    @Override
    public boolean equals(Object other) {
        return other instanceof ShardKey key && key.version == version && MessageDigest.isEqual(key.text, text);
    }

    @Override
    public int hashCode() {
        return version;
    }

    /** The AES-256 key of files written with a version. */
    SecretKeySpec fileKey(int ofVersion) {
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

    /** Encrypts or decrypts bytes in place; both are the same in counter mode. */
    static void crypt(Cipher cipher, SecretKeySpec key, long fileId, int offset, byte[] bytes, int from, int to) {
        try {
            cipher.init(Cipher.ENCRYPT_MODE, key, iv(fileId, offset));
            if (cipher.doFinal(bytes, from, to - from, bytes, from) != to - from) {
                throw new CoplaneException(ErrorCode.INVARIANT_BROKEN, "counter mode changed the length");
            }
        } catch (GeneralSecurityException e) {
            throw new CoplaneException(ErrorCode.INVARIANT_BROKEN, "cannot encrypt", e);
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
