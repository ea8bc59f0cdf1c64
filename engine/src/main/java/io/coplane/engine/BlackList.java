package io.coplane.engine;

import java.util.Set;

/**
 * Keyspaces whose requests are refused, by type (worker.md 7).
 *
 * @param remoteCop keyspace ids, unsigned, whose DAG requests are refused
 * @param analyze keyspace ids whose analyze requests are refused
 * @param checksum keyspace ids whose checksum requests are refused
 */
public record BlackList(Set<Integer> remoteCop, Set<Integer> analyze, Set<Integer> checksum) {
    private static final long TP_DB9_DAG = 10_001;

    /** Refuses nothing. */
    public static final BlackList NONE = new BlackList(Set.of(), Set.of(), Set.of());

    public BlackList {
        remoteCop = Set.copyOf(remoteCop);
        analyze = Set.copyOf(analyze);
        checksum = Set.copyOf(checksum);
    }

    /** Why a request is refused, or null if it is not. */
    String refusal(RequestType type, long tp, int keyspaceId) {
        Set<Integer> listed = switch (type) {
            case DAG -> remoteCop;
            case ANALYZE -> analyze;
            case CHECKSUM -> checksum;
            case UNKNOWN -> tp == TP_DB9_DAG ? remoteCop : Set.of();
        };
        if (!listed.contains(keyspaceId)) {
            return null;
        }
        String name = type == RequestType.ANALYZE || type == RequestType.CHECKSUM ? type.tag() : "remote-cop";
        return name + " requests of keyspace " + Integer.toUnsignedString(keyspaceId) + " are in the black list";
    }
}
