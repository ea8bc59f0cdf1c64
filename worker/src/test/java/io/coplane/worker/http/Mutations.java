package io.coplane.worker.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** Changes of messages by chance, with a taste for what parsers get wrong. */
public final class Mutations {
    private static final List<String> TOKENS = List.of(
            "\r\n",
            "\r",
            "\n",
            "\r\n\r\n",
            "\0",
            " ",
            "\t",
            ":",
            "-1",
            "0",
            "ffffffff",
            "99999999999999999999",
            "Content-Length: 5\r\n",
            "Content-Length: 0\r\n",
            "Transfer-Encoding: chunked\r\n",
            "Expect: 100-continue\r\n",
            "Connection: close\r\n",
            "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            "HTTP/1.0",
            "HTTP/9.9",
            "%00%2e%2e/",
            "\u00ff\u00fe\u00fd");

    private Mutations() {}

    /** One change of a request's text. */
    public static byte[] http(byte[] good, SplittableRandom random) {
        return random.nextInt(3) == 0
                ? insert(good, TOKENS.get(random.nextInt(TOKENS.size())).getBytes(ISO_8859_1), random)
                : protobuf(good, random);
    }

    /** One change of any bytes: a bit, a byte, lengths, a piece that is gone, doubled or moved, the end. */
    public static byte[] protobuf(byte[] good, SplittableRandom random) {
        if (good.length < 2) {
            return good;
        }
        byte[] bad = good.clone();
        int at = random.nextInt(good.length);
        switch (random.nextInt(7)) {
            case 0 -> bad[at] ^= (byte) (1 << random.nextInt(Byte.SIZE));
            case 1 -> bad[at] = (byte) random.nextInt(256);
            case 2 -> bad[at] = random.nextBoolean() ? (byte) -1 : 0;
            case 3 -> bad = Arrays.copyOf(good, at + 1);
            case 4 -> {
                int end = at + random.nextInt(Math.min(64, good.length - at) + 1);
                bad = insert(good, Arrays.copyOfRange(good, at, end), random);
            }
            case 5 -> {
                int end = at + random.nextInt(Math.min(64, good.length - at) + 1);
                bad = Arrays.copyOf(good, good.length - (end - at));
                System.arraycopy(good, end, bad, at, good.length - end);
            }
            default -> {
                byte[] varint = {-1, -1, -1, -1, -1, -1, -1, -1, -1, 1};
                bad = insert(good, Arrays.copyOf(varint, random.nextInt(1, varint.length + 1)), random);
            }
        }
        return bad.length == 0 ? good : bad;
    }

    private static byte[] insert(byte[] good, byte[] piece, SplittableRandom random) {
        int at = random.nextInt(good.length + 1);
        ByteArrayOutputStream out = new ByteArrayOutputStream(good.length + piece.length);
        out.write(good, 0, at);
        out.write(piece, 0, piece.length);
        out.write(good, at, good.length - at);
        return out.toByteArray();
    }
}
