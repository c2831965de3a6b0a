// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.DriverArchive;
import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.settings.SettingsReader;
import io.dra4j.testkit.driver.ProcessDriver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What the fake driver offers when it is asked to, and changes that hooks make. */
class OptionalProfilesIT {

    private static final String HOOKS =
            """
              hooks:
                unplug: [sh, -c, 'printf "gpu-0 absent\\ngpu-129 absent\\n" > {ROOT}/f && mv {ROOT}/f {ROOT}/faults']
                plug: [sh, -c, ': > {ROOT}/f && mv {ROOT}/f {ROOT}/faults']
                fault: [sh, -c, 'echo "gpu-1 NoSchedule ecc" > {ROOT}/f && mv {ROOT}/f {ROOT}/faults']
                recover: [sh, -c, ': > {ROOT}/f && mv {ROOT}/f {ROOT}/faults']
            """;

    /** Tries requirements on the fake driver; all must hold. */
    private static void passes(String settings, String only, String... options) throws Exception {
        List<String> command = new ArrayList<>(DriverArchive.get().command());
        command.addAll(List.of(options));
        String text =
                """
                driver:
                  name: gpu.example.com
                  process: {command: [the test has it]}
                %s
                only: [%s]
                """
                        .formatted(settings, only);
        Outcome outcome =
                new Engine(
                                SettingsReader.parse(text, "the test", Map.of()),
                                new ProcessDriver(command, Map.of(), Duration.ofSeconds(60)),
                                Catalogue.load(),
                                Progress.NONE)
                        .run();

        List<String> wanted = List.of(only.split(", "));
        assertThat(outcome.results())
                .filteredOn(result -> wanted.contains(result.requirement().id()))
                .hasSameSizeAs(wanted)
                .allSatisfy(
                        result ->
                                assertThat(result.verdict())
                                        .as(
                                                "%s %s%n%s",
                                                result.name(), result.message(), result.evidence())
                                        .isEqualTo(Verdict.PASS));
    }

    @Test
    void devicesThatComeGoAndFailAreSeenInSlicesTaintsAndHealth() throws Exception {
        passes(
                HOOKS + "  declares: [taint]",
                "DRA-SLICE-04, DRA-SLICE-05, DRA-SLICE-12, DRA-HLT-02, DRA-HLT-04, DRA-TAINT-02",
                "--num-devices=130",
                "--fault-file={ROOT}/faults");
    }

    @Test
    void sharesStatusAndMetadata() throws Exception {
        passes(
                "  declares: [multi, dst, meta]",
                "DRA-CAP-01, DRA-CAP-02, DRA-DST-01, DRA-DST-02, DRA-META-01, DRA-HLT-06",
                "--num-devices=2",
                "--gpu-allow-multiple-allocations",
                "--gpu-device-status",
                "--gpu-device-metadata");
    }

    @Test
    void partitionsAndDevicesThatAreWaitedFor() throws Exception {
        passes(
                "  declares: [ctr, bind]",
                "DRA-PART-01, DRA-PART-02, DRA-BIND-01",
                "--num-devices=2",
                "--gpu-partitions=4",
                "--binding-conditions");
    }
}
