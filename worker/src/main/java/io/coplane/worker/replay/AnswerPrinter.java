package io.coplane.worker.replay;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/** Rows as a table, as JSON or as CSV. Columns have no names in a plan: they are c0, c1, ... */
final class AnswerPrinter {
    /** What rows look like. */
    enum Format {
        /** Aligned columns. */
        TABLE,
        /** An array of objects. */
        JSON,
        /** RFC 4180; NULL is an empty field, an empty string is quoted. */
        CSV
    }

    private final Format format;
    private final PrintWriter out;

    AnswerPrinter(Format format, PrintWriter out) {
        this.format = format;
        this.out = out;
    }

    void print(RowTable table) throws IOException {
        List<String[]> rows = new ArrayList<>();
        for (byte[][] row : table.rows()) {
            String[] texts = new String[row.length];
            for (int i = 0; i < row.length; i++) {
                texts[i] = CellText.of(row[i], table.columns().get(i));
            }
            rows.add(texts);
        }
        int columns = table.columns().size();
        switch (format) {
            case TABLE -> table(rows, columns);
            case JSON -> json(rows, table);
            case CSV -> csv(rows, columns);
        }
    }

    private void table(List<String[]> rows, int columns) {
        int[] widths = new int[columns];
        String[] head = new String[columns];
        for (int i = 0; i < columns; i++) {
            head[i] = "c" + i;
            widths[i] = head[i].length();
        }
        for (String[] row : rows) {
            for (int i = 0; i < columns; i++) {
                widths[i] = Math.max(widths[i], shown(row[i]).length());
            }
        }
        line(head, widths);
        for (String[] row : rows) {
            line(row, widths);
        }
        out.println(rows.size() == 1 ? "1 row" : rows.size() + " rows");
    }

    private void line(String[] cells, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < cells.length; i++) {
            String text = shown(cells[i]);
            line.append(i == 0 ? "" : "  ").append(text).append(" ".repeat(widths[i] - text.length()));
        }
        out.println(line.toString().stripTrailing());
    }

    private static String shown(String text) {
        return text == null
                ? "NULL"
                : text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r");
    }

    private void json(List<String[]> rows, RowTable table) throws IOException {
        ObjectMapper mapper = new ObjectMapper();
        ArrayNode all = mapper.createArrayNode();
        for (int r = 0; r < rows.size(); r++) {
            ObjectNode object = all.addObject();
            for (int i = 0; i < rows.get(r).length; i++) {
                String text = rows.get(r)[i];
                if (text == null) {
                    object.putNull("c" + i);
                } else if (CellText.isNumber(
                        table.rows().get(r)[i], table.columns().get(i))) {
                    object.put("c" + i, new BigDecimal(text));
                } else {
                    object.put("c" + i, text);
                }
            }
        }
        out.println(mapper.writerWithDefaultPrettyPrinter().writeValueAsString(all));
    }

    private void csv(List<String[]> rows, int columns) {
        String[] head = new String[columns];
        for (int i = 0; i < columns; i++) {
            head[i] = "c" + i;
        }
        out.println(String.join(",", head));
        for (String[] row : rows) {
            String[] fields = new String[columns];
            for (int i = 0; i < columns; i++) {
                fields[i] = field(row[i]);
            }
            out.println(String.join(",", fields));
        }
    }

    private static String field(String text) {
        if (text == null) {
            return "";
        }
        boolean isPlain =
                !text.isEmpty() && text.chars().noneMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
        return isPlain ? text : '"' + text.replace("\"", "\"\"") + '"';
    }
}
