// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.doctor.Check;
import io.dra4j.doctor.Finding;
import io.dra4j.doctor.Report;
import io.dra4j.doctor.Severity;
import io.dra4j.nvidia.standin.PciStandIn;
import io.dra4j.nvidia.standin.SmiStandIn;
import io.dra4j.nvidia.standin.StandInNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Failures that keep GPUs from virtual machines, with a stand-in of the kernel's PCI bus. */
class VfioDoctorTest extends DoctorOnBoards {

    private static final String GATE = "--feature-gates=PassthroughSupport=true";

    private StandInNode node;
    private PciStandIn kernel;
    private String gpu0;

    private void begin(String boards) throws Exception {
        node = install(boards);
        kernel = PciStandIn.install(node);
        gpu0 = kernel.gpus().get(0);
    }

    @AfterEach
    void end() throws Exception {
        kernel.close();
    }

    private Finding only(String... more) {
        List<String> options = new ArrayList<>(List.of(more));
        options.add(GATE);
        List<Finding> findings = report(node, options.toArray(String[]::new)).findings();
        assertThat(findings).hasSize(1);
        return findings.get(0);
    }

    private void assertHealthy() {
        Report report = report(node, GATE);
        assertThat(report.exitStatus()).as(report.text()).isZero();
    }

    private Path device(String address) {
        return node.sysfs().resolve("bus/pci/devices").resolve(address);
    }

    private Path misc(String name) {
        return node.sysfs().resolve("class/misc").resolve(name);
    }

    @Test
    void nothingIsFoundWhereMachinesCanHaveTheGpus() throws Exception {
        begin("l40s");
        assertHealthy();
        kernel.bindByHand(kernel.gpus().get(1), PciStandIn.VFIO);
        Files.createDirectory(misc("iommu"));
        assertHealthy();
    }

    @ParameterizedTest
    @CsvSource({
        "0000:03:00.0, 0x020000, pci-stub",
        "0000:03:00.0, 0x020000, vfio-pci",
        "0000:03:00.0, 0x020000, ''",
        "0000:03:00.0, 0x060400, pcieport",
        "board, 0x040300, snd_hda_intel"
    })
    void nothingIsFoundInAGroupWithDevicesThatDoNotMatter(String address, String type, String driver) throws Exception {
        begin("l40s");
        kernel.add(gpu0, address.replace("board", gpu0.replace(".0", ".1")), type, driver);

        assertHealthy();
    }

    @Test
    void withoutNvidiasDriverNothingIsFoundIfMachinesHaveAllGpus() throws Exception {
        begin("l40s");
        for (String gpu : kernel.gpus()) {
            kernel.bindByHand(gpu, PciStandIn.VFIO);
        }
        node.state().loaded(false);
        assertHealthy();
        Files.delete(node.library());
        assertHealthy();
    }

    @Test
    void withoutNvidiasDriverAGpuThatNoMachineCanHaveIsFound() throws Exception {
        begin("l40s");
        for (String gpu : kernel.gpus()) {
            kernel.bindByHand(gpu, gpu.equals(gpu0) ? "nouveau" : PciStandIn.VFIO);
        }
        node.state().loaded(false);

        assertThat(only().id()).isEqualTo("nvml");
    }

    @Test
    void gpusOfNvidiasDriverThatNvmlDoesNotReportAreFoundOnce() throws Exception {
        begin("l40s");
        for (int gpu = 0; gpu < node.state().gpus(); gpu++) {
            node.state().bound(gpu, false);
        }

        Finding found = only();

        assertThat(found.id()).isEqualTo("nvml");
        assertThat(found.what()).contains("NVML reports no GPU").contains(kernel.gpus());
    }

    @Test
    void anIommuThatIsOffIsFoundOnce() throws Exception {
        begin("l40s");
        for (String gpu : kernel.gpus()) {
            Files.delete(device(gpu).resolve("iommu_group"));
        }

        Finding found = only();

        assertThat(found.id()).isEqualTo("iommu");
        assertThat(found.object()).contains(kernel.gpus());
        assertThat(found.mend()).anyMatch(line -> line.contains("intel_iommu=on"));
    }

    @Test
    void aModuleThatIsNotLoadedIsFoundOnce() throws Exception {
        begin("l40s");
        kernel.unload(PciStandIn.VFIO);
        Files.delete(misc("vfio"));

        Report report = report(node, GATE);

        assertThat(found(report)).containsExactly("vfio-module");
        assertThat(report.findings().get(0).mend()).contains("sudo modprobe -a vfio-pci");
        assertThat(report.text()).containsPattern("not checked +vfio-nodes +vfio-pci is not loaded: vfio-module");
    }

