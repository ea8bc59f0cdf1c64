package io.coplane.worker.replay;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import io.coplane.cop.Coprocessor;
import io.coplane.cop.RegionAccessor;
import io.coplane.nativecache.Clock;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.ErrorCode;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.nativecache.ObjectStore;
import io.coplane.nativecache.store.StoreUrl;
import io.coplane.proto.coprocessor.KeyRange;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.enginepb.ChangeSet;
import io.coplane.proto.kvrpcpb.APIVersion;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.EncodeType;
import io.coplane.proto.tipb.ExecType;
import io.coplane.proto.tipb.Executor;
import io.coplane.snapshot.DeadlineCheck;
import io.coplane.snapshot.RemoteRequestBody;
import io.coplane.snapshot.Snapshot;
import io.coplane.snapshot.SnapshotBuilder;
import io.coplane.worker.replay.Corpus.DataSet;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalInt;
import picocli.CommandLine.Option;

/** Where {@code query} and {@code explain} find their data and their request, and the run itself. */
final class QueryOptions {
    private static final long DAG = 103;
    private static final long FIRST_FILE_ID = 1_000;
    private static final int IO_THREADS = 2;
    private static final long LATEST = -1;
    private static final byte[] NOTHING = {};

    @Option(
            names = "--data-set",
            description =
                    "A recorded data set, laid out in a temporary directory; its clock stands where it was recorded.")
    private String dataSetName;

    @Option(names = "--data", description = "Folder of the recorded data sets. Default: the project's testdata.")
    private Path data;

    @Option(names = "--number", description = "With --data-set: its recorded request of this number, from 0.")
    private Integer number;

    @Option(
            names = "--store",
            description =
                    "Directory, file:DIR?prefix=P or s3://BUCKET/PREFIX?endpoint=.. with the files of a shard; needs --snapshot.")
    private String store;

    @Option(
            names = "--snapshot",
            description =
                    "What the shard is: a ChangeSet (protobuf or its JSON form), or the body of a remote request.")
    private Path snapshotFile;

    @Option(names = "--master-key", description = "File with the 32 bytes that encrypted shards need.")
    private Path masterKey;

    @Option(names = "--request", description = "A coprocessor.Request: protobuf or its JSON form.")
    private Path requestFile;

    @Option(names = "--dag", description = "A tipb.DAGRequest: protobuf or its JSON form.")
    private Path dagFile;

    @Option(
            names = "--range",
            description = "With --dag: keys as START..END in hex; repeatable. Default: the whole table or index.")
    private List<String> ranges;

    @Option(names = "--start-ts", description = "With --dag: read timestamp. Default: the newest.")
    private Long startTs;

    @Option(names = "--keyspace", description = "With --dag: the keyspace of table and ranges.")
    private Integer keyspaceId;

    private Request executed;

    /** The request that {@link #run} executed. */
    Request executed() {
        return executed;
    }

    /** Needs {@code --data-set} or {@code --store}, and a request. */
    Coprocessor.Explained run() throws IOException {
        if ((dataSetName == null) == (store == null)) {
            throw usage("say where the data is: either --data-set or --store with --snapshot");
        }
        return dataSetName != null ? onDataSet() : onStore();
    }

    private Coprocessor.Explained onDataSet() throws IOException {
        DataSet dataSet =
                Corpus.open(data == null ? ReplayCommand.projectData() : data).load(dataSetName);
        Request request = request(dataSet);
        Path directory = Files.createTempDirectory("coplane-query");
        try (DirectoryStore files = new DirectoryStore(directory, "", IO_THREADS)) {
            CorpusLayout layout =
                    CorpusLayout.build(dataSet.versions(), Shape.MEM, files, FIRST_FILE_ID, OptionalInt.empty(), 1);
            RemoteRequestBody body = RemoteRequestBody.split(MemorySegment.ofArray(layout.body(request)));
            return run(request, files, body, RegionAccessor.WHOLE_SHARD, ReplayCommand.recordedClock());
        } finally {
            ReplayCommand.delete(directory);
        }
    }

    private Coprocessor.Explained onStore() throws IOException {
        if (snapshotFile == null) {
            throw usage("say what the shard is: --snapshot");
        }
        byte[] bytes = Files.readAllBytes(snapshotFile);
        boolean isBody = bytes.length >= Integer.BYTES && bytes[0] == 1 && bytes[1] == 0 && bytes[2] == 0;
        try (ObjectStore files = StoreUrl.parse(store).open(System.getenv(), IO_THREADS)) {
            if (isBody) {
                RemoteRequestBody body = RemoteRequestBody.split(MemorySegment.ofArray(bytes));
                Request sent = requestFile == null && dagFile == null
                        ? plain(parse(body.request().toArray(ValueLayout.JAVA_BYTE), Request.newBuilder())
                                .build())
                        : request(null);
                return run(sent, files, body, RegionAccessor.NONE, Clock.system());
            }
            byte[] snapData = parse(bytes, ChangeSet.newBuilder()).build().toByteArray();
            Request request = request(null);
            RemoteRequestBody body = RemoteRequestBody.split(
                    MemorySegment.ofArray(RemoteRequestBody.join(request.toByteArray(), NOTHING, snapData)));
            return run(request, files, body, RegionAccessor.WHOLE_SHARD, Clock.system());
        }
    }

