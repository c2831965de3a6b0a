// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.Configurator.ExecutionStatus;
import ch.qos.logback.core.spi.ContextAwareBase;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

class QuietLogsTest {

    private final LoggerContext context = new LoggerContext();

    private Logger root() {
        return context.getLogger(Logger.ROOT_LOGGER_NAME);
    }

    /** The levels by the vendor's files, or without any. */
    private static final class Files extends ContextAwareBase implements Configurator {
        private final ExecutionStatus status;

        Files(ExecutionStatus status) {
            this.status = status;
        }

        @Override
        public ExecutionStatus configure(LoggerContext context) {
            return status;
        }
    }

    @Test
    void withoutAConfigurationWarningsAreLogged() {
        new QuietLogs(new Files(ExecutionStatus.INVOKE_NEXT_IF_ANY)).configure(context);

        assertThat(root().getLevel()).isEqualTo(Level.WARN);
        assertThat(root().iteratorForAppenders().hasNext()).isTrue();
    }

    @Test
    void aConfigurationOfTheVendorStaysAsItIs() {
        new QuietLogs(new Files(ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY)).configure(context);

        assertThat(root().getLevel()).isEqualTo(Level.DEBUG);
        assertThat(root().iteratorForAppenders().hasNext()).isFalse();
    }

    @Test
    void logbackFindsIt() {
        assertThat(ServiceLoader.load(Configurator.class)).hasAtLeastOneElementOfType(QuietLogs.class);
    }
}
