// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.RunOutcome;
import io.dra4j.conformance.run.Verdict;
import io.dra4j.testkit.driver.DriverAdapter;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Without a fault, the driver of the mutants holds what needs hooks and options to be tried. */
@Tag("nightly")
class HealthyDriverIT {

    private static void passes(List<String> options, List<String> declares, String... ids) throws Exception {
        RunOutcome outcome = Runner.run(
                Runner.withControls(List.of(ids)),
                Runner.declaring(declares.toArray(String[]::new)),
                Runner.process(options));

        assertThat(List.of(ids))
                .allSatisfy(id -> assertThat(Runner.results(outcome, id)).isNotEmpty());
        assertThat(outcome.results())
                .allSatisfy(result ->
                        assertThat(result.verdict()).as(Runner.text(result)).isEqualTo(Verdict.PASS));
    }

    @Test
    void holdsWhatHooksAndOptionsShow() throws Exception {
        passes(
                List.of(
                        "--device-nodes",
                        "--gpu-device-status",
                        "--faults=gpu-7 NoSchedule odd",
                        "--metrics-port={FREE_PORT}",
                        "--proc-root={ROOT}/proc"),
                List.of("taint", "dst"),
                "DRA-REG-10",
                "DRA-VER-04",
                "DRA-PREP-17",
                "DRA-CDI-09",
                "DRA-CDI-12",
                "DRA-SLICE-20",
                "DRA-RST-08",
                "DRA-RST-09",
                "DRA-TAINT-02",
                "DRA-TAINT-03",
                "DRA-DST-02",
                "DRA-MET-01");
    }

    @Test
    void holdsWhatPartitionsShow() throws Exception {
        passes(List.of("--gpu-partitions=2"), List.of(), "DRA-PART-02", "DRA-UPG-05");
    }

    @Test
    void holdsWhatSeveralSlicesShow() throws Exception {
        passes(List.of("--num-devices=130"), List.of(), "DRA-SLICE-04", "DRA-SLICE-21");
    }

    @Test
    void holdsWhatSharesShow() throws Exception {
        passes(List.of("--gpu-allow-multiple-allocations"), List.of(), "DRA-CAP-02", "DRA-UPG-06");
    }

    @Test
    void startsStopsAndDiesInThisJvmAsAProcessDoes() throws Exception {
        List<String> ids = List.of(
                "DRA-REG-09",
                "DRA-SLICE-19",
                "DRA-RST-01",
                "DRA-RST-03",
                "DRA-RST-06",
                "DRA-UPG-01",
                "DRA-UPG-04",
                "DRA-SHUT-01",
                "DRA-SHUT-02");
        Map<String, Verdict> hosted = verdicts(ids, Runner.hosted(List.of()));
        Map<String, Verdict> process = verdicts(ids, Runner.process(List.of()));

        assertThat(hosted).isEqualTo(process).hasSizeGreaterThanOrEqualTo(ids.size());
        assertThat(hosted.values()).containsOnly(Verdict.PASS);
    }

    private static Map<String, Verdict> verdicts(List<String> ids, DriverAdapter driver) throws Exception {
        return Runner.run(Runner.only(ids), Runner.declaring(), driver).results().stream()
                .collect(Collectors.toMap(Result::name, Result::verdict));
    }
}
