package io.coplane.worker.config;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.keys.AwsKms;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Locale;

/**
 * Table {@code security.master-key} (worker.md 4.5, 17.1).
 *
 * @param vendor {@code aws}, {@code aliyun}, {@code test}, or another word for the fixed key; any case
 * @param keyId key of the vendor; of vendor {@code test} the key itself
 * @param cipherText base64
 */
public record MasterKeyConfig(String vendor, String keyId, String cipherText, String region, String endpoint) {
    private static final String AWS_VENDOR = "aws";
    private static final String ALIYUN_VENDOR = "aliyun";
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

    /** @throws CoplaneException BAD_CONFIG for a vendor that is not built */
    public void requireBuilt() {
        if (vendor.equalsIgnoreCase(ALIYUN_VENDOR)) {
            throw new CoplaneException(
                    ErrorCode.BAD_CONFIG,
                    "security.master-key.vendor \"aliyun\", the key service of Alibaba Cloud, is not built: \"aws\" is");
        }
    }

    /**
     * The 32 bytes of the key. Asks the key service for it, and blocks for up to 15 s, where the vendor has one.
     *
     * @throws CoplaneException BAD_CONFIG for a vendor that is not built and for settings that can't be, BAD_ENCRYPTION_KEY if the service refuses or the
     *     key has another length, STORE_UNAVAILABLE if the service can't be had
     */
    public byte[] resolve() {
        requireBuilt();
        byte[] key = new byte[KEY_BYTES];
        switch (vendor.toLowerCase(Locale.ROOT)) {
            case AWS_VENDOR -> {
                byte[] plain = AwsKms.decrypt(keyId, region, endpoint, decoded());
                if (plain.length != KEY_BYTES) {
                    throw new CoplaneException(
                            ErrorCode.BAD_ENCRYPTION_KEY,
                            "the decrypted master key has another length: bytes=" + plain.length + " wanted="
                                    + KEY_BYTES);
                }
                return plain;
            }
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
     * <p>Asks the key service, and blocks for up to 15 s, where the vendor has one.
     *
     * @throws CoplaneException BAD_ENCRYPTION_KEY for an unknown vendor; else as {@link #resolve}
     */
    public static byte[] ofKeyspace(String vendor, String keyId, String region, String endpoint, byte[] cipherText) {
        boolean isKnown = switch (vendor.toLowerCase(Locale.ROOT)) {
            case AWS_VENDOR, ALIYUN_VENDOR, TEST_VENDOR -> true;
            default -> false;
        };
        if (!isKnown) {
            throw new CoplaneException(
                    ErrorCode.BAD_ENCRYPTION_KEY, "vendor of a keyspace's master key is not known: vendor=" + vendor);
        }
        return new MasterKeyConfig(vendor, keyId, Base64.getEncoder().encodeToString(cipherText), region, endpoint)
                .resolve();
    }

    @SuppressWarnings("UnusedException") // its text may show some of the key
    private byte[] decoded() {
        try {
            return Base64.getDecoder().decode(cipherText.strip());
        } catch (IllegalArgumentException e) {
            throw new CoplaneException(ErrorCode.BAD_CONFIG, "security.master-key.cipher-text is no base64");
        }
    }

    /** Without the ciphertext: configurations are logged. */
    @Override
    public String toString() {
        return "MasterKeyConfig[vendor=" + vendor + ", region=" + region + ", endpoint=" + endpoint + "]";
    }
}
