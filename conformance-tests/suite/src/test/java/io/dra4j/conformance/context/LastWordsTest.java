// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.driver.Place;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvFileSource;
import org.junit.jupiter.params.provider.CsvSource;

/** The line of a log that explains why a driver ended. */
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
}
