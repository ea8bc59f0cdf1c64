package io.coplane.worker.http;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import org.slf4j.LoggerFactory;

/** Watches every Netty buffer; {@link #close} fails on one that was collected without being released. */
public final class LeakWatch implements AutoCloseable {
    private static final int ROUNDS = 5;

    private final Logger logger = (Logger) LoggerFactory.getLogger(ResourceLeakDetector.class);
    private final ListAppender<ILoggingEvent> reports = new ListAppender<>();

    public LeakWatch() {
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
        reports.start();
        logger.addAppender(reports);
    }

    @Override
    public void close() {
        for (int i = 0; i < ROUNDS; i++) {
            System.gc();
            ByteBuf buffer = ByteBufAllocator.DEFAULT.directBuffer(1); // a new buffer reports those collected before
            buffer.release();
        }
        logger.detachAppender(reports);
        assertThat(reports.list).extracting(ILoggingEvent::getFormattedMessage).isEmpty();
    }
}
