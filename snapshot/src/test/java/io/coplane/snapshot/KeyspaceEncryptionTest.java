package io.coplane.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.ObjectKeys;
import io.coplane.nativecache.memory.NativeArena;
import io.coplane.proto.keyspace_encryptionpb.DataKey;
import io.coplane.proto.keyspace_encryptionpb.EncryptionEpoch;
import io.coplane.proto.keyspace_encryptionpb.EncryptionMeta;
import io.coplane.proto.keyspace_encryptionpb.MasterKey;
import io.coplane.sst.ShardKey;
import io.coplane.sst.TxnChunkBuilder;
import io.coplane.sst.TxnChunkCursor;
import io.coplane.sst.TxnChunkReader;
import io.coplane.testing.NoLeaks;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
class KeyspaceEncryptionTest {
    private static final byte[] MASTER = filled(32, 0x33);
    private static final KeyspaceEncryption.MasterKeys KEYS = (vendor, keyId, region, endpoint, ciphertext) -> {
        assertThat(vendor + " " + keyId).isEqualTo("test the-key");
        return MASTER;
    };

    @Test
    void writesWithTheCurrentKeyAndReadsWithAll() {
        ShardKey before = parse(meta(155, 7, 0x0A0B0C)).key(KEYS);
        ShardKey after = parse(meta(155, 7, 0x0A0B0D)).key(KEYS);

        assertThat(before.version()).isEqualTo(0x010A0B0C);
        try (MemoryGuard guard = MemoryGuard.unlimited();
                var arena = new NativeArena(guard);
                var builder = new TxnChunkBuilder(9, 100, before, guard)) {
            builder.add(new byte[] {'k'}, 0, 1, TxnChunkCursor.OP_PUT, new byte[] {1, 2, 3}, 0, 3);
            MemorySegment file = builder.finish(arena).bytes();

            TxnChunkCursor cursor = TxnChunkReader.open(file, 9, after).cursor(arena);
            cursor.first();

            assertThat(cursor.copyValue()).containsExactly(1, 2, 3);
        }
    }

    @Test
    void theYoungerOfTwoCounts() {
        KeyspaceEncryption old = KeyspaceEncryption.parse(segment(meta(155, 7, 0x0A0B0C)), 155, 7);
        KeyspaceEncryption young = KeyspaceEncryption.parse(segment(meta(-2, 7, 0x0A0B0C)), -2, 7);

        assertThat(KeyspaceEncryption.newer(old, young)).isSameAs(young);
        assertThat(KeyspaceEncryption.newer(young, old)).isSameAs(young);
    }

    @Test
    void refusesWhatIsOfAnotherKeyspaceOrFileOrNoMetadata() {
        byte[] good = meta(155, 7, 0x0A0B0C).toByteArray();

        assertCode(ErrorCode.FILE_MISMATCH, () -> KeyspaceEncryption.parse(MemorySegment.ofArray(good), 155, 8));
        assertCode(ErrorCode.FILE_MISMATCH, () -> KeyspaceEncryption.parse(MemorySegment.ofArray(good), 156, 7));
        byte[] cut = Arrays.copyOf(good, good.length - 1);
        assertCode(ErrorCode.FILE_FORMAT, () -> KeyspaceEncryption.parse(MemorySegment.ofArray(cut), 155, 7));
        assertCode(ErrorCode.BAD_ENCRYPTION_KEY, () -> parse(meta(155, 7, 0)).key(KEYS));
        assertCode(
                ErrorCode.BAD_ENCRYPTION_KEY,
                () -> parse(meta(155, 7, 0x0A0B0E)).key(KEYS));
    }

    @Test
    void isStoredBesideTheFiles() {
        assertThat(ObjectKeys.key("", FileKind.ENCRYPTION, 155))
                .isEqualTo("default/encryption/cf/000000000000009b.dict"); // ia.md 14.2
    }

    private static void assertCode(ErrorCode code, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(code));
    }

    private static KeyspaceEncryption parse(EncryptionMeta meta) {
        return KeyspaceEncryption.parse(segment(meta), 155, 7);
    }

    private static MemorySegment segment(EncryptionMeta meta) {
        return MemorySegment.ofArray(meta.toByteArray());
    }

    private static EncryptionMeta meta(long fileId, int keyspaceId, int current) {
        return EncryptionMeta.newBuilder()
                .setKeyspaceId(keyspaceId)
                .setCurrent(EncryptionEpoch.newBuilder().setFileId(fileId).setDataKeyId(current))
                .setMasterKey(MasterKey.newBuilder().setVendor("test").setCmekId("the-key"))
                .putDataKeys(0x0A0B0C, dataKey(1))
                .putDataKeys(0x0A0B0D, dataKey(2))
                .build();
    }

    private static DataKey dataKey(int value) {
        return DataKey.newBuilder()
                .setCiphertext(ByteString.copyFrom(ShardKey.exportDataKey(MASTER, filled(32, value))))
                .build();
    }

    private static byte[] filled(int count, int value) {
        byte[] bytes = new byte[count];
        Arrays.fill(bytes, (byte) value);
        return bytes;
    }
}
