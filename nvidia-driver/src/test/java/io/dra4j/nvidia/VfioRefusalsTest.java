// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.LeftOut;
import io.dra4j.api.error.DraException;
import io.dra4j.api.error.PrepareException;
import io.dra4j.nvidia.nvml.Lease;
import io.dra4j.nvidia.nvml.NvmlEvents;
import io.dra4j.nvidia.nvml.NvmlException;
import io.dra4j.nvidia.nvml.NvmlException.Reason;
import io.dra4j.nvidia.standin.Await;
import io.dra4j.nvidia.standin.PciStandIn;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** GPUs that virtual machines can not have, or not yet; claims of other GPUs go on. */
@Tag("slow")
class VfioRefusalsTest extends VfioOnBoards {

    @Test
    void otherGpusArePreparedWhileTheKernelWaits() throws Exception {
        begin();
        kernel.hold(PciStandIn.NVIDIA);
        CompletableFuture<PreparedClaim> waiting =
                CompletableFuture.supplyAsync(() -> claims.prepare(provider, machine(ONE)));
        Await.until("the override", SOON, () -> kernel.done().contains("override vfio-pci " + address0));

        for (int gpu = 1; gpu < 4; gpu++) {
            claims.prepare(provider, claim(TWO, "", "gpu-" + gpu));
            claims.unprepare(provider, TWO);
        }

        assertThat(waiting).isNotDone();
        kernel.hold("");
        waiting.get(SOON.toSeconds(), TimeUnit.SECONDS);
        assertThat(kernel.driverOf(address0)).isEqualTo(VFIO);
    }

    @Test
    void failAtADeadlineAndAreReturnedOnceTheKernelHasEnded() throws Exception {
        unbind = Duration.ofMillis(200);
        begin();
        kernel.hold(PciStandIn.NVIDIA);

        assertThatThrownBy(() -> claims.prepare(provider, machine(ONE)))
                .isInstanceOf(DraException.class)
                .hasMessageContaining("The driver nvidia did not let PCI device " + address0)
                .hasMessageContaining("within 200 ms: no process is seen");
        assertThat(claims.of(ONE).state()).isNotNull();
        assertThat(devices()).hasSize(8);
        claims.prepare(provider, claim(TWO, "", "gpu-1"));
        claims.unprepare(provider, TWO);

        kernel.hold("");
        Await.until("unbound", SOON, () -> kernel.driverOf(address0).isEmpty());
        assertThat(devices()).hasSize(8);
        claims.unprepare(provider, ONE);
        assertThat(kernel.driverOf(address0)).isEqualTo(NVIDIA);
        assertThat(kernel.overrideOf(address0)).isEmpty();
        claims.prepare(provider, machine(ONE));
    }

    @ParameterizedTest
    @ValueSource(strings = {"11", "devices/vfio0"}) // of the group, and of iommufd
    void areNotReturnedWhileAMachineRuns(String name) throws Exception {
        unbind = Duration.ofMillis(200);
        begin();
        claims.prepare(provider, machine(ONE));
        Path opened = folder.resolve("dev/vfio").resolve(name);
        Files.createDirectories(opened.getParent());
        Files.writeString(opened, "");
        kernel.hold(VFIO);
        Process machine = open(opened);

        try {
            assertThatThrownBy(() -> claims.unprepare(provider, ONE))
                    .hasMessageContaining("The driver vfio-pci did not let PCI device " + address0)
                    .hasMessageContaining("sleep (process " + machine.pid() + ")");
        } finally {
            machine.destroyForcibly().waitFor();
        }
        assertThat(claims.of(ONE).state()).isNotNull();
        kernel.hold("");
        unbind = SOON;
        restart();
        claims.unprepare(provider, ONE);
        assertThat(kernel.driverOf(address0)).isEqualTo(NVIDIA);
    }

    @Test
    void areNotTakenFromAProcessThatIsNamed() throws Exception {
        begin();
        Path device = node.root().resolve("dev/nvidia0");
        Process user = open(device);
        try {
            refuses(machine(ONE), "/dev/nvidia0", "sleep (process " + user.pid() + ")", "300 ms");
        } finally {
            user.destroyForcibly().waitFor();
        }

        assertThat(kernel.driverOf(address0)).isEqualTo(NVIDIA);
        assertThat(kernel.overrideOf(address0)).isEmpty();
        claims.prepare(provider, machine(ONE));
    }

