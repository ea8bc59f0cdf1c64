package io.coplane.bench;

import io.coplane.cop.DecodedRows;
import io.coplane.nativecache.DirectoryStore;
import io.coplane.nativecache.MemoryGuard;
import io.coplane.nativecache.MemoryLimiter;
import io.coplane.proto.coprocessor.Request;
import io.coplane.proto.coprocessor.Response;
import io.coplane.proto.tipb.SelectResponse;
import io.coplane.snapshot.DeadlineCheck;
import io.coplane.snapshot.RemoteRequestBody;
import io.coplane.snapshot.Snapshot;
import io.coplane.snapshot.SnapshotBuilder;
import io.coplane.worker.replay.Corpus;
import io.coplane.worker.replay.Corpus.DataSet;
import io.coplane.worker.replay.CorpusLayout;
import io.coplane.worker.replay.Shape;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.StringJoiner;

/**
 * Recorded requests of data set {@code analytic} beside the same queries in SQL on DuckDB, both with one thread, both with the table in memory: ours as
 * rows as they are stored (key and value), DuckDB's as its own columns, which is a start that a row store doesn't have. A second yardstick for the
 * executors, best of 9 after 30. Ours ends with the encoded response; DuckDB's with the last row fetched.
 */
public final class DuckDbSpeed {
    private static final double NANOS_PER_MILLI = 1e6;
    private static final int WARM_UPS = 30;
    private static final int RUNS = 9;
    private static final int ALL_COLUMNS_REQUEST = 9;
    private static final int UNSIGNED = 16;

    /** A recorded request in SQL. */
    private record Query(int ordinal, String sql) {}

    private static final List<Query> QUERIES = List.of(
            new Query(
                    0,
                    "SELECT c9, c10, sum(c5), sum(c6), sum(c6 * (1 - c7)), sum(c6 * (1 - c7) * (1 + c8)), count(c5), count(c6),"
                            + " sum(c7), count(c7), count(*) FROM t WHERE c11 <= DATE '2000-05-01' GROUP BY c9, c10"),
            new Query(6, "SELECT count(*) FROM t"),
            new Query(7, "SELECT count(*) FROM t WHERE c5 > 25"),
            new Query(8, "SELECT count(*) FROM t WHERE c16 > -3000 AND c17 > 0"),
            new Query(9, "SELECT * FROM t ORDER BY c6 DESC, c1 LIMIT 100"),
            new Query(10, "SELECT c1, c2, c6, c7, c11 FROM t ORDER BY c11, c6 * c7 DESC LIMIT 1000"),
            new Query(11, "SELECT * FROM t ORDER BY lower(c15), c1 LIMIT 50"),
            new Query(12, "SELECT c3, count(*), sum(c5), max(c6) FROM t GROUP BY c3"),
            new Query(13, "SELECT c1, sum(c5) FROM t GROUP BY c1"),
            new Query(15, "SELECT c11, count(*) FROM t GROUP BY c11"),
            new Query(16, "SELECT c14, c10, count(*), min(c15), max(c15) FROM t GROUP BY c14, c10"),
            new Query(18, "SELECT c4, count(c16), sum(c16), min(c16), max(c16) FROM t GROUP BY c4"),
            new Query(19, "SELECT count(*) FROM t WHERE lower(c15) LIKE '%blue%final%'"),
            new Query(
                    20,
                    "SELECT count(*) FROM t WHERE c14 IN ('AIR', 'MAIL') AND c12 < c11 AND c13 >= TIMESTAMP '1996-01-01 00:00:00'"),
            new Query(21, "SELECT * FROM t WHERE c5 = 7 AND c7 = 0.03"),
            new Query(22, "SELECT c1, c2, c5, c6 FROM t"),
            new Query(26, "SELECT c3, count(*) FROM t GROUP BY c3"),
            new Query(36, "SELECT bit_xor(c17), bit_or(c17), bit_and(c17), max(c17), min(c17) FROM t"),
            new Query(39, "SELECT c4, c9, c10, c14, count(*) FROM t GROUP BY c4, c9, c10, c14"),
            new Query(40, "SELECT count(*) FROM t WHERE (c5 > 40 OR c7 < 0.02) AND c8 <= 0.05"),
            new Query(44, "SELECT max(c11), min(c12), max(c13) FROM t"));

    private final DataSet dataSet;
    private final DecodedRows rows;

    private DuckDbSpeed(DataSet dataSet, DecodedRows rows) {
        this.dataSet = dataSet;
        this.rows = rows;
    }

    /** Runs all queries and prints the table. */
    public static void main(String[] args) throws IOException, SQLException {
        DataSet dataSet =
                Corpus.open(Path.of(System.getProperty("coplane.testdata"))).load("analytic");
        Path directory = Files.createTempDirectory("coplane-duckdb");
        try (DirectoryStore store = new DirectoryStore(directory, "", 2)) {
            CorpusLayout layout =
                    CorpusLayout.build(dataSet.versions(), Shape.MEM, store, 1_000, OptionalInt.empty(), 1);
            Request any = dataSet.requests().get(ALL_COLUMNS_REQUEST).request();
            RemoteRequestBody parts = RemoteRequestBody.split(MemorySegment.ofArray(layout.body(any)));
            SnapshotBuilder builder =
                    new SnapshotBuilder(store, new MemoryLimiter(Long.MAX_VALUE / 4), Runnable::run, new byte[0]);
            try (Snapshot snapshot = builder.build(parts.memData(), parts.snapData(), DeadlineCheck.NONE)
                            .join();
                    Connection connection = DriverManager.getConnection("jdbc:duckdb:")) {
                new DuckDbSpeed(dataSet, DecodedRows.of(snapshot, any.getStartTs())).run(connection);
            }
        } finally {
            Files.delete(directory);
        }
    }

