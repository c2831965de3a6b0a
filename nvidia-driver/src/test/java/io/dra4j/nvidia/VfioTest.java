// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.HeldClaim.Phase;
import io.dra4j.api.claim.HeldDevice;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.CounterConsumption;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.DeviceName;
import io.dra4j.api.device.PoolName;
import io.dra4j.api.device.Quantity;
import io.dra4j.api.health.HealthState;
import io.dra4j.doctor.Report;
import io.dra4j.nvidia.inventory.PassthroughGpus;
import io.dra4j.nvidia.nvml.Nvml;
import io.dra4j.nvidia.nvml.NvmlException;
import io.dra4j.nvidia.nvml.PciAddress;
import io.dra4j.nvidia.pci.PciBus;
import io.dra4j.nvidia.standin.Await;
import io.dra4j.nvidia.vfio.Passthrough;
import java.nio.file.Files;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** GPUs for virtual machines: published, taken from their driver, and returned. */
@Tag("slow")
class VfioTest extends VfioOnBoards {

    @Test
    void arePublishedBesideTheirGpusAndExcludedByCounters() throws Exception {
        begin();

        Map<String, Device> devices = devices();

        assertThat(devices).hasSize(8).containsKeys("gpu-0", "gpu-3", "gpu-vfio-0", "gpu-vfio-3");
        List<CounterConsumption> all = devices.get("gpu-vfio-1").consumesCounters();
        assertThat(all).containsExactly(CounterConsumption.of("gpu-1-counter-set", Map.of("gpu", Quantity.of(1))));
        assertThat(devices.get("gpu-1").consumesCounters()).isEqualTo(all);
        assertThat(provider.inventory().pools().get(0).counterSets())
                .hasSize(4)
                .allSatisfy(set -> assertThat(set.counters()).containsOnlyKeys("gpu"));
        assertThat(devices.get("gpu-vfio-0").attributes())
                .containsEntry("type", AttributeValue.of("vfio"))
                .containsEntry("productName", AttributeValue.of("NVIDIA L40S"))
                .containsEntry("deviceID", AttributeValue.of("0x2330"))
                .containsEntry("vendorID", AttributeValue.of("0x10de"))
                .containsEntry("iommuFDEnabled", AttributeValue.of(false))
                .containsEntry("resource.kubernetes.io/pciBusID", AttributeValue.of(address0));
        assertThat(devices.get("gpu-vfio-0")
                        .capacities()
                        .get("addressableMemory")
                        .value())
                .isEqualTo(Quantity.ofBytes((16L << 20) + (64L << 30) + (32L << 20)));
    }

    @Test
    void excludeMigDevicesOnDemandByTheCountersOfTheGpu() throws Exception {
        begin("h100-80", true);

        Map<String, Device> devices = devices();

        assertThat(devices.get("gpu-vfio-2").consumesCounters())
                .isEqualTo(devices.get("gpu-2").consumesCounters())
                .singleElement()
                .extracting(CounterConsumption::counters)
                .satisfies(all -> assertThat(all).containsKeys("memory", "memory-slice-7"));
    }

    @Test
    void areNotOfferedOfAGpuThatIsDivided() throws Exception {
        begin("a100-40-divided", false);

        assertThat(devices().keySet())
                .anyMatch(name -> name.startsWith("gpu-0-mig"))
                .doesNotContain("gpu-vfio-0");
    }

    @Test
    void areTakenFromTheDriverAndReturned() throws Exception {
        begin();
        smi.setPersistent(address0);
        context.forgetChanges();

        PreparedClaim prepared = claims.prepare(provider, machine(ONE, "enableAPIDevice: true", "gpu-vfio-0"));

        assertThat(context.forgetChanges()).isPositive();
        assertThat(kernel.driverOf(address0)).isEqualTo(VFIO);
        assertThat(kernel.done())
                .containsExactly(
                        "override vfio-pci " + address0, "unbind nvidia " + address0, "bind vfio-pci " + address0);
        assertThat(smi.isPersistent(address0)).isFalse();
        PreparedDevice device = prepared.devices().get(0);
        assertThat(nodes(device)).containsExactly("/dev/vfio/11", "/dev/vfio/vfio");
        assertThat(device.metadata().attributes())
                .containsEntry("resource.kubernetes.io/pciBusID", AttributeValue.of(address0));
        assertThat(prepared.edits().env()).isEqualTo(Map.of("NVIDIA_VISIBLE_DEVICES", "void"));
        assertThat(prepared.edits().mounts()).isEmpty();
        assertThat(devices()).hasSize(8); // the counters exclude, not the slices

        claims.unprepare(provider, ONE);

        assertThat(context.forgetChanges()).isPositive();
        assertThat(kernel.driverOf(address0)).isEqualTo(NVIDIA);
        assertThat(kernel.overrideOf(address0)).isEmpty();
        assertThat(smi.isPersistent(address0)).isTrue();
        assertThat(devices()).hasSize(8);
        claims.prepare(provider, claim(TWO, "", "gpu-0"));
    }

