package io.coplane.worker.config;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;

/**
 * Table {@code security.master-key} (worker.md 4.5, 17.1).
 *
 * @param vendor {@code aws}, {@code aliyun}, {@code test}, or another word for the fixed key; any case
 * @param keyId key of the vendor; of vendor {@code test} the key itself
 * @param cipherText base64
 */
public record MasterKeyConfig(String vendor, String keyId, String cipherText, String region, String endpoint) {
    private static final String TEST_VENDOR = "test";
    private static final int KEY_BYTES = 32;
    private static final byte TEST_FILLER = 11;
    private static final byte FIXED_KEY_BYTE = 1;

    static MasterKeyConfig from(TomlTable table) {
        return new MasterKeyConfig(
                table.text("vendor", ""),
                table.text("key-id", ""),
                table.text("cipher-text", ""),
                table.text("region", ""),
                table.text("endpoint", ""));
    }

    /**
     * The 32 bytes of the key.
     *
     * @throws CoplaneException BAD_CONFIG for a key that a key management service would have to decrypt: not built yet
     */
    public byte[] resolve() {
        byte[] key = new byte[KEY_BYTES];
        switch (vendor.toLowerCase(Locale.ROOT)) {
            case "aws", "aliyun" ->
                throw new CoplaneException(
                        ErrorCode.BAD_CONFIG, "security.master-key.vendor is not built yet: value=" + vendor);
            case TEST_VENDOR -> {
                Arrays.fill(key, TEST_FILLER);
                byte[] id = keyId.getBytes(StandardCharsets.UTF_8);
                System.arraycopy(id, 0, key, 0, Math.min(id.length, KEY_BYTES));
            }
            default -> Arrays.fill(key, FIXED_KEY_BYTE); // the reference takes every other word, and none, so
        }
        return key;
    }

    /**
     * The master key that a keyspace has of its own (worker.md 17.3). Unlike at the start, an unknown vendor is none: the fixed key would make rubbish of
     * what it does not fit.
     *
     * @throws CoplaneException BAD_ENCRYPTION_KEY for every vendor but {@code test}: key services are not built yet
     */
    public static byte[] ofKeyspace(String vendor, String keyId, String region, String endpoint, byte[] cipherText) {
        if (!vendor.equalsIgnoreCase(TEST_VENDOR)) {
            throw new CoplaneException(
                    ErrorCode.BAD_ENCRYPTION_KEY, "key service of a keyspace is not built yet: vendor=" + vendor);
        }
        return new MasterKeyConfig(vendor, keyId, "", region, endpoint).resolve();
    }

    /** Without the ciphertext: configurations are logged. */
    @Override
    public String toString() {
        return "MasterKeyConfig[vendor=" + vendor + ", region=" + region + ", endpoint=" + endpoint + "]";
    }
}
