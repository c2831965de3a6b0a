// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.context.DriverControl.LastWords;
import io.dra4j.conformance.context.DriverControl.Warnings;
import io.dra4j.testkit.driver.Place;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The lines of a driver's log to quote: the one that explains why it ended, and warnings. */
class LastWordsTest {

    private final Place place = Place.create("node-1", "gpu.example.com");

    @AfterEach
    void remove() {
        place.remove();
    }

    /** The lines of a log are separated by bars; the telling one comes first. */
    @ParameterizedTest
    @CsvFileSource(
            files = "src/test/resources/io/dra4j/conformance/context/is-the-one-of-an-error-or-else-the-last.csv",
            quoteCharacter = '\'')
    void isTheOneOfAnErrorOrElseTheLast(String telling, String log) {
        assertThat(LastWords.telling(List.of(log.split("\\|")))).isEqualTo(telling);
    }

    @Test
    void aDriverThatRunsHasItsLastLineToo() {
        assertThat(LastWords.of("ERROR early\nwaiting for hardware\n", place, true))
                .isEqualTo("; it logged: ERROR early; its last line: waiting for hardware");
        assertThat(LastWords.of("ERROR early\nbye\n", place, false)).isEqualTo("; it logged: ERROR early");
        assertThat(LastWords.of("", place, true)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "'unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST must be defined', --in-cluster",
        "listen unix /var/lib/kubelet/plugins_registry/x.sock: permission denied, --standard-paths",
        "failed to connect to NRI service: dial unix /var/run/nri/nri.sock: connect: no such file or directory, --nri",
        "listen unix /x/y.sock: bind: no such file or directory, driver.process.makeDirectories",
    })
    void theSettingThatMayHelpIsNamed(String line, String setting) {
        assertThat(LastWords.of(line, place, false)).contains(setting);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "W1123 01:43:31.000000       1 draplugin.go:12] slices are refused",
                "E1123 01:43:31.000000       1 controller.go:7] \"Unhandled Error\" err=\"403\"",
                "time=2026-11-23T01:43:31Z level=warning msg=\"slices are refused\"",
                "time=2026-11-23T01:43:31Z level=ERROR msg=\"slices are refused\"",
                "{\"level\":\"error\",\"msg\":\"slices are refused\"}",
                "2026-11-23 01:43:31 WARN  [main] slices are refused",
                "panic: runtime error: index out of range"
            })
    void aWarningIsFoundAmongOtherLines(String warning) {
        assertThat(Warnings.last(List.of("I1123 starting", warning, "I1123 no error so far"), 5))
                .containsExactly(warning);
    }

    @Test
    void theLastOfManyAreQuoted() {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            lines.add("WARN " + i);
        }

        assertThat(Warnings.last(lines, 2)).containsExactly("WARN 8", "WARN 9");
    }

    @Test
    void theLastLineStandsForWarningsThatAreNotThere() {
        assertThat(Warnings.last(List.of("starting", "slices are not as they should be"), 5))
                .containsExactly("slices are not as they should be");
        assertThat(Warnings.last(List.of(), 5)).isEmpty();
    }
}