    @Test
    void aGroupWithADeviceOfTheNodeIsFoundOnce() throws Exception {
        begin("l40s");
        kernel.add(gpu0, "0000:03:00.0", "0x020000", "mlx5_core");

        Finding found = only();

        assertThat(found.id()).isEqualTo("iommu-group");
        assertThat(found.object()).isEqualTo("IOMMU group 11");
        assertThat(found.what()).contains(gpu0, "0000:03:00.0 (mlx5_core)");
        assertThat(found.mend()).anyMatch(line -> line.contains("/sys/bus/pci/devices/0000:03:00.0/driver/unbind"));
    }

    @Test
    void aGroupOfTwoGpusIsFoundOnce() throws Exception {
        begin("l40s");
        String other = kernel.gpus().get(1);
        kernel.join(gpu0, other);

        assertThat(only().what()).contains(gpu0, other + " (nvidia)");
        kernel.bindByHand(gpu0, PciStandIn.VFIO);
        kernel.bindByHand(other, PciStandIn.VFIO);
        Finding found = only();
        assertThat(found.what()).contains(gpu0, other + " (vfio-pci)");
        assertThat(found.mend()).noneMatch(line -> line.contains("unbind"));
    }

    @Test
    void deviceNodesThatTheKernelDoesNotHaveAreFoundOnce() throws Exception {
        begin("l40s");
        Files.delete(misc("vfio"));

        Finding none = only();
        Files.createDirectory(misc("iommu"));
        Finding iommufdAlone = only();

        assertThat(none.id()).isEqualTo("vfio-nodes");
        assertThat(none.severity()).isEqualTo(Severity.ERROR);
        assertThat(iommufdAlone.id()).isEqualTo("vfio-nodes");
        assertThat(iommufdAlone.severity()).isEqualTo(Severity.WARNING);
        assertThat(iommufdAlone.mend().get(0)).contains("PreferIommuFD");
    }

    @ParameterizedTest
    @CsvSource({"nv-hostengine, nvidia-dcgm", "dcgm-exporter, dcgm-exporter"})
    void aDaemonThatKeepsAGpuFromMachinesIsFoundOnce(String name, String unit) throws Exception {
        begin("l40s");
        process(node, 900, name, "/dev/nvidia0");

        Finding found = only();

        assertThat(found.id()).isEqualTo("gpu-holders");
        assertThat(found.why()).contains("can't be taken from NVIDIA's driver");
        assertThat(found.mend()).contains("sudo systemctl stop " + unit);
        kernel.bindByHand(gpu0, PciStandIn.VFIO);
        assertHealthy();
    }

    /** The driver switches persistence mode off, by nvidia-smi. */
    @Test
    void persistencedIsFoundIfItCanNotBeToldToLetAGpuGo() throws Exception {
        begin("l40s");
        process(node, 900, "nvidia-persiste", "/dev/nvidia0");

        assertThat(only().mend()).contains("sudo systemctl stop nvidia-persistenced");
        SmiStandIn.install(node);
        assertHealthy();
    }

    @Test
    void aDaemonThatKeepsAGpuFromMigModeAndFromMachinesIsFoundOnce() throws Exception {
        begin("a100-40");
        process(node, 900, "nv-hostengine", "/dev/nvidia0");

        assertThat(only("--dynamic-mig").why()).contains("can't be switched to MIG mode");
    }

    /** Of two GPUs, MIG mode is to be switched of one alone, and both may be taken. */
    @Test
    void aDaemonThatKeepsOneGpuFromMigModeAndOneFromMachinesIsFoundForBoth() throws Exception {
        begin("a100-40");
        node.state().setMig(1, true);
        process(node, 900, "nv-hostengine", "/dev/nvidia0");
        Files.createSymbolicLink(node.proc().resolve("900/fd/8"), Path.of("/dev/nvidia1"));

        assertThat(report(node, "--dynamic-mig", GATE).findings())
                .extracting(Finding::what)
                .containsExactly(
                        "it keeps /dev/nvidia0 open, which is not in MIG mode yet", "it keeps /dev/nvidia1 open");
    }

    @Test
    void withoutPassthroughNoneOfThisIsLookedAt() throws Exception {
        begin("l40s");
        kernel.unload(PciStandIn.VFIO);
        Files.delete(device(gpu0).resolve("iommu_group"));
        process(node, 900, "nv-hostengine", "/dev/nvidia0");

        assertThat(found(report(node))).isEmpty();
    }

    @Test
    void thePageListsTheChecks() throws Exception {
        begin("l40s");
        List<String> all =
                new ArrayList<>(checks(node, GATE).stream().map(Check::id).toList());
        all.removeAll(checks(node).stream().map(Check::id).toList());

        assertThat(rows("passthrough")).isNotEmpty().containsExactlyInAnyOrderElementsOf(all);
    }
}
