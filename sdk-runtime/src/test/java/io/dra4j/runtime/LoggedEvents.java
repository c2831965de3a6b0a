// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.slf4j.LoggerFactory;

/** Records what a class logs during a test, of which it is a field with {@code @RegisterExtension}. */
public final class LoggedEvents extends ListAppender<ILoggingEvent> implements AfterEachCallback {

    private final Logger logger;

    /** Begins to record, from a level on. */
    public LoggedEvents(Class<?> source, Level level) {
        logger = (Logger) LoggerFactory.getLogger(source);
        logger.setLevel(level);
        logger.addAppender(this);
        start();
    }

    @Override
    public void afterEach(ExtensionContext test) {
        logger.detachAppender(this);
        logger.setLevel(null);
    }
}
