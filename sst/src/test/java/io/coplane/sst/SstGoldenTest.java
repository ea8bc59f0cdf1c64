package io.coplane.sst;

import io.coplane.testing.GoldenCase;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.TestData;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@ExtendWith(NoLeaks.class)
class SstGoldenTest {
    static Stream<GoldenCase> cases() {
        return TestData.cases("sst");
    }

    @ParameterizedTest
    @MethodSource("cases")
    void readsWhatTheReferenceWrote(GoldenCase golden) {
        Map<String, String> meta = golden.meta();
        long fileId = Long.parseUnsignedLong(meta.get("file_id"));
        int level = Integer.parseInt(meta.get("get_level"));

        try (var file = new TestFile(golden.bytes("table.sst"))) {
            SstReader reader = SstReader.open(file.bytes, fileId, level, TableDumps.shardKey(golden));

            new TableDumps(golden, "", reader, file.arena).all();
        }
    }
}
