package io.coplane.worker.inspect;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.store.StoreUrl;
import io.coplane.testing.GoldenCase;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.S3Server;
import io.coplane.testing.TestData;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import picocli.CommandLine;

@ExtendWith(NoLeaks.class)
final class VerifyCommandTest {
    private static final Map<String, String> S3_KEYS =
            Map.of("DFS_S3_KEY_ID", S3Server.KEY_ID, "DFS_S3_SECRET_KEY", S3Server.SECRET_KEY);

    @Test
    void verifyListsAPrefixOfABucket() throws Exception {
        GoldenCase golden = TestData.cases("sst")
                .filter(each -> !each.meta().containsKey("enc.data_key"))
                .findFirst()
                .orElseThrow();
        byte[] good = golden.bytes("table.sst");
        byte[] bad = good.clone();
        bad[bad.length - 30] ^= 1; // in the properties
        try (S3Server server = S3Server.start()) {
            String url = "s3://" + S3Server.BUCKET + "/p?endpoint=" + server.endpoint();
            try (ObjectStore store = StoreUrl.parse(url).open(S3_KEYS, 1)) {
                for (long id = 1; id <= 20; id++) {
                    store.put(FileKind.SST, id, MemorySegment.ofArray(id == 7 ? bad : good))
                            .join();
                }
                store.put(FileKind.SCHEMA, 21, MemorySegment.ofArray(new byte[3]))
                        .join(); // none of the row store
            }

            StringWriter out = new StringWriter();
            int status = new CommandLine(new VerifyCommand(S3_KEYS))
                    .setOut(new PrintWriter(out))
                    .execute("--threads", "3", url);

            assertThat(status).as(out.toString()).isEqualTo(1);
            List<String> lines = out.toString().lines().toList();
            assertThat(lines.stream().filter(line -> line.startsWith("good "))).hasSize(19);
            assertThat(lines.stream().filter(line -> line.startsWith("bad ")))
                    .singleElement()
                    .asString()
                    .startsWith("bad name=s3://bucket/p/")
                    .contains("/0000000000000007.sst ");
            assertThat(lines.getLast()).isEqualTo("summary files=20 bad=1");
        }
    }
}