    /** The clock passes the claim's deadline once something has happened. */
    private void passDeadlineAfter(BooleanSupplier moment) {
        clock = () -> Instant.now().plus(moment.getAsBoolean() ? claims.timeout : Duration.ZERO);
    }

    private void failsWithoutTime() {
        assertThatThrownBy(() -> claims.begin(provider, machine(ONE)))
                .isInstanceOf(PrepareException.class)
                .hasMessage(
                        "GPU %s can't be passed to a virtual machine: no time is left of this call to take it from its driver, and it stays there; the next try follows",
                        address0);
        assertThat(kernel.driverOf(address0)).isEqualTo(NVIDIA);
        clock = InstantSource.system();
    }

    @Test
    void areNotBegunWithoutTime() throws Exception {
        begin();
        smi.setPersistent(address0);
        passDeadlineAfter(() -> true);

        failsWithoutTime();

        assertThat(claims.of(ONE).state()).isNull();
        assertThat(smi.isPersistent(address0)).isTrue();
        assertThat(kernel.done()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void areNotUnboundOnceTheTimeIsOver(boolean isReserved) throws Exception {
        begin();
        smi.setPersistent(address0);
        String reserved = "override vfio-pci " + address0;
        passDeadlineAfter(() ->
                isReserved ? kernel.done().contains(reserved) : claims.of(ONE).state() != null);

        failsWithoutTime();

        assertThat(kernel.done()).isEqualTo(isReserved ? List.of(reserved) : List.of());
        claims.unprepare(provider, ONE);
        assertThat(kernel.done()).noneMatch(done -> done.startsWith("unbind"));
        assertThat(kernel.overrideOf(address0)).isEmpty();
        assertThat(smi.isPersistent(address0)).isTrue();
        claims.prepare(provider, machine(ONE));
    }

    @Test
    void doNotWaitForNvidiaSmiBeyondTheDeadline() throws Exception {
        begin();
        smi.setPersistent(address0);
        smi.hangAt("persistence_mode");
        claims.timeout = Duration.ofMillis(2_500); // of which two seconds are to report
        long start = System.nanoTime();

        assertThatThrownBy(() -> claims.begin(provider, machine(ONE)))
                .hasMessageContaining("no time is left of this call");

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(5));
        assertThat(kernel.done()).isEmpty();
        smi.heal();
        claims.timeout = Duration.ofSeconds(30);
        claims.unprepare(provider, ONE);
        assertThat(smi.isPersistent(address0)).isTrue();
    }

    @Test
    void keepTheirPersistenceForTheNextTryIfNoTimeIsLeft() throws Exception {
        begin();
        smi.setPersistent(address0);
        claims.prepare(provider, machine(ONE));
        passDeadlineAfter(() -> kernel.done().contains("bind nvidia " + address0));

        assertThatThrownBy(() -> claims.unprepare(provider, ONE))
                .hasMessageContaining("no time is left of this call to switch its persistence");

        assertThat(smi.isPersistent(address0)).isFalse();
        clock = InstantSource.system();
        claims.unprepare(provider, ONE);
        assertThat(smi.isPersistent(address0)).isTrue();
        assertThat(kernel.driverOf(address0)).isEqualTo(NVIDIA);
    }

    @Test
    void doNotWaitForTheKernelBeyondTheDeadline() throws Exception {
        begin();
        claims.timeout = Duration.ofSeconds(3); // of which two are to report
        kernel.hold(NVIDIA);
        CompletableFuture<PreparedClaim> waiting =
                CompletableFuture.supplyAsync(() -> claims.begin(provider, machine(ONE)));

        assertThat(waiting)
                .failsWithin(SOON)
                .withThrowableThat()
                .withMessageContaining("The driver nvidia did not let PCI device " + address0);

        kernel.hold("");
        Await.until("unbound", SOON, () -> kernel.driverOf(address0).isEmpty());
        claims.timeout = Duration.ofSeconds(30);
        claims.unprepare(provider, ONE);
        assertThat(kernel.driverOf(address0)).isEqualTo(NVIDIA);
    }

    /** Such a call may be one that never returns. */
    @Test
    void doNotWaitForACallOfNvmlBeyondTheDeadline() throws Exception {
        begin();
        claims.timeout = Duration.ofMillis(2_500); // of which two seconds are to report
        Lease kept = nvml.keep();
        NvmlEvents events = nvml.subscribe(Set.of(gpu1));
        CompletableFuture<?> call = CompletableFuture.supplyAsync(() -> events.await(SOON));
        Await.until("a call of NVML", SOON, this::isNvmlInUse);

        assertThatThrownBy(() -> claims.begin(provider, machine(ONE)))
                .isInstanceOf(PrepareException.class)
                .hasMessageMatching(
                        "GPU %s can't be passed to a virtual machine: a call of NVML by this driver has not returned for [1-5]?[0-9]{1,2} ms, and it stays with its driver; the next try follows"
                                .formatted(address0));

        assertThat(call).isNotDone();
        assertThat(kernel.done()).containsExactly("override vfio-pci " + address0);
        hardware.xid(1, -1, 43);
        call.get(SOON.toSeconds(), TimeUnit.SECONDS);
        events.close();
        kept.close();
        claims.unprepare(provider, ONE);
        claims.prepare(provider, machine(ONE));
    }

    private boolean isNvmlInUse() {
        try (Lease paused = nvml.pause("a look", Duration.ZERO)) {
            return paused == null;
        } catch (NvmlException e) {
            return e.reason() == Reason.IN_USE;
        }
    }

    @Test
    void areRefusedBesideDevicesOfOthersInTheirGroup() throws Exception {
        begin();
        kernel.add(address0, "0000:03:00.0", "0x020000", "mlx5_core");
        kernel.add(address0, "0000:03:00.1", "0x020000", "");

        refuses(machine(ONE), "IOMMU group 11", ": 0000:03:00.0 (mlx5_core);");

        assertThat(kernel.done()).isEmpty();
        assertThat(claims.held).isEmpty();
    }

    /** The driver would take these along, were they of its board and not GPUs. */
    @ParameterizedTest
    @CsvSource({
        "1, 0x030200, 0x10de, nvidia", // another GPU
        "1, 0x040300, 0x8086, snd_hda_intel", // of another vendor
    })
    void areRefusedBesideFunctionsThatAreNotOfTheirBoard(int function, String type, String vendor, String driver)
            throws Exception {
        begin();
        String other = address0.replace(".0", "." + function);
        kernel.add(address0, other, type, driver);
        kernel.madeBy(other, vendor);

        refuses(machine(ONE), "IOMMU group 11", other + " (" + driver + ")");
    }

    /** The administrator has bound both, and the next reading offers neither. */
    @Test
    void areRefusedBesideAGpuOfTheirGroupThatIsBoundToVfio() throws Exception {
        begin();
        String address1 = kernel.gpus().get(1);
        kernel.bindByHand(address0, VFIO);
        kernel.bindByHand(address1, VFIO);
        provider.inventory();
        kernel.join(address0, address1);

        refuses(machine(ONE), "IOMMU group 11 has other GPUs", address1 + " (vfio-pci)");
        refuses(machine(TWO, "", "gpu-vfio-1"), address0 + " (vfio-pci)");

        assertThat(claims.held).isEmpty();
    }

    @Test
    void areHadBesideDevicesThatNothingUses() throws Exception {
        begin();
        kernel.add(address0, "0000:03:00.0", "0x020000", "pci-stub");

        claims.prepare(provider, machine(ONE));

        assertThat(kernel.driverOf(address0)).isEqualTo(VFIO);
        assertThat(kernel.driverOf("0000:03:00.0")).isEqualTo("pci-stub");
    }

    /** The administrator was faster than the next reading. */
    @Test
    void areRefusedIfTheyAreBoundToAnotherDriverSince() throws Exception {
        begin();
        kernel.bindByHand(address0, "nouveau");
        refuses(machine(ONE), "it is bound to nouveau, not to nvidia or vfio-pci");
        kernel.bindByHand(address0, VFIO);
        provider.inventory();
        kernel.bindByHand(address0, NVIDIA);

        refuses(machine(ONE), "it was bound to vfio-pci, and is bound to nvidia now");

        assertThat(kernel.done()).isEmpty();
        assertThat(claims.held).isEmpty();
    }

    @Test
    void areRefusedIfTheGpuIsDividedSince() throws Exception {
        begin("h100-80", false);
        nvml.switchMig(gpu0, true);

        refuses(machine(ONE), "MIG mode");

        assertThat(kernel.done()).isEmpty();
    }

    @Test
    void areRefusedForAdministration() throws Exception {
        begin();

        refuses(claim(ONE, "", "gpu-vfio-0, adminAccess: true"), "gpu-vfio-0 can't be had with admin access");
        assertThatThrownBy(() -> machine(ONE, "", "gpu-vfio-0, adminAccess: true"))
                .hasMessageContaining("VfioDeviceConfig would change the devices of request of-gpu-vfio-0");
    }

    @Test
    void areRefusedWithoutIommuModuleOrWithVirtualFunctions() throws Exception {
        begin();
        Path device = node.sysfs().resolve("bus/pci/devices").resolve(address0);
        Files.writeString(device.resolve("sriov_numvfs"), "1\n");
        refuses(machine(ONE), "1 virtual functions", "sriov_numvfs");
        kernel.unload(VFIO);
        refuses(machine(ONE), "vfio-pci is not loaded", "modprobe vfio-pci");
        kernel.variant("nvgrace-gpu-vfio-pci", "alias vfio_pci:v000010DEd*sv*sd*bc*sc*i* nvgrace_gpu_vfio_pci");
        kernel.unload("nvgrace-gpu-vfio-pci");
        refuses(machine(ONE), "nvgrace_gpu_vfio_pci is not loaded", "modprobe nvgrace_gpu_vfio_pci");
        Files.delete(device.resolve("iommu_group"));
        refuses(machine(ONE), "the IOMMU is off", "intel_iommu=on");
        assertThat(kernel.done()).isEmpty();
    }

    @Test
    void areLeftOutWithTheReasonIfAnotherDriverHasThem() throws Exception {
        begin();
        kernel.bindByHand(address0, "nouveau");

        assertThat(devices()).hasSize(6);
        assertThat(provider.inventory().leftOut())
                .containsExactly(new LeftOut(address0, "it is bound to nouveau, and not to nvidia or vfio-pci"));
    }

    /** A machine with one could reach that of another. */
    @ParameterizedTest
    @ValueSource(strings = {NVIDIA, VFIO})
    void areNotOfferedIfTheirGroupHasAnotherGpu(String driver) throws Exception {
        begin();
        String address1 = kernel.gpus().get(1);
        kernel.join(address0, address1);
        if (driver.equals(VFIO)) {
            kernel.bindByHand(address0, VFIO);
            kernel.bindByHand(address1, VFIO);
        }

        Map<String, Device> devices = devices();

        assertThat(devices)
                .containsKeys("gpu-2", "gpu-vfio-2", "gpu-3", "gpu-vfio-3")
                .hasSize(driver.equals(VFIO) ? 4 : 6);
        assertThat(devices).doesNotContainKeys("gpu-vfio-0", "gpu-vfio-1");
        assertThat(devices.containsKey("gpu-0")).isEqualTo(driver.equals(NVIDIA));
        assertThat(provider.inventory().leftOut())
                .extracting(LeftOut::device)
                .containsExactlyInAnyOrder(address0, address1);
        assertThat(provider.inventory().leftOut().get(0).reason())
                .contains("its IOMMU group 11 has other GPUs, " + address1);
    }

    @Test
    void takeConfigurationsOfTheirKindAlone() throws Exception {
        begin();

        assertThatThrownBy(() -> machine(ONE, "backendPolicy: Sometimes", "gpu-vfio-0"))
                .hasMessageContaining("unknown IOMMU backend policy: \"Sometimes\"");
        assertThatThrownBy(() -> claim(ONE, config("GpuConfig", "of-gpu-vfio-0", "strategy: MPS"), "gpu-vfio-0"))
                .hasMessageContaining("cannot apply GpuConfig");
    }
}
