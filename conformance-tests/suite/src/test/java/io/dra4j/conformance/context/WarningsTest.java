// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.context.DriverControl.Warnings;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Selects the lines of a driver's log to quote. */
class WarningsTest {

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
