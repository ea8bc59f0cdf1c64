package io.coplane.bench;

import io.coplane.worker.replay.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Arguments of {@code bin/bench speed}.
 *
 * @param layout empty: decoded rows in memory, else files and memtable in this shape
 * @param only texts of which a line's plan, or {@code #ordinal#}, must contain one; empty = all lines are measured. All lines warm up in any case
 * @param runs measured executions a line; at least 1
 * @param warmUps rounds over all lines before; at least 1
 * @param cpu true: speed by the thread's CPU time, else by wall time
 */
record SpeedOptions(Optional<Shape> layout, List<String> only, int runs, int warmUps, boolean cpu) {
    private static final int DEFAULT_RUNS = 9;
    private static final int DEFAULT_WARM_UPS = 12;

    static SpeedOptions parse(String[] args) {
        Optional<Shape> layout = Optional.of(Shape.LN);
        List<String> only = new ArrayList<>();
        int runs = DEFAULT_RUNS;
        int warmUps = DEFAULT_WARM_UPS;
        boolean cpu = false;
        for (int i = 0; i < args.length; i++) {
            switch (args[i]) {
                case "rows" -> layout = Optional.empty();
                case "mem", "ln", "mixed" -> layout = Optional.of(Shape.valueOf(args[i].toUpperCase(Locale.ROOT)));
                case "--only" -> only.add(value(args, ++i));
                case "--runs" -> runs = Integer.parseInt(value(args, ++i));
                case "--warm-ups" -> warmUps = Integer.parseInt(value(args, ++i));
                case "--cpu" -> cpu = true;
                default ->
                    throw new IllegalArgumentException("not an argument: " + args[i]
                            + "; use [rows|mem|ln|mixed] [--only TEXT|#ORDINAL#]... [--runs N] [--warm-ups N] [--cpu]");
            }
        }
        return new SpeedOptions(layout, List.copyOf(only), runs, warmUps, cpu);
    }

    private static String value(String[] args, int at) {
        if (at == args.length) {
            throw new IllegalArgumentException(args[at - 1] + " needs a value");
        }
        return args[at];
    }

    boolean measures(SpeedTable.Line line) {
        String text = line.plan() + " #" + line.ordinal() + "#";
        return only.isEmpty() || only.stream().anyMatch(text::contains);
    }

    String source() {
        return layout.map(shape -> shape.name().toLowerCase(Locale.ROOT)).orElse("rows");
    }
}
