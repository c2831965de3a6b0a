// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.util.ContextInitializer;
import ch.qos.logback.core.joran.spi.JoranException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.parallel.Isolated;
import org.slf4j.LoggerFactory;

/**
 * Marks tests of programs, which set up the logging of their JVM: no other test runs at the same time, and logging is as
 * it was after each.
 */
@Isolated
@ExtendWith(SetsUpLogging.Restore.class)
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
@interface SetsUpLogging {

    /** Sets up logging as the tests have it. */
    final class Restore implements AfterEachCallback {

        @Override
        public void afterEach(ExtensionContext test) throws JoranException {
            LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
            context.reset();
            new ContextInitializer(context).autoConfig();
        }
    }
}
