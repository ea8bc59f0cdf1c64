package io.coplane.sst;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.memory.Layouts;
import java.lang.foreign.MemorySegment;
import java.security.GeneralSecurityException;
import javax.crypto.Cipher;
import javax.crypto.spec.SecretKeySpec;

/** Encrypts and decrypts native memory through a small heap window, since the JDK's ciphers work on the heap. One thread. */
final class BlockCipher {
    private static final int WINDOW_BYTES = 16 << 10;

    private final Cipher cipher = ShardKey.newCipher();
    private final byte[] window = new byte[WINDOW_BYTES];

    /** Decrypts {@code length} bytes; {@code fileId} and {@code offset} make the counter block (sst.md 5.3). */
    void decrypt(
            SecretKeySpec key, long fileId, int offset, MemorySegment from, long at, long length, MemorySegment to) {
        crypt(key, fileId, offset, from, at, length, to, 0);
    }

    /** Encrypts or decrypts bytes in place; both are the same in counter mode. */
    void crypt(SecretKeySpec key, long fileId, int offset, MemorySegment bytes, long at, long length) {
        crypt(key, fileId, offset, bytes, at, length, bytes, at);
    }

    private void crypt(
            SecretKeySpec key,
            long fileId,
            int offset,
            MemorySegment from,
            long at,
            long length,
            MemorySegment to,
            long toAt) {
        try {
            cipher.init(Cipher.ENCRYPT_MODE, key, ShardKey.iv(fileId, offset));
            for (long done = 0; done < length; ) {
                int chunk = (int) Math.min(WINDOW_BYTES, length - done);
                MemorySegment.copy(from, Layouts.BYTE, at + done, window, 0, chunk);
                if (cipher.update(window, 0, chunk, window, 0) != chunk) {
                    throw new CoplaneException(ErrorCode.INVARIANT_BROKEN, "counter mode held bytes back");
                }
                MemorySegment.copy(window, 0, to, Layouts.BYTE, toAt + done, chunk);
                done += chunk;
            }
        } catch (GeneralSecurityException e) {
            throw new CoplaneException(ErrorCode.INVARIANT_BROKEN, "cannot encrypt or decrypt", e);
        }
    }
}
