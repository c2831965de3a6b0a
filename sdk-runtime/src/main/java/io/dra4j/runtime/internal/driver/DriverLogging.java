// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.driver;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.JsonEncoder;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.jul.LevelChangePropagator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LogbackServiceProvider;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.Encoder;
import java.util.List;
import org.slf4j.LoggerFactory;
import org.slf4j.bridge.SLF4JBridgeHandler;

/**
 * Sets up the logging of a driver program: Logback on standard error, and no configuration file.
 *
 * <p>The text format shows keys, values and the MDC as the JSON format does. Messages that libraries log through {@code
 * java.util.logging} are included.
 */
public final class DriverLogging {

    /** The JDK is also noisy: it logs certificates that it reads, TLS handshakes, and requests, sent and received. */
    private static final List<String> LIBRARIES =
            List.of("io.grpc", "io.netty", "io.fabric8", "io.micrometer", "java", "javax", "jdk", "sun", "com.sun");

    private static final String TEXT = "%d{yyyy-MM-dd'T'HH:mm:ss.SSSX,UTC} %-5level %logger{0}: %msg"
            + "%replace( %kvp){' $',''}%replace( %mdc){' $',''}%n";

    private DriverLogging() {}

    /**
     * Makes a program's log begin with {@link #configure}: Logback does not search the jars for a configuration.
     *
     * <p>Call it before anything logs; an SLF4J provider that the program's user names has precedence.
     */
    public static void begin() {
        if (System.getProperty("slf4j.provider") == null) {
            System.setProperty("slf4j.provider", Made.Unconfigured.class.getName());
            System.setProperty("slf4j.internal.verbosity", "WARN"); // else it prints the provider's name
        }
    }

    public static void configure(boolean json, int verbosity) {
        LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
        context.reset();
        LevelChangePropagator levels = new LevelChangePropagator();
        levels.setContext(context);
        levels.start();
        context.addListener(levels);
        SLF4JBridgeHandler.removeHandlersForRootLogger();
        SLF4JBridgeHandler.install();

        Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
        root.setLevel(level(verbosity, 4, Level.INFO));
        root.addAppender(appender(context, json));
        Level ofLibraries = level(verbosity, 6, Level.WARN);
        LIBRARIES.forEach(name -> context.getLogger(name).setLevel(ofLibraries));
        // It warns, with a stack trace, about anything that a client sends to the probes' port, and logs each HTTP/2
        // frame.
        context.getLogger("io.grpc.okhttp").setLevel(level(verbosity, 8, Level.ERROR));
    }

    private static Level level(int verbosity, int debug, Level otherwise) {
        if (verbosity >= 8) {
            return Level.TRACE;
        }
        return verbosity >= debug ? Level.DEBUG : otherwise;
    }

    private static ConsoleAppender<ILoggingEvent> appender(LoggerContext context, boolean json) {
        ConsoleAppender<ILoggingEvent> appender = new ConsoleAppender<>();
        appender.setContext(context);
        appender.setTarget("System.err");
        appender.setEncoder(json ? json(context) : text(context));
        appender.start();
        return appender;
    }

    private static Encoder<ILoggingEvent> json(LoggerContext context) {
        JsonEncoder encoder = new JsonEncoder();
        encoder.setContext(context);
        encoder.setWithSequenceNumber(false);
        encoder.setWithContext(false);
        encoder.setWithNanoseconds(false);
        encoder.start();
        return encoder;
    }

    private static Encoder<ILoggingEvent> text(LoggerContext context) {
        PatternLayoutEncoder encoder = new PatternLayoutEncoder();
        encoder.setContext(context);
        encoder.setPattern(TEXT);
        encoder.start();
        return encoder;
    }

    /** Hides the class that SLF4J instantiates, which must be public. */
    private static final class Made {

        /** Logback that logs nothing until {@link #configure} is called. */
        public static final class Unconfigured extends LogbackServiceProvider {

            @Override
            public void initialize() {
                LoggerContext context = (LoggerContext) getLoggerFactory();
                context.setMDCAdapter(getMDCAdapter());
                context.start();
            }
        }
    }
}
