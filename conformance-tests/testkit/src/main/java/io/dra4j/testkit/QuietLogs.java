// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit;

import ch.qos.logback.classic.BasicConfigurator;
import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ConfiguratorRank;
import ch.qos.logback.classic.util.DefaultJoranConfigurator;
import ch.qos.logback.core.spi.ContextAwareBase;

/**
 * The configuration of Logback in a test without one: warnings go to the console.
 *
 * <p>Logback's own default prints everything, which is hundreds of thousands of lines of the
 * suite's libraries. A vendor's configuration, whether a file or another service, takes precedence; other providers of
 * SLF4J never look for it.
 */
@ConfiguratorRank(ConfiguratorRank.FALLBACK)
public final class QuietLogs extends ContextAwareBase implements Configurator {

    private final Configurator files;

    /** Required by Logback, which loads it as a service. */
    public QuietLogs() {
        this(new DefaultJoranConfigurator());
    }

    QuietLogs(Configurator files) {
        this.files = files;
    }

    @Override
    public ExecutionStatus configure(LoggerContext context) {
        files.setContext(context);
        if (files.configure(context) == ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY) {
            return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
        }
        BasicConfigurator console = new BasicConfigurator();
        console.setContext(context);
        console.configure(context);
        context.getLogger(Logger.ROOT_LOGGER_NAME).setLevel(Level.WARN);
        // The proxy cuts connections on purpose.
        context.getLogger("org.eclipse.jetty").setLevel(Level.ERROR);
        return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }
}