    /** Whatever it names, the GPU is bound to the driver that it had. */
    @ParameterizedTest
    @CsvSource({"nvidia, false", "vfio-pci, true", "pci-stub, false"})
    void haveTheOverrideOfTheAdministratorAgain(String driver, boolean isRestarted) throws Exception {
        begin();
        kernel.overrideByHand(address0, driver);
        claims.prepare(provider, machine(ONE));
        assertThat(kernel.overrideOf(address0)).isEqualTo(VFIO);
        if (isRestarted) {
            restart();
        }

        claims.unprepare(provider, ONE);

        assertThat(kernel.driverOf(address0)).isEqualTo(NVIDIA);
        assertThat(kernel.overrideOf(address0)).isEqualTo(driver);
    }

    /** The driver is that of the module whose alias has the fewest wildcards. */
    @ParameterizedTest
    @ValueSource(strings = {"nvgrace-gpu-vfio-pci", "nvgrace_gpu_vfio_pci", "acme_lender"})
    void areBoundToTheDriverThatTheKernelHasForThem(String driver) throws Exception {
        begin();
        kernel.variant(
                driver,
                "alias vfio_pci:v*d*sv*sd*bc*sc*i* vfio_pci",
                "alias vfio_pci:v000010DEd00002941sv*sd*bc*sc*i* " + driver.replace('-', '_'),
                "alias vfio_pci:v000015B3d*sv*sd*bc*sc*i* mlx5_vfio_pci",
                "alias pci:v000010DEd00002941sv*sd*bc03sc02i00* nouveau");
        claims.prepare(provider, machine(ONE));
        assertThat(kernel.overrideOf(address0)).isEqualTo(driver);
        assertThat(kernel.driverOf(address0)).isEqualTo(driver);

        claims.unprepare(provider, ONE);
        assertThat(kernel.driverOf(address0)).isEqualTo(NVIDIA);
        kernel.bindByHand(address0, driver);
        assertThat(devices()).containsKey("gpu-vfio-0").doesNotContainKey("gpu-0");
        claims.prepare(provider, machine(TWO));
        claims.unprepare(provider, TWO);
        assertThat(kernel.driverOf(address0)).isEqualTo(driver);
    }

    @Test
    void areOpenedByIommufdWhereTheKernelHasIt() throws Exception {
        begin();
        Files.createDirectories(node.sysfs().resolve("class/misc/iommu"));

        PreparedClaim one = claims.prepare(
                provider, machine(ONE, "backendPolicy: PreferIommuFD, enableAPIDevice: true", "gpu-vfio-0"));
        PreparedClaim two = claims.prepare(provider, machine(TWO, "", "gpu-vfio-1"));

        assertThat(nodes(one.devices().get(0))).containsExactly("/dev/vfio/devices/vfio0", "/dev/iommu");
        assertThat(nodes(two.devices().get(0))).containsExactly("/dev/vfio/12");
        assertThat(devices().get("gpu-vfio-2").attributes()).containsEntry("iommuFDEnabled", AttributeValue.of(true));
    }

    @Test
    void stayBoundIfAnAdministratorBoundThem() throws Exception {
        begin();
        kernel.bindByHand(address0, VFIO);

        Map<String, Device> devices = devices();

        assertThat(devices).hasSize(7).doesNotContainKey("gpu-0");
        assertThat(devices.get("gpu-vfio-0").consumesCounters()).isEmpty();
        PreparedClaim prepared = claims.prepare(provider, machine(ONE));
        assertThat(nodes(prepared.devices().get(0))).containsExactly("/dev/vfio/11");
        assertThat(claims.of(ONE).state()).isNull();
        claims.unprepare(provider, ONE);
        assertThat(kernel.driverOf(address0)).isEqualTo(VFIO);
        assertThat(kernel.done()).isEmpty();
    }

