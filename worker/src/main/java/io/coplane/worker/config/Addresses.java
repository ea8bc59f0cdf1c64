package io.coplane.worker.config;

import io.coplane.nativecache.AsciiNumbers;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Listen addresses: {@code IP:PORT} or {@code [IPv6]:PORT}. Names are not looked up. */
final class Addresses {
    private static final int MOST_PORT = 65_535;

    private Addresses() {}

    static InetSocketAddress parse(String key, String text) {
        int colon = text.lastIndexOf(':');
        if (colon > 0) {
            String host = text.substring(0, colon);
            boolean bracketed = host.startsWith("[") && host.endsWith("]");
            try {
                int port = AsciiNumbers.parseInt(text.substring(colon + 1));
                if (port >= 0 && port <= MOST_PORT && bracketed == (host.indexOf(':') >= 0)) {
                    InetAddress address =
                            InetAddress.ofLiteral(bracketed ? host.substring(1, host.length() - 1) : host);
                    return new InetSocketAddress(address, port);
                }
            } catch (IllegalArgumentException e) {
                throw new CoplaneException(ErrorCode.BAD_CONFIG, key + " is no IP:PORT: value=" + text, e);
            }
        }
        throw new CoplaneException(ErrorCode.BAD_CONFIG, key + " is no IP:PORT: value=" + text);
    }
}
