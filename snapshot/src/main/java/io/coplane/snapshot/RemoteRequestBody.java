package io.coplane.snapshot;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.memory.Layouts;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Body of {@code POST /coprocessor}, format 1 (snapshot.md 1.1). All integers little-endian.
 *
 * <pre>
 * at         bytes  field          unit and bounds
 *  0             4  format         1
 *  4             4  requestBytes   n1
 *  8            n1  request        coprocessor.Request
 *  8+n1          4  memDataBytes   n2; 0 = no memtable
 * 12+n1         n2  memData        snapshot.md 2
 * 12+n1+n2       4  snapDataBytes  n3
 * 16+n1+n2      n3  snapData       enginepb.ChangeSet
 * </pre>
 *
 * Bytes behind the last part are ignored. The parts borrow from the body: no copies.
 *
 * @param request serialised {@code coprocessor.Request}
 * @param memData memtable rows, may be empty
 * @param snapData serialised {@code enginepb.ChangeSet}
 */
public record RemoteRequestBody(MemorySegment request, MemorySegment memData, MemorySegment snapData) {
    private static final int FORMAT = 1;
    private static final String UNDECODABLE = "failed to decode cop request";
    private static final String INVALID = "invalid cop request";

    /**
     * Splits a body.
     *
     * @param body borrowed by the parts
     * @throws CoplaneException BAD_REQUEST_BODY with the reference's text: {@code failed to decode cop request} or {@code invalid cop request}
     */
    public static RemoteRequestBody split(MemorySegment body) {
        if (body.byteSize() < Integer.BYTES || body.get(Layouts.LE_INT, 0) != FORMAT) {
            throw new CoplaneException(ErrorCode.BAD_REQUEST_BODY, UNDECODABLE);
        }
        long at = Integer.BYTES;
        MemorySegment request = part(body, at, UNDECODABLE);
        at += Integer.BYTES + request.byteSize();
        MemorySegment memData = part(body, at, INVALID);
        at += Integer.BYTES + memData.byteSize();
        return new RemoteRequestBody(request, memData, part(body, at, INVALID));
    }

    /** Joins three parts to a body of format 1: for clients, tools and tests. */
    public static byte[] join(byte[] request, byte[] memData, byte[] snapData) {
        long total = 4L * Integer.BYTES + request.length + memData.length + snapData.length;
        byte[] body = new byte[Math.toIntExact(total)];
        MemorySegment out = MemorySegment.ofArray(body);
        out.set(Layouts.LE_INT, 0, FORMAT);
        long at = Integer.BYTES;
        for (byte[] part : new byte[][] {request, memData, snapData}) {
            out.set(Layouts.LE_INT, at, part.length);
            MemorySegment.copy(part, 0, out, ValueLayout.JAVA_BYTE, at + Integer.BYTES, part.length);
            at += Integer.BYTES + part.length;
        }
        return body;
    }

    private static MemorySegment part(MemorySegment body, long at, String noLengthText) {
        if (body.byteSize() - at < Integer.BYTES) {
            throw new CoplaneException(ErrorCode.BAD_REQUEST_BODY, noLengthText);
        }
        long bytes = Integer.toUnsignedLong(body.get(Layouts.LE_INT, at));
        if (bytes > body.byteSize() - at - Integer.BYTES) {
            throw new CoplaneException(ErrorCode.BAD_REQUEST_BODY, UNDECODABLE);
        }
        return body.asSlice(at + Integer.BYTES, bytes);
    }
}