    /** The module of NVIDIA's driver may not be loaded where it has no GPU. */
    @Test
    void areOfferedWithoutNvml() throws Exception {
        begin();
        for (String gpu : kernel.gpus()) {
            kernel.bindByHand(gpu, VFIO);
        }
        hardware.loaded(false);

        assertThat(devices().keySet())
                .containsExactlyInAnyOrder("gpu-vfio-0", "gpu-vfio-1", "gpu-vfio-2", "gpu-vfio-3");
        claims.prepare(provider, machine(ONE));
        restart();
        assertThat(devices()).hasSize(4);
    }

    /** Unknown is not none. */
    @Test
    void theOthersAreUnknownWithoutNvmlIfThereAreAny() throws Exception {
        begin();
        hardware.loaded(false);
        PciBus bus = new PciBus(node.sysfs());
        Nvml other = node.nvml(); // has no session yet

        PassthroughGpus some = PassthroughGpus.of(bus.gpus(), Set.of());
        assertThatThrownBy(() -> some.readOthers(other::read))
                .isInstanceOf(NvmlException.class)
                .hasMessageContaining("kernel module");
        for (String gpu : kernel.gpus()) {
            kernel.bindByHand(gpu, VFIO);
        }
        PassthroughGpus all = PassthroughGpus.of(bus.gpus(), Set.of());
        assertThat(all.readOthers(other::read).gpus()).isEmpty();
        other.close();
        assertThatThrownBy(() -> all.readOthers(other::read))
                .hasMessageContaining("given back"); // which says nothing of the GPUs
    }

    @Test
    void areHealthyInAnAuditWithoutNvml() throws Exception {
        begin();
        for (String gpu : kernel.gpus()) {
            kernel.bindByHand(gpu, VFIO);
        }
        hardware.loaded(false);
        provider.inventory();
        claims.prepare(provider, machine(ONE));

        for (boolean dynamicMig : List.of(false, true)) {
            Report report = audit(dynamicMig);
            assertThat(report.exitStatus()).as(report.text()).isEqualTo(Report.HEALTHY);
        }
        try (NvidiaAuditedNode audited = audited(false)) {
            assertThat(audited.inventory(claims.held)).isEqualTo(provider.inventory());
        }
    }

    @Test
    void areNotCheckedInAnAuditIfNvmlIsMissed() throws Exception {
        begin();
        kernel.bindByHand(address0, VFIO);
        hardware.loaded(false);

        assertThat(audit(true).exitStatus()).isEqualTo(Report.INCOMPLETE);
    }

    /** NVIDIA's driver gives a GPU the lowest number that is free. */
    @Test
    void aGpuThatComesBackUnderTheNumberOfAnotherIsPublished() throws Exception {
        begin();
        claims.prepare(provider, machine(ONE));
        claims.prepare(provider, machine(TWO, "", "gpu-vfio-1"));
        hardware.set(1, "minor", 0);

        claims.unprepare(provider, TWO);

        Map<String, Device> devices = devices();
        assertThat(devices).hasSize(7).containsKeys("gpu-vfio-0", "gpu-vfio-1");
        assertThat(devices.get("gpu-0").attributes())
                .containsEntry(
                        "resource.kubernetes.io/pciBusID",
                        AttributeValue.of(kernel.gpus().get(1)));
        hardware.set(0, "minor", 1);
        claims.unprepare(provider, ONE);
        assertThat(devices()).hasSize(8);
    }

