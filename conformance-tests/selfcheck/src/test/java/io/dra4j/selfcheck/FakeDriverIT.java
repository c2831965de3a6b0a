// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.report.Reports;
import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.rules.RuleBook;
import io.dra4j.conformance.run.Engine;
import io.dra4j.conformance.run.Progress;
import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.RunOutcome;
import io.dra4j.conformance.run.Verdict;
import io.dra4j.conformance.settings.SettingsReader;
import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.VerdictPage;
import io.dra4j.testkit.driver.ProcessDriver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The suite on the fake driver as a process. */
@Tag("gate")
class FakeDriverIT {

    private static final boolean NIGHTLY = Boolean.getBoolean("dra4j.nightly");

    /** More than a minute by contract: every night. */
    private static final Set<String> LONG_BY_CONTRACT = Set.of("DRA-SLICE-06", "DRA-SLICE-14", "DRA-SLICE-22");

    private static final String SERVER = "\napiServer: {kubernetes: '%s'}\n";

    /** Limits of a second are hard to keep beside other tests. */
    private static final String TIMEOUT_FACTOR = "timeoutFactor: 3\n";

    private static final String HOOKS = """
              hooks:
                unplug: [sh, -c, 'printf "gpu-0 absent\\ngpu-129 absent\\n" > {ROOT}/f && mv {ROOT}/f {ROOT}/faults']
                plug: [sh, -c, ': > {ROOT}/f && mv {ROOT}/f {ROOT}/faults']
                fault: [sh, -c, 'echo "gpu-1 NoSchedule ecc" > {ROOT}/f && mv {ROOT}/f {ROOT}/faults']
                recover: [sh, -c, ': > {ROOT}/f && mv {ROOT}/f {ROOT}/faults']
            """;

    private static final VerdictPage PAGE = new VerdictPage(
            Path.of("../../docs-site/reference/conformance.md"),
            id -> Catalogue.load().find(id).isPresent());

    /** Compares the verdicts with the page, which is of 1.36, but for those that need more rights than the user has. */
    private static void compare(String run, String release, RunOutcome outcome) throws IOException {
        if (release.equals("1.36")) {
            PAGE.assertHolds(
                    run,
                    outcome.results().stream()
                            .filter(result -> !RunOutcome.lacksMeans(result))
                            .collect(Collectors.toMap(Result::name, Result::verdict)));
        }
    }

    private static RunOutcome run(String settings, String... options) throws IOException, InterruptedException {
        return new Engine(
                        SettingsReader.parse(settings + TIMEOUT_FACTOR, "the test", Map.of()),
                        new ProcessDriver(Programs.fake(options), Map.of(), TestNode.TIMEOUT),
                        Catalogue.load(),
                        Progress.NONE)
                .run();
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.36", "1.37", "1.38"})
    @Tag("nightly")
    @Tag("counts")
    void holdsAllRequirements(String release) throws Exception {
        String only = new RuleBook()
                .ids().stream()
                        .filter(id -> NIGHTLY || !LONG_BY_CONTRACT.contains(id))
                        .collect(Collectors.joining(", "));
        String settings = Files.readString(Path.of("src/test/resources/io/dra4j/selfcheck/fake-driver.yaml"));

        RunOutcome outcome =
                run(settings + SERVER.formatted(release) + "only: [%s]\n".formatted(only), "--num-devices=40");
        Reports.write(outcome, Path.of("target/report", release)); // that of 1.36 for docs-site/reference/reports

        assertThat(outcome.results())
                .allSatisfy(result -> assertThat(result.verdict())
                        .as(Runner.text(result))
                        .isIn(Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.UNTESTED));
        compare("whole", release, outcome);
    }

    /** Optional abilities, and changes that hooks make. */
    private static void holds(String run, String release, String settings, String only, String... options)
            throws IOException, InterruptedException {
        String form = "driver:\n  name: %s\n  process: {command: [the test has it]}\n%s\nonly: [%s]" + SERVER;
        RunOutcome outcome = run(form.formatted(Programs.DRIVER, settings, only, release), options);

        List<String> wanted = List.of(only.split(", "));
        assertThat(outcome.results())
                .filteredOn(result -> wanted.contains(result.requirement().id()))
                .hasSameSizeAs(wanted)
                .allSatisfy(result -> assertThat(result.verdict())
                        .as("%s%n%s", Runner.text(result), result.evidence())
                        .isEqualTo(Verdict.PASS));
        compare(run, release, outcome);
    }

    /** Partitions without their counters would be handed out twice. */
    @Test
    void isNoSuccessWithoutDevicesAndTellsWhichGateIsOff() throws Exception {
        String settings = "driver: {name: %s, process: {command: [the test has it]}}\n".formatted(Programs.DRIVER)
                + "apiServer: {kubernetes: '1.34'}\nonly: [DRA-PREP-01, DRA-CDI-01]\n";

        RunOutcome outcome = run(settings, "--num-devices=2", "--gpu-partitions=4");

        assertThat(outcome.exitCode()).as(outcome.results().toString()).isEqualTo(2);
        assertThat(outcome.notes())
                .anySatisfy(note -> assertThat(note).contains("no device", "no-devices"))
                .anySatisfy(note -> assertThat(note).contains("DevicesWithdrawn", "DRAPartitionableDevices"));
    }

    /** DraConformanceIT has both instances in one process. */
    @Test
    void worksBesideItsSuccessor() throws Exception {
        String only = "DRA-UPG-01, DRA-UPG-02, DRA-UPG-03, DRA-UPG-04, DRA-UPG-05";

        holds("whole", "1.36", "  seamlessUpgrade: true", only, "--num-devices=40");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.36", "1.38"})
    void showsDevicesThatComeGoAndFailInSlicesTaintsAndHealth(String release) throws Exception {
        holds(
                "faults",
                release,
                HOOKS + "  declares: [taint]",
                "DRA-SLICE-04, DRA-SLICE-05, DRA-SLICE-12, DRA-HLT-02, DRA-HLT-04, DRA-HLT-07, DRA-TAINT-02",
                "--num-devices=130",
                "--fault-file={ROOT}/faults");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.36", "1.38"})
    void offersSharesStatusAndMetadata(String release) throws Exception {
        holds(
                "shares",
                release,
                "  declares: [multi, dst, meta]\n  seamlessUpgrade: true\n  metrics: 'http://127.0.0.1:{FREE_PORT}/metrics'",
                "DRA-INFO-03, DRA-MET-01, DRA-CAP-01, DRA-CAP-02, DRA-DST-01, DRA-DST-02, DRA-META-01, DRA-META-02, DRA-HLT-06, DRA-PREP-40",
                "--num-devices=2",
                "--gpu-allow-multiple-allocations",
                "--gpu-device-status",
                "--gpu-device-metadata",
                "--metrics-port={FREE_PORT}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.36", "1.38"})
    void offersPartitionsAndDevicesThatAreWaitedFor(String release) throws Exception {
        holds(
                "partitions",
                release,
                "  declares: [ctr, bind]",
                "DRA-PART-01, DRA-PART-02, DRA-BIND-01",
                "--num-devices=2",
                "--gpu-partitions=4",
                "--binding-conditions");
    }
}
