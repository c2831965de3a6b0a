// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.conformance.report.Reports;
import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.run.Engine;
import io.dra4j.conformance.run.Progress;
import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.RunOutcome;
import io.dra4j.conformance.run.Verdict;
import io.dra4j.conformance.settings.SettingsReader;
import io.dra4j.nvidia.standin.MpsStandIn;
import io.dra4j.nvidia.standin.SmiStandIn;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.testkit.VerdictPage;
import io.dra4j.testkit.driver.ProcessDriver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The conformance suite against the driver as a program, on boards that do not exist.
 *
 * <p>A few requirements of each profile with each board; with {@code -Pnightly} all that the suite
 * has for on-demand MIG devices. {@code -Ddra4j.boards=whole} tries all with all boards.
 */
@Tag("slow")
class NvidiaConformanceIT {

    private static final Path HARDWARE = Path.of("target/nvml/hardware").toAbsolutePath();

    private static final boolean WHOLE = System.getProperty("dra4j.boards", "").equals("whole");

    private static final Set<Verdict> GREEN = Set.of(Verdict.PASS, Verdict.NOT_APPLICABLE, Verdict.UNTESTED);

    private static final VerdictPage PAGE = new VerdictPage(
            Path.of("../docs-site/reference/conformance.md"),
            id -> Catalogue.load().find(id).isPresent());

    private static final String OF_CLAIMS = "DRA-PREP-01, DRA-PREP-05, DRA-UNP-01, DRA-CDI-02";
    private static final String OF_BOARDS = ", DRA-REG-02, DRA-TAINT-02, DRA-PART-01";
    private static final String OF_SHARES = ", DRA-CAP-01, DRA-CAP-02, DRA-PREP-21, DRA-PREP-22, DRA-UPG-06";

    /** Those of boards are left out: daemons do not change what they find. */
    private static final String OF_DAEMONS = ", DRA-UNP-06, DRA-DECL-01";

    /** Each place has its own node, which outlives the driver's processes there. */
    private static final String COMMAND = """
            if [ ! -d {ROOT}/node ]; then
              cp -a "$NODE" {ROOT}/node
              for device in {ROOT}/node/driver/dev/nvidia* {ROOT}/node/driver/dev/dri/*; do ln -sf /dev/null $device; done
              [ ! -d {ROOT}/node/calls ] || sed -i "s:$NODE/calls:{ROOT}/node/calls:" {ROOT}/node/driver/usr/bin/nvidia-smi
            fi
            export HTTP_ENDPOINT=127.0.0.1:{FREE_PORT}
            exec $DRIVER \
              --nvidia-driver-root={ROOT}/node/driver --sysfs-root={ROOT}/node/sys \
              --proc-root={ROOT}/node/proc --rescan-interval=1 $MORE
            """;

    private static final Path SETTINGS = Path.of("src/test/resources/io/dra4j/nvidia/conformance.yaml");

    @TempDir
    private Path folder;

    private String release = "1.36";

    /** MIG devices that an administrator makes are made again when the node boots; others go. */
    private static final String FORGET =
            HARDWARE + " {ROOT}/node/driver/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1.state reboot";

    /** No daemon, mount or mode of a GPU outlives a boot. */
    private static final String END_DAEMONS = """
            for process in $(grep -lsz '^CUDA_MPS_PIPE_DIRECTORY={ROOT}/' /proc/[0-9]*/environ | cut -d/ -f3); do kill -9 $process; done
                    grep -o ' {ROOT}/[^ ]*' /proc/self/mounts | xargs -r umount --lazy
                    rm -f {ROOT}/node/calls/mode-*
            """.strip();

    private RunOutcome run(String boards, String config, String reboot, String options) throws Exception {
        return run(install(boards), config, reboot, options, List.of());
    }

    private static Path sharing(String manifests) {
        return SETTINGS.resolveSibling("sharing").resolve(manifests + ".yaml").toAbsolutePath();
    }

    private StandInNode install(String boards) {
        return StandInNode.install(folder.resolve("node"), boards);
    }

    private RunOutcome run(StandInNode node, String config, String reboot, String options, List<Path> claims)
            throws Exception {
        int gpus = node.state().gpus();
        String settings = Files.readString(SETTINGS)
                .formatted(HARDWARE, gpus - 1, gpus, reboot, config, declared(options), claims);
        String server = "apiServer: {kubernetes: '%s'}\n".formatted(release);
        String only = WHOLE ? server : server + "only: [%s%s]".formatted(OF_CLAIMS, more(options));
        Map<String, String> environment = Map.of(
                "NODE", node.folder().toString(),
                "DRIVER", String.join(" ", DriverJar.command(folder)),
                "MORE", options);
        return new Engine(
                        SettingsReader.parse(settings + only, "the test", Map.of()),
                        new ProcessDriver(List.of("sh", "-c", COMMAND), environment, Duration.ofSeconds(60)),
                        Catalogue.load(),
                        Progress.NONE)
                .run();
    }

