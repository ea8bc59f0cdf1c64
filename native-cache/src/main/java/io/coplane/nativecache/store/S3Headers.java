package io.coplane.nativecache.store;

import io.coplane.nativecache.store.S3Config.Provider;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.SdkHttpRequest;

/** Headers by provider (ia.md 16.1, 16.2). Alibaba Cloud reads its own names where AWS has {@code x-amz-}; the signature keeps AWS's. */
final class S3Headers implements ExecutionInterceptor {
    private static final String AMZ = "x-amz-";
    private static final String OSS = "x-oss-";
    private static final List<String> RENAMED =
            List.of("storage-class", "copy-source", "metadata-directive", "tagging", "tagging-directive");

    @Override
    public SdkHttpRequest modifyHttpRequest(Context.ModifyHttpRequest context, ExecutionAttributes attributes) {
        SdkHttpRequest.Builder request = context.httpRequest().toBuilder();
        for (String name : RENAMED) {
            for (Map.Entry<String, List<String>> header :
                    context.httpRequest().headers().entrySet()) {
                if (header.getKey().equalsIgnoreCase(AMZ + name)) {
                    request.removeHeader(header.getKey()).putHeader(OSS + name, header.getValue());
                }
            }
        }
        return request.build();
    }

    /** Storage class of a file in use; empty: the header is not sent. */
    static Optional<String> normalClass(Provider provider) {
        return switch (provider) {
            case AWS -> Optional.of("INTELLIGENT_TIERING");
            case ALIBABA -> Optional.of("Standard");
            case UNKNOWN -> Optional.empty();
        };
    }

    /** Storage class of a removed file; empty: the header is not sent. */
    static Optional<String> removedClass(Provider provider) {
        return switch (provider) {
            case AWS -> Optional.of("STANDARD_IA");
            case ALIBABA -> Optional.of("IA");
            case UNKNOWN -> Optional.empty();
        };
    }

    /** {@code Range} of bytes {@code start .. end - 1}, null for the whole object (ia.md 15). */
    static String range(long start, long end) {
        if (end >= 0) {
            return "bytes=" + start + "-" + (end - 1);
        }
        return start == 0 ? null : "bytes=" + start + "-";
    }
}
