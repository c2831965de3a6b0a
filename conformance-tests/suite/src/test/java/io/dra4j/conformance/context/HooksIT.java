// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.conformance.settings.SettingsReader;
import io.dra4j.testkit.driver.ProcessDriver;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Commands that change what a driver sees. */
class HooksIT {

    private static final String SETTINGS = """
            driver:
              name: gpu.example.com
              process: {command: [x]}
              hooks:
                unplug: [sh, -c, 'echo "gpu-0 absent" > {ROOT}/faults; echo $NODE_NAME is less']
                broken: [sh, -c, 'echo no such slot; exit 3']
                missing: [/no/such/program]
            """;

    @AutoClose
    private TestContext context;

    @BeforeEach
    void open() {
        context = TestContext.open(
                SettingsReader.parse(SETTINGS, "the test", Map.of()),
                new ProcessDriver(List.of("x"), Map.of(), Duration.ofSeconds(1)),
                "hooks");
    }

    @Test
    void aHookKnowsThePlaceAndItsOutputIsEvidence() throws Exception {
        TestContext.Mark mark = context.mark();

        context.hooks().run("unplug");

        Path faults = context.place().root().resolve("faults");
        assertThat(Files.readString(faults)).isEqualTo("gpu-0 absent\n");
        assertThat(context.callsSince(mark))
                .singleElement()
                .asString()
                .endsWith("hook unplug: dra-conformance-hooks is less");
    }

    @Test
    void aHookThatFailsIsAnErrorOfTheSuiteWithItsOutput() {
        assertThatThrownBy(() -> context.hooks().run("broken"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContainingAll("broken", "exit status 3", "no such slot");
        assertThatThrownBy(() -> context.hooks().run("missing")).hasMessageContainingAll("missing", "/no/such/program");
    }

    @Test
    void aHookThatTheSettingsDoNotHaveLeavesTheRuleUntested() {
        assertThat(context.hooks().has("plug")).isFalse();
        assertThatThrownBy(() -> context.hooks().run("plug"))
                .isInstanceOf(Untested.class)
                .hasMessageContaining("no hook plug");
    }
}
