package io.coplane.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.coplane.nativecache.FileKind;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.testing.GoldenCase;
import io.coplane.testing.NoLeaks;
import io.coplane.testing.TestData;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(NoLeaks.class)
final class CompactionProgressTest {
    @Test
    void countsAllInputsAndOutputs() {
        GoldenCase golden = TestData.cases("compaction")
                .filter(c -> c.name().startsWith("l0-") && !c.meta().containsKey("enc.master_key"))
                .findFirst()
                .orElseThrow();
        var store = new MemoryStore();
        List<String> inputs =
                golden.files(".sst").stream().filter(f -> f.startsWith("in/")).toList();
        long inputBytes = 0;
        for (String file : inputs) {
            byte[] bytes = golden.bytes(file);
            inputBytes += bytes.length;
            store.objects.put(
                    new MemoryStore.Name(FileKind.SST, Long.parseUnsignedLong(file.substring(3, 19), 16)), bytes);
        }
        var progress = new CompactionProgress();

        CompactionResult result;
        try (MemoryGuard guard = new MemoryLimiter(1L << 30).acquire(1 << 20)) {
            result = new Compactor(CompactionConfig.DEFAULT, store, new byte[32])
                    .compact(
                            CompactionRequest.parse(golden.bytes("request.json")),
                            count -> new long[count],
                            guard,
                            () -> false,
                            progress,
                            JobJournal.off());
        }

        assertThat(progress.inputBytes()).isEqualTo(inputBytes);
        assertThat(progress.inputBytesRead()).isPositive().isEqualTo(store.bytesRead.get());
        assertThat(progress.outputs())
                .isPositive()
                .isEqualTo(result.outputFiles())
                .isEqualTo(store.objects.size() - inputs.size());
        assertThat(progress.outputBytes()).isEqualTo(result.outputBytes());
    }
}
