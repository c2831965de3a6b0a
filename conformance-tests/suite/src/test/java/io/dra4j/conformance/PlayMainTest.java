// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.conformance.play.PlaySettings;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

class PlayMainTest {

    private final PlayMain main = new PlayMain();

    private List<PlaySettings.Driver> drivers(String... words) {
        List<String> all = new ArrayList<>(List.of("--manifests=demo"));
        all.addAll(List.of(words));
        new CommandLine(main).parseArgs(all.toArray(String[]::new));
        return main.drivers();
    }

    @Test
    void givesEachDriverTheCommandOfItsPlace() {
        assertThat(drivers("--driver-name=a", "--driver-name=b", "--", "run", "-x", "--", "b"))
                .containsExactly(
                        new PlaySettings.Driver("a", List.of("run", "-x")), new PlaySettings.Driver("b", List.of("b")));
    }

    @ParameterizedTest
    @CsvSource({"--step-timeout=7, 7", "--patience=7, 7", "--keep, 30"})
    void aStepHasATimeout(String flag, long seconds) {
        drivers("--driver-name=a", flag, "--", "run");

        assertThat(main.stepTimeout()).hasSeconds(seconds);
    }

    @Test
    void refusesATimeoutUnderBothNames() {
        drivers("--driver-name=a", "--step-timeout=7", "--patience=8", "--", "run");

        assertThatThrownBy(() -> main.stepTimeout())
                .isInstanceOf(ParameterException.class)
                .hasMessageContaining("--step-timeout");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--driver-name=a --driver-name=b -- run-a",
                "--driver-name=a -- run-a -- run-b",
                "--driver-name=a --driver-name=b -- run-a --",
            })
    void refusesADriverWithoutACommandAndACommandWithoutADriver(String words) {
        assertThatThrownBy(() -> drivers(words.split(" ")))
                .isInstanceOf(ParameterException.class)
                .hasMessageContaining("give each driver one, after --");
    }
}
