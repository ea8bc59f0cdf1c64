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
    /** Refuses nothing. */
    public static final BlackList NONE = new BlackList(Set.of(), Set.of(), Set.of());

    public BlackList {
        remoteCop = Set.copyOf(remoteCop);
        analyze = Set.copyOf(analyze);
        checksum = Set.copyOf(checksum);
    }

    /** Why a request is refused, or null if it is not. */
    String refusal(RequestType type, int keyspaceId) {
        Set<Integer> listed = switch (type) {
            case DAG -> remoteCop;
            case ANALYZE -> analyze;
            case CHECKSUM -> checksum;
            case UNKNOWN -> Set.of();
        };
        if (!listed.contains(keyspaceId)) {
            return null;
        }
        String name = type == RequestType.DAG ? "remote-cop" : type.tag();
        return name + " requests of keyspace " + Integer.toUnsignedString(keyspaceId) + " are in the black list";
    }
}
