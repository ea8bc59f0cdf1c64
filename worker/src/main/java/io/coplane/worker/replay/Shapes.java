package io.coplane.worker.replay;

import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Value of option {@code --shape}: one of {@link Shape}, or all of them in turn. */
record Shapes(List<Shape> list) {
    private static final String ALL = "all";

    /** Reads the option; any case. */
    static final class Converter implements ITypeConverter<Shapes> {
        @Override
        public Shapes convert(String text) {
            if (text.equalsIgnoreCase(ALL)) {
                return new Shapes(List.of(Shape.values()));
            }
            return Arrays.stream(Shape.values())
                    .filter(shape -> shape.text().equalsIgnoreCase(text))
                    .findFirst()
                    .map(shape -> new Shapes(List.of(shape)))
                    .orElseThrow(() -> new TypeConversionException("no shape is called '" + text + "'"));
        }
    }

    /** What the help lists. */
    static final class Names implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return Stream.concat(Arrays.stream(Shape.values()).map(Shape::text), Stream.of(ALL))
                    .iterator();
        }
    }
}
