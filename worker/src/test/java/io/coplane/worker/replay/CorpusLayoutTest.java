package io.coplane.worker.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.memory.Layouts;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.enginepb.Snapshot;
import io.coplane.proto.enginepb.TxnFileRefs;
import io.coplane.snapshot.RemoteRequestBody;
import io.coplane.testing.TestData;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine.TypeConversionException;

final class CorpusLayoutTest {
    private static final int ROW_BYTES_AT = 4;
    private static final int ROWS_AT = 12;

    @TempDir
    Path directory;

    @ParameterizedTest
    @EnumSource
    void shapeHasTheFilesItIsNamedAfter(Shape shape) throws IOException {
        MemorySegment body = body(shape);

        Snapshot snapshot = ChangeSet.parseFrom(
                        RemoteRequestBody.split(body).snapData().asByteBuffer())
                .getSnapshot();
        MemorySegment memData = RemoteRequestBody.split(body).memData();
        long rowsEnd = ROWS_AT + memData.get(Layouts.LE_LONG, ROW_BYTES_AT);
        boolean hasRowsInMemory = memData.get(Layouts.LE_LONG, ROWS_AT) > 0;
        MemorySegment refs = memData.asSlice(rowsEnd + Integer.BYTES);
        boolean hasTxnFiles = TxnFileRefs.parseFrom(refs.asByteBuffer()).getTxnFileRefsCount() > 1;
        boolean hasL0 = snapshot.getL0CreatesCount() > 1;
        boolean hasLevels = snapshot.getTableCreatesCount() > 1;
        boolean hasBlobs = snapshot.getBlobCreatesCount() > 1;
        assertThat(hasRowsInMemory).isEqualTo(shape != Shape.L0 && shape != Shape.LN);
        assertThat(hasL0).isEqualTo(shape != Shape.MEM && shape != Shape.LN);
        assertThat(hasLevels).isEqualTo(shape != Shape.MEM && shape != Shape.L0);
        assertThat(hasBlobs).isEqualTo(shape == Shape.BLOB || shape == Shape.ENCRYPTED);
        assertThat(hasTxnFiles).isEqualTo(shape == Shape.TXN || shape == Shape.ENCRYPTED);
        assertThat(snapshot.getProperties().getKeysList())
                .isEqualTo(shape == Shape.ENCRYPTED ? List.of("_encryption") : List.of());
    }

    @Test
    void optionTakesOneShapeOrAll() {
        var converter = new Shapes.Converter();

        assertThat(converter.convert("ENCRYPTED").list()).containsExactly(Shape.ENCRYPTED);
        assertThat(converter.convert("l0").list()).containsExactly(Shape.L0);
        assertThat(converter.convert("all").list()).containsExactly(Shape.values());
        assertThatThrownBy(() -> converter.convert("l1")).isInstanceOf(TypeConversionException.class);
    }

    private MemorySegment body(Shape shape) throws IOException {
        Versions versions = Corpus.open(TestData.root()).load("smoke").versions();
        try (DirectoryStore store = new DirectoryStore(directory, "", 2)) {
            CorpusLayout layout = CorpusLayout.build(versions, shape, store, 1_000, OptionalInt.empty(), 5);
            return MemorySegment.ofArray(layout.body(Request.getDefaultInstance()));
        }
    }
}
