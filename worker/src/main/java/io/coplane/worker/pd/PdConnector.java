package io.coplane.worker.pd;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.Failures;
import io.coplane.proto.pdpb.ErrorType;
import io.coplane.proto.pdpb.GetClusterInfoRequest;
import io.coplane.proto.pdpb.GetClusterInfoResponse;
import io.coplane.proto.pdpb.GetMembersRequest;
import io.coplane.proto.pdpb.GetMembersResponse;
import io.coplane.proto.pdpb.PDGrpc;
import io.coplane.proto.pdpb.ResponseHeader;
import io.coplane.proto.tsopb.FindGroupByKeyspaceIDRequest;
import io.coplane.proto.tsopb.RequestHeader;
import io.coplane.proto.tsopb.TSOGrpc;
import io.coplane.worker.grpc.Calls;
import io.coplane.worker.grpc.GrpcChannels;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.stub.MetadataUtils;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Finds PD's leader (worker.md 18.1). Keeps no state but its channels, which it borrows. Thread-safe. */
final class PdConnector {
    static final Duration TIMEOUT = Duration.ofSeconds(5);

    private static final Metadata.Key<String> FORWARDED_HOST =
            Metadata.Key.of("pd-forwarded-host", Metadata.ASCII_STRING_MARSHALLER);
    private static final int SERVICE_MODE_API = 2;

    private final GrpcChannels channels;
    private final boolean isForwardingEnabled;
    private final boolean isLegacyTsoForced;

    PdConnector(GrpcChannels channels, boolean isForwardingEnabled, boolean isLegacyTsoForced) {
        this.channels = channels;
        this.isForwardingEnabled = isForwardingEnabled;
        this.isLegacyTsoForced = isLegacyTsoForced;
    }

    /** Asks one URL after the other who leads, until one knows. */
    CompletableFuture<PdLink> connect(List<String> urls) {
        return firstOf(urls.iterator(), null);
    }

    private CompletableFuture<PdLink> firstOf(Iterator<String> urls, Throwable lastFailure) {
        if (!urls.hasNext()) {
            Throwable cause = lastFailure == null
                    ? Status.UNAVAILABLE.withDescription("no endpoints").asRuntimeException()
                    : lastFailure;
            return CompletableFuture.failedFuture(PdException.unavailable("GetMembers", cause));
        }
        String url = urls.next();
        return members(url)
                .thenCompose(members -> toLeader(url, members))
                .exceptionallyCompose(failure -> firstOf(urls, Failures.unwrap(failure)));
    }

    private CompletableFuture<GetMembersResponse> members(String url) {
        return ask(url, PDGrpc.getGetMembersMethod(), GetMembersRequest.getDefaultInstance())
                .thenApply(members -> {
                    check("GetMembers", members.getHeader());
                    return members;
                });
    }

    /** A URL that is none, as a member may have announced it, fails like one that does not answer. */
    private <Q, R> CompletableFuture<R> ask(String url, MethodDescriptor<Q, R> method, Q request) {
        try {
            return Calls.unary(channels.to(url), method, request, TIMEOUT);
        } catch (CoplaneException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private CompletableFuture<PdLink> toLeader(String askedUrl, GetMembersResponse members) {
        List<String> leaderUrls = PdLink.leaderUrls(members).toList();
        if (leaderUrls.isEmpty()) {
            return CompletableFuture.failedFuture(Status.UNAVAILABLE
                    .withDescription("no leader now: url=" + askedUrl)
                    .asRuntimeException());
        }
        return reachable(leaderUrls.iterator(), null)
                .thenApply(url -> link(channels.to(url), url, members))
                .exceptionallyCompose(failure -> isForwardingEnabled
                        ? CompletableFuture.completedFuture(forwarded(askedUrl, leaderUrls.getFirst(), members))
                        : CompletableFuture.failedFuture(Failures.unwrap(failure)))
                .thenCompose(this::withTso);
    }

    private CompletableFuture<String> reachable(Iterator<String> urls, Throwable lastFailure) {
        if (!urls.hasNext()) {
            return CompletableFuture.failedFuture(lastFailure);
        }
        String url = urls.next();
        return members(url)
                .thenApply(members -> url)
                .exceptionallyCompose(failure -> reachable(urls, Failures.unwrap(failure)));
    }

    private PdLink forwarded(String followerUrl, String leaderUrl, GetMembersResponse members) {
        Metadata headers = new Metadata();
        headers.put(FORWARDED_HOST, leaderUrl);
        Channel channel = ClientInterceptors.intercept(
                channels.to(followerUrl), MetadataUtils.newAttachHeadersInterceptor(headers));
        return link(channel, leaderUrl, members);
    }

    private static PdLink link(Channel channel, String leaderUrl, GetMembersResponse members) {
        return new PdLink(
                channel, members.getHeader().getClusterId(), leaderUrl, PdLink.urls(members), Optional.empty());
    }

    /** Adds the separate timestamp service where PD names one. Without it, or where PD is too old to be asked, the leader gives timestamps. */
    private CompletableFuture<PdLink> withTso(PdLink link) {
        if (isLegacyTsoForced) {
            return CompletableFuture.completedFuture(link);
        }
        GetClusterInfoRequest request =
                GetClusterInfoRequest.newBuilder().setHeader(link.header()).build();
        return Calls.unary(link.channel(), PDGrpc.getGetClusterInfoMethod(), request, TIMEOUT)
                .exceptionallyCompose(failure -> Status.fromThrowable(failure).getCode() == Status.Code.UNIMPLEMENTED
                        ? CompletableFuture.completedFuture(GetClusterInfoResponse.getDefaultInstance())
                        : CompletableFuture.failedFuture(Failures.unwrap(failure)))
                .thenCompose(info -> info.getServiceModesList().contains(SERVICE_MODE_API) && info.getTsoUrlsCount() > 0
                        ? tsoGroup(link, info.getTsoUrlsList().iterator(), null)
                        : CompletableFuture.completedFuture(link));
    }

    private CompletableFuture<PdLink> tsoGroup(PdLink link, Iterator<String> urls, Throwable lastFailure) {
        if (!urls.hasNext()) {
            return CompletableFuture.failedFuture(lastFailure);
        }
        FindGroupByKeyspaceIDRequest request = FindGroupByKeyspaceIDRequest.newBuilder()
                .setHeader(RequestHeader.newBuilder().setClusterId(link.clusterId()))
                .build();
        return ask(urls.next(), TSOGrpc.getFindGroupByKeyspaceIDMethod(), request)
                .thenApply(found -> {
                    if (found.getHeader().getError().getType() != 0) {
                        throw PdException.refused(
                                "FindGroupByKeyspaceID",
                                ErrorType.UNKNOWN,
                                found.getHeader().getError().getMessage());
                    }
                    Optional<PdLink.TsoService> service = PdLink.TsoService.of(
                            found.getKeyspaceGroup().getId(),
                            found.getKeyspaceGroup().getMembersList());
                    if (service.isEmpty()) {
                        throw Status.UNAVAILABLE
                                .withDescription("no primary of the timestamp service now")
                                .asRuntimeException();
                    }
                    return new PdLink(link.channel(), link.clusterId(), link.leaderUrl(), link.memberUrls(), service);
                })
                .exceptionallyCompose(failure -> tsoGroup(link, urls, Failures.unwrap(failure)));
    }

    /** @throws PdException if the header holds an error */
    static void check(String method, ResponseHeader header) {
        if (header.getError().getType() != ErrorType.OK) {
            throw PdException.refused(
                    method, header.getError().getType(), header.getError().getMessage());
        }
    }
}
