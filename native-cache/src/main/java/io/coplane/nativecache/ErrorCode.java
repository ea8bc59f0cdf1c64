package io.coplane.nativecache;

/** Wire contract: append only, never renumber or reuse. The thousand tells who acts. */
public enum ErrorCode {
    // 1xxx caller: fix the request or the configuration
    BAD_REQUEST_BODY(1001),
    BAD_PROTOBUF(1002),
    BAD_KEY_RANGE(1003),
    BAD_MEM_DATA(1004),
    NO_SNAPSHOT(1005),
    BAD_CHANGE_SET(1006),
    BAD_PLAN(1007),
    UNSUPPORTED(1008),
    EVALUATION(1009),
    BAD_CONFIG(1010),
    BLACK_LISTED(1011),
    RESPONSE_TOO_LARGE(1012),
    BAD_ARGUMENT(1013),
    BAD_ENCRYPTION_KEY(1014),
    STORE_REFUSED(1015),
    STORE_READ_ONLY(1016),
    PD_REFUSED(1017),
    REQUEST_ID_IN_USE(1018),
    // 2xxx load or time: back off, retry
    MEMORY_LIMIT(2001),
    PERMIT_TIMEOUT(2002),
    DEADLINE(2003),
    STORE_UNAVAILABLE(2004),
    SHUTTING_DOWN(2005),
    PD_UNAVAILABLE(2006),
    COMPACTION_RUNNING(2007),
    CANCELLED(2008),
    // 3xxx bytes: alert, never retry
    FILE_NOT_FOUND(3001),
    FILE_TRUNCATED(3002),
    FILE_CHECKSUM(3003),
    FILE_FORMAT(3004),
    FILE_ENCRYPTED(3005),
    FILE_MISMATCH(3006),
    CORRUPT_KEY(3007),
    CORRUPT_DATUM(3008),
    CORRUPT_ROW(3009),
    CORRUPT_VALUE(3010),
    // 9xxx ours: a bug
    INVARIANT_BROKEN(9001);

    private final int number;

    ErrorCode(int number) {
        this.number = number;
    }

    /** The stable number. */
    public int number() {
        return number;
    }
}
