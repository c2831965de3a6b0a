// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.dra4j.doctor.Check;
import io.dra4j.doctor.Report;
import io.dra4j.nvidia.standin.StandInNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.driver.Ended;
import io.dra4j.testkit.driver.EndedProcess;
import io.dra4j.testkit.manifests.ManifestObjects;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The checks of NVIDIA's nodes, on boards, and the program's command as on its page. */
class NvidiaDoctorTest extends DoctorOnBoards {

    private static final String BOOT = "3f0c8a52-6a0e-4b7e-9d0c-0f6c2f2f6a11";

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            a100-40 | gpu.product | --dynamic-mig=false                       | 0 []
            a100-40 | gpu.product | --dynamic-mig=true                        | 0 []
            mixed   | gpu.product | --dynamic-mig=false                       | 0 []
            mixed   | gpu.product | --dynamic-mig=true                        | 0 []
            t4      | gpu.product | --dynamic-mig=false                       | 0 []
            t4      | gpu.product | --dynamic-mig=true                        | 0 []
            a100-40 | mig.config  | --dynamic-mig=false                       | 0 []
            a100-40 | mig.config  | --dynamic-mig=true                        | 1 [mig-manager]
            t4      | gpu.product | --nvidia-cdi-hook-path=/usr/bin/no-hook   | 1 [hook]
            none    | gpu.product | --feature-gates=PassthroughSupport=false  | 1 [nvml]
            none    | gpu.product | --feature-gates=PassthroughSupport=true   | 2 []
            """)
    void nothingIsFoundOnHealthyNodesAndOtherwiseWhatIsWrongOnce(
            String boards, String labelled, String option, String found) throws Exception {
        StandInNode node = install(boards);
        label = "nvidia.com/" + labelled;

        Report report = report(node, option);

        assertThat(report.exitStatus() + " " + found(report)).as(report.text()).isEqualTo(found);
    }

    /** Unknown is not none. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aPciBusThatCanNotBeReadIsNotChecked(boolean isThere) throws Exception {
        StandInNode node = install("t4");
        Path bus = node.sysfs().resolve("bus/pci");
        Files.move(bus, folder.resolve("moved"));
        if (isThere) {
            Files.createDirectory(bus);
            Files.writeString(bus.resolve("devices"), "no folder");
        }
        Files.delete(node.library());

        Report report = report(node, "--feature-gates=PassthroughSupport=true");

        assertThat(found(report)).isEmpty();
        String reason = isThere ? "Can't list the PCI devices in " : "there is no folder " + bus;
        assertThat(new ObjectMapper().readTree(report.json()).path("notChecked"))
                .filteredOn(check -> check.path("reason").asText().startsWith(reason))
                .extracting(check -> check.path("id").asText())
                .contains("driver-root", "nvml", "iommu", "vfio-module", "iommu-group")
                .contains("vfio-nodes");
    }

    @Test
    void aPodThatDoesNotSeeOthersIsFoundOnceWithMps() throws Exception {
        StandInNode node = install("t4");
        node.hideProcesses();

        assertThat(found(report(node))).isEmpty();
        assertThat(found(report(node, "--feature-gates=MPSSupport=true"))).containsExactly("mps-processes");
        assertThat(rows("MPS")).containsExactly("mps-processes");
        Files.delete(node.proc().resolve("1/ns/mnt"));
        Files.createSymbolicLink(node.proc().resolve("1/ns/mnt"), Path.of("mnt:[2]"));
        assertThat(found(report(node, "--feature-gates=MPSSupport=true"))).isEmpty();
    }

    @Test
    void thePageListsTheChecksOfPassthrough() throws Exception {
        StandInNode node = install("l40s");
        List<String> all = new ArrayList<>(checks(node, "--feature-gates=PassthroughSupport=true").stream()
                .map(Check::id)
                .toList());
        all.removeAll(checks(node).stream().map(Check::id).toList());

        assertThat(rows("passthrough")).isNotEmpty().containsExactlyInAnyOrderElementsOf(all);
    }

    @Test
    void aHookThatIsNotInThePluginsDirectoryIsFoundOnce() throws Exception {
        StandInNode node = install("t4");
        Files.createDirectories(kubelet("plugins/gpu.nvidia.com"));
        assertThat(found(report(node))).containsExactly("hook");
    }

    /** The folder {@code net} of a process that ended can be opened, and not be listed. */
    @Test
    void aDaemonThatEndsMeanwhileKeepsNoGpuOpen() throws Exception {
        StandInNode node = install("a100-40");
        process(node, 900, "nv-hostengine", "");
        Path files = node.proc().resolve("900/fd");
        try (EndedProcess ended = new EndedProcess()) {
            Files.delete(files);
            Files.createSymbolicLink(files, ended.folder().resolve("net"));

            Report report = report(node, "--dynamic-mig");

            assertThat(report.exitStatus()).as(report.text()).isZero();
        }
    }

    @Test
    void theProgramPrintsWhatThePageShows() throws Exception {
        StandInNode node = install("h100-80");
        Files.writeString(node.proc().resolve("sys/kernel/random/boot_id"), BOOT + "\n");
        Files.createDirectories(kubelet("plugins"));
        Files.createDirectories(kubelet("plugins_registry"));
        try (EmbeddedApiServer api = EmbeddedApiServer.builder().start()) {
            ManifestObjects.putText(
                    Files.readString(Path.of("src/test/resources/io/dra4j/nvidia/node.yaml"))
                            .formatted(BOOT),
                    api.store());

            String printed = run(options(
                    node,
                    "--dynamic-mig",
                    "--host-root=" + folder,
                    "--kubeconfig=" + api.writeKubeconfig(folder.resolve("kubeconfig"))));

            assertThat(unwrapped(Files.readString(PAGE)))
                    .contains(unwrapped(printed.replace(node.root() + "/", "/").replace(folder + "/", "/")));
            assertThat(rows("node")).containsExactlyInAnyOrderElementsOf(ids(printed));
        }
    }

    private static String run(List<String> options) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Ended.jdk("java"),
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED", // as in the jar's manifest
                "-cp",
                System.getProperty("java.class.path"),
                NvidiaDriverMain.class.getName(),
                "doctor"));
        command.addAll(options);
        return Ended.of(Map.of(), command).printed();
    }

    /** Lines are broken by the length of paths, which differ. */
    private static String unwrapped(String text) {
        return text.replaceAll("\\s+", " ");
    }

    private static List<String> ids(String printed) {
        return Pattern.compile("(?m)^  ok +([a-z-]+)")
                .matcher(printed)
                .results()
                .map((MatchResult row) -> Objects.requireNonNull(row.group(1)))
                .toList();
    }
}
