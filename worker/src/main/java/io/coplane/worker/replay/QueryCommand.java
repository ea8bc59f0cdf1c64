package io.coplane.worker.replay;

import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import io.coplane.cop.Coprocessor;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.tipb.AnalyzeColumnsResp;
import io.coplane.proto.tipb.ChecksumResponse;
import io.coplane.proto.tipb.DAGRequest;
import io.coplane.proto.tipb.Error;
import io.coplane.proto.tipb.SelectResponse;
import io.coplane.worker.Logs;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code coplane query}: one request on a snapshot, its rows for people or programs. */
@Command(
        name = "query",
        mixinStandardHelpOptions = true,
        description = "Executes one coprocessor request and prints its rows. Exit status 1 if the request fails.")
public final class QueryCommand implements Callable<Integer> {
    private static final long DAG = 103;
    private static final long ANALYZE = 104;

    @Mixin
    private QueryOptions options;

    @Option(
            names = "--format",
            defaultValue = "TABLE",
            description = "${COMPLETION-CANDIDATES}. Default: table. Times of type TIMESTAMP are in UTC.")
    private AnswerPrinter.Format format;

    @Spec
    private CommandSpec spec;

    /** Made by picocli. */
    public QueryCommand() {}

    @Override
    public Integer call() throws IOException {
        Logs.configure("warn", "");
        Coprocessor.Explained done = options.run();
        PrintWriter out = spec.commandLine().getOut();
        int status = print(options.executed(), done.response(), out);
        out.flush();
        return status;
    }

    private int print(Request request, Response response, PrintWriter out) throws IOException {
        PrintWriter err = spec.commandLine().getErr();
        if (!response.getOtherError().isEmpty()) {
            err.println("coplane: " + response.getOtherError());
            return 1;
        }
        if (request.getTp() != DAG) {
            Message.Builder message =
                    request.getTp() == ANALYZE ? AnalyzeColumnsResp.newBuilder() : ChecksumResponse.newBuilder();
            out.println(JsonFormat.printer().print(message.mergeFrom(response.getData())));
            return 0;
        }
        SelectResponse select =
                SelectResponse.parseFrom(Corpus.input(response.getData().toByteArray()));
        if (select.hasError()) {
            err.println("coplane: error " + select.getError().getCode() + ": "
                    + select.getError().getMsg());
            return 1;
        }
        DAGRequest dag = Messages.parse(DAGRequest.parser(), request.getData());
        PlanShape shape = shape(dag, request.getPagingSize());
        AnswerPrinter printer = new AnswerPrinter(format, out);
        printer.print(RowTable.decode(select.getChunksList(), shape.outputs(), false));
        for (int i = 0; i < select.getIntermediateOutputsCount(); i++) {
            if (select.getIntermediateOutputs(i).getChunksCount() > 0) {
                out.println("index rows to look up:");
                printer.print(
                        RowTable.decode(select.getIntermediateOutputs(i).getChunksList(), shape.outputs(i), false));
            }
        }
        for (Error warning : select.getWarningsList()) {
            err.println("warning " + warning.getCode() + ": " + warning.getMsg());
        }
        return 0;
    }

    private static PlanShape shape(DAGRequest dag, long pagingSize) {
        try {
            return PlanShape.of(dag, pagingSize);
        } catch (IndexOutOfBoundsException e) {
            throw new CoplaneException(ErrorCode.BAD_ARGUMENT, "plan has no such column: " + e.getMessage(), e);
        }
    }
}