    private void run(Connection connection) throws IOException, SQLException {
        load(connection);
        List<Long> ours = new ArrayList<>();
        List<Long> theirs = new ArrayList<>();
        for (Query query : QUERIES) {
            Request request = dataSet.requests().get(query.ordinal).request();
            long expected = check(query, request, connection);
            long ourBest = Long.MAX_VALUE;
            long theirBest = Long.MAX_VALUE;
            for (int i = 0; i < WARM_UPS + RUNS; i++) {
                long start = System.nanoTime();
                execute(request);
                long middle = System.nanoTime();
                long fetched = fetch(connection, query.sql);
                long end = System.nanoTime();
                if (fetched != expected) {
                    throw new IllegalStateException(query + " gave " + fetched + " rows after " + expected);
                }
                if (i >= WARM_UPS) {
                    ourBest = Math.min(ourBest, middle - start);
                    theirBest = Math.min(theirBest, end - middle);
                }
            }
            ours.add(ourBest);
            theirs.add(theirBest);
        }
        print(ours, theirs);
    }

    private void print(List<Long> ours, List<Long> theirs) {
        System.out.println("| request | SQL | ours ms | DuckDB ms | DuckDB / ours |");
        System.out.println("| ---: | --- | ---: | ---: | ---: |");
        double[] ratios = new double[QUERIES.size()];
        for (int i = 0; i < ratios.length; i++) {
            ratios[i] = (double) theirs.get(i) / ours.get(i);
            System.out.printf(
                    Locale.ROOT,
                    "| %d | `%s` | %.3f | %.3f | %.2f |%n",
                    QUERIES.get(i).ordinal,
                    QUERIES.get(i).sql,
                    ours.get(i) / NANOS_PER_MILLI,
                    theirs.get(i) / NANOS_PER_MILLI,
                    ratios[i]);
        }
        Arrays.sort(ratios);
        System.out.printf(
                Locale.ROOT,
                "%nDuckDB's time over ours: minimum %.2f, median %.2f, maximum %.2f%n",
                ratios[0],
                ratios[ratios.length / 2],
                ratios[ratios.length - 1]);
    }

    private Response execute(Request request) {
        try (MemoryGuard guard = MemoryGuard.unlimited()) {
            return rows.execute(request, guard, 1 << 30);
        }
    }

    /** Both must give as many rows. @return that many */
    private long check(Query query, Request request, Connection connection) throws IOException, SQLException {
        SelectResponse answer = SelectResponse.parseFrom(execute(request).getData());
        long ours = answer.getExecutionSummaries(answer.getExecutionSummariesCount() - 1)
                .getNumProducedRows();
        long theirs = fetch(connection, query.sql);
        if (ours != theirs) {
            System.out.printf(Locale.ROOT, "request %d: %d rows, in SQL %d%n", query.ordinal, ours, theirs);
        }
        return theirs;
    }

    private static long fetch(Connection connection, String sql) throws SQLException {
        long count = 0;
        try (Statement statement = connection.createStatement();
                ResultSet results = statement.executeQuery(sql)) {
            while (results.next()) {
                count++;
            }
        }
        return count;
    }

    private void load(Connection connection) throws IOException, SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET threads = 1");
            statement.execute("CREATE TABLE t (c1 BIGINT, c2 INTEGER, c3 INTEGER, c4 INTEGER, c5 DECIMAL(15,2),"
                    + " c6 DECIMAL(15,2), c7 DECIMAL(15,2), c8 DECIMAL(15,2), c9 VARCHAR, c10 VARCHAR, c11 DATE, c12 DATE,"
                    + " c13 TIMESTAMP, c14 VARCHAR, c15 VARCHAR, c16 DOUBLE, c17 UBIGINT)");
        }
        Request scan = dataSet.requests().get(ALL_COLUMNS_REQUEST).request();
        Path file = Files.createTempFile("coplane-duckdb", ".csv");
        try {
            Files.write(
                    file,
                    LineItems.read(scan, this::execute).stream()
                            .map(DuckDbSpeed::csv)
                            .toList());
            try (Statement statement = connection.createStatement()) {
                statement.execute("COPY t FROM '" + file + "' (FORMAT csv, HEADER false, NULLSTR 'NULL', QUOTE '\"')");
            }
        } finally {
            Files.delete(file);
        }
    }

    private static String csv(Object[] row) {
        StringJoiner line = new StringJoiner(",");
        for (int i = 0; i < row.length; i++) {
            line.add(
                    row[i] == null
                            ? "NULL"
                            : row[i] instanceof String text
                                    ? '"' + text.replace("\"", "\"\"") + '"'
                                    : i == UNSIGNED ? Long.toUnsignedString((long) row[i]) : row[i].toString());
        }
        return line.toString();
    }
}
