package io.coplane.worker.pd;

import io.coplane.proto.pdpb.GetMembersResponse;
import io.coplane.proto.pdpb.Member;
import io.coplane.proto.pdpb.RequestHeader;
import io.coplane.proto.tsopb.KeyspaceGroupMember;
import io.grpc.Channel;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A connection to PD's leader as it was when {@code GetMembers} was last asked (worker.md 18.1).
 *
 * @param channel to the leader, or to a follower that forwards
 * @param clusterId id of the cluster, in the header of every request
 * @param leaderUrl URL of the leader
 * @param memberUrls all client URLs
 * @param tso primary of the separate timestamp service, if it is to be used
 */
record PdLink(Channel channel, long clusterId, String leaderUrl, List<String> memberUrls, Optional<TsoService> tso) {
    PdLink {
        memberUrls = List.copyOf(memberUrls);
    }

    /**
     * The separate timestamp service.
     *
     * @param address of its primary
     * @param group id of the keyspace group
     */
    record TsoService(String address, int group) {
        static Optional<TsoService> of(int group, List<KeyspaceGroupMember> members) {
            return members.stream()
                    .filter(KeyspaceGroupMember::getIsPrimary)
                    .findFirst()
                    .map(member -> new TsoService(member.getAddress(), group));
        }
    }

    RequestHeader header() {
        return RequestHeader.newBuilder()
                .setClusterId(clusterId)
                .setCallerComponent("coplane")
                .build();
    }

    static List<String> urls(GetMembersResponse members) {
        return members.getMembersList().stream()
                .map(Member::getClientUrlsList)
                .flatMap(List::stream)
                .distinct()
                .toList();
    }

    static Stream<String> leaderUrls(GetMembersResponse members) {
        return members.hasLeader() ? members.getLeader().getClientUrlsList().stream() : Stream.empty();
    }
}
