package io.coplane.sst;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.testing.Dumps;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ShardKeyTest {
    private static final byte[] MASTER = ascending(0x20, 32);
    private static final byte[] TEXT = ascending(0, 64);
    private static final String WRAPPED = "f34646e8c93679279410e9a71fd523e3458feffb96ec521474b002c5975aace8"
            + "c30fc37ab07a427ee070ce694a92214f5c054535951c33bb8a06169dd0cca1c9";

    @Test
    void derivesTheKeyOfEachVersion() {
        ShardKey key = ShardKey.plain(TEXT, 0);

        assertThat(Dumps.hex(key.fileKey(0).getEncoded()))
                .isEqualTo("ca44337df434c4f919db5d2d5ea5b4d103c326ae0060e194843d67f7e4184795");
        assertThat(Dumps.hex(key.fileKey(2).getEncoded()))
                .isEqualTo("132657a2696bc175ce9d055499ae7a048b1c08f09fd108f7597fb0ea53da10bd");
        assertThat(Dumps.hex(ShardKey.plain(Tables.bytes("plain"), 0).fileKey(0).getEncoded()))
                .isEqualTo("f188d2d561a548d8c39fae60588645b9870f8e295f75bd8cf3aa8a88886937da");
    }

    @Test
    void encryptsByFileAndOffset() {
        assertThat(Dumps.hex(ShardKey.iv(123, 12).getIV())).isEqualTo("000000000000007b0000000c00000000");
        assertThat(crypt(TEXT, 0, 123, 12, "hello")).isEqualTo("3844d0d8eb");
        assertThat(crypt(TEXT, 2, 123, 12, "hello")).isEqualTo("052176f5d7");
        assertThat(crypt(Tables.bytes("plain"), 0, 1, 0, "test_data")).isEqualTo("d313e605c1281b52b1");
        assertThat(crypt(ascending(0x40, 64), 0, 123, 12, "hello")).isEqualTo("f808912219"); // snapshot.md 8.8
    }

    @Test
    void unwrapsAndExports() {
        byte[] exported = Dumps.bytes("0100000000" + WRAPPED);

        ShardKey key = ShardKey.unwrap(MASTER, exported);

        assertThat(key.version()).isZero();
        assertThat(key.fileKey(0)).isEqualTo(ShardKey.plain(TEXT, 0).fileKey(0));
        assertThat(key.export(MASTER)).isEqualTo(exported);
        assertThat(Dumps.hex(key.withVersion(0x01020304).export(MASTER))).isEqualTo("0101020304" + WRAPPED);
        assertThat(ShardKey.unwrap(MASTER, Dumps.bytes("0101020304" + WRAPPED)).version())
                .isEqualTo(0x01020304);
    }

    @Test
    void unwrapsTheVectorOfSnapshots() { // snapshot.md 8.8
        String exported = "0100000000b2d142f56e0cd997e1bad021916339cfa00c24fd1eecc9b2feafc16a149f6862"
                + "6eddd7bdd149e5da60c1c35e7441fff6a23224205cf41658f8e7c9f8b9822329";

        ShardKey key = ShardKey.unwrap(ascending(0, 32), Dumps.bytes(exported));

        assertThat(Dumps.hex(key.export(ascending(0, 32)))).isEqualTo(exported);
        assertThat(Dumps.hex(key.fileKey(0).getEncoded()))
                .isEqualTo("40abac4cec591f2771583cd47fdf1c63f071d1c897326fee37ff0be71a81212c");
        assertThat(Dumps.hex(key.fileKey(2).getEncoded()))
                .isEqualTo("75c7404d405165f722c8e65b7ad682a699ead6b0bf75dd7baa4acf7aa135c0df");
    }

    @Test
    void namesWhatIsWrongWithAKey() {
        byte[] exported = Dumps.bytes("0100000000" + WRAPPED);

        rejects(new byte[0], exported, "invalid empty master key");
        rejects(MASTER, Arrays.copyOf(exported, 68), "invalid exported key len 68");
        exported[0] = 2;
        rejects(MASTER, exported, "invalid exported key type 2");
        exported[0] = 1;
        rejects(new byte[31], exported, "invalid master key");
    }

    @Test
    void readsAndWritesWithTheDataKeysOfAKeyspace() {
        byte[] first = ascending(1, 32);
        byte[] second = ascending(77, 32);
        Map<Integer, byte[]> exported = Map.of(
                0x010203, ShardKey.exportDataKey(MASTER, first), 0xFFFFFF, ShardKey.exportDataKey(MASTER, second));

        ShardKey key = ShardKey.ofKeyspace(5, MASTER, exported, 0xFFFFFF);

        assertThat(exported.get(0x010203)).hasSize(33).startsWith(2);
        assertThat(key.version()).isEqualTo(0x01FFFFFF);
        assertThat(key.fileKey(key.version()).getEncoded()).isEqualTo(second);
        assertThat(key.fileKey(0x01010203).getEncoded()).isEqualTo(first);
        for (int unknown : new int[] {0, 7, 0x01000001, 0x02010203}) {
            assertThatThrownBy(() -> key.fileKey(unknown))
                    .hasMessageStartingWith("Data key ")
                    .hasMessageEndingWith(" missing in keyspace 5");
        }
        ShardKey both = ShardKey.plain(TEXT, 3).withDataKeys(key);
        assertThat(both.version()).isEqualTo(0x01FFFFFF);
        assertThat(both.fileKey(2)).isEqualTo(ShardKey.plain(TEXT, 3).fileKey(2));
        assertThat(both.fileKey(0x01010203).getEncoded()).isEqualTo(first);
    }

    @Test
    void namesWhatIsWrongWithADataKey() {
        byte[] good = ShardKey.exportDataKey(MASTER, ascending(1, 32));
        byte[] otherType = good.clone();
        otherType[0] = 1;

        rejectsDataKey(7, 7, Arrays.copyOf(good, 32), "Invalid exported key length 32 for type 2");
        rejectsDataKey(7, 7, new byte[0], "Invalid exported key type 0");
        rejectsDataKey(7, 7, otherType, "Invalid exported key type 1");
        rejectsDataKey(7, 8, good, "Data key 8 missing in keyspace 9");
        rejectsDataKey(0, 0, good, "id of a data key is out of bounds: id=0");
        rejectsDataKey(1 << 24, 0, good, "id of a data key is out of bounds: id=16777216");
    }

    private static void rejectsDataKey(int id, int current, byte[] exported, String message) {
        assertThatThrownBy(() -> ShardKey.ofKeyspace(9, MASTER, Map.of(id, exported), current))
                .hasMessage(message)
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_ENCRYPTION_KEY));
    }

    private static void rejects(byte[] master, byte[] exported, String message) {
        assertThatThrownBy(() -> ShardKey.unwrap(master, exported))
                .hasMessage(message)
                .isInstanceOfSatisfying(
                        CoplaneException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.BAD_ENCRYPTION_KEY));
    }

    private static String crypt(byte[] text, int version, long fileId, int offset, String plain) {
        byte[] bytes = Tables.bytes(plain);
        new BlockCipher()
                .crypt(
                        ShardKey.plain(text, 0).fileKey(version),
                        fileId,
                        offset,
                        MemorySegment.ofArray(bytes),
                        0,
                        bytes.length);
        return Dumps.hex(bytes);
    }

    private static byte[] ascending(int first, int count) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = (byte) (first + i);
        }
        return bytes;
    }
}
