package io.coplane.worker.replay;

import com.github.luben.zstd.ZstdInputStream;
import com.google.protobuf.CodedInputStream;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** A folder of recorded data sets; the file forms stand in {@code testdata/corpus/README.md}. */
public final class Corpus {
    private static final String REQUESTS = ".req.zst";
    private static final int PROTOBUF_NESTING = 1000;
    private static final int RECORD_HEAD_BYTES = Integer.BYTES;

    private final Path folder;

    private Corpus(Path folder) {
        this.folder = folder;
    }

    /**
     * Opens a corpus.
     *
     * @param given the corpus folder, or a folder that holds it as {@code corpus}
     * @throws CoplaneException BAD_ARGUMENT if no data set is there
     */
    public static Corpus open(Path given) {
        for (Path folder : List.of(given, given.resolve("corpus"))) {
            Corpus corpus = new Corpus(folder);
            if (Files.isDirectory(folder) && !corpus.names("*").isEmpty()) {
                return corpus;
            }
        }
        throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "no recorded data sets: folder=" + given);
    }

    /** Names of the data sets that match a glob, in order. */
    public List<String> names(String glob) {
        PathMatcher matcher = FileSystems.getDefault().getPathMatcher("glob:" + glob);
        try (Stream<Path> files = Files.list(folder)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(file -> file.endsWith(REQUESTS))
                    .map(file -> file.substring(0, file.length() - REQUESTS.length()))
                    .filter(name -> matcher.matches(Path.of(name)))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Loads a data set whole. */
    public DataSet load(String name) throws IOException {
        byte[] mvcc = unpack(name + ".mvcc.zst");
        List<byte[]> requests = records(unpack(name + REQUESTS));
        List<byte[]> answers = records(unpack(name + ".tikv.zst"));
        List<String> lines = Files.readAllLines(folder.resolve(name + ".tsv"), StandardCharsets.UTF_8);
        if (requests.size() != answers.size() || lines.size() != requests.size() + 1) {
            throw new CoplaneException(
                    ErrorCode.BAD_ARGUMENT,
                    "data set is incomplete: name=" + name + " requests=" + requests.size() + " answers="
                            + answers.size() + " lines=" + lines.size());
        }
        List<Recorded> recorded = new ArrayList<>();
        for (int i = 0; i < requests.size(); i++) {
            String[] fields = lines.get(i + 1).split("\t", -1);
            recorded.add(new Recorded(
                    name,
                    i,
                    fields[3],
                    fields.length > 8 && !fields[8].isEmpty() ? List.of(fields[8].split(",", -1)) : List.of(),
                    Request.parseFrom(input(requests.get(i))),
                    Response.parseFrom(input(answers.get(i)))));
        }
        return new DataSet(name, Versions.parse(mvcc), recorded);
    }

    /** Opens protobuf bytes with the nesting limit of coprocessor.md 2.1. */
    static CodedInputStream input(byte[] bytes) {
        CodedInputStream input = CodedInputStream.newInstance(bytes);
        input.setRecursionLimit(PROTOBUF_NESTING);
        return input;
    }

    private byte[] unpack(String file) throws IOException {
        try (InputStream in =
                new ZstdInputStream(new BufferedInputStream(Files.newInputStream(folder.resolve(file))))) {
            return in.readAllBytes();
        }
    }

    private static List<byte[]> records(byte[] stream) {
        ByteBuffer in = ByteBuffer.wrap(stream).order(ByteOrder.LITTLE_ENDIAN);
        List<byte[]> records = new ArrayList<>();
        while (in.remaining() >= RECORD_HEAD_BYTES) {
            byte[] record = new byte[checked(in.getInt(), in)];
            in.get(record);
            records.add(record);
        }
        return records;
    }

    static int checked(int length, ByteBuffer in) {
        if (length < 0 || length > in.remaining()) {
            throw new CoplaneException(
                    ErrorCode.BAD_ARGUMENT,
                    "record is longer than its file: bytes=" + length + " offset=" + in.position());
        }
        return length;
    }

    /**
     * One data set.
     *
     * @param versions every version of every key
     * @param requests in recorded order
     */
    public record DataSet(String name, Versions versions, List<Recorded> requests) {}

    /**
     * One recorded request.
     *
     * @param shape executors, comma-separated, as in the data set's table
     * @param signatures scalar functions and aggregates that it uses
     */
    public record Recorded(
            String dataSet, int ordinal, String shape, List<String> signatures, Request request, Response answer) {
        /** {@code name 17}. */
        public String id() {
            return dataSet + " " + ordinal;
        }

        /** The recorded answer's error, if it is one of the whole request. */
        public Optional<String> otherError() {
            return answer.getOtherError().isEmpty() ? Optional.empty() : Optional.of(answer.getOtherError());
        }
    }
}