    private Coprocessor.Explained run(
            Request request, ObjectStore files, RemoteRequestBody body, RegionAccessor regions, Clock clock)
            throws IOException {
        executed = request;
        MemoryLimiter limiter = new MemoryLimiter(Runtime.getRuntime().maxMemory());
        byte[] key = masterKey == null ? NOTHING : Files.readAllBytes(masterKey);
        try (Snapshot snapshot = new SnapshotBuilder(files, limiter, Runnable::run, key)
                .build(body.memData(), body.snapData(), DeadlineCheck.NONE)
                .join()) {
            return Coprocessor.explain(request, snapshot, regions, Long.MAX_VALUE, clock, DeadlineCheck.NONE);
        }
    }

    /** The request as it was executed: plans in default encoding, because only it names the type of each value. */
    Request request(DataSet dataSet) throws IOException {
        Request request;
        if (requestFile != null) {
            request =
                    parse(Files.readAllBytes(requestFile), Request.newBuilder()).build();
        } else if (dagFile != null) {
            request = ofDag(parse(Files.readAllBytes(dagFile), DAGRequest.newBuilder()));
        } else if (dataSet != null && number != null) {
            if (number < 0 || number >= dataSet.requests().size()) {
                throw usage("there is no such request: number=" + number + " requests="
                        + dataSet.requests().size());
            }
            request = dataSet.requests().get(number).request();
        } else {
            throw usage("say what to ask: --request, --dag, or --number of a data set");
        }
        return plain(request);
    }

    private static Request plain(Request request) {
        if (request.getTp() != DAG) {
            return request;
        }
        DAGRequest dag = Messages.parse(DAGRequest.parser(), request.getData());
        return request.toBuilder()
                .setData(dag.toBuilder()
                        .setEncodeType(EncodeType.TypeDefault)
                        .build()
                        .toByteString())
                .build();
    }

    private Request ofDag(DAGRequest.Builder dag) {
        Request.Builder request = Request.newBuilder()
                .setTp(DAG)
                .setStartTs(startTs == null ? LATEST : startTs)
                .setData(dag.build().toByteString());
        if (keyspaceId != null) {
            request.getContextBuilder().setApiVersion(APIVersion.V2).setKeyspaceId(keyspaceId);
        }
        request.getContextBuilder().getPeerBuilder().setId(1); // or there are no look-ups
        if (ranges == null) {
            return request.addRanges(whole(dag)).build();
        }
        for (String range : ranges) {
            String[] ends = range.split("\\.\\.", -1);
            if (ends.length != 2) {
                throw usage("a range is START..END in hex: range=" + range);
            }
            request.addRanges(
                    range(HexFormat.of().parseHex(ends[0]), HexFormat.of().parseHex(ends[1])));
        }
        return request.build();
    }

    /** All keys of the table or index that the plan scans. */
    private KeyRange whole(DAGRequest.Builder dag) {
        if (dag.getExecutorsCount() == 0) {
            throw usage("the plan has no executors");
        }
        Executor scan = dag.getExecutors(0);
        ByteBuffer key = ByteBuffer.allocate(32);
        if (keyspaceId != null) {
            key.putInt('x' << 24 | keyspaceId);
        }
        if (scan.getTp() == ExecType.TypeIndexScan) {
            key.put((byte) 't').putLong(scan.getIdxScan().getTableId() ^ Long.MIN_VALUE);
            key.put((byte) '_').put((byte) 'i').putLong(scan.getIdxScan().getIndexId() ^ Long.MIN_VALUE);
        } else {
            key.put((byte) 't').putLong(scan.getTblScan().getTableId() ^ Long.MIN_VALUE);
            key.put((byte) '_').put((byte) 'r');
        }
        byte[] start = Arrays.copyOf(key.array(), key.position());
        byte[] end = start.clone();
        for (int i = end.length - 1; ++end[i] == 0; i--) {
            // carry
        }
        return range(start, end);
    }

    private static KeyRange range(byte[] start, byte[] end) {
        return KeyRange.newBuilder()
                .setStart(ByteString.copyFrom(start))
                .setEnd(ByteString.copyFrom(end))
                .build();
    }

    /** A message as protobuf or, if the file begins with a brace, in its JSON form. */
    private static <B extends Message.Builder> B parse(byte[] bytes, B into) {
        try {
            if (bytes.length > 0 && bytes[0] == '{') {
                JsonFormat.parser().merge(new String(bytes, StandardCharsets.UTF_8), into);
            } else {
                into.mergeFrom(Corpus.input(bytes));
            }
            return into;
        } catch (IOException e) {
            throw new CoplaneException(ErrorCode.BAD_PROTOBUF, "file does not parse: " + e.getMessage(), e);
        }
    }

    private static CoplaneException usage(String text) {
        return new CoplaneException(ErrorCode.BAD_ARGUMENT, text);
    }
}
