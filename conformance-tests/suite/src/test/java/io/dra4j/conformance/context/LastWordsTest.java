// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.context;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.driver.Place;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The line of a log that tells why a driver ended. */
class LastWordsTest {

    private final Place place = Place.create("node-1", "gpu.example.com");

    @AfterEach
    void remove() {
        place.remove();
    }

    /** The lines of a log are separated by bars; the telling one comes first. */
    @ParameterizedTest
    @CsvSource({
        "panic: no root, I1123 starting|panic: no root|goroutine 1 [running]:|main.main()|main.go:75 +0x17",
        "fatal error: out of memory, fatal error: out of memory|runtime.throw()|proc.go:1 +0x4",
        "E1123 01:43:31.0 1 a.go:7] lost, W1123 01:43:31.0 1 a.go:6] old|E1123 01:43:31.0 1 a.go:7] lost|I1123 bye",
        "F1123 01:43:31.0 1 a.go:7] gone, E1123 01:43:31.0 1 a.go:6] old|F1123 01:43:31.0 1 a.go:7] gone|goroutine 1",
        "level=fatal msg=gone, level=info msg=up|level=fatal msg=gone|exiting",
        "Caused by: x.Y: none, Exception in thread \"main\" x.Z: no|at x.Z.main|Caused by: x.Y: none|... 2 more",
        "KeyError: 'node', Traceback (most recent call last):|File \"d.py\"|KeyError: 'node'",
        "thread 'main' panicked at m.rs:2:5: none, thread 'main' panicked at m.rs:2:5:|none|note: run with it",
        "Error: required flag \"image\" not set, Error: required flag \"image\" not set|Usage:|driver [flags]",
        "no device, starting|no device",
    })
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
