// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Isolated;
import picocli.CommandLine;

@Isolated
class LoggingOptionsTest {

    @RegisterExtension
    final LoggedEvents log = new LoggedEvents(LoggingOptions.class, Level.WARN);

    private void parse(String... args) {
        LoggingOptions options = new LoggingOptions();
        new CommandLine(options).parseArgs(args);
        options.logIgnored();
    }

    @Test
    void thatAskForAnotherPlaceOfTheLogAreAWarningEach() {
        parse("--vmodule=driver=5", "--log_file", "/var/log/driver.log", "--log-dir=/var/log");
        parse("-v=4", "--logtostderr", "--stderrthreshold=2", "--log_backtrace_at=:0");

        assertThat(log.list)
                .allSatisfy(event -> {
                    assertThat(event.getLevel()).isEqualTo(Level.WARN);
                    assertThat(event.getMessage()).contains("no effect");
                })
                .extracting(event -> event.getKeyValuePairs().get(0).value)
                .containsExactly("--vmodule", "--log-file", "--log-dir");
    }
}