    /** The declarations that follow from options: partitions and shares of devices. */
    private static String declared(String options) {
        return (options.contains("--dynamic-mig") ? ", ctr" : "") + (isShared(options) ? ", multi" : "");
    }

    private static String more(String options) {
        return options.contains("MPSSupport") ? OF_DAEMONS : OF_BOARDS + (isShared(options) ? OF_SHARES : "");
    }

    private static boolean isShared(String options) {
        return options.contains("--consumable-shares");
    }

    private static void assertGreen(String run, RunOutcome outcome) throws IOException {
        Reports.write(outcome, Path.of("target/report", run)); // for docs-site/reference/reports
        outcome.results().stream()
                .filter(result -> !GREEN.contains(result.verdict()))
                .forEach(result -> System.out.println(text(result) + "\n" + result.evidence()));
        assertThat(outcome.results())
                .filteredOn(result -> !GREEN.contains(result.verdict()))
                .extracting(NvidiaConformanceIT::text)
                .isEmpty();
        assertThat(outcome.results())
                .filteredOn(result -> result.verdict() == Verdict.PASS)
                .hasSizeGreaterThan(5);
        String other = outcome.header().kubernetes().version(); // one that the page has no part for
        if (run.endsWith(other)) {
            return;
        }
        PAGE.assertHolds(
                run,
                outcome.results().stream()
                        .filter(result -> !RunOutcome.lacksMeans(result))
                        .collect(Collectors.toMap(Result::name, Result::verdict)));
    }

    private static void assertPassed(RunOutcome outcome, String... ids) {
        assertThat(outcome.results())
                .filteredOn(result -> result.verdict() == Verdict.PASS)
                .extracting(result -> result.requirement().id())
                .contains(ids);
    }

    private static String text(Result result) {
        return result.name() + " " + result.verdict() + ": " + result.message();
    }

    @Test
    void passesWithMigDevicesOnDemand() throws Exception {
        RunOutcome outcome = run("h100-80", "GpuConfig", FORGET, "--dynamic-mig");

        assertGreen("h100-80", outcome);
        assertPassed(outcome, "DRA-PART-01", "DRA-TAINT-02");
    }

    @ParameterizedTest
    @ValueSource(strings = {"1.36", "1.37", "1.38"})
    @Tag("nightly")
    void passesWithSharesOfAllDevices(String kubernetes) throws Exception {
        release = kubernetes;
        RunOutcome outcome = run("h100-80", "GpuConfig", FORGET, "--dynamic-mig --consumable-shares=2");

        assertGreen("h100-80-shared" + (kubernetes.equals("1.38") ? "" : "-" + kubernetes), outcome);
        assertPassed(outcome, "DRA-PART-01", "DRA-CAP-01", "DRA-CAP-02");
    }

    /** All claims that the suite makes are for GPUs with a daemon. */
    @Test
    @Tag("nightly")
    @EnabledIf(
            value = "io.dra4j.nvidia.standin.MpsStandIn#canMount",
            disabledReason = "MPS daemons need root, and the right to mount")
    void passesWithDaemonsOfMps() throws Exception {
        StandInNode node = install("l40s");
        SmiStandIn.install(node);
        MpsStandIn mps = MpsStandIn.install(node);
        try {
            RunOutcome outcome = run(
                    node,
                    "GpuConfig",
                    END_DAEMONS,
                    "--feature-gates=MPSSupport=true",
                    List.of(sharing("device-classes"), sharing("mps")));

            assertGreen("l40s-mps", outcome);
            assertPassed(outcome, "DRA-PREP-05", "DRA-UNP-06");
            assertThat(mps.calls()).anyMatch(call -> call.startsWith("mps -f GPU-"));
            assertThat(mps.processes()).isEmpty();
        } finally {
            mps.processes().forEach(ProcessHandle::destroyForcibly);
        }
    }

    @ParameterizedTest
    @CsvSource({"a100-40-divided, MigDeviceConfig", "l40s, GpuConfig"})
    @Tag("nightly")
    void passesWithDevicesThatStay(String boards, String config) throws Exception {
        RunOutcome outcome = run(boards, config, "true", "");

        assertGreen(boards, outcome);
        assertPassed(outcome, "DRA-TAINT-02");
    }
}
