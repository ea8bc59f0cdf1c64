package io.coplane.snapshot;

import io.coplane.testing.FuzzMutator;
import io.coplane.testing.Seeds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Fuzzes one decoder for as long as wanted; {@code bin/fuzz} starts it. Under Jazzer this class is the target class, guided by coverage; by itself it
 * mutates seeds blindly.
 */
public final class FuzzMain {
    private static FuzzTarget target;

    private FuzzMain() {}

    /** Jazzer's entry; one argument: the target. */
    public static void fuzzerInitialize(String[] arguments) {
        target = FuzzTarget.named(arguments[0]);
    }

    /** Jazzer's entry. */
    public static void fuzzerTestOneInput(byte[] bytes) {
        target.run(bytes);
    }

    /** {@code list}; {@code seeds TARGET DIR}: writes its seeds; {@code run TARGET SECONDS [SEED]}: mutates them. */
    public static void main(String[] arguments) throws IOException {
        switch (arguments[0]) {
            case "list" -> {
                for (FuzzTarget each : FuzzTarget.values()) {
                    System.out.println(each.name().toLowerCase(Locale.ROOT).replace('_', '-'));
                }
            }
            case "seeds" -> {
                Path folder = Files.createDirectories(Path.of(arguments[2]));
                int number = 0;
                for (byte[] seed : FuzzTarget.named(arguments[1]).seeds()) {
                    Files.write(folder.resolve("seed-" + number++), seed);
                }
            }
            case "run" -> {
                long seed = arguments.length > 3 ? Long.parseLong(arguments[3]) : Seeds.fresh();
                long executions = fuzz(
                        FuzzTarget.named(arguments[1]), seed, TimeUnit.SECONDS.toNanos(Long.parseLong(arguments[2])));
                System.out.println(arguments[1] + ": " + executions + " executions, no findings, seed " + seed);
            }
            default -> throw new IllegalArgumentException("list, seeds or run, not " + arguments[0]);
        }
    }

    /**
     * Feeds mutations of the target's seeds until the time is over. @return executions
     *
     * @throws AssertionError naming the input, at the first finding
     */
    static long fuzz(FuzzTarget target, long seed, long nanos) {
        return FuzzMutator.fuzz(target.name(), seed, target.seeds(), nanos, target::run);
    }
}
