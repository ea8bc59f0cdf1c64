package io.coplane.worker;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import ch.qos.logback.core.encoder.Encoder;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/**
 * A log file that is put aside when it reaches 300 MiB, under {@code <stem>-<YYYY-MM-DDTHH-MM-SS.mmm>.<ext>} (worker.md 1). Owns the file until
 * it is stopped. Thread-safe.
 */
final class RotatingFile extends AppenderBase<ILoggingEvent> {
    private static final long ROTATE_BYTES = 300L << 20;
    private static final DateTimeFormatter NAME_TIME = DateTimeFormatter.ofPattern(
                    "yyyy-MM-dd'T'HH-mm-ss.SSS", Locale.ROOT)
            .withZone(ZoneId.systemDefault());

    private final Path file;
    private final Encoder<ILoggingEvent> encoder;
    private final long rotateBytes;
    private OutputStream out;
    private long bytes;

    RotatingFile(Path file, Encoder<ILoggingEvent> encoder) {
        this(file, encoder, ROTATE_BYTES);
    }

    RotatingFile(Path file, Encoder<ILoggingEvent> encoder, long rotateBytes) {
        this.file = file.toAbsolutePath();
        this.encoder = encoder;
        this.rotateBytes = rotateBytes;
    }

    @Override
    public void start() {
        try {
            open();
        } catch (IOException e) {
            throw new CoplaneException(
                    ErrorCode.BAD_CONFIG, "can't write log-file: file=" + file + " cause=" + e.getMessage(), e);
        }
        super.start();
    }

    @Override
    public void stop() {
        super.stop();
        try {
            out.close();
        } catch (IOException e) {
            addError("can't close the log file", e);
        }
    }

    /** One at a time: the base class holds its lock. */
    @Override
    protected void append(ILoggingEvent event) {
        byte[] line = encoder.encode(event);
        try {
            if (bytes > 0 && bytes + line.length > rotateBytes) {
                rotate(event.getInstant());
            }
            out.write(line);
            bytes += line.length;
        } catch (IOException e) {
            addError("can't write the log file", e);
        }
    }

    private void rotate(Instant now) throws IOException {
        out.close();
        String name = file.getFileName().toString();
        int dot = name.lastIndexOf('.');
        String stem = dot > 0 ? name.substring(0, dot) : name;
        String ending = dot > 0 ? name.substring(dot) : "";
        Files.move(file, file.resolveSibling(stem + "-" + NAME_TIME.format(now) + ending));
        open();
    }

    private void open() throws IOException {
        Files.createDirectories(file.getParent());
        out = Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        bytes = Files.size(file);
    }
}
