// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.runtime.LegacyPlugin;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

class LegacyPluginOptionTest {

    private static LegacyPlugin parsed(String... args) {
        NvidiaOptions options = new NvidiaOptions();
        CommandLine command = new CommandLine(options);
        String[] all = new String[args.length + 1];
        all[0] = "--node-name=a";
        System.arraycopy(args, 0, all, 1, args.length);
        command.parseArgs(all);
        return options.legacyPlugin();
    }

    @Test
    void theDefaultIsAWarning() {
        assertThat(parsed()).isEqualTo(LegacyPlugin.WARN);
        assertThat(parsed("--legacy-plugin=withhold")).isEqualTo(LegacyPlugin.WITHHOLD);
    }

    @Test
    void anotherChoiceIsRefused() {
        assertThatThrownBy(() -> parsed("--legacy-plugin=ignore"))
                .isInstanceOf(ParameterException.class)
                .hasMessageContaining("'--legacy-plugin': 'ignore' is neither warn nor withhold");
    }
}
