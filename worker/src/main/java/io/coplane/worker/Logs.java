package io.coplane.worker;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.spi.ContextAwareBase;
import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.nio.file.Path;
import java.util.Locale;
import org.slf4j.LoggerFactory;
import org.slf4j.bridge.SLF4JBridgeHandler;

/**
 * Logging, set up in code: no XML to parse at start. Standard output and level info until {@link #configure} (worker.md 1). What libraries log through
 * the JDK, as gRPC does, goes the same way. Logback finds this class as a service.
 */
public final class Logs extends ContextAwareBase implements Configurator {
    /** Made by Logback. */
    public Logs() {}

    @Override
    public ExecutionStatus configure(LoggerContext context) {
        ConsoleAppender<ILoggingEvent> console = new ConsoleAppender<>();
        console.setEncoder(encoder(context, false));
        install(context, Level.INFO, console);
        SLF4JBridgeHandler.removeHandlersForRootLogger(); // standard error
        SLF4JBridgeHandler.install();
        return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }

    /** As the other one, with lines of text. */
    public static void configure(String level, String file) {
        configure(level, file, false);
    }

    /**
     * Applies the configuration.
     *
     * @param level a level's name in any case, or empty for info
     * @param file log file, or empty for standard output
     * @param isJson lines are JSON objects
     */
    public static void configure(String level, String file, boolean isJson) {
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        Level parsed = level(level);
        if (!file.isEmpty()) {
            install(context, parsed, new RotatingFile(Path.of(file), encoder(context, isJson)));
        } else if (isJson) {
            ConsoleAppender<ILoggingEvent> console = new ConsoleAppender<>();
            console.setEncoder(encoder(context, true));
            install(context, parsed, console);
        } else {
            context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME).setLevel(parsed);
        }
    }

    /** @throws CoplaneException BAD_CONFIG if it names no level */
    static Level level(String name) {
        return switch (name.toLowerCase(Locale.ROOT)) {
            case "", "info" -> Level.INFO;
            case "trace" -> Level.TRACE;
            case "debug" -> Level.DEBUG;
            case "warn", "warning" -> Level.WARN;
            case "error", "critical", "fatal" -> Level.ERROR;
            default -> throw new CoplaneException(ErrorCode.BAD_CONFIG, "log-level is no level: value=" + name);
        };
    }

    private static LogLines encoder(LoggerContext context, boolean isJson) {
        LogLines encoder = new LogLines(isJson);
        encoder.setContext(context);
        encoder.start();
        return encoder;
    }

    private static void install(LoggerContext context, Level level, Appender<ILoggingEvent> appender) {
        appender.setContext(context);
        appender.start();
        ch.qos.logback.classic.Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        root.detachAndStopAllAppenders();
        root.addAppender(appender);
        root.setLevel(level);
        context.getLogger("io.netty").setLevel(Level.WARN);
        // asks for flags that only its byte buffers need
        context.getLogger("net.openhft").setLevel(Level.ERROR);
        // a stack for each call that a client resets: who may do that as often as he likes must not fill the log
        context.getLogger("io.grpc.netty.NettyServerHandler").setLevel(Level.ERROR);
    }
}