    @Test
    void healthIsUnknownWhileAMachineHasTheGpu() throws Exception {
        begin();
        kernel.bindByHand(kernel.gpus().get(3), VFIO);
        provider.inventory();
        assertThat(context.health.get("gpu-0").state()).isEqualTo(HealthState.HEALTHY);
        assertThat(context.health.get("gpu-vfio-0").state()).isEqualTo(HealthState.HEALTHY);
        assertThat(context.health.get("gpu-vfio-3").state()).isEqualTo(HealthState.UNKNOWN);

        claims.prepare(provider, machine(ONE));

        provider.inventory();
        assertThat(context.health.get("gpu-vfio-0").state()).isEqualTo(HealthState.UNKNOWN);
        assertThat(context.health.get("gpu-1").state()).isEqualTo(HealthState.HEALTHY);
        claims.unprepare(provider, ONE);
        provider.inventory();
        assertThat(context.health.get("gpu-vfio-0").state()).isEqualTo(HealthState.HEALTHY);
    }

    @Test
    void areHeldOverARestart() throws Exception {
        begin();
        claims.prepare(provider, machine(ONE));

        restart();

        assertThat(devices()).hasSize(8).containsKeys("gpu-0", "gpu-vfio-0");
        refuses(claim(TWO, "", "gpu-0"), address0, "gpu-vfio-0", "default/one");
        claims.unprepare(provider, ONE);
        assertThat(kernel.driverOf(address0)).isEqualTo(NVIDIA);
        claims.prepare(provider, claim(TWO, "", "gpu-0"));
        refuses(machine(ONE), address0, "gpu-0", "default/two");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void areReturnedAfterACrash(int checkpoint) throws Exception {
        begin();
        claims.crashAt(checkpoint);
        try {
            claims.prepare(provider, machine(ONE));
            claims.unprepare(provider, ONE);
        } catch (JournaledClaims.Crash e) {
            restart();
        }

        claims.crashAt(0);
        claims.unprepare(provider, ONE);

        assertThat(kernel.driverOf(address0)).isEqualTo(NVIDIA);
        assertThat(kernel.overrideOf(address0)).isEmpty();
        assertThat(devices()).hasSize(8);
    }

    /** An administrator's GPU must stay bound, and it is not known then who has bound it. */
    @Test
    void stayBoundIfTheRecordOfTheClaimIsLost() throws Exception {
        begin();
        claims.prepare(provider, machine(ONE));
        claims.replace(HeldClaim.builder(ONE)
                .phase(Phase.DAMAGED)
                .devices(claims.of(ONE).devices())
                .build());

        claims.unprepare(provider, ONE);

        assertThat(kernel.driverOf(address0)).isEqualTo(VFIO);
        assertThat(devices()).hasSize(7).doesNotContainKey("gpu-0");
        assertThat(context.notices)
                .singleElement(as(InstanceOfAssertFactories.STRING))
                .contains("gpu-vfio-0", address0, "claim default/one is lost");
    }

    /** Each reading has a session, and the next one begins before the one before ends. */
    @Test
    void areTakenThoughTheGpusAreReadAllTheTime() throws Exception {
        begin();
        AtomicBoolean isOver = new AtomicBoolean();
        List<CompletableFuture<Void>> readers = Stream.generate(() -> CompletableFuture.runAsync(() -> read(isOver)))
                .limit(3)
                .toList();
        try {
            claims.prepare(provider, machine(ONE));
        } finally {
            isOver.set(true);
        }

        for (CompletableFuture<Void> reader : readers) {
            reader.get(SOON.toSeconds(), TimeUnit.SECONDS);
        }
        assertThat(kernel.driverOf(address0)).isEqualTo(VFIO);
    }

    /** It has seen the GPU with nvidia on the bus, and NVML does not report it any more. */
    @Test
    void staysPublishedByAReadingThatWaitsWhileTheGpuIsTaken() throws Exception {
        begin();
        kernel.hold(NVIDIA);
        CompletableFuture<PreparedClaim> taking =
                CompletableFuture.supplyAsync(() -> claims.prepare(provider, machine(ONE)));
        AtomicBoolean isOver = new AtomicBoolean();
        Set<Set<String>> published = new HashSet<>();
        FutureTask<Void> readings = new FutureTask<>(
                () -> {
                    while (!isOver.get()) {
                        published.add(devices().keySet());
                    }
                },
                null);
        Thread reader = new Thread(readings);
        reader.start();
        try {
            Await.until("a reading that waits for NVML", SOON, () -> reader.getState() == Thread.State.TIMED_WAITING);
        } finally {
            kernel.hold("");
            taking.get(SOON.toSeconds(), TimeUnit.SECONDS);
            isOver.set(true);
        }

        readings.get(SOON.toSeconds(), TimeUnit.SECONDS);
        assertThat(published)
                .singleElement(as(InstanceOfAssertFactories.ITERABLE))
                .hasSize(8)
                .contains("gpu-0", "gpu-vfio-0");
        assertThat(devices()).containsKey("gpu-0");
    }

    private void read(AtomicBoolean isOver) {
        while (!isOver.get()) {
            nvml.read();
        }
    }

    private HeldClaim holder(boolean adminAccess, boolean beforeReboot) {
        HeldDevice device = HeldDevice.builder("r", new PoolName("node-1"), new DeviceName("gpu-0"))
                .adminAccess(adminAccess)
                .build();
        return HeldClaim.builder(TWO)
                .phase(Phase.PREPARED)
                .devices(List.of(device))
                .beforeReboot(beforeReboot)
                .build();
    }

    @Test
    void areHadBesideClaimsThatOnlyLookOrEndedWithAnEarlierBoot() throws Exception {
        begin();
        claims.held.add(holder(false, false));
        refuses(machine(ONE), "is in use as gpu-0 by claim default/two");
        claims.replace(holder(true, false));
        claims.prepare(provider, machine(ONE));
        claims.unprepare(provider, ONE);
        claims.replace(holder(false, true));

        claims.prepare(provider, machine(ONE));

        assertThat(kernel.driverOf(address0)).isEqualTo(VFIO);
    }

    @Test
    void noneIsLentAfterAReboot() throws Exception {
        begin();
        claims.prepare(provider, machine(ONE));
        assertThat(Passthrough.lent(claims.held)).containsExactly(new PciAddress(address0));

        claims.replace(claims.of(ONE).toBuilder().beforeReboot(true).build());

        assertThat(Passthrough.lent(claims.held)).isEmpty();
    }

    @Test
    void severalOfAClaimAreReturnedInTheReverseOrderAndAsTheyWere() throws Exception {
        begin();
        String address1 = kernel.gpus().get(1);
        smi.setPersistent(address1);

        claims.prepare(provider, machine(ONE, "", "gpu-vfio-0", "gpu-vfio-1"));
        claims.unprepare(provider, ONE);

        assertThat(kernel.done())
                .filteredOn(done -> done.startsWith("unbind vfio-pci"))
                .containsExactly("unbind vfio-pci " + address1, "unbind vfio-pci " + address0);
        assertThat(smi.calls()).noneMatch(call -> call.contains("-pm") && call.contains(address0));
        assertThat(smi.isPersistent(address1)).isTrue();
    }

    @Test
    void thePersistenceThatCanNotBeReadStaysAsItIs() throws Exception {
        begin();
        smi.failAt("persistence_mode", 1);

        claims.prepare(provider, machine(ONE));
        claims.unprepare(provider, ONE);

        assertThat(smi.calls()).isNotEmpty().noneMatch(call -> call.contains("-pm"));
    }

    @Test
    void areForgottenIfTheyAreOnTheBusNoMoreOrTheirDriverIsUnloaded() throws Exception {
        begin();
        claims.prepare(provider, machine(ONE));
        claims.prepare(provider, machine(TWO, "", "gpu-vfio-1"));
        kernel.unload(NVIDIA);
        kernel.unplug(kernel.gpus().get(1));

        claims.unprepare(provider, ONE);
        claims.unprepare(provider, TWO);

        assertThat(kernel.driverOf(address0)).isEmpty();
        assertThat(kernel.overrideOf(address0)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"1, 0x040300, snd_hda_intel", "2, 0x060400, pcieport"})
    void takeTheAudioOfTheBoardAlongAndLeaveBridges(int function, String type, String driver) throws Exception {
        begin();
        String other = address0.replace(".0", "." + function);
        kernel.add(address0, other, type, driver);
        boolean isTaken = driver.startsWith("snd");

        claims.prepare(provider, machine(ONE));

        assertThat(kernel.driverOf(other)).isEqualTo(isTaken ? VFIO : driver);
        claims.unprepare(provider, ONE);
        assertThat(kernel.driverOf(other)).isEqualTo(driver);
        assertThat(kernel.driverOf(address0)).isEqualTo(NVIDIA);
    }
}
